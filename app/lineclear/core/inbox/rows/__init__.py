"""Rows: what an operator sees of a call or a stopped run, and what is told beside it."""
