"""Controls in a line that goes on below where it is full, and words of a box to tick that wrap."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QLayout,
    QLayoutItem,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QWidget,
)

BETWEEN = 8
"""Pixels between controls of a line."""
BELOW = 6
"""Pixels between two lines."""


def direction(*, narrow: bool) -> QBoxLayout.Direction:
    """Give how two things stand: beside each other, or one below the other where it is NARROW."""
    return QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight


class Flow(QLayout):
    """As many controls in a line as there is room for; the others in further lines."""

    def __init__(self, parent: QWidget | None = None, *, between: int = BETWEEN) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self._items: list[QLayoutItem] = []
        self._between = between

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        """Put one more at the end."""
        self._items.append(item)

    def count(self) -> int:
        """How many there are."""
        return len(self._items)

    def itemAt(self, place: int) -> QLayoutItem | None:  # noqa: N802
        """Give one of them."""
        return self._items[place] if 0 <= place < len(self._items) else None

    def takeAt(self, place: int) -> QLayoutItem | None:  # noqa: N802
        """Take one of them out."""
        return self._items.pop(place) if 0 <= place < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        """It asks for no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        """The narrower, the more lines."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        """As high as its lines."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, room: QRect) -> None:  # noqa: N802
        """Put each where it stands."""
        super().setGeometry(room)
        self._place(room, move=True)

    def sizeHint(self) -> QSize:  # noqa: N802
        """All in one line."""
        margins = self.contentsMargins()
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        wide = sum(hint.width() for hint in hints) + self._between * max(0, len(hints) - 1)
        high = max((hint.height() for hint in hints), default=0)
        return QSize(wide, high).grownBy(margins)

    def minimumSize(self) -> QSize:  # noqa: N802
        """One below the other."""
        least = QSize()
        for item in self._items:
            if not item.isEmpty():
                least = least.expandedTo(item.minimumSize())
        return least.grownBy(self.contentsMargins())

    def _place(self, room: QRect, *, move: bool) -> int:
        """Go through the lines; gives how high all of it is."""
        margins = self.contentsMargins()
        inner = room.marginsRemoved(margins)
        left, top = inner.left(), inner.top()
        line: list[tuple[QLayoutItem, QSize, int]] = []
        for item in self._items:
            if item.isEmpty():
                continue
            size = _at_most(item, inner.width())
            if line and left + size.width() > inner.left() + inner.width():
                top += _settle(line, top, move=move) + BELOW
                line, left = [], inner.left()
            line.append((item, size, left))
            left += size.width() + self._between
        return top + _settle(line, top, move=move) - room.top() + margins.bottom()


def _at_most(item: QLayoutItem, width: int) -> QSize:
    """As large as it would like to be, but no wider than WIDTH where it can be narrower."""
    hint = item.sizeHint()
    if hint.width() <= width:
        return hint
    least = max(width, item.minimumSize().width())
    high = item.heightForWidth(least) if item.hasHeightForWidth() else hint.height()
    return QSize(least, max(high, item.minimumSize().height()))


def _settle(line: list[tuple[QLayoutItem, QSize, int]], top: int, *, move: bool) -> int:
    """Put a line's controls in the middle of its height; gives that height."""
    high = max((size.height() for _, size, _ in line), default=0)
    if move:
        for item, size, left in line:
            item.setGeometry(QRect(QPoint(left, top + (high - size.height()) // 2), size))
    return high


class WrappingCheckBox(QCheckBox):
    """A box to tick whose words take as many lines as they need."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._whole = text
        self.setAccessibleName(text)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        """As high as its lines."""
        return self._size_of(self._lines(width)).height()

    def sizeHint(self) -> QSize:  # noqa: N802
        """All words in one line, but as high as they are now."""
        high = self.heightForWidth(self.width()) if self.isVisible() else 0
        whole = self._size_of([self._whole])
        return QSize(whole.width(), max(high, whole.height()))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """A word in a line."""
        return QSize(self._size_of(self._whole.split()).width(), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Break the words anew."""
        super().resizeEvent(event)
        text = "\n".join(self._lines(self.width()))
        if text != self.text():
            self.setText(text)
            self.updateGeometry()

    def _size_of(self, lines: list[str]) -> QSize:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = "\n".join(lines)
        words = self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, option.text)
        kind = QStyle.ContentsType.CT_CheckBox
        return self.style().sizeFromContents(kind, option, words, self)

    def _lines(self, width: int) -> list[str]:
        lines: list[str] = []
        for word in self._whole.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self._size_of([longer]).width() <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines
