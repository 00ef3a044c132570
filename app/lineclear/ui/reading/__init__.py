"""The reading pane: everything that is shown of one call before a verdict."""
