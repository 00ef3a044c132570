"""One store folder, opened: its descriptors, its owner rules, its records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from lineclear.core.checkpoints.fileread import FileBytes
from lineclear.core.checkpoints.model import Checkpoint
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.layout import RecordKind, RecordName
from lineclear.core.ledger.records import Decision, Launch, Outcome, RequestBlock, Revoked, Start


@dataclass(frozen=True, slots=True)
class Shown:
    """Exactly what an operator or agent has before it: the bytes, and the call in them."""

    store: Path
    seq: int | None
    """None in a foreign store."""
    aid: str
    raw: bytes
    sha256: str
    checkpoint: Checkpoint
    item: str = ""
    """Which call of the checkpoint; "" for its only one."""
    block: RequestBlock | None = None
    """The validated `lineclear` block; None in a foreign store."""
    file: FileBytes | None = None
    """The foreign checkpoint file as read; its identity is part of the aid."""


@dataclass(frozen=True, slots=True)
class CallRecords:
    """All records of one call that could be read, and what could not."""

    seq: int | None
    aid: str
    request: Shown | None = None
    decision: Decision | None = None
    decision_raw: bytes | None = None
    start: Start | Revoked | None = None
    outcome: Outcome | None = None
    late_outcomes: tuple[Outcome, ...] = ()
    launches: tuple[Launch, ...] = ()
    damaged: tuple[tuple[str, str, str], ...] = ()
    """(file name, reason code, sentence) of each record that cannot be read."""
    stray: tuple[tuple[str, str], ...] = ()
    """(file name, why) of each record that is ignored: unknown aid, foreign owner."""


class Store:
    """An opened store; use as a context manager. Every reader checks owners and modes.

    Attributes:
        path: the folder, absolute.
        native: whether `.approvals/FORMAT` marks it as ours.
        store_id: 32 hex, or None in a foreign store.
        owner_uid: uid of the folder, which must own request, start, outcome, launch and FORMAT.
        operators: uids whose decisions count (default: the owner and root).
    """

    path: Path
    native: bool
    store_id: str | None
    owner_uid: int
    operators: frozenset[int]

    @classmethod
    def open(cls, path: Path, *, operators: frozenset[int] | None = None) -> Self:
        """Open an existing store, native or foreign, without writing.

        Raises Unreadable(absent, symlink ...) and StoreRefused(`writable_by_others`, `store_moved`, `owner`).
        """
        raise NotImplementedError

    @classmethod
    def create(cls, path: Path, *, operators: frozenset[int] | None = None) -> Self:
        """Open or make a native store (folders 0700, FORMAT committed, parents fsynced); for agents."""
        raise NotImplementedError

    def begin_foreign_ledger(self) -> None:
        """Make `.approvals` in a foreign store, so that a decision can be committed; touches nothing else."""
        raise NotImplementedError

    def names(self) -> list[tuple[str, RecordName]]:
        """List the record names of `.approvals`, sorted; [] where there is none."""
        raise NotImplementedError

    def calls(self) -> list[tuple[int | None, str | None]]:
        """List (seq, aid) of every call that any record names, oldest first."""
        raise NotImplementedError

    def records(self, seq: int | None, aid: str | None) -> CallRecords:
        """Read all records of one call."""
        raise NotImplementedError

    def read_request(self, seq: int) -> Shown:
        """Read a native request once and keep the buffer; raises Unreadable."""
        raise NotImplementedError

    def commit(self, kind: RecordKind, seq: int | None, aid: str, data: bytes, n: int | None = None) -> Commit:
        """Commit a record's bytes under its name."""
        raise NotImplementedError

    def project(self, raw: bytes) -> None:
        """Make pending.json equal RAW, unless it is already."""
        raise NotImplementedError

    def clear(self, raw: bytes) -> None:
        """Unlink pending.json only if it holds exactly RAW; fsync."""
        raise NotImplementedError

    def sync(self) -> None:
        """fsync `.approvals`: before believing an observed record."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the descriptors."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
