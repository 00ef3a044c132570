"""The filter line, and below it how the last word may go on and what may be meant by the line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.queue.filter_hints import Suggestion, replaced, sentence, suggestions
from lineclear.ui.queue.filtering import parse_filter

LINE_HEIGHT = 24
_BETWEEN = "   "


class FilterLine(QLineEdit):
    """Takes a filter.

    Signals:
        left: Enter or Down was pressed: on to what it leaves.
    """

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.values: Callable[[str], Iterable[str]] = lambda _field: ()
        """Gives the values of a field that are there now."""
        self._below: FilterHints | None = None
        self.textEdited.connect(lambda _text: self.suggest())

    def suggest(self) -> None:
        """Show how the line may go on and what may be meant by it, or nothing."""
        text = self.text()
        ways = suggestions(text[: self.cursorPosition()], self.values)
        said = sentence(parse_filter(text))
        if not (self.hasFocus() and (ways or said)):
            self.close_hints()
            return
        if self._below is None:
            self._below = FilterHints(self.window())
            self._below.chosen.connect(self._take)
        self._below.offer(ways, said)
        place = self.mapTo(self.window(), QPoint(0, self.height() + 2))
        self._below.place(place, max(self.width(), 320))

    def close_hints(self) -> None:
        """Show nothing below the line."""
        if self._below is not None:
            self._below.hide()

    def _take(self, word: str) -> None:
        place = self.cursorPosition()
        before, after = self.text()[:place], self.text()[place:]
        now = replaced(before, word)
        self.setText(now + after.lstrip())
        self.setCursorPosition(len(now))
        self.suggest()

    def event(self, event: QEvent) -> bool:
        """Keep Esc and Tab from the window while there is something below to close or to take."""
        below = self._below
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and below is not None and below.isVisible():
            if event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            chosen = below.current() if below is not None and below.isVisible() else None
            if chosen is not None and event.key() == Qt.Key.Key_Tab:
                self._take(chosen)
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Go through what is below; without it, down to the rows."""
        key = event.key()
        below = self._below if self._below is not None and self._below.isVisible() else None
        if below is not None:
            if key == Qt.Key.Key_Escape:
                self.close_hints()
                return
            if key in (Qt.Key.Key_Down, Qt.Key.Key_Up) and below.step(
                1 if key == Qt.Key.Key_Down else -1
            ):
                return
            chosen = below.current()
            if chosen is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take(chosen)
                return
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close_hints()
            self.left.emit()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """What is below goes with the focus."""
        super().focusOutEvent(event)
        self.close_hints()


class FilterHints(QFrame):
    """A list of ways to go on, and a sentence; never takes the focus.

    Signals:
        chosen(str): a word was clicked.
    """

    chosen = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("filterHints")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._ways = _Ways(self)
        self.list = QListView()
        self.list.setObjectName("filterWays")
        self.list.setAccessibleName(_("Ways to go on"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setModel(self._ways)
        self.list.setUniformItemSizes(True)
        self.list.setItemDelegate(_WayDelegate(self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(self._clicked)
        self.said = PlainLabel(name="filterSaid")
        self.said.setWordWrap(True)
        self.said.setFont(theme.small_font())
        self.said.setContentsMargins(8, 4, 8, 6)
        box = QVBoxLayout(self)
        box.setContentsMargins(1, 1, 1, 1)
        box.setSpacing(0)
        box.addWidget(self.list)
        box.addWidget(self.said)
        self.hide()

    def offer(self, ways: list[Suggestion], said: str) -> None:
        """Take up other ways and another sentence."""
        self._ways.show(ways)
        self.list.setVisible(bool(ways))
        self.list.setFixedHeight(len(ways) * LINE_HEIGHT)
        self.list.setCurrentIndex(QModelIndex())
        self.said.setText(said)
        self.said.set_tone("muted")
        self.said.setVisible(bool(said))

    def place(self, where: QPoint, width: int) -> None:
        """Show all of it at a place of the window."""
        self.setFixedWidth(min(width, self.window().width() - where.x() - 8))
        self.move(where)
        self.show()
        self.raise_()
        layout = self.layout()
        if layout is not None:
            layout.activate()
        self.resize(self.width(), self.sizeHint().height())

    def current(self) -> str | None:
        """The word that is chosen, if any."""
        index = self.list.currentIndex()
        return self._ways.word(index.row()) if index.isValid() else None

    def step(self, by: int) -> bool:
        """Go to the next or previous word; False where there is none that way."""
        row = self.list.currentIndex().row() + by
        if not -1 <= row < self._ways.rowCount():
            return self.list.currentIndex().isValid()
        if row < 0 and by < 0 and not self.list.currentIndex().isValid():
            return False
        self.list.setCurrentIndex(self._ways.index(row) if row >= 0 else QModelIndex())
        return True

    def _clicked(self, index: QModelIndex) -> None:
        self.chosen.emit(self._ways.word(index.row()))


class _WayDelegate(QStyledItemDelegate):
    """Draws a word, and what it is in a quieter colour."""

    def sizeHint(  # noqa: N802
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(120, LINE_HEIGHT)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        palette = option.palette
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
        if chosen:
            painter.fillRect(option.rect, palette.color(QPalette.ColorRole.Highlight))
        place = option.rect.adjusted(8, 0, -8, 0)
        word, _, told = str(index.data()).partition(_BETWEEN)
        for font, text, colour in (
            (theme.mono_font(), word, palette.color(role)),
            (
                theme.small_font(),
                told,
                palette.color(role if chosen else QPalette.ColorRole.PlaceholderText),
            ),
        ):
            painter.setFont(font)
            painter.setPen(colour)
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), shown)
            place.setLeft(place.left() + metrics.horizontalAdvance(shown) + 16)
        painter.restore()


class _Ways(QAbstractListModel):
    def __init__(self, parent: QFrame) -> None:
        super().__init__(parent)
        self._ways: list[Suggestion] = []

    def show(self, ways: list[Suggestion]) -> None:
        self.beginResetModel()
        self._ways = ways
        self.endResetModel()

    def word(self, row: int) -> str:
        return self._ways[row].word

    def rowCount(  # noqa: N802
        self,
        parent: QModelIndex | QPersistentModelIndex = QModelIndex(),  # noqa: B008
    ) -> int:
        return 0 if parent.isValid() else len(self._ways)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        way = self._ways[index.row()]
        return f"{way.word}{_BETWEEN}{way.told}" if way.told else way.word
