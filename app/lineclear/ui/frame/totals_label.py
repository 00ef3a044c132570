"""The totals in the status line, and a card above them with every figure."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from lineclear.core.inbox.runs.totals import Totals
from lineclear.ui import theme
from lineclear.ui.labels import ElidedLabel, PlainLabel
from lineclear.ui.queue.totals import Line, Scope, lines, over, spoken

_COLUMNS = 2
"""Of one scope in the card: the figure, and what is to be said of it."""


class TotalsCard(QFrame):
    """Every figure of some totals side by side; it takes neither focus nor keys."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.ToolTip)
        self.setObjectName("totalsCard")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 12, 16, 12)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)

    def show_figures(self, every: Sequence[tuple[Scope, Totals]]) -> None:
        """Show these totals, the first at the left."""
        while (item := self._grid.takeAt(0)) is not None:
            label = item.widget()
            if label is not None:
                label.hide()
                label.deleteLater()
        for number, (scope, found) in enumerate(every):
            place = 1 + number * _COLUMNS
            self._put(scope.title, 0, place, bold=True, right=True)
            self._put(over(found), 1, place, muted=True, right=True)
            for at, line in enumerate(lines(found), 2):
                self._put_line(line, at, place)
        names = _names(every)
        for at, (name, part) in enumerate(names, 2):
            self._put(f"    {name}" if part else name, at, 0, muted=part)
        self.adjustSize()

    def _put_line(self, line: Line, at: int, place: int) -> None:
        self._put(line.used, at, place, muted=not line.reported, right=True)
        if line.note:
            self._put(line.note, at, place + 1, muted=True)

    def _put(
        self,
        text: str,
        at: int,
        place: int,
        *,
        bold: bool = False,
        muted: bool = False,
        right: bool = False,
    ) -> None:
        label = PlainLabel(text, self)
        font = theme.body_font(tabular=True)
        font.setBold(bold)
        label.setFont(font)
        if muted:
            label.setProperty("tone", "muted")
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        self._grid.addWidget(label, at, place, side | Qt.AlignmentFlag.AlignVCenter)


def _names(every: Sequence[tuple[Scope, Totals]]) -> list[tuple[str, bool]]:
    """The lines' names; what is counted in may be several things, by scope."""
    tables = [lines(found) for _scope, found in every]
    return [
        (" / ".join(dict.fromkeys(line.name for line in across)), across[0].part)
        for across in zip(*tables, strict=True)
    ]


class TotalsLabel(ElidedLabel):
    """Shows its card under the pointer, and at a click, Enter or Space."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, name: str = "") -> None:
        super().__init__(text, parent, name=name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.card = TotalsCard(self)
        self._every: Sequence[tuple[Scope, Totals]] = ()

    def setText(self, text: str) -> None:  # noqa: N802
        """Say it to screen readers as well: it can have the focus."""
        super().setText(text)
        self.setAccessibleName(text)

    def show_figures(self, every: Sequence[tuple[Scope, Totals]]) -> None:
        """Have these figures on the card, and tell them to screen readers."""
        every = [one for one in every if one[1].rows]
        if every == self._every:
            return
        self._every = every
        self.setAccessibleDescription(" ".join(spoken(found, scope) for scope, found in every))
        if not every:
            self.card.hide()
        elif self.card.isVisible():
            self._open()

    def _open(self) -> None:
        if not self._every:
            return
        self.card.show_figures(self._every)
        self.card.move(self.mapToGlobal(QPoint(0, -self.card.height() - 6)))
        self.card.show()

    def event(self, event: QEvent) -> bool:
        """The pointer rests on it, or leaves it."""
        if event.type() == QEvent.Type.ToolTip:
            self._open()
            return True
        if event.type() == QEvent.Type.ShortcutOverride and self.card.isVisible():
            # Esc is for what is innermost.
            event.setAccepted(isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape)
            return event.isAccepted()
        if event.type() in (QEvent.Type.Leave, QEvent.Type.WindowDeactivate, QEvent.Type.Hide):
            self.card.hide()
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Open the card, or shut it."""
        self._turn()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter and Space open and shut it, Esc shuts it."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._turn()
        elif event.key() == Qt.Key.Key_Escape and self.card.isVisible():
            self.card.hide()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Nobody reads it any more."""
        self.card.hide()
        super().focusOutEvent(event)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Its edge tells where the focus is."""
        super().focusInEvent(event)
        self.update()

    def _turn(self) -> None:
        if self.card.isVisible():
            self.card.hide()
        else:
            self._open()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw the words, and a line below them while the focus is here."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(self.palette().color(QPalette.ColorRole.Highlight))
            wide = min(self.width(), self.fontMetrics().horizontalAdvance(self.text()))
            painter.drawLine(0, self.height() - 1, wide, self.height() - 1)
            painter.end()
