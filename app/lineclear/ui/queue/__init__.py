"""The table of calls: what it lists, in which order, how a row looks."""
