"""A JSON value as a lazy tree: children are made when they are looked at."""

from __future__ import annotations

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
from PySide6.QtGui import QColor, QFontMetrics, QPainter
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
from lineclear.ui.reading import marked_text
from lineclear.ui.reading.prepared import FIELD_LENGTH

Index = QModelIndex | QPersistentModelIndex
FETCH = 200
_LEFT = 16
_RIGHT = 8
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
            return f'"{visible(value[:limit]).text}"\n\u27e6{rest} more characters: see Text\u27e7'
        return f'"{visible(value).text}"'
    return visible_line(jsontext.compact(value).decode("utf-8"))


class JsonTree(QAbstractItemModel):
    """Keys in the first column, values in the second; changed values say what they were."""

    def __init__(
        self, value: Json, parent: QObject | None = None, *, was: dict[Path, Json] | None = None
    ) -> None:
        super().__init__(parent)
        whole = value if isinstance(value, dict | list) else {"": value}
        self._root = Node("", whole, None, 0)
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
                return visible_line(str(node.key), 200)
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
            depth, above = 1, index.parent()
            while above.isValid():
                depth, above = depth + 1, above.parent()
            width -= depth * self._view.indentation()
        return float(max(width, 40))

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """As high as the wrapped text."""
        font = self._body if index.column() == 0 else self._mono
        made = marked_text.layout(
            str(index.data() or ""), font, self._width(index), self._look.tokens
        )
        return QSize(40, max(26, int(marked_text.height(made)) + 9))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        t = self._look.tokens
        rect = QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(t.selected))
        font = self._body if index.column() == 0 else self._mono
        made = marked_text.layout(str(index.data() or ""), font, self._width(index), t)
        marked_text.draw(
            painter,
            made,
            rect.adjusted(_LEFT, 4, -_RIGHT, 0),
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
        self.setItemDelegate(ValueDelegate(look, self))
        self._small = True
        self.show_value({}, small=True)

    def show_value(self, value: Json, *, small: bool, was: dict[Path, Json] | None = None) -> None:
        """Show another value; SMALL ones are unfolded whole."""
        old = self.model()
        self.setModel(JsonTree(value, self, was=was))
        if old is not None:
            old.deleteLater()
        self._small = small
        header = self.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.setStretchLastSection(True)
        flat = not any(isinstance(below, dict | list) for below in _values(value))
        self.setRootIsDecorated(not flat)
        header.resizeSection(0, self._key_width(value))
        if small:
            self.expandAll()
        self.scrollToTop()

    def _key_width(self, value: Json) -> int:
        metrics = QFontMetrics(theme.body_font())
        keys = list(value)[:FETCH] if isinstance(value, dict) else ["9999"]
        widest = max((metrics.horizontalAdvance(visible_line(str(k), 60)) for k in keys), default=0)
        extra = 54 if self.rootIsDecorated() else 40
        return min(max(widest + extra, 96), 240)

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
        """Wrap anew: heights depend on the width."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()


def _values(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())[:FETCH]
    return value[:FETCH] if isinstance(value, list) else []
