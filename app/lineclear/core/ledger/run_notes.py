"""What became of the runs of a native store, as its agent notes it: `runs.json` beside the ledger.

A run leaves no record of its own. These notes tell whoever finds a copy of one of its checkpoints
elsewhere that it went on from there.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import replace
from lineclear.core.ledger.folders import mode_of_files
from lineclear.core.ledger.records import Instant, JsonArray, Record, Version, new_nonce
from lineclear.core.ledger.store import Store
from lineclear.core.sentences import joined, worded

RUNS: Final = "runs.json"
_MOST: Final = 64
"""How many runs are told of, those noted last."""
_LONGEST_NAME: Final = 4_096
_MAX_BYTES: Final = 4 << 20
_CURE: Final = worded(
    "Look who wrote it, and put a whole copy back or remove it. Without it"
    " nobody knows any more which runs ended here: one that is begun anew"
    " under its id makes its calls again."
)


class RunNote(Record):
    """One run that was resumed here, or came to its end here."""

    kind = "run note"
    run_id: str
    resumed_at: Instant | None = None
    ended_at: Instant | None = None
    outcome: Literal["ok", "error"] | None = None
    """How it ended; None while it did not."""

    @property
    def at(self) -> datetime | None:
        """When the run is last known to have gone on."""
        return self.ended_at or self.resumed_at


class RunNotes(Record):
    """All notes of a store, the latest last."""

    kind = "runs"
    v: Version
    nonce: str = Field(pattern=r"^[0-9a-f]{32}$")
    runs: JsonArray[RunNote] = Field(default=(), max_length=_MOST)


def run_notes(store: Store) -> tuple[RunNote, ...]:
    """Give the notes of a store, the latest last; raises Unreadable where they cannot be read."""
    path = store.path / RUNS
    try:
        raw = read_file(
            RUNS,
            dir_fd=store.root_fd,
            owners=frozenset({store.owner_uid}),
            max_bytes=_MAX_BYTES,
        ).raw
    except Unreadable as why:
        if why.code == "absent":
            return ()
        raise _untold(path, why) from why
    try:
        return RunNotes.decode(raw, str(path)).runs
    except Unreadable as why:
        raise _untold(path, why) from why


def _untold(path: Path, why: Unreadable) -> Unreadable:
    # What passes, or is a matter of rights, says what to do already.
    cured = why.passing or why.code == "writable_by_others"
    said = worded(
        "{path} does not tell which runs went on here: {why}",
        path=visible_line(str(path)),
        why=why.sentence,
    )
    return Unreadable(why.code, said if cured else joined([said, _CURE]), path)


def note_resumed(store: Store, run_id: str) -> None:
    """Note that an agent goes on with a run; raises Unreadable, NotConfirmed."""
    _note(store, RunNote(run_id=run_id, resumed_at=read_now().wall))


def note_ended(store: Store, run_id: str, outcome: Literal["ok", "error"]) -> None:
    """Note that a run came to its end; raises Unreadable, NotConfirmed."""
    resumed_at = next((one.resumed_at for one in _own_notes(store) if one.run_id == run_id), None)
    ended_at = read_now().wall
    _note(store, RunNote(run_id=run_id, resumed_at=resumed_at, ended_at=ended_at, outcome=outcome))


def _own_notes(store: Store) -> tuple[RunNote, ...]:
    """Give the notes; none where another user put a file there, which is written over."""
    try:
        return run_notes(store)
    except Unreadable as why:
        if why.code != "owner":
            raise
        return ()


def _note(store: Store, note: RunNote) -> None:
    if not 0 < len(note.run_id) <= _LONGEST_NAME:
        # No other folder holds a copy under such a name: no file could be called so.
        return
    others = [one for one in _own_notes(store) if one.run_id != note.run_id]
    notes = RunNotes(v=1, nonce=new_nonce(), runs=(*others, note)[-_MOST:])
    replace(store.root_fd, RUNS, notes.encode(), mode=mode_of_files(store.group))
