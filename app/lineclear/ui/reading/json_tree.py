"""A JSON value as a lazy tree: children are made when they are looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible, visible_line
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.secrets.masking import Masked, Path, Secret
from lineclear.language import _, counted
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.prepared import FIELD_LENGTH, KEY_LENGTH
from lineclear.ui.reading.shown_text import BREAK, escaped, lines_of

Index = QModelIndex | QPersistentModelIndex
FETCH = 200
_PLAIN_KEY = re.compile(r"[^\s\"\\]+(?: [^\s\"\\]+)*")
_SHOW = _("Show")
SHOW = f" \u00b7 {_SHOW}"
"""Ends the cell of a value that is masked; nothing else in a cell stands outside quotes."""
SPANS = Qt.ItemDataRole.UserRole
"""Role of a cell's `Span`s."""


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
        return "{}" if not value else counted("{{{n} key}}", "{{{n} keys}}", len(value))
    if isinstance(value, list):
        return "[]" if not value else counted("[{n} item]", "[{n} items]", len(value))
    if isinstance(value, Masked):
        return _masked_text(value, limit)
    if isinstance(value, str):
        if len(value) > limit:
            return f'"{_within(value[:limit])}"\n{_more(len(value) - limit)}'
        return f'"{_within(value)}"'
    # A number is as long as it was written.
    shown = visible_line(jsontext.compact(value).decode("utf-8"))
    return shown if len(shown) <= limit else f"{shown[:limit]}\n{_more(len(shown) - limit)}"


def _more(number: int) -> str:
    return counted(
        "\u27e6{n} more character: see Text\u27e7",
        "\u27e6{n} more characters: see Text\u27e7",
        number,
    )


def _masked_text(value: Masked, limit: int) -> str:
    first = value.pieces[0]
    if value.whole and isinstance(first, Secret):
        # Without quotes: no text of an agent can stand so.
        return first.mark().replace("\u27e6", "", 1).replace("\u27e7", "", 1)
    shown = f"{BREAK}\n".join(lines_of(value, lambda line: visible_line(escaped(line))))
    if len(shown) > limit:
        cut = shown[:limit]
        shown = cut[: cut.rfind("\u27e6")] if cut.rfind("\u27e6") > cut.rfind("\u27e7") else cut
        more = _("\u27e6more characters: see Text\u27e7")
        return f'"{shown}"\n{more}'
    return f'"{shown}"'


def _within(text: str) -> str:
    """Text between quotes, escaped so that it cannot end them."""
    return visible(escaped(text)).text


def key_text(key: str | int) -> str:
    """A key in its cell; in quotes where it would not be told from another without.

    A long one is cut before it is laid out anywhere, and says so.
    """
    if isinstance(key, str) and len(key) > KEY_LENGTH:
        shown = visible_line(escaped(key[:KEY_LENGTH]))
        return f'"{shown}" {_more(len(key) - KEY_LENGTH)}'
    if isinstance(key, str) and not _PLAIN_KEY.fullmatch(key):
        return f'"{visible_line(escaped(key))}"'
    return visible_line(str(key))


class JsonTree(QAbstractItemModel):
    """Keys in the first column, values in the second; changed values say what they were."""

    def __init__(
        self,
        value: Json,
        parent: QObject | None = None,
        *,
        was: Mapping[Path, Json] | None = None,
        spans: Mapping[Path, tuple[Span, ...]] | None = None,
    ) -> None:
        super().__init__(parent)
        self._spans = spans or {}
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
            key = "" if node.parent is self._bare else key_text(node.key)
            if index.column() == 0:
                return key
            spoken = key and role == Qt.ItemDataRole.AccessibleTextRole
            return f"{key}: {self._value(node)}" if spoken else self._value(node)
        if role == SPANS and index.column() == 1:
            return self._spans_of(node)
        return None

    def _value(self, node: Node) -> str:
        shown = value_text(node.value)
        return f"{shown}{SHOW if isinstance(node.value, Masked) else ''}{self._before(node)}"

    def _before(self, node: Node) -> str:
        """What stood there before, after the value that stands there now."""
        path = node.path() if self._was else ()
        if path not in self._was:
            return ""
        was = self._was[path]
        told = _("added")
        if was is not MISSING:
            told = _("was {value}").format(value=value_text(was, 200))
        return f"   \u2190 {told}"

    def _spans_of(self, node: Node) -> tuple[Span, ...]:
        spans = self._spans.get(node.path(), ()) if self._spans else ()
        end = len(value_text(node.value))
        if isinstance(node.value, Masked):
            word = len(_SHOW)
            spans = (*spans, (end + len(SHOW) - word, word, "link"))
            end += len(SHOW)
        before = self._before(node)
        return (*spans, (end, len(before), "quiet")) if before else spans

    def path_of(self, index: Index) -> Path:
        """The keys from the root to a place."""
        node = self._node(index)
        return () if node is self._bare else node.path()

    def is_masked(self, index: Index) -> bool:
        """Whether a place holds a secret that is not shown."""
        return index.isValid() and isinstance(self._node(index).value, Masked)

    def whole(self) -> bool:
        """Whether every child of every made node is made."""
        stack = [self._root]
        while stack:
            node = stack.pop()
            if len(node.children) < node.size():
                return False
            stack.extend(node.children)
        return True
