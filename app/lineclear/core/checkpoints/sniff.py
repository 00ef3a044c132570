"""The registry of systems, and telling which one wrote a document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lineclear.core.checkpoints import a3s, jsontext, lc_agents, starweaver
from lineclear.core.errors import Unreadable

if TYPE_CHECKING:
    from lineclear.core.checkpoints.model import Checkpoint, Format

FORMATS: dict[str, Format] = {
    lc_agents.NAME: lc_agents.LcAgents(),
    a3s.NAME: a3s.A3s(),
    starweaver.NAME: starweaver.Starweaver(),
}
"""Registered formats by name; adding a system is one module and one entry here."""

_ENCRYPTED: Final = b"A3SE"
"""First bytes of a checkpoint that a3s 8.3 and later encrypted at rest."""


def read_checkpoint(raw: bytes, *, name: str | None = None) -> Checkpoint:
    """Parse strictly, tell the system, validate; raises Unreadable with a reason code.

    NAME is the file's own, where it is known: it must be one that the system uses, and not that
    of another run. Besides the codes of parsing and of the formats: `encrypted`,
    `unknown_system`, `misplaced`, `key_mismatch`.
    """
    if raw.startswith(_ENCRYPTED):
        raise Unreadable(
            "encrypted", "It is an a3s checkpoint, encrypted at rest; only a3s itself can open it."
        )
    document = jsontext.parse(raw)
    for system in FORMATS.values():
        if system.looks_like(document):
            checkpoint = system.read(raw, document)
            if name is not None:
                _refuse_misplaced(system, name, checkpoint)
            return checkpoint
    raise Unreadable(
        "unknown_system", "It is a JSON object, but of no agent system that Lineclear knows."
    )


def system_of_file(path: Path) -> str:
    """Tell by name and folder which system's checkpoint a file would be, "" for none's."""
    for system in FORMATS.values():
        for rule in system.files:
            above = path.parent.parts[len(path.parent.parts) - len(rule.folder) :]
            if above == rule.folder and re.fullmatch(rule.pattern, path.name):
                return system.name
    return ""


def _refuse_misplaced(system: Format, name: str, checkpoint: Checkpoint) -> None:
    # What happens to a file follows from its system, so its place has to be that system's too.
    if not any(re.fullmatch(rule.pattern, name) for rule in system.files):
        raise Unreadable(
            "misplaced",
            f"It is a checkpoint of {system.name}, but not under a name that {system.name} uses.",
        )
    wrong = system.misplaced(name, checkpoint)
    if wrong is not None:
        raise Unreadable("key_mismatch", wrong)
