"""One store folder, opened: its descriptors, its owner rules, its records."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import Unreadable
from lineclear.core.ledger import store_refusals
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.commit import Commit, commit, remove_leftovers, replace, sync_folder
from lineclear.core.ledger.folders import (
    close_folder,
    make_folder,
    make_folders,
    mode_of_files,
    names_in,
    open_folder,
    refuse_unsafe,
    shared_with,
    status_of,
    uid_of,
)
from lineclear.core.ledger.lane import Lane
from lineclear.core.ledger.layout import (
    APPROVALS,
    FORMAT,
    PENDING,
    RESULTS_NAME,
    RecordKind,
    RecordName,
    parse_name,
    record_name,
)
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.ledger.reading import RecordReader
from lineclear.core.ledger.records import StoreFormat, new_nonce
from lineclear.core.ledger.sharing import (
    foreign_operators,
    inherited_group,
    shared_operators,
)

__all__ = ["CallRecords", "Shown", "Store"]

_NO_FOLDER = -1


class Store:
    """An opened store; use as a context manager. Every reader checks owners and modes.

    Attributes:
        path: the folder, absolute.
        native: whether `.approvals/FORMAT` marks it as ours.
        store_id: 32 hex, or None in a foreign store.
        owner_uid: uid of the folder, which must own request, start, outcome, launch and FORMAT.
        operators: uids whose decisions count. Default: the owner and root; in a store that is
            shared with a group of operators, that group's members but not the owner, and root.
        group: gid of the operators who share the store (FORMAT names it), None with one user.
        lane: what this process remembers of its requests, for the agent's ask.
        unconfirmed_starts: bytes of start records whose commit was not confirmed, by aid.
        worker_lock: whether this process starts what it does under the lock of a worker.
    """

    path: Path
    native: bool
    store_id: str | None
    owner_uid: int
    operators: frozenset[int]
    group: int | None
    lane: Lane
    unconfirmed_starts: dict[str, bytes]
    worker_lock: bool

    def __init__(
        self,
        path: Path,
        *,
        operators: frozenset[int] | None = None,
        found: bool = False,
        group: int | None = None,
    ) -> None:
        # Not resolved: the last component is opened without following a link.
        self.path = Path(os.path.abspath(path))
        self.native = False
        self.store_id = None
        self.group = None
        self.operators = frozenset()
        self.lane = Lane()
        self.unconfirmed_starts = {}
        self.worker_lock = False
        self._ledger_fd = _NO_FOLDER
        self._root_fd = open_folder(self.path, self.path)
        try:
            self._status = status_of(self._root_fd, self.path)
            self.owner_uid = self._status.st_uid
            refuse_unsafe(self._status, self.path)
            if found:
                self._refuse_foreign_owner()
            self._enter_ledger()
            if found and not self.native:
                self._found(group)
            self._settle_operators(operators)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, path: Path, *, operators: frozenset[int] | None = None) -> Self:
        """Open an existing store, native or foreign, without writing.

        Raises Unreadable(absent, symlink ...) and StoreRefused(`writable_by_others`, `store_moved`,
        `owner`, `damaged`).
        """
        return cls(path, operators=operators)

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        operators: frozenset[int] | None = None,
        group: int | None = None,
    ) -> Self:
        """Open or make a native store (folders 0700, FORMAT committed, parents fsynced).

        For agents. GROUP is the gid of operators with other uids, by default that of a folder
        above that is shared with them (3770); new folders are then 3770 and files 0640. Raises
        what `open` raises, NotConfirmed, and StoreRefused: `owner` (the folder is another user's),
        `foreign_pending` (another program's checkpoint waits in it), `not_in_group`.
        """
        path = Path(os.path.abspath(path))
        if group is None:
            group = inherited_group(path)
        try:
            make_folders(path, group=group)
        except OSError as why:
            raise store_refusals.not_made(path, why) from why
        store = cls(path, operators=operators, found=True, group=group)
        for fd in (store.root_fd, store.ledger_fd):
            if fd is not None:
                remove_leftovers(fd)
        return store

    def begin_foreign_ledger(self) -> None:
        """Make `.approvals` in a foreign store, so that a decision can be committed.

        Touches nothing else. Raises NotConfirmed, StoreRefused.
        """
        if self._ledger_fd == _NO_FOLDER:
            self._make_ledger(shared_with(self._status))
            self._enter_ledger()

    def names(self) -> list[tuple[str, RecordName]]:
        """List the record names of `.approvals`, sorted; [] where there is none."""
        if self._ledger_fd == _NO_FOLDER:
            return []
        return self._names_of("")

    def calls(
        self, *, named: Iterable[tuple[str, RecordName]] | None = None
    ) -> list[tuple[int | None, str | None]]:
        """List (seq, aid) of every call that any record names, oldest first.

        One entry per number in a native store: its aid where exactly one is named, else None,
        and `records` tells. Foreign calls have no order: they are sorted by aid. NAMED is a
        listing by `names`, where the caller has one.
        """
        numbered: dict[int, set[str]] = {}
        foreign: set[str] = set()
        for _, name in self.names() if named is None else named:
            if name.seq is not None:
                numbered.setdefault(name.seq, set()).update([name.aid] if name.aid else [])
            elif name.aid is not None:
                foreign.add(name.aid)
        calls: list[tuple[int | None, str | None]] = [(None, aid) for aid in sorted(foreign)]
        for seq in sorted(numbered):
            aids = numbered[seq]
            calls.append((seq, next(iter(aids)) if len(aids) == 1 else None))
        return calls

    def records(
        self,
        seq: int | None,
        aid: str | None,
        *,
        named: Iterable[tuple[str, RecordName]] | None = None,
    ) -> CallRecords:
        """Read all records of one call, and tell what lies beside them.

        NAMED is a listing by `names`, where the caller has one: the records are told as it says.
        """
        if self._ledger_fd == _NO_FOLDER:
            return CallRecords(seq=seq, aid=aid or "")
        if named is None:
            named = self._names_of(aid if seq is None else f"{seq:06d}")
            return self.reader.call(seq, aid, named)
        return self.reader.call(seq, aid, named, as_listed=True)

    def known_records(self, seq: int | None, aid: str) -> CallRecords:
        """Read the records of one call by their names, without listing the folder.

        Tells no strays of other calls and no launches; late outcomes are found while their numbers
        follow on each other, but that which counts is found under any.
        """
        if self._ledger_fd == _NO_FOLDER:
            return CallRecords(seq=seq, aid=aid)
        return self.reader.known(seq, aid)

    def has_request(self, seq: int) -> bool | None:
        """Tell whether a request of that number stands; None: a file of who may write none."""
        uid = self._uid_of(record_name("request", seq=seq, aid=None))
        return False if uid is None else (True if uid == self.owner_uid else None)

    def own_names(self) -> list[tuple[str, RecordName]]:
        """List as `names` does, without what does not count by its owner.

        What operators add to a call that nobody asked for says nothing, an end of theirs counts.
        """
        named = self.names()
        if self.group is None:
            return named
        own = [one for one in named if self._uid_of(one[0]) == self.owner_uid]
        asked = {record.seq for _, record in own if record.kind == "request"}
        ends = [one for one in named if one[1].kind == "outcome" and one[1].seq in asked]
        return own + [one for one in ends if self._uid_of(one[0]) in self.operators]

    def _uid_of(self, name: str) -> int | None:
        return uid_of(name, self.path / APPROVALS, dir_fd=self._ledger_fd)

    def read_request(self, seq: int) -> Shown:
        """Read a native request once and keep the buffer; raises Unreadable."""
        return self.reader.request(seq, None)

    def request_bytes(self, seq: int) -> bytes | None:
        """Give a native request's bytes unparsed; None where they cannot be read."""
        return self.reader.request_bytes(seq)

    @property
    def reader(self) -> RecordReader:
        """Reads single records by name; raises Unreadable(absent) where there is no ledger."""
        if self._ledger_fd == _NO_FOLDER:
            raise store_refusals.no_records(self.path)
        return RecordReader(
            dir_fd=self._ledger_fd,
            store=self.path,
            store_id=self.store_id,
            owner=self.owner_uid,
            operators=self.operators,
            folder=self._status.st_ino,
        )

    def bound(self, aid: str) -> dict[str, Any]:
        """Give the fields by which a record of a call counts for it, and in this folder alone."""
        native = {} if self.store_id is None else {"store_id": self.store_id}
        return {**native, "aid": aid, "folder": self._status.st_ino}

    def commit(
        self, kind: RecordKind, seq: int | None, aid: str, data: bytes, n: int | None = None
    ) -> Commit:
        """Commit a record's bytes under its name; raises NotConfirmed, StoreRefused."""
        if self._ledger_fd == _NO_FOLDER:
            raise store_refusals.no_ledger(self.path)
        name = record_name(kind, seq=seq, aid=aid, n=n)
        return commit(self._ledger_fd, name, data, mode=self._file_mode)

    def commit_results(self, name: str, data: bytes) -> Commit:
        """Commit the results of a foreign checkpoint under NAME, that of `results_name`.

        WON where exactly DATA stands, and is this user's.
        """
        if self._ledger_fd == _NO_FOLDER:
            raise store_refusals.no_ledger(self.path)
        return commit(self._ledger_fd, name, data, mode=self._file_mode)

    def remove_results(self, name: str) -> None:
        """Take results away that must not be acted on any more; durable, also if there are none.

        Raises NotConfirmed.
        """
        if self._ledger_fd == _NO_FOLDER:
            return
        try:
            os.unlink(name, dir_fd=self._ledger_fd)
        except FileNotFoundError:
            pass
        except OSError as why:
            place = self.path / APPROVALS / name
            raise store_refusals.results_not_removed(place, why) from why
        self.sync()

    def results_names(self) -> list[str]:
        """List the files of `.approvals` that may hold results."""
        if self._ledger_fd == _NO_FOLDER:
            return []
        names = names_in(self._ledger_fd, self.path / APPROVALS)
        return [name for name in names if RESULTS_NAME.fullmatch(name)]

    def project(self, raw: bytes, *, anew: bool = False) -> None:
        """Make pending.json equal RAW, unless it is already.

        ANEW: this process asks for what an earlier one asked; the file's time says since when.
        """
        if self._pending() != raw:
            replace(self._root_fd, PENDING, raw, mode=self._file_mode)
        elif anew:
            # Only what operators read of it depends on this.
            with contextlib.suppress(OSError):
                os.utime(PENDING, dir_fd=self._root_fd, follow_symlinks=False)

    def clear(self, raw: bytes) -> None:
        """Unlink pending.json only if it holds exactly RAW; fsync."""
        if self._pending() != raw:
            return
        try:
            os.unlink(PENDING, dir_fd=self._root_fd)
        except FileNotFoundError:
            return
        except OSError as why:
            raise store_refusals.not_cleared(self.path, why) from why
        sync_folder(self._root_fd)

    def sync(self) -> None:
        """fsync `.approvals`: before believing an observed record."""
        if self._ledger_fd != _NO_FOLDER:
            sync_folder(self._ledger_fd)

    @property
    def hears_us(self) -> bool:
        """Whether what the user of this process says of its calls counts."""
        return system.user_id() in self.operators

    @property
    def root_fd(self) -> int:
        """Descriptor of the store's folder, for names below it."""
        return self._root_fd

    @property
    def ledger_fd(self) -> int | None:
        """Descriptor of `.approvals`; None where there is none."""
        return None if self._ledger_fd == _NO_FOLDER else self._ledger_fd

    def close(self) -> None:
        """Close the descriptors."""
        open_ones = [fd for fd in (self._root_fd, self._ledger_fd) if fd != _NO_FOLDER]
        self._root_fd = self._ledger_fd = _NO_FOLDER
        for fd in open_ones:
            close_folder(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _names_of(self, prefix: str | None) -> list[tuple[str, RecordName]]:
        names = names_in(self._ledger_fd, self.path / APPROVALS)
        names = [name for name in names if name.startswith(prefix or "")]
        parsed = ((name, parse_name(name)) for name in names)
        return [(name, record) for name, record in parsed if record is not None]

    @property
    def _file_mode(self) -> int:
        return mode_of_files(self.group)

    def _enter_ledger(self) -> None:
        """Open `.approvals` if it is there, and tell by FORMAT whether it is ours."""
        folder = self.path / APPROVALS
        try:
            self._ledger_fd = open_folder(APPROVALS, folder, dir_fd=self._root_fd)
        except Unreadable as why:
            if why.code == "absent":
                return
            raise store_refusals.no_own_folder(why) from why
        status = status_of(self._ledger_fd, folder)
        refuse_unsafe(status, folder)
        allowed = {self.owner_uid}
        found = self._read_format()
        if found is None:
            # The ledger of a foreign store is made by an operator.
            allowed |= foreign_operators(self._status)
        if status.st_uid not in allowed:
            group = shared_with(self._status) if found is None else None
            raise store_refusals.not_ours(folder, status.st_uid, self.owner_uid, group)
        if found is not None:
            self._accept(found)
        elif shared_with(status) is not None:
            self.group = shared_with(status)

    def _read_format(self) -> StoreFormat | None:
        owners = frozenset({self.owner_uid})
        place = self.path / APPROVALS / FORMAT
        try:
            file = read_file(FORMAT, dir_fd=self._ledger_fd, owners=owners, max_bytes=4096)
            return StoreFormat.decode(file.raw, str(place))
        except Unreadable as why:
            if why.code == "absent":
                return None
            raise store_refusals.untrusted(place, why) from why

    def _accept(self, found: StoreFormat) -> None:
        if (found.dev, found.ino) != (self._status.st_dev, self._status.st_ino):
            raise store_refusals.moved(self.path)
        self.native = True
        self.store_id = found.store_id
        self.group = found.group

    def _settle_operators(self, given: frozenset[int] | None) -> None:
        if given is not None:
            self.operators = given
        elif not self.native:
            self.operators = foreign_operators(self._status)
        elif self.group is None:
            self.operators = frozenset({self.owner_uid, 0})
        else:
            self.operators = shared_operators(self.group, self.owner_uid)

    def _refuse_foreign_owner(self) -> None:
        if self.owner_uid != os.geteuid():
            raise store_refusals.foreign_owner(self.path, self.owner_uid)

    def _found(self, group: int | None) -> None:
        """Make this folder a native store; another process may do the same at once."""
        if self._has_pending():
            raise store_refusals.foreign_pending(self.path)
        if self._ledger_fd == _NO_FOLDER:
            self._make_ledger(group)
            self._enter_ledger()
        if not self.native:
            mark = StoreFormat(
                v=1,
                store_id=new_nonce(),
                dev=self._status.st_dev,
                ino=self._status.st_ino,
                **({} if group is None else {"group": group}),
            )
            commit(self._ledger_fd, FORMAT, mark.encode(), mode=mode_of_files(group))
            found = self._read_format()
            if found is None:
                raise store_refusals.vanished(self.path)
            self._accept(found)

    def _make_ledger(self, group: int | None) -> None:
        try:
            make_folder(APPROVALS, dir_fd=self._root_fd, group=group)
        except OSError as why:
            raise store_refusals.ledger_not_made(self.path, why) from why
        sync_folder(self._root_fd)

    def _has_pending(self) -> bool:
        # What another user put there is no call of this store's program.
        return uid_of(PENDING, self.path, dir_fd=self._root_fd) == self.owner_uid

    def _pending(self) -> bytes | None:
        """Give what pending.json holds; None where it is not ours to compare."""
        owners = frozenset({self.owner_uid})
        try:
            return read_file(PENDING, dir_fd=self._root_fd, owners=owners).raw
        except Unreadable:
            return None

    def _shown(self) -> str:
        return visible_line(str(self.path))
