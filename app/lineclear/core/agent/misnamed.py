"""Checkpoints under a name that is not their run's own: of no use, but not nothing either.

A file that was renamed (`… (copy).json`, other capitals, another run's name) is never taken, as a
name says which run it is of. Beside the run's own file it is a copy. Where that is missing, whoever
goes on with the run would make calls again which the renamed one holds.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from lineclear.core.agent.reachable import MAX_BYTES, Explained
from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.run_names import runs_in
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.folders import owners_in

Decodes = Callable[[bytes], str | None]
"""Gives the run of a checkpoint; None for bytes that are none."""


def run_in(path: Path, decodes: Decodes, *, root: Path) -> str | None:
    """Give the run that a file of any name is a checkpoint of, if it is one that can be read.

    And if it belongs to who owns ROOT, the folder of the agent.
    """
    raw = _read(path, root)
    return None if raw is None else decodes(raw)


def refuse(
    folder: Path, names: Iterable[str], run_id: str, own: str, decodes: Decodes, *, root: Path
) -> None:
    """Raise Explained (`key_mismatch`) for a file of a run whose OWN name none of NAMES is.

    ROOT as for `run_in`.
    """
    names = sorted(names)
    if own in names:
        return
    for name in names:
        path = folder / name
        raw = _read(path, root)
        if raw is None or not _holds(raw, name, run_id, decodes):
            continue
        raise Explained(
            "key_mismatch",
            f"{visible_line(str(path))} holds run '{visible_line(run_id, 40)}', but has not the"
            f" name of that run's checkpoint. If it is the last one, name it {own}; if not, move it"
            " away.",
            path,
        )


def _holds(raw: bytes, name: str, run_id: str, decodes: Decodes) -> bool:
    held = decodes(raw)
    if held is not None:
        return held == run_id
    return spelled(run_id) in (runs_in(name, raw) or ())


def _read(path: Path, root: Path) -> bytes | None:
    """Read a file; None for what is no checkpoint, whatever it holds."""
    # What begins with a dot is a draft, which its writer did not come to name.
    if path.name.startswith("."):
        return None
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        return read_file(str(path), owners=owners_in(root), max_bytes=MAX_BYTES).raw
    except (OSError, Unreadable):
        return None
