"""Lineclear: the approval inbox for AI agents. This package is the agent's small public API."""
