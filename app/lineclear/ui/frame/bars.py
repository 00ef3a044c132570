"""The window's horizontal bars: filter and switches, totals, strips that tell something."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QWidget,
)

from lineclear.core.inbox.runs.totals import Totals
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.announcing import announce
from lineclear.ui.buttons import in_line_button
from lineclear.ui.frame.sections_button import SectionsButton
from lineclear.ui.frame.totals_label import TotalsLabel
from lineclear.ui.labels import PlainLabel, WholeLabel, explain
from lineclear.ui.queue.filter_line import FilterLine
from lineclear.ui.queue.totals import Scope

CALM_AGAIN_MS = 250
SAID_MS = 5_000
"""How long what is said for a moment stands in the status line."""


class TopBar(QWidget):
    """The filter line, Quiet, Keys and Settings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self.filter = FilterLine()
        self.filter.setObjectName("filter")
        self.filter.setAccessibleName(_("Filter"))
        self.filter.setPlaceholderText(_('Filter   tool:bash  agent:refund  age:>5m  "text"'))
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaximumWidth(520)
        self.sections = SectionsButton()
        self.sections.hide()
        self.quiet = QPushButton(_("Quiet"))
        self.quiet.setObjectName("quiet")
        self.quiet.setCheckable(True)
        self.quiet.setToolTip(_("No notifications while this is on"))
        self.keys = QPushButton(_("Keys"))
        self.keys.setObjectName("keys")
        self.settings = QPushButton(_("Settings"))
        self.settings.setObjectName("openSettings")
        self.settings.setToolTip(_("Settings (Ctrl+,)"))
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 8, 12, 8)
        line.setSpacing(8)
        self._line = line
        line.addWidget(self.filter, 1)
        line.addStretch(1)
        for button in (self.sections, self.quiet, self.keys, self.settings):
            button.setProperty("flat", True)
            button.setAutoDefault(False)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            line.addWidget(button)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Say as much on the button as there is room for."""
        super().resizeEvent(event)
        self.sections.fit(self.width())

    def in_place_of_filter(self, line: QWidget) -> None:
        """Put another line where the filter stands; hidden until it takes the filter's place."""
        line.setMaximumWidth(self.filter.maximumWidth())
        line.hide()
        self._line.insertWidget(0, line, 1)

    def beside_filter(self, button: QWidget) -> None:
        """Put a button at the right of the filter line."""
        self._line.insertWidget(self._line.indexOf(self.filter) + 1, button)


class StatusLine(QWidget):
    """Totals at the left, what is watched at the right, between them an operator's open words.

    Signals:
        take_back: the last word that is not written yet is to be taken back.
        words_wanted: the words that stand are to be listed.
        troubles_wanted: the folders that are not wholly watched are to be listed.
    """

    take_back = Signal()
    words_wanted = Signal()
    troubles_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusLine")
        self.held = _status_button("held", self.take_back)
        # The seconds that are left stand at the end.
        self.held.elide_mode = Qt.TextElideMode.ElideLeft
        self.standing = _status_button("standing", self.words_wanted)
        self.trouble = _status_button("trouble", self.troubles_wanted)
        self.trouble.setProperty("tone", "stop")
        self.totals = TotalsLabel(name="totals")
        self.watching = PlainLabel(name="watching")
        line = QHBoxLayout(self)
        line.setContentsMargins(14, 5, 14, 5)
        for label in (self.totals, self.watching):
            label.setProperty("tone", "muted")
            label.setFont(theme.small_font(tabular=True))
        line.addWidget(self.totals, 1)
        line.addWidget(self.held)
        line.addWidget(self.standing)
        line.addWidget(self.trouble)
        line.addWidget(self.watching)
        # As high with a word in it as without: the decision bar above never moves.
        high = max(each.sizeHint().height() for each in (self.held, self.totals, self.watching))
        self.setFixedHeight(high + 10)
        self._told = ""
        self._standing_in: dict[object, str] = {}
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(SAID_MS)
        self._again.timeout.connect(self._show_told)

    def show_totals(self, told: str, every: Sequence[tuple[Scope, Totals]]) -> None:
        """Show the totals, as soon as what is said there has been read; EVERY: in all figures."""
        self._told = told
        self.totals.show_figures(every)
        if not self._again.isActive():
            self._show_told()

    def _show_told(self) -> None:
        self.totals.setText(" ".join(self._standing_in.values()) or self._told)

    def stand_in(self, place: object, told: str) -> None:
        """Say here what PLACE has to say and cannot yet without moving something; "": it can."""
        if self._standing_in.get(place, "") == told:
            return
        self._standing_in.pop(place, None)
        if told:
            self._standing_in[place] = told
            announce(self.totals, told)
        if not self._again.isActive():
            self._show_told()

    def show_trouble(self, told: str, whole: str) -> None:
        """Say in a few words that folders are not wholly watched, "" for none; WHOLE: in all."""
        shown = told.replace("&", "&&")
        if self.trouble.text() != shown:
            self.trouble.setText(shown)
            self.trouble.setAccessibleName(told or _("Nothing is open"))
            announce(self.trouble, whole, urgent=True)
        explain(self.trouble, whole)
        self.trouble.setVisible(bool(told))

    def say(self, told: str) -> None:
        """Say something for a moment in the place of the totals, aloud too."""
        self.totals.setText(told)
        self._again.start()
        announce(self.totals, told)

    def show_words(self, held: str, standing: str, in_short: str) -> None:
        """Say which words are not written yet and which stand, also IN SHORT; "" for none.

        Nothing moves.
        """
        back, key = _("{told} \u00b7 Take back"), _("{told} \u00b7 Take back (Ctrl+Z)")
        for button, told, ways in (
            (self.held, held, (key.format(told=held), back.format(told=held), held)),
            (self.standing, standing, (f"{standing}\u2026", f"{in_short}\u2026")),
        ):
            shown = [one.replace("&", "&&") for one in ways] if told else [""]
            if button.text() != shown[0]:
                button.say(shown)
                button.setAccessibleName(told)
                explain(button, told)
            button.setVisible(bool(told))


