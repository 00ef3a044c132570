"""What the pages of the settings are made of: a column of questions, each with its control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.inbox.operator.settings import Settings
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.settings.flow import Flow

LABEL_WIDTH = 168
CONTROL_LEAST = 300
"""Pixels that a control has beside its label, or it stands below it."""
MARGIN = 28
"""Of a page, at either side."""
_MARGINS = (MARGIN, 22, MARGIN, 24)
_MARGINS_NARROW = (10, 16, 10, 16)
WIDEST = 640
USUAL_LINE = 15
"""Pixels of a line for which the others here are made."""
_ANY_WIDTH = 16_777_215
"""Qt's own limit."""
Edit = Callable[[Settings], Settings]
Change = Callable[[Edit], None]
"""Carries an edit of the settings out, away from the window's thread."""


def with_type(pixels: int) -> int:
    """As much more than PIXELS as the system's type is larger than usual."""
    return round(pixels * max(1.0, QFontMetrics(theme.body_font()).height() / USUAL_LINE))


def put(**values: Any) -> Edit:
    """Give an edit that sets these fields."""
    return lambda now: now.model_copy(update=values)


class Page(QScrollArea):
    """One page: a title and questions below each other; shows settings, asks for changes.

    Signals:
        narrowed(bool): there is no room for two things beside each other, or there is again.
    """

    narrowed = Signal(bool)

    def __init__(self, title: str, about: str = "") -> None:
        super().__init__()
        self.setObjectName("settingsPage")
        self.setAccessibleName(title)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        body = QWidget()
        body.setObjectName("settingsBody")
        outer = self._outer = QHBoxLayout(body)
        outer.setContentsMargins(*_MARGINS)
        inner = self._inner = QWidget()
        inner.setMaximumWidth(with_type(WIDEST))
        self.box = QVBoxLayout(inner)
        self.box.setContentsMargins(0, 0, 0, 0)
        self.box.setSpacing(16)
        outer.addWidget(inner, 1)
        outer.addStretch(0)
        heading = PlainLabel(title)
        heading.setFont(theme.title_font())
        self.box.addWidget(heading)
        if about:
            self.box.addWidget(note(about))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._asked: list[tuple[PlainLabel, QWidget, PlainLabel]] = []
        self.narrow = False
        """Its controls stand below their labels."""
        self.box.addLayout(self._grid)
        self.setWidget(body)

    def ask(self, label: str, control: QWidget, hint: str = "") -> PlainLabel:
        """Add a question; gives the label of its hint."""
        name = PlainLabel(label)
        name.setWordWrap(True)
        # In line with the words in the control.
        name.setContentsMargins(0, 5, 0, 0)
        name.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        if isinstance(control, QCheckBox):
            holder = in_line(control)
            holder.setContentsMargins(0, 5, 0, 2)
            control = holder
        told = note(hint)
        told.setVisible(bool(hint))
        self._asked.append((name, control, told))
        self._place()
        # Words that do not wrap may need more in another language.
        self._inner.setMaximumWidth(max(with_type(WIDEST), self.box.minimumSize().width()))
        return told

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Put controls below their labels where there is no room beside them."""
        super().resizeEvent(event)
        margins = _MARGINS[0] + _MARGINS[2]
        # Without the bar, which comes and goes with the height.
        room = self.width() - margins - self.verticalScrollBar().sizeHint().width()
        narrow = room < with_type(LABEL_WIDTH) + self._grid.horizontalSpacing() + with_type(
            CONTROL_LEAST
        )
        if narrow is not self.narrow:
            self.narrow = narrow
            self._outer.setContentsMargins(*(_MARGINS_NARROW if narrow else _MARGINS))
            self._place()
            self.narrowed.emit(narrow)

    def _place(self) -> None:
        """Put each label, control and hint where there is room for it."""
        while self._grid.count():
            self._grid.takeAt(0)
        beside = not self.narrow
        self._grid.setColumnMinimumWidth(0, with_type(LABEL_WIDTH) if beside else 0)
        # Without an alignment in the grid, which would leave one line to words that take two.
        for place, (name, control, told) in enumerate(self._asked):
            row = 4 * place
            name.setMaximumWidth(with_type(LABEL_WIDTH) if beside else _ANY_WIDTH)
            if beside:
                self._grid.addWidget(name, row, 0, 2, 1)
                self._grid.addWidget(control, row, 1)
                self._grid.addWidget(told, row + 1, 1)
            else:
                self._grid.addWidget(name, row, 0, 1, 2)
                self._grid.addWidget(control, row + 1, 0, 1, 2)
                self._grid.addWidget(told, row + 2, 0, 1, 2)
            self._grid.setRowMinimumHeight(row + 3, 12 if place + 1 < len(self._asked) else 0)

    def show_settings(self, settings: Settings) -> None:
        """Show these; nothing is changed by it."""


def note(text: str = "", name: str = "") -> PlainLabel:
    """A small muted sentence that wraps."""
    label = PlainLabel(text, name=name)
    label.setWordWrap(True)
    label.setFont(theme.small_font())
    label.setProperty("tone", "muted")
    return label


def button(text: str, name: str, *, flat: bool = False) -> QPushButton:
    """A button that is never the default."""
    made = QPushButton(text)
    made.setObjectName(name)
    made.setAutoDefault(False)
    if flat:
        made.setProperty("flat", True)
    return made


def in_line(*parts: QWidget | str) -> QWidget:
    """Controls and words beside each other."""
    holder = QWidget()
    line = Flow(holder)
    shown = [PlainLabel(part) if isinstance(part, str) else part for part in parts]
    for part in shown:
        line.addWidget(part)
    for part in shown:
        if isinstance(part, QComboBox):
            say_name(part, holder)
    return holder


def say_name(box: QComboBox, holder: QWidget) -> None:
    """Let a screen reader say what a list in HOLDER is for.

    On Linux Qt gives the chosen words as the name of such a list; its label is found among what
    stands beside it.
    """
    label = PlainLabel(box.accessibleName(), holder)
    label.setBuddy(box)
    label.hide()
    box.setAccessibleDescription(box.accessibleName())


class Choice(QWidget):
    """A few values, one of which holds, as buttons in a line.

    Signals:
        chosen(object): the operator chose this value.
    """

    chosen = Signal(object)

    def __init__(self, label: str, values: Sequence[tuple[Any, str]], name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._group = QButtonGroup(self)
        self._values = [value for value, _ in values]
        line = Flow(self, between=18)
        line.setContentsMargins(0, 5, 0, 3)
        for place, (_, told) in enumerate(values):
            radio = QRadioButton(told)
            radio.setAccessibleName(f"{label}: {told}")
            self._group.addButton(radio, place)
            line.addWidget(radio)
        self._group.idClicked.connect(lambda place: self.chosen.emit(self._values[place]))

    def show_value(self, value: Any) -> None:
        """Show which holds."""
        if value in self._values:
            self._group.button(self._values.index(value)).setChecked(True)

    def press(self, value: Any) -> None:
        """Choose as a click does."""
        self._group.button(self._values.index(value)).click()


class Picker(QComboBox):
    """Values with words in a list that drops down; one that is not in it is shown all the same.

    Signals:
        chosen(object): the operator chose this value.
    """

    chosen = Signal(object)

    def __init__(
        self,
        label: str,
        values: Sequence[tuple[Any, str]],
        name: str,
        other: Callable[[Any], str],
    ) -> None:
        """OTHER words a value that is not in the list."""
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.view().setAccessibleName(label)
        self._values = list(values)
        self._other = other
        self._listed: list[Any] = []
        self._list(self._values)
        self.activated.connect(lambda place: self.chosen.emit(self._listed[place]))

    def _list(self, values: Sequence[tuple[Any, str]]) -> None:
        with QSignalBlocker(self):
            self.clear()
            self._listed = [value for value, _ in values]
            self.addItems([told for _, told in values])

    def show_value(self, value: Any) -> None:
        """Show which holds."""
        if value not in self._listed:
            self._list([*self._values, (value, self._other(value))])
        with QSignalBlocker(self):
            self.setCurrentIndex(self._listed.index(value))

    def pick(self, value: Any) -> None:
        """Choose as a click does."""
        self.setCurrentIndex(self._listed.index(value))
        self.chosen.emit(value)
