"""The lanes of one run folder: each a store with one open request at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import StoreRefused
from lineclear.core.ledger.ask import Call, call_key, open_request
from lineclear.core.ledger.layout import LANE_NAME
from lineclear.core.ledger.store import Store

MAX_LANES = 256
"""Calls that wait at one time; further ones wait for a lane first."""
_KEPT_OPEN = 16


class Lane:
    """One lane that is in use by one call."""

    def __init__(self, number: int, store: Store, key: str) -> None:
        self.number = number
        self.store = store
        self.key = key
        self.released = False


class Lanes:
    """Gives each call the lane that holds it, else the lowest that is free; safe for threads.

    A lane that holds another call of an earlier process is free: asking there withdraws the old
    call, which nobody waits for any more.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._busy: dict[int, str] = {}
        self._stores: dict[int, Store] = {}
        self._waiting: dict[int, str] | None = None
        """call_key of the open request that an earlier process left in a lane."""
        self._unsure: set[int] = set()
        """Lanes of calls that ended in an error: their request may still be open."""
        self._keyed: dict[str, int] | None = None
        """Lane of each key that was ever asked; read when the first call with a key comes."""
        self._freed: Future[None] = Future()

    def take(self, call: Call) -> Lane | Future[None]:
        """Take a lane; a future instead: none is to be had until some call ends, then try again.

        A call whose key is in use waits for it: one key is one call.
        """
        with self._lock:
            if len(self._busy) >= MAX_LANES or (call.key and call.key in self._busy.values()):
                return self._freed
            number = self._find(call)
            if number is None:
                number = self._free()
            store = self._store(number)
            self._busy[number] = call.key
            self._left_over().pop(number, None)
            if call.key:
                self._known_keys()[call.key] = number
            return Lane(number, store, call.key)

    def release(self, lane: Lane, *, closed: bool) -> None:
        """Give a lane back; CLOSED: its request surely has an outcome."""
        with self._lock:
            if lane.released:
                return  # Another call may be in it by now.
            lane.released = True
            self._busy.pop(lane.number)
            if not closed:
                self._unsure.add(lane.number)
            if lane.number > _KEPT_OPEN:
                self._stores.pop(lane.number).close()
            freed, self._freed = self._freed, Future()
        freed.set_result(None)

    def close(self) -> None:
        """Close all stores."""
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()

    def _find(self, call: Call) -> int | None:
        if call.key:
            number = self._known_keys().get(call.key)
            if number is not None and number not in self._busy:
                return number
        wanted = call_key(call)
        holding = (
            number
            for number, key in sorted(self._left_over().items())
            if key == wanted and number not in self._busy
        )
        return next(holding, None)

    def _free(self) -> int:
        for number in range(1, MAX_LANES + 1):
            if number not in self._busy and (number in self._stores or self._may_take(number)):
                return number
        raise StoreRefused(
            f"{visible_line(str(self._folder))} has no lane left that belongs to this agent: remove"
            " the folders in it that are another user's.",
            code="owner",
        )

    def _left_over(self) -> dict[int, str]:
        if self._waiting is None:
            self._waiting = {}
            for number in self._numbers():
                self._remember(number)
        while self._unsure:
            self._remember(self._unsure.pop())
        return self._waiting

    def _remember(self, number: int) -> None:
        assert self._waiting is not None
        if number in self._busy:
            return
        with self._borrowed(number) as store:
            shown = open_request(store)
        if shown is not None and shown.block is not None:
            self._waiting[number] = shown.block.call_key

    def _known_keys(self) -> dict[str, int]:
        if self._keyed is None:
            self._keyed = {}
            for number in self._numbers():
                with self._borrowed(number) as store:
                    for seq, _ in store.calls(named=store.own_names()):
                        key = None if seq is None else _key_of(store, seq)
                        if key:
                            self._keyed[key] = number
        return self._keyed

    def _numbers(self) -> list[int]:
        names = [entry.name for entry in self._folder.iterdir() if entry.is_dir()]
        numbers = [int(name) for name in names if LANE_NAME.fullmatch(name)]
        return sorted(number for number in numbers if self._may_take(number))

    def _may_take(self, number: int) -> bool:
        """Tell whether a lane is none that another user of a shared source has put there."""
        try:
            return (self._folder / str(number)).lstat().st_uid == self._folder.stat().st_uid
        except FileNotFoundError:
            return True

    def _store(self, number: int) -> Store:
        if number not in self._stores:
            self._stores[number] = Store.create(self._folder / str(number))
        return self._stores[number]

    @contextlib.contextmanager
    def _borrowed(self, number: int) -> Iterator[Store]:
        if number in self._stores:
            yield self._stores[number]
            return
        with Store.create(self._folder / str(number)) as store:
            yield store


def _key_of(store: Store, seq: int) -> str | None:
    shown = store.read_request(seq)
    return None if shown.block is None else shown.block.key
