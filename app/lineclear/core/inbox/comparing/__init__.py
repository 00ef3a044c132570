"""Comparing: a call against the last one, the disk, and the world as it stands now."""
