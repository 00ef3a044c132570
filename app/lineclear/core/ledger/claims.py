"""Folders that claimed checkpoints are moved into: only the claiming user can change them.

What the command of a relaunch loads must be what was verified, so each folder on the way is this
user's or root's. They stand below the ledger; where a colleague owns that, in the store itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from lineclear.core.errors import Unreadable
from lineclear.core.ledger.commit import sync_folder
from lineclear.core.ledger.folders import (
    SHOWN_MODE,
    close_folder,
    descended,
    make_folder,
    names_in,
    open_folder,
    refuse_others,
    refuse_unsafe,
    status_of,
)
from lineclear.core.ledger.layout import APPROVALS, CLAIMED, OWN_CLAIMED
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.store_refusals import not_made

SHELVES: Final = ((APPROVALS, CLAIMED), (OWN_CLAIMED,))
"""Where claimed folders stand, below the store."""
_AID: Final = re.compile(r"[0-9a-f]{32}")


def shelf_of(store: Store) -> tuple[str, ...]:
    """Give the folder, by its names below the store, that what is claimed now is moved into."""
    assert store.ledger_fd is not None
    uid = status_of(store.ledger_fd, store.path / APPROVALS).st_uid
    return SHELVES[0] if uid in (system.user_id(), 0) else SHELVES[1]


def parted(folder: Path) -> tuple[Path, tuple[str, ...]] | None:
    """Part a claimed folder into its store and the names below that; None: it is no such folder."""
    if not _AID.fullmatch(folder.name):
        return None
    for shelf in SHELVES:
        above = folder.parent.parts
        if above[len(above) - len(shelf) :] == shelf:
            return folder.parents[len(shelf)], (*shelf, folder.name)
    return None


def claimed_folders(store: Store) -> list[Path]:
    """List the claimed folders of a store; raises Unreadable."""
    found: list[Path] = []
    for shelf in SHELVES:
        path = store.path.joinpath(*shelf)
        try:
            with descended(store.root_fd, store.path, shelf) as fd:
                found += [path / name for name in names_in(fd, path) if _AID.fullmatch(name)]
        except Unreadable as why:
            if why.code != "absent":
                raise
    return found


@contextmanager
def claimed_folder(store: Store, aid: str) -> Iterator[int]:
    """Make and open the claimed folder of AID, durable.

    Raises NotConfirmed, and StoreRefused: `owner` (another user made it), `writable_by_others`.
    """
    path = store.path
    with ExitStack() as opened:
        fd = store.root_fd
        for name in (*shelf_of(store), aid):
            path /= name
            try:
                made = name != APPROVALS and make_folder(
                    name, dir_fd=fd, group=store.group, mode=SHOWN_MODE
                )
            except OSError as why:
                raise not_made(path, why) from why
            if made:
                sync_folder(fd)
            fd = open_folder(name, path, dir_fd=fd)
            opened.callback(close_folder, fd)
            _refuse_changeable(fd, path)
        yield fd


def refuse_changeable(store: Store, folders: Sequence[str]) -> None:
    """Raise StoreRefused where another user can change what stands in FOLDERS below a store.

    Each is in the one before it; the last holds what is claimed.
    """
    with descended(store.root_fd, store.path, folders, _refuse_changeable):
        pass


def _refuse_changeable(fd: int, path: Path) -> None:
    status = status_of(fd, path)
    refuse_others(status, path)
    refuse_unsafe(status, path)
