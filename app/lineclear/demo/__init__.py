"""Agents for the demo: real processes on the real core, with pretend tools. Nothing real runs."""
