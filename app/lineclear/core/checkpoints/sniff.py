"""The registry of systems, and telling which one wrote a document."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints import a3s, jsontext, lc_agents, starweaver
from lineclear.core.checkpoints.model import Checkpoint, Counters, Format, Head, Position
from lineclear.core.checkpoints.parsed import parsed
from lineclear.core.checkpoints.uncollected import uncollected
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

FORMATS: dict[str, Format] = {
    lc_agents.NAME: lc_agents.LcAgents(),
    a3s.NAME: a3s.A3s(),
    starweaver.NAME: starweaver.Starweaver(),
}
"""Registered formats by name; adding a system is one module and one entry here."""

LISTED_WHOLE: Final = 4 << 20
"""Bytes of a checkpoint up to which a list parses it whole."""
LONG: Final = 1 << 20
"""Bytes above which reading a checkpoint makes so many objects that others feel it."""
_HEAD_BYTES: Final = 64 << 10
_ENCRYPTED: Final = b"A3SE"
"""First bytes of a checkpoint that a3s 8.3 and later encrypted at rest."""


def read_checkpoint(raw: bytes, *, name: str | None = None) -> Checkpoint:
    """Parse strictly, tell the system, validate; raises Unreadable with a reason code.

    NAME is the file's own, where it is known: it must be one that the system uses, and not that
    of another run. Besides the codes of parsing and of the formats: `encrypted`,
    `unknown_system`, `misplaced`, `key_mismatch`.
    """
    _refuse_encrypted(raw, name)
    if len(raw) <= LONG:
        return _read(raw, name)
    with uncollected():
        return _read(raw, name)


def _read(raw: bytes, name: str | None) -> Checkpoint:
    checkpoint = parsed(raw, _parse)
    if name is not None:
        _refuse_misplaced(FORMATS[checkpoint.system], name, checkpoint)
    return checkpoint


def _parse(raw: bytes) -> Checkpoint:
    document = jsontext.parse(raw)
    for system in FORMATS.values():
        if system.looks_like(document):
            return system.read(raw, document)
    raise Unreadable(
        "unknown_system",
        worded("It is a JSON object, but of no agent system that Lineclear knows."),
    )


def read_checkpoint_head(raw: bytes, *, name: str) -> Checkpoint | None:
    """Tell from its ends what a long checkpoint is; None where the whole has to be parsed.

    What is given has no `raw` and an empty `document`. Raises Unreadable: `encrypted`,
    `misplaced`, `key_mismatch`; what is wrong further on is found when the whole is read.
    """
    _refuse_encrypted(raw, name)
    for system in FORMATS.values():
        head = system.read_head(raw[:_HEAD_BYTES])
        if head is None:
            continue
        sha256 = hashlib.sha256(raw).hexdigest()
        around = system.read_around(raw)
        if around is not None:
            checkpoint = replace(around, raw=b"", sha256=sha256, document={})
        else:
            checkpoint = _by_head(system, head, sha256)
        _refuse_misplaced(system, name, checkpoint)
        return checkpoint
    return None


def _by_head(system: Format, head: Head, sha256: str) -> Checkpoint:
    return Checkpoint(
        system=system.name,
        raw=b"",
        sha256=sha256,
        document={},
        counters=Counters(head.iteration),
        position=Position(head.run_id, step=head.iteration, conversation_id=head.conversation_id),
        resumable=True,
        unfinished=True,
        partly_read=True,
    )


def _refuse_encrypted(raw: bytes, name: str | None) -> None:
    if not raw.startswith(_ENCRYPTED):
        return
    told = worded("It is an a3s checkpoint, encrypted at rest; only a3s itself can open it.")
    others = (rule for one in FORMATS.values() if one.name != a3s.NAME for rule in one.files)
    if name is not None and any(re.fullmatch(rule.pattern, name) for rule in others):
        told = worded(
            "It is encrypted, as a3s does it; only the program that wrote it can open it."
        )
    raise Unreadable("encrypted", told)


def system_of_file(path: Path) -> str:
    """Tell by name and folder which system's checkpoint a file would be, "" for none's."""
    for system in FORMATS.values():
        for rule in system.files:
            above = path.parent.parts[len(path.parent.parts) - len(rule.folder) :]
            if above == rule.folder and re.fullmatch(rule.pattern, path.name):
                return system.name
    return ""


def counted(name: str) -> str:
    """Tell what a system by that NAME counts as a run goes on: `turns`, `iterations` ..."""
    return FORMATS[name].counts if name in FORMATS else Format.counts


def _refuse_misplaced(system: Format, name: str, checkpoint: Checkpoint) -> None:
    # What happens to a file follows from its system, so its place has to be that system's too.
    if not any(re.fullmatch(rule.pattern, name) for rule in system.files):
        raise Unreadable(
            "misplaced",
            worded(
                "It is a checkpoint of {name}, but not under a name that {name} uses.",
                name=system.name,
            ),
        )
    wrong = system.misplaced(name, checkpoint)
    if wrong is not None:
        raise Unreadable("key_mismatch", wrong)
