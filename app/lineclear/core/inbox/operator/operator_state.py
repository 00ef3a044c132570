"""inbox.json: what one operator keeps for the own view: calls put off and seen, saved filters."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.inbox.operator import own_files
from lineclear.core.places import home
from lineclear.core.sentences import within, worded

T = TypeVar("T")
FILE_NAME = "inbox.json"
VERSION = 1
_MAX_BYTES = 8 << 20


class SavedFilter(BaseModel):
    """A filter line under a name."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(min_length=1, max_length=80)
    line: str = Field(max_length=2000)


class OperatorState(BaseModel):
    """The whole file; unknown keys are kept."""

    model_config = ConfigDict(extra="allow")
    v: int = Field(default=VERSION, ge=1, le=VERSION)
    snoozed: dict[str, AwareDatetime] = Field(default_factory=dict)
    """Until when each call is put off, by its id."""
    snoozed_for: dict[str, float] = Field(default_factory=dict)
    """For how many seconds each of them was put off: clocks are set, lengths are not."""
    filters: tuple[SavedFilter, ...] = ()
    seen: dict[str, str] = Field(default_factory=dict)
    """In which state each call was that the operator had in the pane, by its id."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read, and what has to be said about it: a sentence, or "" where all is well."""

    state: OperatorState
    said: str = ""


def state_path(folder: Path | None = None) -> Path:
    """Where the file stands; it may be absent."""
    return (home() if folder is None else folder) / FILE_NAME


def load(folder: Path | None = None) -> Loaded:
    """Read the file; absent: nothing is kept. One that is damaged is moved aside, and that is said.

    Never raises: without this file the inbox shows every call, which is the safe way.
    """
    path = state_path(folder)
    try:
        raw = read_file(os.path.realpath(path), max_bytes=_MAX_BYTES, others_may_write=True).raw
        jsontext.parse(raw)
        return Loaded(OperatorState.model_validate_json(raw))
    except Unreadable as why:
        if why.code == "absent":
            return Loaded(OperatorState())
        return Loaded(OperatorState(), _set_aside(path, within(why.sentence)))
    except ValidationError as why:
        first = why.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or worded("the file")
        return Loaded(
            OperatorState(),
            _set_aside(path, worded("{place}: {fault}", place=place, fault=first["msg"])),
        )


def save(state: OperatorState, folder: Path | None = None) -> None:
    """Write the file whole and durable; raises LineclearError (`state_unwritable`), NotConfirmed.

    What stands there and cannot be understood is moved aside first, never written over.
    """
    path = state_path(folder)
    loaded = load(folder)
    if loaded.said and os.path.lexists(path):
        raise LineclearError(loaded.said, code="state_unwritable")
    raw = jsontext.pretty(state.model_dump(mode="json")) + b"\n"
    try:
        own_files.write(path, raw)
    except OSError as why:
        raise LineclearError(
            worded(
                "What is snoozed and saved was not kept: {folder}: {why}.",
                folder=str(path.parent),
                why=why.strerror or str(why),
            ),
            code="state_unwritable",
        ) from why


def save_changes(state: OperatorState, before: OperatorState, folder: Path | None = None) -> None:
    """Write what became of BEFORE in STATE over what stands there now: other windows write too.

    Raises as `save` does.
    """
    loaded = load(folder)
    if loaded.said and os.path.lexists(state_path(folder)):
        raise LineclearError(loaded.said, code="state_unwritable")
    save(_merged(state, before, loaded.state), folder)


def _merged(mine: OperatorState, before: OperatorState, theirs: OperatorState) -> OperatorState:
    filters = _changed_in(
        *({one.name: one for one in state.filters} for state in (mine, before, theirs))
    )
    return theirs.model_copy(
        update={
            "snoozed": _changed_in(mine.snoozed, before.snoozed, theirs.snoozed),
            "snoozed_for": _changed_in(mine.snoozed_for, before.snoozed_for, theirs.snoozed_for),
            "seen": _changed_in(mine.seen, before.seen, theirs.seen),
            "filters": tuple(filters.values()),
        }
    )


def _changed_in(mine: dict[str, T], before: dict[str, T], theirs: dict[str, T]) -> dict[str, T]:
    """Do to THEIRS what was done to BEFORE to make it MINE."""
    gone = before.keys() - mine.keys()
    kept = {key: value for key, value in theirs.items() if key not in gone}
    return kept | {key: value for key, value in mine.items() if before.get(key) != value}


def _set_aside(path: Path, why: str) -> str:
    shown = visible_line(str(path))
    told = worded(
        "What you had snoozed and saved in {path} cannot be understood: {why}.", path=shown, why=why
    )
    with contextlib.suppress(OSError):
        aside = own_files.keep_aside(path)
        return worded(
            "{told} It is kept as {name}; every call is shown.", told=told, name=aside.name
        )
    return worded(
        "{told} It could not be moved aside; every call is shown, and nothing new is kept.",
        told=told,
    )
