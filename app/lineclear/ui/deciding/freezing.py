"""Why the pane stands still: what was read in it is not what is there any more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.whereabouts import Gone
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
    gone: Gone | None = None
    """It is not shown any more, and why; None: it is, or something else is in its place."""

    @property
    def nothing(self) -> str:
        """Why nothing can be decided while it is not shown; "" where the banner says enough."""
        if self.gone in (Gone.UNWATCHED, Gone.PAUSED):
            return _("Nothing can be decided here until its folder is watched again.")
        return ""

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
    gone: Gone = Gone.UNKNOWN,
    typed: bool = False,
) -> Freeze:
    """Tell what became of BEFORE: AFTER, or nothing but perhaps a SUCCESSOR with another id.

    GONE: why it is not shown any more, where there is neither.
    TYPED: the operator had begun a text that is not sent.
    """
    if after is None and successor is None and gone is not Gone.REMOVED:
        text, standing = _unseen(gone)
        unsent = " " + _("Your text was not sent.") if typed else ""
        return Freeze(text + unsent, standing=standing, gone=gone)
    text = changed_elsewhere(before, after, now, me, typed=typed, replaced=successor is not None)
    if after is None:
        if successor is None:
            return Freeze(text, standing=_("Its file is gone."), gone=gone)
        told = _("Its file holds another call now.")
        if successor.call_id == before.id:
            told = _("Another folder holds a call with the same id now.")
        elif successor.state is State.UNREADABLE:
            told = _("Its file cannot be read now.")
        return Freeze(text, successor.id, standing=told)
    if after.sha256 != before.sha256:
        return Freeze(text, after.id, standing=_("Shown as it was before it changed."))
    return Freeze(text, after.id, settled=True)


def _unseen(gone: Gone) -> tuple[str, str]:
    """The banner over a call whose file may well stand, and what is said of where it stands."""
    if gone is Gone.UNWATCHED:
        return (
            _("This call is not shown any more: its folder is not watched any more."),
            _("Its folder is not watched any more."),
        )
    if gone is Gone.PAUSED:
        return (
            _("This call is not shown any more: its folder is paused."),
            _("Its folder is paused."),
        )
    return _("This call is not shown any more."), _("It is not shown any more.")


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
