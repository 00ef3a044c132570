"""Secrets: how they are told, and taken out of what is shown."""
