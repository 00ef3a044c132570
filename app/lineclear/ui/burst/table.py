"""The table of a burst: no cell is ever shortened, and it knows what of it was in view."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from lineclear.core.inbox.bursts.table import Value
from lineclear.language import _, translated
from lineclear.ui import theme
from lineclear.ui.burst import told
from lineclear.ui.burst.model import STANDING, BurstModel, Phase, Role, Standing
from lineclear.ui.burst.spans import Spans

Index = QModelIndex | QPersistentModelIndex
MARGIN = 10
"""Pixels at both sides of a cell's text."""
_GLYPHS = {Phase.WAITING: "state-waiting", Phase.SAVING: "state-handed"}
STANDING_WIDTH = 176


class BurstTable(QTableView):
    """Shows a BurstModel; its columns are as wide as their widest text.

    Signals:
        looked: another part of it is in view.
    """

    looked = Signal()

    def __init__(self, model: BurstModel, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("burstTable")
        self.setAccessibleName(_("Calls to decide together"))
        self._calls = model
        self._seen = Spans()
        self._seen_rows: dict[int, Spans] = {}
        """Of the rows in which something stands out."""
        self._last_width = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setCornerWidget(QWidget())
        self.setItemDelegate(BurstDelegate(look, self))
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(theme.ROW_HEIGHT)
        rows.setDefaultSectionSize(theme.ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(40)
        self.setModel(model)
        self.fit()
        model.modelReset.connect(self.fit)
        self.verticalScrollBar().valueChanged.connect(lambda _value: self.looked.emit())
        self.horizontalScrollBar().valueChanged.connect(lambda _value: self.looked.emit())
        look.changed.connect(self.viewport().update)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The heading, one whole row, and the bar below them where there is one."""
        row = self.verticalHeader().defaultSectionSize()
        heading = self.horizontalHeader().sizeHint().height()
        # A bar that is not needed takes no room.
        side = self.horizontalScrollBar()
        bar = side.sizeHint().height() if side.maximum() else 0
        return QSize(super().minimumSizeHint().width(), heading + row + bar)

    def fit(self) -> None:
        """Make each column as wide as its widest text, so that nothing is cut."""
        delegate = self.itemDelegate()
        assert isinstance(delegate, BurstDelegate)
        for column in range(self._calls.columnCount()):
            self._last_width = delegate.width_of(self._calls, column)
            self.setColumnWidth(column, self._last_width)
        self._fill()
        self._lay_anew()

    def _fill(self) -> None:
        """Give the last column what room is left; it is never narrower than its text."""
        last = self._calls.columnCount() - 1
        if self._calls.numeric(last):
            return
        before = sum(map(self.columnWidth, range(last)))
        self.setColumnWidth(last, max(self._last_width, self.viewport().width() - before))

    # --- What was in view -----------------------------------------------------------------------

    def forget_sight(self) -> None:
        """What was in view before counts no more, but for what stands out: the rows are frozen."""
        self._seen.forget()

    def _lay_anew(self) -> None:
        """Other texts, other widths: what stands out has to be seen again."""
        self.forget_sight()
        self._seen_rows = {
            place: Spans()
            for place, member in enumerate(self._calls.members)
            if any(value.unusual for value in member.values)
        }

    def look(self) -> None:
        """Take in what of the width is in view now, and of the rows in which something is odd."""
        left = self.horizontalScrollBar().value()
        right = left + self.viewport().width()
        self._seen.add(left, right)
        top = self.verticalScrollBar().value()
        bottom = top + self.viewport().height()
        for row, seen in self._seen_rows.items():
            at = self.rowViewportPosition(row) + top
            if top <= at and at + self.rowHeight(row) <= bottom:
                seen.add(left, right)

    def width_seen(self) -> bool:
        """Whether every column was in view, from its first character to its last."""
        return self._seen.cover(0, self.horizontalHeader().length())

    def oddities_unseen(self) -> int:
        """How many values that stand out were not in view from their first character to the last.

        A column may have been in view while another row was.
        """
        unseen = 0
        for row, seen in self._seen_rows.items():
            for column, value in enumerate(self._calls.members[row].values, 1):
                start = self.columnViewportPosition(column) + self.horizontalScrollBar().value()
                last = column == self._calls.columnCount() - 1
                # The last one is wider than its text.
                needed = self._last_width if last else self.columnWidth(column)
                unseen += value.unusual and not seen.cover(start, start + needed)
        return unseen

    def rows_below(self) -> int:
        """How many rows are below what is in view now."""
        hidden = (
            self.verticalHeader().length()
            - self.verticalScrollBar().value()
            - self.viewport().height()
        )
        return max(0, -(-hidden // theme.ROW_HEIGHT))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Another size, another part in view; who reads the last row goes on reading it."""
        bar = self.verticalScrollBar()
        at_end = bar.maximum() > 0 and bar.value() == bar.maximum()
        super().resizeEvent(event)
        self._fill()
        if at_end:
            self.scrollToBottom()
        self.looked.emit()

    def keyboardSearch(self, search: str) -> None:  # noqa: N802
        """No type-ahead: letters are verdicts here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Left and Right move over the width, Home to the first call's beginning."""
        if event.key() == Qt.Key.Key_Home:
            self.horizontalScrollBar().setValue(0)
            self.scrollToTop()
            return
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        bar = self.horizontalScrollBar()
        bar.setValue(bar.value() + step * bar.pageStep() // 2)


class BurstDelegate(QStyledItemDelegate):
    """Draws a value as it is, what is unusual in bold."""

    def __init__(self, look: theme.Theme, parent: BurstTable) -> None:
        super().__init__(parent)
        self._look = look
        self._fonts: dict[tuple[bool, bool], QFont] = {}

    def _font(self, *, mono: bool, bold: bool) -> QFont:
        font = self._fonts.get((mono, bold))
        if font is None:
            font = theme.mono_font() if mono else theme.body_font(tabular=True)
            font.setBold(bold)
            self._fonts[mono, bold] = font
        return font

    def width_of(self, model: BurstModel, column: int) -> int:
        """Pixels that the widest text of a column takes, its name included."""
        if column == STANDING:
            return STANDING_WIDTH
        mono = model.is_argument(column)
        values = [member.values[column - 1] for member in model.members]
        texts = {(translated(value.text), value.unusual) for value in values}
        if mono:
            texts = _longest(texts)
        metrics = {bold: QFontMetrics(self._font(mono=mono, bold=bold)) for bold in (False, True)}
        widest = max((metrics[bold].horizontalAdvance(text) for text, bold in texts), default=0)
        name = str(model.headerData(column, Qt.Orientation.Horizontal))
        heading = QFontMetrics(theme.body_font()).horizontalAdvance(name) + 8
        return max(widest, heading) + 2 * MARGIN

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802
        """Rows are of one height."""
        return QSize(80, theme.ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        t = self._look.tokens
        standing = index.data(Role.STANDING)
        assert isinstance(standing, Standing)
        rect = option.rect
        painter.save()
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        chosen = t.selected if option.widget.hasFocus() else t.selected_idle
        painter.fillRect(rect, QColor(chosen if selected else t.base))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(t.line))
        content = rect.adjusted(MARGIN, 0, -MARGIN, 0)
        if index.column() == STANDING:
            self._standing(painter, option, content, standing)
        else:
            self._value(painter, content, index, standing)
        painter.restore()

    def _standing(
        self, painter: QPainter, option: QStyleOptionViewItem, content: QRect, standing: Standing
    ) -> None:
        t = self._look.tokens
        glyph = _GLYPHS.get(standing.phase)
        if standing.phase is Phase.DECIDED:
            glyph = "state-denied" if standing.told == told.DENIED else "state-finished"
        colour = t.care if standing.phase is Phase.OUT else t.muted
        if glyph is not None:
            waits = standing.phase is Phase.WAITING
            ratio = option.widget.devicePixelRatioF()
            pixmap = theme.glyph(glyph, t.accent if waits else t.muted, ratio)
            top = content.top() + (content.height() - theme.GLYPH) // 2
            painter.drawPixmap(content.left(), top, pixmap)
            content = content.adjusted(theme.GLYPH + 6, 0, 0, 0)
        painter.setPen(QColor(colour))
        painter.setFont(self._font(mono=False, bold=False))
        word = standing.told[:1].upper() + standing.told[1:]
        shown = painter.fontMetrics().elidedText(word, Qt.TextElideMode.ElideRight, content.width())
        painter.drawText(content, int(_LEFT_MIDDLE), shown)

    def _value(self, painter: QPainter, content: QRect, index: Index, standing: Standing) -> None:
        t = self._look.tokens
        value = index.data(Role.VALUE)
        model = index.model()
        assert isinstance(value, Value)
        assert isinstance(model, BurstModel)
        over = standing.phase in (Phase.OUT, Phase.DECIDED)
        quiet = over or not value.given or value.masked
        painter.setPen(QColor(t.muted if quiet else t.text))
        mono = model.is_argument(index.column()) and value.given
        painter.setFont(self._font(mono=mono, bold=value.unusual))
        side = _RIGHT_MIDDLE if model.numeric(index.column()) else _LEFT_MIDDLE
        painter.drawText(content, int(side | Qt.TextFlag.TextDontClip), translated(value.text))


def _longest(texts: set[tuple[str, bool]]) -> set[tuple[str, bool]]:
    """Leave what can be the widest in type of one width: measuring thousands takes long."""
    plain = [(len(text), text, bold) for text, bold in texts if text.isascii()]
    odd = {(text, bold) for text, bold in texts if not text.isascii()}
    for bold in (False, True):
        longest = max((one for one in plain if one[2] is bold), default=None)
        if longest is not None:
            odd.add((longest[1], bold))
    return odd


_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT_MIDDLE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
