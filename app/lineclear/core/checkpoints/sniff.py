"""The registry of systems, and telling which one wrote a document."""

from __future__ import annotations

from lineclear.core.checkpoints.model import Checkpoint, Format

FORMATS: dict[str, Format] = {}
"""Registered formats by name; adding a system is one module and one entry here."""


def read_checkpoint(raw: bytes) -> Checkpoint:
    """Parse strictly, tell the system, validate; raises Unreadable with a reason code."""
    raise NotImplementedError
