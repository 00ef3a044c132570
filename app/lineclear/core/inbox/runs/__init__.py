"""Runs: what calls, copies and earlier ends of one run say of each other."""
