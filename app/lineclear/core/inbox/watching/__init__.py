"""Watching: scans are the truth, events are hints, and what changed is fed on."""
