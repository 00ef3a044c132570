"""Errors that the core raises: each is one sentence for a person, with a code for programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.core.ledger.records import Decision


class LineclearError(Exception):
    """A failure told in one sentence: what happened, to which file, what to do."""

    code = "error"
    """Stable name of the kind of failure, for programs."""

    def __init__(self, sentence: str, *, code: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        if code is not None:
            self.code = code


class Unreadable(LineclearError):
    """A file or its content that is refused: `code` is the reason code, `path` the file."""

    def __init__(
        self, code: str, sentence: str, path: str | os.PathLike[str] | None = None
    ) -> None:
        super().__init__(sentence, code=code)
        self.path = None if path is None else os.fspath(path)

    @property
    def passing(self) -> bool:
        """Whether this look failed, which says nothing of the file: it may be read another time."""
        return self.code in ("open_failed", "no_permission", "changed_while_read")

    def raise_if_passing(self) -> None:
        """Raise it where only this look failed, so that nothing is concluded of the file."""
        if self.passing:
            raise self


class StoreRefused(LineclearError):
    """A folder that cannot be a store: moved, unsafe, or without exclusive publish."""


class NotConfirmed(LineclearError):
    """A write that may or may not be there after a power loss; try again."""

    code = "not_confirmed"


class NothingPending(LineclearError):
    """There is no such call, or nothing waits here."""

    code = "nothing_pending"


class AmbiguousId(LineclearError):
    """A prefix that fits more than one call."""

    code = "ambiguous"


class AlreadyDecided(LineclearError):
    """Somebody decided first; `decision` is what stands."""

    code = "already_decided"

    def __init__(self, sentence: str, decision: Decision | None = None) -> None:
        super().__init__(sentence)
        self.decision = decision


class Refusal(LineclearError):
    """A decision that may not be made: `code` is why (for example `invisible`, `changed`)."""

    code = "refused"


class StoreHeld(LineclearError):
    """Another live process holds this store or run folder; `pid` where it is known.

    `holder` says who it is: `process 4121`, `a child of process 4121, which has ended`.
    """

    code = "store_held"

    def __init__(
        self,
        sentence: str,
        pid: int | None = None,
        *,
        holder: str = "another process",
        only_read: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.pid = pid
        self.holder = holder
        self.only_read = only_read
        """No process holds it: one that may only read the lock keeps others from taking it."""


class MayHaveRun(LineclearError):
    """A call was started and its process died: nobody knows whether it took effect."""

    code = "may_have_run"

    def __init__(self, sentence: str, aid: str) -> None:
        super().__init__(sentence)
        self.aid = aid


class Denied(LineclearError):
    """An operator denied the call; `reason` is the operator's own text."""

    code = "denied"

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class DecisionRefused(LineclearError):
    """The agent refused decisions for the same call three times; `code` is the last reason code."""

    code = "decision_refused"
