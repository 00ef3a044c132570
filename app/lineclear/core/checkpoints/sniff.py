"""The registry of systems, and telling which one wrote a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lineclear.core.checkpoints import a3s, jsontext, lc_agents
from lineclear.core.errors import Unreadable

if TYPE_CHECKING:
    from lineclear.core.checkpoints.model import Checkpoint, Format, Json

FORMATS: dict[str, Format] = {
    lc_agents.NAME: lc_agents.LcAgents(),
    a3s.NAME: a3s.A3s(),
}
"""Registered formats by name; adding a system is one module and one entry here."""

_ENCRYPTED: Final = b"A3SE"
"""First bytes of a checkpoint that a3s 8.3 and later encrypted at rest."""


def read_checkpoint(raw: bytes, *, name: str | None = None) -> Checkpoint:
    """Parse strictly, tell the system, validate; raises Unreadable with a reason code.

    NAME is the file's own, where it is known: it may not be the name of another run. Besides
    the codes of parsing and of the formats: `encrypted`, `unsupported_system` (told apart, but
    not read yet), `unknown_system`, `key_mismatch`.
    """
    if raw.startswith(_ENCRYPTED):
        raise Unreadable(
            "encrypted", "It is an a3s checkpoint, encrypted at rest; only a3s itself can open it."
        )
    document = jsontext.parse(raw)
    for system in FORMATS.values():
        if system.looks_like(document):
            checkpoint = system.read(raw, document)
            wrong = None if name is None else system.misplaced(name, checkpoint)
            if wrong is not None:
                raise Unreadable("key_mismatch", wrong)
            return checkpoint
    unsupported = _unsupported(document)
    if unsupported is not None:
        raise Unreadable(
            "unsupported_system",
            f"It is a checkpoint of {unsupported}, which this version of Lineclear does not read.",
        )
    raise Unreadable(
        "unknown_system", "It is a JSON object, but of no agent system that Lineclear knows."
    )


def _unsupported(document: dict[str, Json]) -> str | None:
    """Name a system that is told by its keys although no registered format reads it."""
    keys = document.keys()
    if {"schema", "version", "payload"} <= keys:
        schema = document["schema"]
        return (
            "starweaver" if isinstance(schema, str) and schema.startswith("starweaver.") else None
        )
    if {"checkpoint_id", "state"} <= keys:
        return "starweaver"
    return None
