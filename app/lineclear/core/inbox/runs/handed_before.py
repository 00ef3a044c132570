"""Calls of other programs that were handed over before, whatever bytes they stand in now.

A checkpoint that is written anew, or copied, holds calls with ids of ours that nothing was decided
about. What their own system knows them by is the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Checkpoint, PendingCall
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.rows.cautions import HANDED_OVER, REPEATS, RESUME_FAILED
from lineclear.core.inbox.sources.walk import Stamp, stamp
from lineclear.core.ledger.bound import NO_START
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.ended_as import UNTOUCHED
from lineclear.core.ledger.held_decision import is_of_call
from lineclear.core.ledger.layout import APPROVALS, RecordName, record_name
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Revoked, Start
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.worker import starter_of

T = TypeVar("T")


class HandedOver:
    """What the ledger of one foreign store knows of calls that were started."""

    def __init__(self, store: Store, named: Iterable[tuple[str, RecordName]]) -> None:
        self._store = store
        self._started = [parsed.aid for _, parsed in named if parsed.kind == "start"]
        self._codes: dict[str, dict[str, str]] | None = None
        self._runs: dict[str, dict[str, frozenset[str]]] | None = None

    def codes(self, shown: Shown) -> tuple[str, ...]:
        """Give the warnings of a call that was started under another id; () of any other.

        Those of a run without a call are of all that was started of that run and did not end well,
        in whatever bytes it stood. Raises Unreadable where a look failed for a moment.
        """
        call = shown.call
        if not set(self._started) - {shown.aid}:
            return ()
        if call is None:
            of_run = self._failed_runs().get(_run_key(shown.checkpoint) or "", {})
            found = (codes for aid, codes in of_run.items() if aid != shown.aid)
            return tuple(frozenset().union(*found))
        named = call_key(shown.checkpoint, call)
        earlier = self._earlier().get(named, {}) if named is not None else {}
        return tuple({code for aid, code in earlier.items() if aid != shown.aid})

    def _earlier(self) -> dict[str, dict[str, str]]:
        """Give, by what names a call, the warning for it by each id that it was started under."""
        if self._codes is None:
            self._codes = self._by_name(_started_call)
        return self._codes

    def _failed_runs(self) -> dict[str, dict[str, frozenset[str]]]:
        """Give, by what names a run, its warnings by each id that something of it started under."""
        if self._runs is None:
            unended = self._by_name(_not_ended_well)
            self._runs = {
                run: {aid: one.codes for aid, one in of.items() if not self._goes_on(one.start)}
                for run, of in unended.items()
            }
        return self._runs

    def _by_name(
        self, read: Callable[[Path, str, tuple[Stamp, ...]], tuple[str, T] | None]
    ) -> dict[str, dict[str, T]]:
        """Give what READ says of each start, by the name that it gives and the start's id."""
        found: dict[str, dict[str, T]] = {}
        for aid, stamps in self._stamped():
            said = read(self._store.path, aid, stamps)
            if said is not None:
                found.setdefault(said[0], {})[aid] = said[1]
        return found

    def _goes_on(self, start: Start | None) -> bool:
        """Tell whether what has no outcome yet lives, or may: then nothing of it has failed."""
        return start is not None and starter_of(self._store, start) is not Process.DEAD

    def _stamped(self) -> Iterator[tuple[str, tuple[Stamp, ...]]]:
        ledger = self._store.path / APPROVALS
        for aid in self._started:
            assert aid is not None
            records = (record_name(kind, seq=None, aid=aid) for kind in ("start", "outcome"))
            yield aid, tuple(stamp(os.fspath(ledger / name)) for name in records)


def call_key(checkpoint: Checkpoint, call: PendingCall) -> str | None:
    """Name a call as its system does, or by all that its checkpoint says; None: it has no text."""
    said = [call.item, checkpoint.document] if call.identity is None else call.identity
    try:
        text = jsontext.canonical([checkpoint.system, said])
    except ValueError:
        return None
    return hashlib.sha256(text).hexdigest()


# Records never change: a ledger is read again only for what came to it since.
@lru_cache(maxsize=1 << 14)
def _started_call(path: Path, aid: str, _stamps: tuple[Stamp, ...]) -> tuple[str, str] | None:
    """Name the call that was started, and the warning for another one that is the same."""
    with Store.open(path) as store:
        try:
            start = store.reader.start(None, aid)
            if isinstance(start, Revoked) or not is_of_call(start, aid):
                # Of the run as a whole, none of whose calls was started by it.
                return None
            item = start.decision.get("item")
        except Unreadable as why:
            why.raise_if_passing()
            if why.code in NO_START:
                return None
            # Damaged: something may have been started.
            item = _item_of(store, aid)
        try:
            request = store.reader.request(None, aid)
        except Unreadable as why:
            why.raise_if_passing()
            return None
        call = request.checkpoint.call_of(item if isinstance(item, str) else "")
        key = None if call is None else call_key(request.checkpoint, call)
        if call is None or key is None:
            return None
        # Only by its content: a run that asks the same each night is no second one of this.
        again = call.identity is None and _ran_well(store, aid)
        return key, REPEATS if again else HANDED_OVER


def _run_key(checkpoint: Checkpoint) -> str | None:
    at = checkpoint.position
    return None if at is None else f"{checkpoint.system}\n{at.run_id}"


@dataclass(frozen=True, slots=True)
class _Unended:
    """What was started of a run and did not end well, or has not ended yet."""

    codes: frozenset[str]
    """The warnings for going on with the run, if it failed."""
    start: Start | None
    """What started it, where no outcome stands; None where one does, or nobody can tell."""


@lru_cache(maxsize=1 << 14)
def _not_ended_well(
    path: Path, aid: str, _stamps: tuple[Stamp, ...]
) -> tuple[str, _Unended] | None:
    """Name the run of what was started and has not ended well."""
    with Store.open(path) as store:
        try:
            start = store.reader.start(None, aid)
        except Unreadable as why:
            why.raise_if_passing()
            if why.code in NO_START:
                return None
            # Damaged: something may have been started.
            start = None
        try:
            request = store.reader.request(None, aid)
        except Unreadable as why:
            why.raise_if_passing()
            return None
        key = _run_key(request.checkpoint)
        if key is None or isinstance(start, Revoked):
            return None
        well = _ended_well(store, aid)
        if well:
            return None
        of_call = start is None or is_of_call(start, aid)
        codes = (RESUME_FAILED, HANDED_OVER) if of_call else (RESUME_FAILED,)
        return key, _Unended(frozenset(codes), start if well is None else None)


def _ended_well(store: Store, aid: str) -> bool | None:
    """Tell whether it ended as it should, or an operator found that it ran; None: no end yet."""
    try:
        outcome = store.reader.outcome(None, aid)
    except Unreadable as why:
        why.raise_if_passing()
        return None if why.code == "absent" else False
    return outcome.outcome == "ok" or outcome.resolution == "ran"


def _item_of(store: Store, aid: str) -> str | None:
    try:
        return store.reader.decision(None, aid)[0].item
    except Unreadable as why:
        why.raise_if_passing()
        return None


def _ran_well(store: Store, aid: str) -> bool:
    try:
        ended = store.reader.outcome(None, aid)
    except Unreadable as why:
        why.raise_if_passing()
        return False
    return ended.outcome == "ok" and ended.code != UNTOUCHED
