"""One row of the history, whole: what was asked, decided and seen, and how it came about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible, visible_line
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.history.entry import Entry, Fact, Kind, instant, person_text
from lineclear.language import _
from lineclear.ui import theme, words
from lineclear.ui.history import told
from lineclear.ui.history.told import Column
from lineclear.ui.labels import PlainLabel, WholeLabel

HINT = _("Select a row: what was decided, what was seen of it, and how it ended.")
SUMS_HINT = _("Click a line, or press Enter on it, for its calls.")
_LABELS = 104
"""Pixels of the column of names."""
_BREAK = "\u2028"
"""Ends a line in a label; one of the call's own is a token by then."""
_TABS = {
    "call": _("Call"),
    "diff": _("Diff"),
    "changes": _("Changes"),
    "steps": _("Steps"),
    "inputs": _("Inputs"),
    "file": _("File"),
    "result": _("Result"),
    "output": _("Output"),
    "modify": _("Modify the arguments"),
    "answer": _("Answer in place of the tool"),
    "batch": _("Calls to decide together"),
}
_HANDS = {
    "key": _("by key"),
    "click": _("by click"),
    "assistive": _("by an assistive press"),
    "notification": _("from a notification"),
    "batch": _("together with others"),
    "standing": _("by a standing word"),
    "cli": _("in a terminal"),
}


class Line(NamedTuple):
    """One fact of a row."""

    name: str
    text: str
    """Escaped already."""
    tone: str = ""
    mono: bool = False


def lines(entry: Entry, course: Sequence[Entry], own: bool, now: datetime) -> list[Line]:
    """Give all that a call's row says; COURSE: every row about the call, oldest first.

    OWN: the row was written by the history of this machine and user.
    """
    fact = entry.fact
    found = [
        *_decided(fact, now),
        *_seen(fact),
        *_ended(fact, now),
        *_call(fact),
        *_course(course, now),
        *_where(entry, own, now),
    ]
    return [line for line in found if line.text]


def _decided(fact: Fact, now: datetime) -> Iterator[Line]:
    if fact.verdict is None:
        return
    person = fact.verdict in told.PEOPLE
    said = told.VERDICTS.get(fact.verdict, visible_line(fact.verdict, 40))
    if person:
        said += _(" by {who}").format(who=person_text(fact.by_name, fact.by_uid))
        if fact.by_host:
            said += _(" on {host}").format(host=visible_line(fact.by_host, 80))
    hand = _HANDS.get(fact.through or "", visible_line(fact.through or "", 40))
    yield Line(_("Decided"), f"{said}, {hand}" if hand else said)
    yield Line(_("At"), _clock(fact.at, now))
    asked = "" if fact.asked_at is None else _clock(fact.asked_at, now)
    if asked and fact.took_ms is not None:
        asked += _(", decided after {length}").format(length=words.duration(fact.took_ms / 1000))
    yield Line(_("Asked"), asked)
    if fact.found and person:
        yield Line(
            _("Recorded"), _("found in the ledger: decided elsewhere, or while nobody watched")
        )
    yield Line(_("Reason"), visible(fact.reason or "").text)
    yield Line(_("Note"), visible(fact.note or "").text)


def _seen(fact: Fact) -> Iterator[Line]:
    if fact.verdict not in told.PEOPLE:
        return
    part = _TABS.get(fact.tab or "", visible_line(fact.tab or "", 40))
    tab = _("part: {part}").format(part=part) if part else ""
    parts = (told.on_screen(fact), tab)
    yield Line(_("On screen"), " \u00b7 ".join(part for part in parts if part))
    if fact.end_seen is not None:
        seen = _("had been in view") if fact.end_seen else _("had not been in view")
        yield Line(_("Its end"), seen, "" if fact.end_seen else "care")
    for name, codes in ((_("Warnings"), fact.warnings), (_("In spite of"), fact.despite)):
        sentences = [visible_line(words.warning(code), 200) for code in (codes or "").split()]
        yield Line(name, "\n".join(sentences), "care")


def _ended(fact: Fact, now: datetime) -> Iterator[Line]:
    if fact.ended is None:
        yield Line(_("Ended"), _("not yet, as far as is known"))
        return
    said = told.ENDED.get(fact.ended, visible_line(fact.ended, 40))
    if fact.ended_by:
        said += _(" by {who}").format(who=words.name(fact.ended_by, "", 80))
    if fact.ended_at:
        said += _(" at {time}").format(time=_clock(fact.ended_at, now))
    if fact.ran_ms is not None:
        said += _(", ran for {length}").format(length=words.took(fact.ran_ms))
    yield Line(_("Ended"), said, told.TONES.get(fact.ended, ""))
    yield Line(_("Outcome"), visible(fact.preview or "").text, mono=True)


def _call(fact: Fact) -> Iterator[Line]:
    if fact.verdict == "modify":
        yield Line(_("Changed to"), _pretty(fact.given), mono=True)
        yield Line(_("As asked"), _pretty(fact.arguments), mono=True)
        return
    yield Line(_("Arguments"), _pretty(fact.arguments), mono=True)
    yield Line(_("Answer"), _pretty(fact.given), mono=True)


