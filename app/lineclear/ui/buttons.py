"""Buttons that know by what they were pressed, and one that shows when it may be."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from lineclear.core.inbox.deciding.path import Origin
from lineclear.ui import theme


def in_line_button(
    text: str, name: str, *, tabular: bool = False, kind: type[QPushButton] = QPushButton
) -> QPushButton:
    """A small button within a line of words, without a frame of its own and never the default."""
    made = kind(text)
    made.setObjectName(name)
    made.setProperty("inLine", True)
    made.setAutoDefault(False)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    made.setFont(theme.small_font(tabular=tabular))
    return made


class DecisionButton(QPushButton):
    """A button without a mnemonic, never the default.

    Signals:
        pressed_by(Origin): CLICK by the pointer, KEY by the keyboard, ASSISTIVE by neither.
    """

    pressed_by = Signal(object)

    def __init__(self, text: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAutoDefault(False)
        self.setDefault(False)
        self.say(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._by: Origin | None = None
        self.clicked.connect(self._clicked)

    def say(self, text: str) -> None:
        """Set the label; an ampersand stays an ampersand."""
        shown = text.replace("&", "&&")
        if self.text() != shown:
            self.setText(shown)
            self.setAccessibleName(text)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Remember that the pointer did it."""
        self._by = Origin.CLICK
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """The press ends here, whether it clicked or not."""
        super().mouseReleaseEvent(event)
        self._by = None

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Remember that a key did it; a key that is held presses once."""
        if event.isAutoRepeat():
            event.accept()
            return
        self._by = Origin.KEY
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """The press ends here."""
        super().keyReleaseEvent(event)
        if not event.isAutoRepeat():
            self._by = None

    def _clicked(self) -> None:
        by, self._by = self._by, None
        self.pressed_by.emit(by or Origin.ASSISTIVE)


class ApproveButton(DecisionButton):
    """Outlined until it may be pressed, then filled; a line of 2 pixels shows the waiting."""

    def __init__(
        self, look: theme.Theme, text: str, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, name, parent)
        self._look = look
        self._ready = False
        self._progress = 0.0
        self._letter = False
        look.changed.connect(self.update)

    def show_readiness(self, *, ready: bool, progress: float, letter: bool) -> None:
        """Show whether it may be pressed, how far its waiting is, and whether Enter is awaited."""
        state = (ready, round(progress, 2), letter)
        if state != (self._ready, round(self._progress, 2), self._letter):
            self._ready, self._progress, self._letter = ready, progress, letter
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """Room for the label and a margin."""
        return QSize(self.width_of(self.text()), self.fontMetrics().height() + 16)

    def width_of(self, text: str) -> int:
        """Pixels that the button takes with a label."""
        return self.fontMetrics().horizontalAdvance(text) + 40

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Draw the button."""
        t = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        filled = self._ready and self.isEnabled()
        edge = t.accent if filled or self.hasFocus() else t.muted
        painter.setPen(QPen(QColor(edge), 1.5 if not self._letter else 3))
        back = QColor(t.accent) if filled else QColor(t.base)
        if filled and (self.isDown() or self.underMouse()):
            back = theme.blend(QColor(t.text), back, 0.18 if self.isDown() else 0.08)
        painter.setBrush(back)
        painter.drawRoundedRect(box, 6, 6)
        moving = 0 < self._progress < 1 and not self._look.still
        if not filled and self.isEnabled() and moving:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.accent))
            width = (box.width() - 12) * self._progress
            painter.drawRect(QRectF(box.left() + 6, box.bottom() - 3, width, 2))
        if self.hasFocus() and filled:
            painter.setPen(QPen(QColor(t.on_accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(3, 3, -3, -3), 4, 4)
        painter.setPen(QColor(t.on_accent if filled else t.text if self.isEnabled() else t.muted))
        font = self.font()
        font.setWeight(font.Weight.DemiBold)
        painter.setFont(font)
        painter.drawText(
            self.rect(), int(Qt.AlignmentFlag.AlignCenter), self.text().replace("&&", "&")
        )
        painter.end()
