"""Banners above the decision bar: at most two warnings, then a count; they grow upward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_sentence
from lineclear.core.checkpoints.warnings import Level, level_of
from lineclear.core.errors import AlreadyDecided, LineclearError
from lineclear.core.inbox.relaunch.startable import words_needed
from lineclear.core.inbox.rows.cautions import MAY_BE_RUNNING, RECORDED_ODDLY
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.beside import is_held_back
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, translated
from lineclear.ui import theme, words
from lineclear.ui.buttons import in_line_button
from lineclear.ui.labels import WholeLabel

AT_MOST = 2
_TOLD_BY_THE_BAR = frozenset({"foreign"})
"""Said in the sentence above the buttons already."""
_TONES = {Level.BLOCKED: "stop", Level.STOP: "stop", Level.CARE: "care", Level.NOTE: "note"}


@dataclass(frozen=True, slots=True)
class Notice:
    """One banner: its tone, its sentence, and perhaps one thing to do."""

    tone: str
    """`stop`, `care` or `note`."""
    text: str
    """Escaped already."""
    action: str = ""
    act: Callable[[], None] | None = None
    name: str = ""


def warning_notices(
    row: Row,
    show_all: Callable[[], None] | None = None,
    me: Person | None = None,
    room: int = AT_MOST,
) -> list[Notice]:
    """A row's warnings as banners, the strongest first, at most ROOM and a count.

    SHOW_ALL is what the count offers; without it every warning has its banner. ME reads them.
    """

    def banner(code: str, level: Level) -> Notice:
        return Notice(_TONES[level], words.warning_about(row, code, me), name=f"warning_{code}")

    shown: list[Notice] = []
    rest = red = 0
    for code in row.warnings:
        level = level_of(code)
        if code in _TOLD_BY_THE_BAR:
            continue
        if show_all is None:
            shown.append(banner(code, level))
            continue
        if level is Level.NOTE or len(shown) >= room:
            rest += level < Level.STOP
            red += level >= Level.STOP
            continue
        shown.append(banner(code, level))
    if row.answered is not None and row.answered.code not in row.warnings:
        # Nothing came of it that could come twice: it is worth knowing, and no warning.
        if show_all is None or len(shown) < room:
            shown.append(Notice("note", words.answered_before(row.answered), name="answeredBefore"))
        else:
            rest += 1
    if rest or red:
        text, tone = _folded(rest, red, alone=not shown), "stop" if red else "note"
        shown.append(Notice(tone, text, _("Show"), show_all, name="warning_notes"))
    return shown


def _folded(rest: int, red: int, *, alone: bool) -> str:
    """Count what has no banner: `and 3 notes`, `and 1 more red warning, 2 notes`."""
    if not red:
        told = counted("{n} note", "{n} notes", rest)
        return told if alone else counted("and {n} note", "and {n} notes", rest)
    told = counted("and {n} more red warning", "and {n} more red warnings", red)
    if not rest:
        return told
    return _("{told}, {notes}").format(told=told, notes=counted("{n} note", "{n} notes", rest))


def failure_notice(why: LineclearError) -> Notice:
    """What did not happen, and why."""
    tone = "care" if isinstance(why, AlreadyDecided) else "stop"
    return Notice(tone, translated(why.sentence), name="failed")


def key_notice(row: Row, copied: Callable[[], None]) -> Notice:
    """The key by which a call is looked for elsewhere; COPIED is called once it was taken."""

    def copy() -> None:
        QGuiApplication.clipboard().setText(row.id)
        copied()

    return Notice(
        "note",
        _("The key of this call is {id}").format(id=row.id),
        _("Copy key"),
        copy,
        name="callKey",
    )


def state_notices(
    row: Row,
    me: Person,
    show_all: Callable[[], None] | None,
    say: Callable[[str, str], None],
    room: int = AT_MOST,
) -> list[Notice]:
    """What there is to say of a row in its state, where ROOM banners more may stand.

    SAY takes a sentence and its tone.
    """
    if row.state is State.PENDING:
        return warning_notices(row, show_all, me, room)
    odd = [
        Notice(_TONES[level_of(code)], words.warning_about(row, code), name=f"warning_{code}")
        for code in row.warnings
        if code in RECORDED_ODDLY
    ]
    if row.state is State.UNCERTAIN:
        return [*odd, key_notice(row, lambda: say(_("Copied."), "ok"))]
    return odd if row.closed else [*odd, *_resume_notices(row)]


def _resume_notices(row: Row) -> list[Notice]:
    """What stands against a resume and is not said in the line of its state."""
    if is_held_back(row):
        # A run without a call says it there.
        reason = visible_sentence(translated(row.reason or ""), 400)
        return [] if row.tool is None else [Notice("care", reason, name="heldBack")]
    codes = [code for code in row.warnings if code in words_needed(row) - {MAY_BE_RUNNING}]
    return [
        Notice("stop", words.warning_about(row, code), name=f"warning_{code}") for code in codes
    ]


class Banners(QWidget):
    """Shows notices one below the other."""

    def __init__(self, parent: QWidget | None = None, *, above: int = 12) -> None:
        """ABOVE: pixels that stay free above the first."""
        super().__init__(parent)
        self.setObjectName("banners")
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(16, above, 16, 0)
        self._box.setSpacing(6)
        self._above = above
        self._tight = False
        self._shown: list[Notice] = []
        self._in_the_way = False
        self.hide()

    def give_way(self, *, on: bool) -> int:
        """Stand back while something else has to be read first; give how many stand there then."""
        self._in_the_way = on
        self.setVisible(bool(self._shown) and not on)
        return 0 if on else len(self._shown)

    def squeeze(self, *, on: bool) -> None:
        """Take as little height as can be read, or as much as looks well."""
        if on is self._tight:
            return
        self._tight = on
        self._box.setContentsMargins(16, self._above // 3 if on else self._above, 16, 0)
        self._box.setSpacing(3 if on else 6)
        for frame in self.findChildren(QFrame, options=Qt.FindChildOption.FindDirectChildrenOnly):
            self._fit(frame)

    def _fit(self, frame: QFrame) -> None:
        layout = frame.layout()
        if layout is not None:
            around = 3 if self._tight else 7
            layout.setContentsMargins(12, around, 8, around)

    def show_notices(self, notices: list[Notice]) -> bool:
        """Show these; True when a banner is there now that was not before."""
        said = [(notice.tone, notice.text, notice.action) for notice in self._shown]
        fresh = [(notice.tone, notice.text, notice.action) for notice in notices]
        if said == fresh:
            return False
        self._shown = list(notices)
        while (item := self._box.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for notice in notices:
            self._box.addWidget(self._banner(notice))
        self.setVisible(bool(notices) and not self._in_the_way)
        return any(one not in said for one in fresh)

    def whole(self) -> bool:
        """Whether each banner stands there to its last line; a low pane can squeeze them."""
        return all(
            label.height() >= label.heightForWidth(label.width())
            for label in self.findChildren(WholeLabel)
            if label.isVisible()
        )

    def _banner(self, notice: Notice) -> QFrame:
        frame = QFrame()
        frame.setProperty("banner", notice.tone)
        frame.setObjectName(notice.name or "banner")
        frame.setAccessibleName(notice.text)
        line = QHBoxLayout(frame)
        line.setSpacing(12)
        self._fit(frame)
        label = WholeLabel(notice.text)
        if notice.tone == "note":
            label.setFont(theme.small_font())
        line.addWidget(label, 1)
        if notice.action and notice.act is not None:
            name = f"{notice.name}Action"
            if notice.tone == "note" or notice.name == "warning_notes":
                button = in_line_button(notice.action, name)
            else:
                button = QPushButton(notice.action)
                button.setObjectName(name)
                button.setAutoDefault(False)
                button.setProperty("flat", True)
                button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(notice.act)
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return frame
