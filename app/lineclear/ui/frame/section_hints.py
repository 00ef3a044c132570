"""What the empty reading pane says can be done with a call, in each section."""

from __future__ import annotations

from lineclear.language import _
from lineclear.ui.frame.actions import key_for
from lineclear.ui.queue.sections import Section

_DECIDES = _("Select a call. {approve} then Enter approves, {deny} denies.")
_HINTS = {
    Section.HANDED_OVER: _(
        "Select a call to see who picks it up. {resume} then Enter resumes its agent."
    ),
    Section.RUNNING: _("Select a call to see what runs."),
    Section.MAY_HAVE_RUN: _("Select a call. Look in its target system, then say what you found."),
    Section.TO_RESUME: _("Select a run to see where it stopped. {resume} then Enter resumes it."),
    Section.UNREADABLE: _("Select a row to see why it cannot be read."),
    Section.FINISHED: _("Select a call to see how it ended."),
}
_KEYS = ("approve", "deny", "resume")


def section_hint(section: Section, *, letters: bool = True) -> str:
    """What can be done in SECTION, where no call of it is selected; LETTERS alone do something."""
    keys = {name: key_for(name, letters=letters) for name in _KEYS}
    return _HINTS.get(section, _DECIDES).format(**keys)
