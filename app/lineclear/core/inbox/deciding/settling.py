"""What becomes of the words with which a person approves a call, or settles what may have run.

An agent of ours takes them from its ledger. Another program knows nothing of that.
"""

from __future__ import annotations

from typing import Final, Literal

from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.inbox.rows.building import NATIVE_SYSTEM
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.calls import Shown
from lineclear.language import marked

Resolution = Literal["ran", "not_run", "ask_again"]
_OURS: Final[dict[Resolution, str]] = {
    "ran": marked("The agent gets your note as the tool's result."),
    "not_run": marked("The agent is told that the tool did not run, with your note."),
    "ask_again": marked("The agent is told that the tool did not run, and asks for it anew."),
}
_NOT_RESUMED: Final = marked("Your note is kept here; the run is not resumed again.")
_KEPT: Final = marked("Your note is kept here; nothing tells its agent so by itself.")
_NO_NOTE: Final = marked("Nothing tells its agent so by itself.")


def comes_of(row: Row, resolution: Resolution) -> str:
    """Say who gets the note on a call, or on a run where the row is one; for the catalogue too."""
    if row.system == NATIVE_SYSTEM:
        return _OURS[resolution]
    if resolution == "ask_again":
        return _NO_NOTE
    return _NOT_RESUMED if row.tool is None and resolution == "ran" else _KEPT


def note_reaches(shown: Shown | None) -> bool:
    """Tell whether the agent gets the note of an approval: whether its system's own form has it.

    An agent of ours takes the verdict from its ledger, and hands no note on.
    """
    if shown is None or shown.block is not None or shown.call is None:
        return False
    system, note = FORMATS[shown.checkpoint.system], "note"
    try:
        plain = system.native_decision(shown.call, "approve")
        return bool(system.native_decision(shown.call, "approve", text=note) != plain)
    except ValueError:
        return False