class _Words(QPushButton):
    """A button in a line of words: where there is no room for all of it, it says it shorter."""

    elide_mode = Qt.TextElideMode.ElideMiddle
    """What gives way where there is no room for the shortest either."""
    _ways: tuple[str, ...] = ("",)

    def say(self, ways: Sequence[str]) -> None:
        """Take what to say, in WAYS from the longest to the shortest."""
        self._ways = tuple(ways)
        self.setText(ways[0])

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """A word or two at either end."""
        least = min(self.sizeHint().width(), 10 * self.fontMetrics().averageCharWidth())
        return QSize(least, self.sizeHint().height())

    def initStyleOption(self, option: QStyleOptionButton) -> None:  # noqa: N802
        """Draw as much as fits."""
        super().initStyleOption(option)
        room = (
            self.style()
            .subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
            .width()
        )
        metrics = self.fontMetrics()
        fits = (one for one in self._ways if metrics.horizontalAdvance(one) <= room)
        option.text = next(fits, "") or metrics.elidedText(self._ways[-1], self.elide_mode, room)


def _status_button(name: str, pressed: SignalInstance) -> _Words:
    button = in_line_button("", name, tabular=True, kind=_Words)
    assert isinstance(button, _Words)
    button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    button.setAccessibleName(_("Nothing is open"))
    button.clicked.connect(pressed)
    button.hide()
    return button


class Strip(QFrame):
    """A sentence over the whole width, perhaps with buttons (name, words, act).

    It moves what is below it: so it comes and goes only once `calm` says that nobody is about to
    press something there. Until then `meanwhile` is given what it says, and at last "".
    """

    def __init__(self, text: str, name: str, *buttons: tuple[str, str, Callable[[], None]]) -> None:
        super().__init__()
        self.calm: Callable[[], bool] = lambda: True
        self.meanwhile: Callable[[str], None] = lambda _told: None
        self._wanted = True
        self._text: str | None = None
        self._buttons: dict[str, QPushButton] = {}
        self._later = QTimer(self)
        self._later.setInterval(CALM_AGAIN_MS)
        self._later.timeout.connect(self._settle)
        self.setObjectName(f"{name}Strip")
        self.setProperty("banner", "demo")
        line = QHBoxLayout(self)
        line.setContentsMargins(14, 6, 12, 6)
        line.setSpacing(12)
        self.label = WholeLabel(text, name=name)
        line.addWidget(self.label, 1)
        for button_name, told, act in buttons:
            button = QPushButton(told)
            button.setObjectName(button_name)
            button.setAutoDefault(False)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(act)
            line.addWidget(button)
            self._buttons[button_name] = button

    def button(self, name: str) -> QPushButton:
        """Give the button of this name."""
        return self._buttons[name]

    def setVisible(self, visible: bool) -> None:  # noqa: N802
        """Come, or go, as soon as it is calm."""
        self._wanted = visible
        self._settle()

    def tell(self, text: str) -> None:
        """Say TEXT, and stand there for it, as soon as it is calm; "": go."""
        self._text = text or None
        self.setVisible(bool(text))

    def _settle(self) -> None:
        said = self.label.text() if self._text is None else self._text
        moves = self._wanted is self.isHidden() or (self._wanted and said != self.label.text())
        if moves and not self.calm():
            self._later.start()
            self.meanwhile(said if self._wanted else "")
            return
        self._later.stop()
        self.meanwhile("")
        self._text = None
        self.label.setText(said)
        super().setVisible(self._wanted)


def separator() -> QFrame:
    """A line of one pixel."""
    line = QFrame()
    line.setObjectName("separator")
    return line
