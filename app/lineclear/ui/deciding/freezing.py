"""Why the pane stands still: what was read in it is not what is there any more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lineclear.core.inbox.feed import Diff
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.language import _
from lineclear.ui.deciding.standing import changed_elsewhere
from lineclear.ui.frame.actions import key_for


@dataclass(frozen=True, slots=True)
class Freeze:
    """What happened elsewhere to the call that is being read."""

    text: str
    """The banner."""
    successor: str = ""
    """The id of what can be shown instead, "" for nothing."""
    settled: bool = False
    """It is still the same call, so where it stands goes on being told; only its text is kept."""
    standing: str = ""
    """What is said of where it stands when it is not."""

    def action(self, *, letters: bool = True) -> str:
        """The label of what can be done about it, "" for nothing; LETTERS alone do something."""
        key = key_for("show_new", letters=letters)
        if self.settled:
            return _("Dismiss ({key})").format(key=key)
        return _("Show the new one ({key})").format(key=key) if self.successor else ""


def freeze(
    before: Row,
    after: Row | None,
    now: datetime,
    me: Person | None,
    *,
    successor: Row | None = None,
    typed: bool = False,
) -> Freeze:
    """Tell what became of BEFORE: AFTER, or nothing but perhaps a SUCCESSOR with another id.

    TYPED: the operator had begun a text that is not sent.
    """
    text = changed_elsewhere(before, after, now, me, typed=typed, replaced=successor is not None)
    if after is None:
        if successor is None:
            return Freeze(text, standing=_("Its file is gone."))
        told = _("Its file holds another call now.")
        if successor.state is State.UNREADABLE:
            told = _("Its file cannot be read now.")
        return Freeze(text, successor.id, standing=told)
    if after.sha256 != before.sha256:
        return Freeze(text, after.id, standing=_("Shown as it was before it changed."))
    return Freeze(text, after.id, settled=True)


def successor(before: Row, diff: Diff) -> Row | None:
    """The row that took the place of one that is gone; None when none did."""
    for row in (*diff.added, *diff.changed):
        if row.store != before.store or row.id == before.id:
            continue
        # Which calls it held, no unreadable file tells.
        unread = row.state is State.UNREADABLE and row.path == before.path
        if row.item == before.item or unread:
            return row
    return None
