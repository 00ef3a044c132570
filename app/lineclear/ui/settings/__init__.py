"""Everything that an operator can set, in a window of its own; applied at once."""