def _course(course: Sequence[Entry], now: datetime) -> Iterator[Line]:
    steps = []
    for each in course:
        fact = each.fact
        match fact.kind:
            case Kind.DECISION:
                what = told.VERDICTS.get(fact.verdict or "", _("Decided"))
            case Kind.UNCERTAIN:
                what = _("Its process died: it may have run")
            case Kind.LATE:
                what = _("A second outcome, which contradicts the first")
            case _:
                what = told.ENDED.get(fact.ended or "", _("Ended"))
        recorded = _clock(each.recorded_at, now)
        found = _(" \u00b7 found") if fact.found else ""
        steps.append(
            _("{what} \u00b7 recorded {recorded}{found}").format(
                what=what, recorded=recorded, found=found
            )
        )
    if len(steps) > 1:
        yield Line(_("How it went"), "\n".join(dict.fromkeys(steps)))


def _where(entry: Entry, own: bool, now: datetime) -> Iterator[Line]:
    fact = entry.fact
    yield Line(_("Agent"), words.name(fact.agent, "", 200))
    yield Line(_("Store"), visible_line(fact.store or "", 1000), mono=True)
    yield Line(_("Call"), visible_line(fact.call or "", 80), mono=True)
    yield Line(_("Digest"), visible_line(fact.digest or "", 80), mono=True)
    whose = "" if own else _(" of {origin}").format(origin=visible_line(entry.origin, 40)[:8])
    recorded = _clock(entry.recorded_at, now)
    yield Line(
        _("Row"),
        _("{seq:,}{whose}, recorded {recorded}").format(
            seq=entry.seq, whose=whose, recorded=recorded
        ),
    )
    yield Line(_("Its hash"), entry.hash.hex(), mono=True)


def _clock(text: str, now: datetime) -> str:
    return words.clock(instant(text), now, seconds=True)


def _pretty(text: str | None) -> str:
    """Give arguments a line each where they are whole; what was cut stands as it is."""
    if not text:
        return ""
    try:
        laid_out = jsontext.pretty(jsontext.parse_value(text)).decode()
    except (Unreadable, ValueError):
        return visible(text).text
    # A line feed of the call's own is an escape there: these are the layout's.
    return "\n".join(visible_line(line) for line in laid_out.split("\n"))


def _facts(entry: Entry, now: datetime) -> str:
    """The line under the title: agent, what was decided by whom, when."""
    who = told.by(entry.fact)
    decided = told.text(entry, Column.DECIDED, now)
    agent, at = told.text(entry, Column.AGENT, now), told.text(entry, Column.TIME, now)
    return " \u00b7 ".join(
        (agent, _("{decided} by {who}").format(decided=decided, who=who) if who else decided, at)
    )


class Detail(QWidget):
    """Shows one row in the place of the reading pane."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("readingPane")
        self.setAccessibleName(_("A row of the history"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = WholeLabel(name="historyTitle")
        self.title.setFont(theme.title_font())
        self.facts = WholeLabel(name="historyFacts")
        self.facts.setProperty("tone", "muted")
        self.scroll_area = QScrollArea()
        self.scroll_area.setObjectName("historyDetail")
        self.scroll_area.setAccessibleName(_("All that the row says"))
        self.scroll_area.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 14, 4, 0)
        box.setSpacing(4)
        box.addWidget(self.title)
        box.addWidget(self.facts)
        box.addSpacing(6)
        box.addWidget(self.scroll_area, 1)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Show that no row is chosen."""
        self.title.setText("")
        self.facts.setText(HINT)
        self._fill([])

    def show_sums(self) -> None:
        """Show that sums are listed, which are of no row."""
        self.title.setText("")
        self.facts.setText(SUMS_HINT)
        self._fill([])

    def show_event(self, sentence: str) -> None:
        """Show a row that is about no call."""
        self.title.setText("")
        self.facts.setText(sentence)
        self._fill([])

    def show_call(self, entry: Entry, course: Sequence[Entry], now: datetime, *, own: bool) -> None:
        """Show a call's row; COURSE: every row about it."""
        self.title.setText(words.name(entry.fact.tool, _("A call"), 400))
        self.facts.setText(_facts(entry, now))
        self._fill(lines(entry, course, own, now))

    def said(self) -> str:
        """All that is shown, as text."""
        labels = self.scroll_area.findChildren(PlainLabel)
        said = (self.title.text(), self.facts.text(), *(each.text() for each in labels))
        return "\n".join(said).replace(_BREAK, "\n")

    def _fill(self, shown: Sequence[Line]) -> None:
        page = QWidget()
        page.setObjectName("page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 4, 12, 16)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnMinimumWidth(0, _LABELS)
        grid.setColumnStretch(1, 1)
        for place, line in enumerate(shown):
            name = PlainLabel(line.name)
            name.setProperty("tone", "muted")
            value = WholeLabel(line.text.replace("\n", _BREAK))
            value.setAccessibleName(f"{line.name}: {line.text}")
            if line.mono:
                value.setFont(theme.mono_font())
            if line.tone:
                value.setProperty("tone", line.tone)
            grid.addWidget(name, place, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(value, place, 1, Qt.AlignmentFlag.AlignTop)
        grid.setRowStretch(len(shown), 1)
        self.scroll_area.setWidget(page)
