"""Agents for the demo: real processes on the real core."""
