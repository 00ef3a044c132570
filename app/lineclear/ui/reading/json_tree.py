"""A JSON value as a lazy tree: children are made when they are looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QTextLayout
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

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import visible, visible_line
from lineclear.ui import theme, words
from lineclear.ui.reading import flagged, marked_text
from lineclear.ui.reading.prepared import FIELD_LENGTH
from lineclear.ui.reading.shown_text import escaped

Index = QModelIndex | QPersistentModelIndex
FETCH = 200
_LEFT = 16
_TOP = 4
_RIGHT = 8
KEYS_LEAST = 96
KEYS_MOST = 0.6
"""Of the width: so much may keys take, so that values have room."""
KEY_READABLE = 64
"""Pixels in which a longer key may be wrapped and still be read."""
VALUE_LEAST = 120
_PLAIN_KEY = re.compile(r"[^\s\"\\]+(?: [^\s\"\\]+)*")
Path = tuple[str | int, ...]


@dataclass(slots=True, eq=False)
class Node:
    """One key and its value."""

    key: str | int
    value: Json
    parent: Node | None
    row: int
    children: list[Node] = field(default_factory=list)

    def size(self) -> int:
        """How many children there are, made or not."""
        return len(self.value) if isinstance(self.value, dict | list) else 0

    def path(self) -> Path:
        """Keys from the root to here."""
        return () if self.parent is None else (*self.parent.path(), self.key)


def value_text(value: Json, limit: int = FIELD_LENGTH) -> str:
    """A value in its cell: escaped, a long one cut with its length."""
    if isinstance(value, dict):
        return "{}" if not value else f"{{{words.count(len(value), 'key')}}}"
    if isinstance(value, list):
        return "[]" if not value else f"[{words.count(len(value), 'item')}]"
    if isinstance(value, str):
        if len(value) > limit:
            rest = len(value) - limit
            return f'"{_within(value[:limit])}"\n\u27e6{rest} more characters: see Text\u27e7'
        return f'"{_within(value)}"'
    return visible_line(jsontext.compact(value).decode("utf-8"))


def _within(text: str) -> str:
    """Text between quotes, escaped so that it cannot end them."""
    return visible(escaped(text)).text


def key_text(key: str | int) -> str:
    """A key in its cell, whole; in quotes where it would not be told from another without."""
    if isinstance(key, str) and not _PLAIN_KEY.fullmatch(key):
        return f'"{visible_line(escaped(key))}"'
    return visible_line(str(key))


class JsonTree(QAbstractItemModel):
    """Keys in the first column, values in the second; changed values say what they were."""

    def __init__(
        self, value: Json, parent: QObject | None = None, *, was: dict[Path, Json] | None = None
    ) -> None:
        super().__init__(parent)
        whole = value if isinstance(value, dict | list) else {"": value}
        self._root = Node("", whole, None, 0)
        # A value that stands alone has no key.
        self._bare = None if whole is value else self._root
        self._was = was or {}
        if value is MISSING:
            self._root.value = {}
        self._make(self._root)

    def _make(self, node: Node) -> None:
        have = len(node.children)
        if isinstance(node.value, dict):
            keys = list(node.value)[have : have + FETCH]
            node.children.extend(
                Node(key, node.value[key], node, have + place) for place, key in enumerate(keys)
            )
        elif isinstance(node.value, list):
            some = node.value[have : have + FETCH]
            node.children.extend(
                Node(have + place, below, node, have + place) for place, below in enumerate(some)
            )

    def _node(self, index: Index) -> Node:
        node = index.internalPointer() if index.isValid() else None
        return node if isinstance(node, Node) else self._root

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """The place of a child."""
        above = self._node(parent)
        if not 0 <= row < len(above.children) or not 0 <= column < 2:
            return QModelIndex()
        return self.createIndex(row, column, above.children[row])

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008
        """The place of a parent."""
        above = self._node(index).parent
        if not index.isValid() or above is None or above is self._root:
            return QModelIndex()
        return self.createIndex(above.row, 0, above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many children are made."""
        return 0 if parent.column() > 0 else len(self._node(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: ARG002, B008, N802
        """Key and value."""
        return 2

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008, N802
        """Whether there is anything below, made or not."""
        return parent.column() <= 0 and self._node(parent).size() > 0

    def canFetchMore(self, parent: Index) -> bool:  # noqa: N802
        """Whether children are still to be made."""
        node = self._node(parent)
        return parent.column() <= 0 and len(node.children) < node.size()

    def fetchMore(self, parent: Index) -> None:  # noqa: N802
        """Make the next children."""
        node = self._node(parent)
        have = len(node.children)
        more = min(FETCH, node.size() - have)
        if more > 0:
            self.beginInsertRows(self._place(node), have, have + more - 1)
            self._make(node)
            self.endInsertRows()

    def _place(self, node: Node) -> QModelIndex:
        return QModelIndex() if node is self._root else self.createIndex(node.row, 0, node)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Key or value."""
        if not index.isValid():
            return None
        node = self._node(index)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if index.column() == 0:
                return "" if node.parent is self._bare else key_text(node.key)
            text = value_text(node.value)
            path = node.path()
            if path in self._was:
                was = self._was[path]
                before = "added" if was is MISSING else f"was {value_text(was, 200)}"
                text = f"{text}   \u2190 {before}"
            return text
        return None

    def whole(self) -> bool:
        """Whether every child of every made node is made."""
        stack = [self._root]
        while stack:
            node = stack.pop()
            if len(node.children) < node.size():
                return False
            stack.extend(node.children)
        return True


class ValueDelegate(QStyledItemDelegate):
    """Draws keys muted and values in full, wrapped, with their tokens marked."""

    def __init__(self, look: theme.Theme, view: QTreeView) -> None:
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
        return marked_text.layout(text, font, self._width(index), self._look.tokens)

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
    """A tree of keys and values, everything unfolded as far as it is small."""

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
        self.show_value({}, small=True)

    def show_value(self, value: Json, *, small: bool, was: dict[Path, Json] | None = None) -> None:
        """Show another value; SMALL ones are unfolded whole."""
        old = self.model()
        self._unseen = None
        self.setModel(JsonTree(value, self, was=was))
        if old is not None:
            old.deleteLater()
        self._small = small
        header = self.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.setStretchLastSection(True)
        flat = not any(isinstance(below, dict | list) for below in _values(value))
        self.setRootIsDecorated(not flat)
        self._keys = _measured(value, QFontMetrics(theme.body_font()))
        self._fit_keys()
        if small:
            self.expandAll()
        self.scrollToTop()

    # --- Keys can be read at any depth ----------------------------------------------------------

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
            found.add((depth, metrics.horizontalAdvance(key_text(key)[:FETCH])))
            stack.append((above[key], depth + 1))
    return sorted(found)
