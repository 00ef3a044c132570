"""Labels that show text and never interpret it."""

from __future__ import annotations

import html
from math import ceil

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from lineclear.core.checkpoints.characters.text import visible, visible_line


class PlainLabel(QLabel):
    """A label for plain text only; `show_agent_text` escapes first."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, name: str = "") -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.setOpenExternalLinks(False)
        if name:
            self.setObjectName(name)
        self.setText(text)

    def show_agent_text(self, text: str) -> None:
        """Show text that an agent wrote, everything odd in it as a token."""
        self.setText(visible(text).text)

    def set_tone(self, tone: str) -> None:
        """Take the colour of a tone (`stop`, `care`, `muted` ...); the style looks at it anew."""
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)


class ElidedLabel(PlainLabel):
    """One line that elides in the middle when there is no room, and never widens its parent."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, name: str = "") -> None:
        super().__init__(text, parent, name=name)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.elide_mode = Qt.TextElideMode.ElideMiddle

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Any width will do."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Draw as much as fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        room = self.contentsRect()
        shown = painter.fontMetrics().elidedText(self.text(), self.elide_mode, room.width())
        painter.drawText(room, int(self.alignment()), shown)
        painter.end()


class HighLabel(PlainLabel):
    """A label that is as high as its lines at its width, and never widens its parent."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, name: str = "") -> None:
        super().__init__(text, parent, name=name)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        """As high as its lines."""
        around = self.contentsMargins()
        wide = width - around.left() - around.right()
        return ceil(self._height_at(wide)) + around.top() + around.bottom()

    def sizeHint(self) -> QSize:  # noqa: N802
        """As high as it is at its width."""
        return QSize(0, self.heightForWidth(max(1, self.width())))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Any width will do; no line is left out."""
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Another width, another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def _height_at(self, width: int) -> float:
        """Pixels of all lines at a width."""
        raise NotImplementedError


class WholeLabel(HighLabel):
    """All of its text, broken anywhere over as many lines as it takes; never widens its parent.

    For sentences that may hold a path or an agent's word: `wordWrap` cuts those at the edge.
    """

    def _height_at(self, width: int) -> float:
        return max(self.fontMetrics().height(), self._lines(width).boundingRect().height())

    def _lines(self, width: int) -> QTextLayout:
        made = QTextLayout(self.text(), self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setAlignment(self.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask)
        made.setTextOption(option)
        made.beginLayout()
        top = 0.0
        while (line := made.createLine()).isValid():
            line.setLineWidth(max(width, 20))
            line.setPosition(QPointF(0, top))
            top += line.height()
        made.endLayout()
        return made

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Draw every line."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        room = self.contentsRect()
        lines = self._lines(room.width())
        spare = room.height() - lines.boundingRect().height()
        below = spare / 2 if self.alignment() & Qt.AlignmentFlag.AlignVCenter else 0
        lines.draw(painter, QPointF(room.left(), room.top() + max(0, below)))
        painter.end()


def explain(widget: QWidget, text: str) -> None:
    """Give WIDGET a tooltip, and tell a screen reader the same without its markup."""
    widget.setToolTip(tooltip(text))
    # Else it would read the tooltip, tags and all.
    widget.setAccessibleDescription(visible_line(text, 400))


def tooltip(text: str, limit: int = 400) -> str:
    """A tooltip of agent text: escaped for the eye and for Qt's markup, which it always is."""
    # Without a tag Qt would guess, and show the escapes of what it takes for plain text.
    return f"<p>{html.escape(visible_line(text, limit))}</p>" if text else ""
