"""All copies of one run that can be seen, held together while one of them is started.

An operator's turn excludes that operator's own starts only. What two operators have in common, with
homes or uids of their own, are the folders in which the copies stand: both lock all that they see,
in one order, look once more, and start; the lock is freed once that start stands on disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from lineclear.core.errors import Refusal, StoreRefused, Unreadable
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.relaunch.everywhere import look_everywhere
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.run_name import name_of, name_of_row
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.folder_lock import FolderLock
from lineclear.core.ledger.going_lock import refuse_going_on
from lineclear.core.ledger.patience import Patience
from lineclear.core.ledger.turn import name_of_run, said, turn, turn_waited_for
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded

_LEAVE_ONE: Final = worded(
    "Copies of this run stand in several folders; leave one of them, and try again."
)
_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.02


@contextmanager
def only_start(
    shown: Shown, settings: Settings, *, patience_s: float = _PATIENCE_S
) -> Iterator[Sequence[Row]]:
    """Be the only one who starts a run, among all who see one of its copies; gives a last look.

    Raises Refusal: `alive` (this operator's own start of it goes on), `being_started` (another one
    has it after PATIENCE_S), `start_lock` (a lock cannot be taken: nothing is started then);
    LineclearError (`home_relative`).
    """
    name = name_of(shown)
    with turn(name, patience_s=patience_s):
        refuse_going_on(name)
        copies = _Copies(name, shown.store, Patience(patience_s))
        with contextlib.closing(copies):
            with copies.patience.waiting():
                while True:
                    if not copies.take():
                        copies.patience.pause(_PAUSE_S)
                        continue
                    rows = look_everywhere(shown.store, settings)
                    if copies.cover(rows):
                        break
            yield rows


@asynccontextmanager
async def only_start_of_run(
    run_id: str, store: Path, settings: Settings, *, patience_s: float = _PATIENCE_S
) -> AsyncIterator[Sequence[Row]]:
    """Do as `only_start` for the run of this id in STORE; whoever waits can be cancelled."""
    name = name_of_run(run_id)
    async with turn_waited_for(name, patience_s=patience_s):
        refuse_going_on(name)
        copies = _Copies(name, store, Patience(patience_s))
        with contextlib.closing(copies):
            with copies.patience.waiting():
                while True:
                    if not copies.take():
                        await asyncio.sleep(_PAUSE_S)
                        continue
                    rows = await asyncio.to_thread(look_everywhere, store, settings)
                    if copies.cover(rows):
                        break
            yield rows


class _Copies:
    """The locked folders of the copies of one run.

    Each watcher takes them in the order of device and inode, so none waits for another in a ring.
    """

    def __init__(self, name: str, store: Path, patience: Patience) -> None:
        self._name = name
        self._store = Path(os.path.realpath(store))
        self.patience = patience
        # Most runs have no copy: then this one is locked, and one look is enough.
        self._folders = _opened([self._store])

    def take(self) -> bool:
        """Take the locks that are free, in order; True: all are held. Raises Refusal."""
        for folder in self._folders:
            try:
                taken = folder.try_take()
            except StoreRefused as why:
                if why.code == "no_locks" and len(self._folders) == 1:
                    # Of no copy its start record alone decides who starts it.
                    return True
                raise _no_lock(why) from why
            if not taken:
                self._refuse_late(folder.path)
                return False
        return True

    def cover(self, rows: Iterable[Row]) -> bool:
        """Tell whether every copy among ROWS is held; else free all, to take those instead."""
        paths = {row.store for row in rows if name_of_row(row) == self._name} | {self._store}
        found = _opened(paths)
        held = {folder.identity for folder in self._folders}
        if held.issuperset(folder.identity for folder in found):
            _close(found)
            return True
        alone = len(self._folders) == 1
        self.close()
        self._folders = found
        if not alone:
            # Once more, since a copy came between.
            self._refuse_late(self._store)
        return False

    def close(self) -> None:
        """Free all."""
        _close(self._folders)

    def _refuse_late(self, path: Path) -> None:
        shown = path_text(path)
        if self.patience.over:
            raise Refusal(
                worded(
                    "Not started: {path} is locked by another program, which may be starting a"
                    " copy of this run; try again once it has come to its end.",
                    path=shown,
                ),
                code="being_started",
            )
        self.patience.tell(
            worded(
                "{path} is locked by another program, which may be starting a copy of {run}.",
                path=shown,
                run=said(self._name),
            )
        )


def _opened(paths: Iterable[Path]) -> list[FolderLock]:
    """Open folders, each once, in the order to lock them; one that is gone holds no copy."""
    found: dict[tuple[int, int], FolderLock] = {}
    try:
        for path in paths:
            try:
                folder = FolderLock(path)
            except Unreadable as why:
                if why.code == "absent":
                    continue
                raise _no_lock(why) from why
            if found.setdefault(folder.identity, folder) is not folder:
                folder.close()
    except BaseException:
        _close(found.values())
        raise
    return [found[identity] for identity in sorted(found)]


def _close(folders: Iterable[FolderLock]) -> None:
    for folder in folders:
        folder.close()


def _no_lock(why: StoreRefused | Unreadable) -> Refusal:
    cure = "" if why.code != "no_locks" else _LEAVE_ONE
    told = worded(
        "Not started: a folder in which a copy of this run stands cannot be kept from being started"
        " twice. {why}",
        why=why.sentence,
    )
    return Refusal(
        joined((told, cure)),
        code="start_lock",
    )
