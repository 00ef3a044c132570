"""Relaunch: resuming a run whose agent died, at most once and by a command of the operator."""
