"""The fields of a JSON value: a tree that wraps, marks and unfolds, and knows what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QTextLayout,
    QTextLine,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from lineclear.core.checkpoints.model import Json
from lineclear.core.inbox.secrets.masking import Path
from lineclear.ui import theme
from lineclear.ui.reading import flagged, marked_text
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.json_tree import FETCH, SPANS, Index, JsonTree, key_text

_LEFT = 16
_TOP = 4
_RIGHT = 8
KEYS_LEAST = 96
KEYS_MOST = 0.6
"""Of the width: so much may keys take, so that values have room."""
KEY_READABLE = 64
"""Pixels in which a longer key may be wrapped and still be read."""
VALUE_LEAST = 120
_REVEAL = frozenset({Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter})


class ValueDelegate(QStyledItemDelegate):
    """Draws keys muted and values in full, wrapped, with their tokens marked."""

    def __init__(self, look: theme.Theme, view: JsonView) -> None:
        super().__init__(view)
        self._look = look
        self._view = view
        self._mono = theme.mono_font()
        self._body = theme.body_font()

    def _width(self, index: Index) -> float:
        width = self._view.columnWidth(index.column()) - _LEFT - _RIGHT
        if index.column() == 0:
            depth, above = int(self._view.rootIsDecorated()), index.parent()
            while above.isValid():
                depth, above = depth + 1, above.parent()
            width -= depth * self._view.indentation()
        return float(max(width, 40))

    def laid_out(self, index: Index) -> QTextLayout:
        """The text of a cell as it is drawn."""
        font = self._body if index.column() == 0 else self._mono
        text = str(index.data() or "")
        spans = [*(index.data(SPANS) or ()), *self._view.hits(index)]
        return marked_text.layout(text, font, self._width(index), self._look.tokens, spans)

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """As high as the wrapped text."""
        return QSize(40, max(26, int(marked_text.height(self.laid_out(index))) + 9))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        t = self._look.tokens
        rect = QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(t.selected))
        marked_text.draw(
            painter,
            self.laid_out(index),
            rect.adjusted(_LEFT, _TOP, -_RIGHT, 0),
            t.muted if index.column() == 0 else t.text,
        )


class JsonView(QTreeView):
    """A tree of keys and values, everything unfolded as far as it is small.

    Signals:
        show_wanted(Path): a value that is masked should be shown.
    """

    show_wanted = Signal(object)

    def __init__(
        self, look: theme.Theme, name: str, accessible: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHeaderHidden(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setIndentation(14)
        self._cells = ValueDelegate(look, self)
        self.setItemDelegate(self._cells)
        self._keys: list[tuple[int, int]] = []
        self._unseen: list[tuple[QModelIndex, set[int]]] | None = None
        self._small = True
        self._hits: dict[tuple[Path, int], list[Span]] = {}
        self.show_value({}, small=True)

    def show_value(
        self,
        value: Json,
        *,
        small: bool,
        was: Mapping[Path, Json] | None = None,
        spans: Mapping[Path, tuple[Span, ...]] | None = None,
    ) -> None:
        """Show another value; SMALL ones are unfolded whole."""
        self.measure(value)
        old = self.model()
        self._unseen = None
        self._hits = {}
        self.setModel(JsonTree(value, self, was=was, spans=spans))
        if old is not None:
            old.deleteLater()
        self._small = small
        header = self.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.setStretchLastSection(True)
        self._fit_keys()
        if small:
            self.expandAll()
        self.scrollToTop()

    # --- Keys can be read at any depth ----------------------------------------------------------

    def measure(self, value: Json) -> None:
        """Let `fits` tell of a value that is not shown: what would not fit is not laid out."""
        flat = not any(isinstance(below, dict | list) for below in _values(value))
        self.setRootIsDecorated(not flat)
        self._keys = _measured(value, QFontMetrics(theme.body_font()))

    def _indent(self, depth: int) -> int:
        return (depth + int(self.rootIsDecorated())) * self.indentation() + _LEFT + _RIGHT

    def _fit_keys(self) -> None:
        widest = max((self._indent(depth) + width for depth, width in self._keys), default=0)
        most = max(KEYS_LEAST, int(self.viewport().width() * KEYS_MOST))
        self.header().resizeSection(0, min(max(widest + 2, KEYS_LEAST), most))

    def fits(self) -> bool:
        """Whether every key, however deep, has room to be read beside its value."""
        room = self.header().sectionSize(0)
        return self.viewport().width() - room >= VALUE_LEAST and all(
            room - self._indent(depth) >= min(width, KEY_READABLE) for depth, width in self._keys
        )

    # --- What was seen --------------------------------------------------------------------------

    def forget_sight(self) -> None:
        """What was in view before counts no more."""
        self._unseen = None

    def flags_seen(self) -> bool:
        """Whether each flagged place has been in view; what is in view now is noted."""
        if not self._small:
            return False
        if self._unseen is None:
            self._unseen = self._flagged()
        room = self.viewport().rect()
        for place, numbers in self._unseen:
            cell = self.visualRect(place)
            if not cell.isEmpty() and cell.intersects(room):
                numbers -= self._in_view(place, cell.top() + _TOP)  # noqa: PLW2901
        self._unseen = [one for one in self._unseen if one[1]]
        return not self._unseen

    def _flagged(self) -> list[tuple[QModelIndex, set[int]]]:
        model = self.model()
        found = []
        stack = [QModelIndex()]
        while stack:
            above = stack.pop()
            for row in range(model.rowCount(above)):
                for column in range(2):
                    index = model.index(row, column, above)
                    if number := len(flagged.places(str(index.data() or ""))):
                        found.append((index, set(range(number))))
                stack.append(model.index(row, 0, above))
        return found

    def _in_view(self, place: QModelIndex, top: int) -> set[int]:
        made = self._cells.laid_out(place)
        text = str(place.data() or "")
        seen = set()
        for number, (start, end) in enumerate(flagged.places(text)):
            first = made.lineForTextPosition(marked_text.units(text[:start]))
            last = made.lineForTextPosition(marked_text.units(text[:end]) - 1)
            bottom = top + last.y() + last.height()
            if top + first.y() >= 0 and bottom <= self.viewport().height():
                seen.add(number)
        return seen

    def next_flag(self) -> bool:
        """Bring a flagged place that was not seen into view; False when there is none."""
        if self.flags_seen() or not self._unseen:
            return False
        place, numbers = self._unseen[0]
        text = str(place.data() or "")
        start = flagged.places(text)[min(numbers)][0]
        # A line lives no longer than its layout.
        made = self._cells.laid_out(place)
        line = made.lineForTextPosition(marked_text.units(text[:start]))
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.visualRect(place).top() + int(line.y()))
        return True

    def unfolded(self) -> bool:
        """Whether nothing is folded away."""
        model = self.model()
        if not isinstance(model, JsonTree) or not model.whole():
            return False
        stack = [model.index(row, 0) for row in range(model.rowCount())]
        while stack:
            index = stack.pop()
            if model.hasChildren(index):
                if not self.isExpanded(index):
                    return False
                stack.extend(model.index(row, 0, index) for row in range(model.rowCount(index)))
        return True

    # --- Secrets --------------------------------------------------------------------------------

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Show the value whose Show was clicked."""
        super().mouseReleaseEvent(event)
        place = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and self._show_rect(place).contains(
            event.position()
        ):
            self._want(place)

    def _show_rect(self, place: QModelIndex) -> QRectF:
        model = self.model()
        if not isinstance(model, JsonTree) or not model.is_masked(place) or place.column() != 1:
            return QRectF()
        made = self._cells.laid_out(place)
        text = str(place.data() or "")
        start, length = next((one[0], one[1]) for one in place.data(SPANS) if one[2] == "link")
        line = made.lineForTextPosition(marked_text.units(text[: start + length]) - 1)
        left = _x(line, marked_text.units(text[:start]))
        right = _x(line, marked_text.units(text[: start + length]))
        cell = self.visualRect(place)
        return QRectF(
            cell.left() + _LEFT + left, cell.top() + _TOP + line.y(), right - left, line.height()
        ).adjusted(-4, -4, 4, 4)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Space or Enter shows the value of the current place, if it is masked."""
        model = self.model()
        if (
            event.key() in _REVEAL
            and isinstance(model, JsonTree)
            and model.is_masked(self.currentIndex())
        ):
            self._want(self.currentIndex())
            return
        super().keyPressEvent(event)

    def go_to(self, path: Path) -> None:
        """Make a value the current place, with the focus, so that a key shows it."""
        for place, found, _text in self.cells():
            if found == path and place.column() == 1:
                self.setCurrentIndex(place)
                self.scrollTo(place)
                self.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _want(self, place: QModelIndex) -> None:
        model = self.model()
        if isinstance(model, JsonTree):
            self.show_wanted.emit(model.path_of(place))

    # --- Finding --------------------------------------------------------------------------------

    def hits(self, index: Index) -> list[Span]:
        """What was found in a cell."""
        model = self.model()
        if not self._hits or not isinstance(model, JsonTree):
            return []
        return self._hits.get((model.path_of(index), index.column()), [])

    def show_hits(self, hits: dict[tuple[Path, int], list[Span]]) -> None:
        """Mark what was found, by path and column."""
        self._hits = hits
        self.viewport().update()

    def cells(self) -> list[tuple[QModelIndex, Path, str]]:
        """Every cell that is made, in the order in which it is read: place, path and text."""
        model = self.model()
        found: list[tuple[QModelIndex, Path, str]] = []
        if not isinstance(model, JsonTree):
            return found
        stack = [model.index(row, 0) for row in range(model.rowCount())][::-1]
        while stack:
            place = stack.pop()
            for column in (0, 1):
                cell = place.siblingAtColumn(column)
                found.append((cell, model.path_of(cell), str(cell.data() or "")))
            stack += [model.index(row, 0, place) for row in range(model.rowCount(place))][::-1]
        return found

    def resizeEvent(self, event: Any) -> None:  # noqa: N802
        """Wrap anew: widths and heights depend on the width."""
        super().resizeEvent(event)
        self._fit_keys()
        self.scheduleDelayedItemsLayout()


def _values(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())[:FETCH]
    return value[:FETCH] if isinstance(value, list) else []


def _measured(value: Json, metrics: QFontMetrics) -> list[tuple[int, int]]:
    """Depth and width in pixels of the keys that are shown at first, each once."""
    found = set()
    stack: list[tuple[Json, int]] = [(value, 0)]
    left = FETCH
    while stack and left > 0:
        above, depth = stack.pop()
        keys: Sequence[str | int] = ()
        if isinstance(above, dict):
            keys = list(above)[:left]
        elif isinstance(above, list):
            keys = range(min(len(above), left))
        left -= len(keys)
        for key in keys:
            found.add((depth, metrics.horizontalAdvance(key_text(key))))
            stack.append((above[key], depth + 1))
    return sorted(found)


def _x(line: QTextLine, place: int) -> float:
    # PySide gives the place back beside the pixels.
    found: Any = line.cursorToX(place)
    return float(found[0] if isinstance(found, tuple) else found)
