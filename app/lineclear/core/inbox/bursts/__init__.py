"""Bursts: calls of one tool that are decided together."""
