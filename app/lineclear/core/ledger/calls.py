"""What is known of one call: the bytes that were shown, and the records about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lineclear.core.checkpoints.fileread import FileBytes
from lineclear.core.checkpoints.model import Checkpoint, PendingCall
from lineclear.core.errors import Unreadable
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
    path: Path | None = None
    """Where that file stood when it was read."""
    attempt: int = 1
    """Which attempt to resume these bytes it is part of."""
    failed: Outcome | None = None
    """How the last attempt before this one ended, where one did more than be taken back."""

    @property
    def call(self) -> PendingCall | None:
        """The call to decide; None in a checkpoint with nothing to approve."""
        return self.checkpoint.call_of(self.item)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What became of a decision's file once its call was started."""

    now: Decision | None
    """What it says by now; None where it is gone or cannot be read."""
    sentence: str


@dataclass(frozen=True, slots=True)
class CallRecords:
    """All records of one call that could be read, and what could not."""

    seq: int | None
    aid: str
    request: Shown | None = None
    decision: Decision | None = None
    """Once a start stands, the one that it holds."""
    decision_raw: bytes | None = None
    rewritten: Rewritten | None = None
    """How the decision's file differs from the decision that the start holds; None: it does not."""
    start: Start | Revoked | None = None
    outcome: Outcome | None = None
    late_outcomes: tuple[Outcome, ...] = ()
    launches: tuple[Launch, ...] = ()
    damaged: tuple[tuple[str, str, str], ...] = ()
    """(file name, reason code, sentence) of each record that cannot be read."""
    stray: tuple[tuple[str, str], ...] = ()
    """(file name, why) of each record that is ignored: unknown aid, foreign owner."""
    given_up: bool = False
    """Its own agent holds the start slot against an approval, not who took that back."""

    def refuse_unread(self) -> None:
        """Raise Unreadable where a look at one of the records failed and may succeed again."""
        for name, code, sentence in self.damaged:
            unread = Unreadable(code, sentence, name)
            unread.raise_if_passing()
