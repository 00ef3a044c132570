"""What stands around table and reading pane: bars, sidebar, keys, what is said of all rows."""
