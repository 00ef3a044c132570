"""The history in the window: searched, added up, read, exported, verified and merged."""
