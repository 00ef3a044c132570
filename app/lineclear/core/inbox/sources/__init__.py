"""Sources: the watched folders, where they lead, and the stores below them."""
