"""Calls of one id in several folders: all but one are copies, and whose word goes where must show.

A request's bytes, number and ids can be copied by anyone who may read them, into a folder of their
own. Which of two is the copy no file says for sure; a name that comes first least of all.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded, worded_count

DUPLICATE: Final = "duplicate_id"
_ALIVE: Final = frozenset({Process.ALIVE, Process.ELSEWHERE})


def by_shown_id(found: Mapping[Path, Row]) -> list[tuple[Path, Row, bool]]:
    """Give the rows of one id by their folders, and of each whether it stands under that id.

    Where their folders have different owners, or more than one has an agent that lives, none does:
    an operator could be shown the copy, and their word on the real call be lost. Else the one
    whose agent lives does, or the one that was found first. The others get an id of their own.
    """
    if len(found) == 1:
        return [(place, row, True) for place, row in found.items()]
    standing = _standing(found)
    shown = []
    for place, row in found.items():
        stands = place == standing
        given = row if stands else _as_copy(row, place, found, standing)
        shown.append((place, given, stands))
    return shown


def _standing(found: Mapping[Path, Row]) -> Path | None:
    first = next(iter(found))
    if len({_folder(place) for place in found}) == 1:
        # One folder that is mounted at several places.
        return first
    alive = [place for place, row in found.items() if row.process in _ALIVE]
    if len({row.user for row in found.values()}) > 1 or len(alive) > 1:
        return None
    return alive[0] if alive else first


def _folder(place: Path) -> tuple[int, int] | Path:
    """Name a folder by what no other path to it changes."""
    try:
        status = place.stat()
    except OSError:
        return place
    return status.st_dev, status.st_ino


def _as_copy(row: Row, place: Path, found: Mapping[Path, Row], standing: Path | None) -> Row:
    """Show a call whose id stands elsewhere too: visible, never decidable."""
    digest = hashlib.sha256(f"{row.id}\n".encode() + os.fsencode(place)).hexdigest()
    return as_copy(replace(row, id=digest, call_id=row.id), _told(row, place, found, standing))


def as_copy(row: Row, told: str | None) -> Row:
    """Give a row as nobody can decide or resume it, since TOLD."""
    return replace(
        row,
        state=State.UNREADABLE,
        reason_code=DUPLICATE,
        reason=told,
        decision=None,
        outcome=None,
        closed=False,
    )


def _told(row: Row, place: Path, found: Mapping[Path, Row], standing: Path | None) -> str:
    others = [one for one in found if one != place]
    if standing is not None:
        # What is decided first, however many copies there are.
        others = sorted(others, key=lambda one: one != standing)
    said: str = worded(
        "A call with the same id, {id}, is in {one} and in {other}: one is a copy.",
        id=row.id[:8],
        one=_with_owner(place, row),
        other=_with_owner(others[0], found[others[0]]),
    )
    left = len(others) - 1
    if left:
        more = worded_count("It is in {n} more folder too.", "It is in {n} more folders too.", left)
        said = joined([said, more])
    if standing is None:
        then = worded(
            "None of them can be decided or resumed; remove the copy, as its owner or as root."
        )
    else:
        then = worded(
            "The one in {folder} is decided; remove the copy.", folder=path_text(standing)
        )
    return joined([said, then])


def _with_owner(place: Path, row: Row) -> str:
    if row.user is None:
        return path_text(place)
    return worded("{folder} (of user {uid})", folder=path_text(place), uid=row.user)
