"""What a started command reads of the decisions: copies that nobody but its own user can change.

A record belongs to who wrote it, and the folder of the records to who made that: either could put
something else there once a start is recorded. The copies stay for as long as a decision counts.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lineclear.core.errors import LineclearError, Refusal
from lineclear.core.ledger.commit import commit
from lineclear.core.ledger.folders import (
    close_folder,
    make_folder,
    make_folders,
    names_in,
    open_folder,
    refuse_others,
    refuse_unsafe,
    remove_own,
    status_of,
)
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.ledger.records import new_nonce
from lineclear.core.places import path_text, state
from lineclear.core.sentences import worded

FOLDER: Final = "handed"
DECISION: Final = "decision.json"
RESULTS: Final = "results.json"
_NAMED: Final = {DECISION: "LINECLEAR_DECISION", RESULTS: "LINECLEAR_RESULTS"}
_KEPT_S: Final = 30 * 24 * 3600
"""No decision counts for longer."""


def hand(decision: bytes, results: bytes | None = None) -> dict[str, str]:
    """Put them into a fresh folder of this user's; gives the environment that names the files.

    Raises Refusal (`no_place`): nothing may be started without them.
    """
    path = state() / FOLDER
    given = ((DECISION, decision), (RESULTS, results))
    files = {name: data for name, data in given if data}
    try:
        make_folders(path)
        shelf = open_folder(path, path)
        try:
            status = status_of(shelf, path)
            refuse_others(status, path)
            refuse_unsafe(status, path)
            _tidy(shelf, path)
            folder = _put(shelf, path, files)
        finally:
            close_folder(shelf)
    except OSError as why:
        told = worded("{path}: {why}.", path=path_text(path), why=oserrors.reason(why))
        raise _refused(told) from why
    except LineclearError as why:
        raise _refused(why.sentence) from why
    return {_NAMED[name]: os.fspath(folder / name) for name in files}


def _put(shelf: int, path: Path, files: Mapping[str, bytes]) -> Path:
    name = new_nonce()
    make_folder(name, dir_fd=shelf)
    fd = open_folder(name, path / name, dir_fd=shelf)
    try:
        for file, data in files.items():
            commit(fd, file, data)
    finally:
        close_folder(fd)
    return path / name


def _tidy(shelf: int, path: Path) -> None:
    for name in names_in(shelf, path):
        with contextlib.suppress(OSError):
            if time.time() - system.status(shelf, name).st_mtime > _KEPT_S:
                remove_own(name, dir_fd=shelf, files=frozenset((DECISION, RESULTS)))


def _refused(why: str) -> Refusal:
    return Refusal(
        worded("Not started: what was decided cannot be handed to the command. {why}", why=why),
        code="no_place",
    )
