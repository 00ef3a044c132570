"""The sidebar: sections with disjoint counts, below them the sources with their health."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.language import _, translated
from lineclear.ui import theme, words
from lineclear.ui.frame.folder_words import sentences
from lineclear.ui.labels import PlainLabel, WholeLabel, tooltip
from lineclear.ui.queue.sections import CLOSED_SECTIONS, OPEN_SECTIONS, TITLES, Section

Index = QModelIndex | QPersistentModelIndex
ITEM_HEIGHT = 30
LEAST_ITEM = 22
"""Pixels of a line where there is no room for more; below that the sections scroll."""
_GAP = 13
_SOURCES_LEAST = 40


PAUSED = _("Paused: nothing in it is looked at, and its calls are not shown.")


class Role(IntEnum):
    """What the delegate asks beside the name."""

    COUNT = Qt.ItemDataRole.UserRole + 1
    MARK = Qt.ItemDataRole.UserRole + 2
    """`bold`, `alarm`, `ok`, `trouble`, `paused`, `space` (a gap above), joined by blanks."""
    NOTE = Qt.ItemDataRole.UserRole + 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a sidebar list."""

    text: str
    count: int | None
    mark: str = ""
    tip: str = ""
    note: str = ""
    """A word at the right where there is room for it beside the name; read out in any case."""


class EntryModel(QAbstractListModel):
    """Lines of a sidebar list; `show` changes only what differs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many lines there are."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One line."""
        if not index.isValid() or index.row() >= len(self._entries):
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            parts = (entry.text, entry.note, "" if entry.count is None else str(entry.count))
            return ", ".join(filter(None, parts))
        if role == Qt.ItemDataRole.ToolTipRole:
            return entry.tip or None
        if role == Role.COUNT:
            return entry.count
        if role == Role.MARK:
            return entry.mark
        return entry.note if role == Role.NOTE else None

    def show(self, entries: Sequence[Entry]) -> None:
        """Show these lines."""
        if len(entries) != len(self._entries):
            self.beginResetModel()
            self._entries = list(entries)
            self.endResetModel()
            return
        for place, entry in enumerate(entries):
            if entry != self._entries[place]:
                self._entries[place] = entry
                self.dataChanged.emit(self.index(place), self.index(place), [])


class EntryDelegate(QStyledItemDelegate):
    """Draws a name with its count at the right."""

    def __init__(self, look: theme.Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.height = ITEM_HEIGHT

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """All lines are equally high; a gap may stand above."""
        extra = _GAP if "space" in str(index.data(Role.MARK)) else 0
        return QSize(80, self.height + extra)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the line."""
        t = self._look.tokens
        mark = str(index.data(Role.MARK) or "").split()
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if "space" in mark:
            painter.fillRect(
                QRect(rect.left() + 12, rect.top() + 6, rect.width() - 24, 1), QColor(t.line)
            )
            rect.setTop(rect.top() + _GAP)
        box = rect.adjusted(6, 1, -6, -1)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.selected))
            painter.drawRoundedRect(box, 6, 6)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(t.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 6, 6)
        right = self._count(painter, box, index.data(Role.COUNT), mark, t)
        left = box.left() + 8
        if "ok" in mark or "trouble" in mark:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.ok if "ok" in mark else t.care))
            painter.drawEllipse(QRect(left + 1, box.center().y() - 3, 7, 7))
            left += 16
        elif "paused" in mark:
            painter.setPen(QColor(t.muted))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QRect(left + 1, box.center().y() - 3, 6, 6))
            left += 16
        font = theme.body_font()
        font.setBold("bold" in mark)
        painter.setPen(QColor(t.muted if "paused" in mark else t.text))
        right = self._note(painter, QRect(left, box.top(), right - left, box.height()), index, font)
        painter.setFont(font)
        words = QFontMetrics(font).elidedText(
            str(index.data()), Qt.TextElideMode.ElideMiddle, right - left - 8
        )
        where = QRect(left, box.top(), right - left, box.height())
        painter.drawText(
            where, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), words
        )
        painter.restore()

    def _note(self, painter: QPainter, room: QRect, index: Index, font: QFont) -> int:
        """Write the note at the right of ROOM, unless the name in FONT needs that."""
        note, small = str(index.data(Role.NOTE) or ""), theme.small_font()
        width = QFontMetrics(small).horizontalAdvance(note)
        name = QFontMetrics(font).horizontalAdvance(str(index.data()))
        end = room.left() + room.width()
        if not note or name + 16 + width > room.width():
            return end
        painter.setFont(small)
        painter.drawText(
            room, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), note
        )
        return end - width - 8

    def _count(
        self, painter: QPainter, box: QRect, count: int | None, mark: list[str], t: theme.Tokens
    ) -> int:
        if count is None:
            return box.right() - 8
        font = theme.body_font(tabular=True)
        font.setBold("bold" in mark)
        painter.setFont(font)
        text = f"{count:,}"
        width = QFontMetrics(font).horizontalAdvance(text)
        where = QRect(box.right() - 8 - width, box.top(), width, box.height())
        if "alarm" in mark and count:
            room = 5 if box.height() > LEAST_ITEM else 1
            pill = where.adjusted(-7, room, 7, -room)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.stop))
            painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
            painter.setPen(QColor(t.base))
        else:
            painter.setPen(QColor(t.text if "bold" in mark else t.muted))
        painter.drawText(where, int(Qt.AlignmentFlag.AlignCenter), text)
        return where.left() - 4


class Sidebar(QWidget):
    """Sections above, sources below.

    Signals:
        section_chosen(Section), source_chosen(Path | None), add_folder().
        resting_chosen(Path): a folder that is paused was clicked.
        may_have_run(int): so many calls are counted as such.
    """

    section_chosen = Signal(object)
    may_have_run = Signal(int)
    source_chosen = Signal(object)
    add_folder = Signal()
    resting_chosen = Signal(object)

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shell")
        self._listed: tuple[Section, ...] = (*OPEN_SECTIONS, *CLOSED_SECTIONS)
        self._sources: tuple[SourceHealth, ...] = ()
        self._paused: tuple[Path, ...] = ()
        self._chosen_source: Path | None = None
        self._untouched = True
        self.sections = self._list("sidebar", _("Sections"), look)
        self.section_model = EntryModel(self)
        self.sections.setModel(self.section_model)
        self.sources = self._list("sources", _("Watched folders"), look)
        self.source_model = EntryModel(self)
        self.sources.setModel(self.source_model)
        lines = self.sections.itemDelegate()
        assert isinstance(lines, EntryDelegate)
        self._lines = lines
        heading = self._heading = PlainLabel(_("Folders"))
        heading.setProperty("tone", "muted")
        heading.setFont(theme.small_font())
        heading.setContentsMargins(14, 8, 0, 2)
        self.trouble = WholeLabel(name="folderTrouble")
        self.trouble.setFont(theme.small_font())
        self.trouble.setProperty("tone", "stop")
        self.trouble.setContentsMargins(14, 4, 8, 4)
        self.trouble.hide()
        add = self.add_button = QPushButton(_("Add a folder\u2026"))
        add.setObjectName("addFolder")
        add.setFlat(True)
        add.setProperty("flat", True)
        add.setFont(theme.small_font())
        add.clicked.connect(self.add_folder)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 8, 0, 8)
        box.setSpacing(0)
        box.addWidget(self.sections, 0)
        line = QFrame()
        line.setObjectName("separator")
        box.addSpacing(8)
        box.addWidget(line)
        box.addWidget(heading)
        box.addWidget(self.sources, 1)
        box.addWidget(self.trouble)
        box.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)
        self.show_counts({})
        self.sections.setCurrentIndex(self.section_model.index(0))
        self.sections.selectionModel().currentChanged.connect(self._section)
        self.sources.clicked.connect(self._source)
        self.sources.activated.connect(self._source)
        look.changed.connect(self.update)

    def _list(self, name: str, accessible: str, look: theme.Theme) -> QListView:
        view = QListView()
        view.setObjectName(name)
        view.setAccessibleName(accessible)
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setItemDelegate(EntryDelegate(look, view))
        view.setMinimumHeight(_SOURCES_LEAST)
        return view

    # --- What is shown --------------------------------------------------------------------------

    def show_counts(self, counts: dict[Section, int]) -> None:
        """Show how many rows each section holds."""
        entries = []
        for section in self._listed:
            number = None if section is Section.HISTORY else counts.get(section, 0)
            mark = {Section.WAITING: "bold", Section.MAY_HAVE_RUN: "alarm"}.get(section, "")
            if section is CLOSED_SECTIONS[0]:
                mark += " space"
            entries.append(Entry(TITLES[section], number, mark))
        self.section_model.show(entries)
        self.may_have_run.emit(counts.get(Section.MAY_HAVE_RUN, 0))
        self._fit()

    def _fit(self) -> None:
        """Make the sections' lines as high as there is room for; where there is none, scroll."""
        rows = self.section_model.rowCount()
        taken = 25 + self._heading.sizeHint().height() + self.add_button.sizeHint().height()
        room = self.height() - taken - _SOURCES_LEAST - _GAP - 2
        line = min(ITEM_HEIGHT, max(LEAST_ITEM, room // max(1, rows)))
        wanted = rows * line + _GAP + 2
        if self._lines.height != line:
            self._lines.height = line
            self.sections.scheduleDelayedItemsLayout()
        fits = rows * line <= room
        self.sections.setFixedHeight(wanted if fits else max(2 * line, room + _GAP + 2))
        folders = min(3, max(1, len(self._sources) + len(self._paused))) * line
        self._fit_trouble(room + _GAP + 2 - self.sections.height() - folders + _SOURCES_LEAST)
        self.sections.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff if fits else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )

    def sizeHint(self) -> QSize:  # noqa: N802
        """As wide as its longest title, with a number beside it."""
        font = theme.body_font()
        font.setBold(True)
        metrics = QFontMetrics(font)
        longest = max(map(metrics.horizontalAdvance, TITLES.values()))
        return QSize(longest + metrics.horizontalAdvance("888") + 36, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Fit the lines to the height."""
        super().resizeEvent(event)
        self._fit()

    def show_sources(
        self,
        health: Sequence[SourceHealth],
        counts: dict[Path, int],
        paused: Sequence[Path] = (),
    ) -> None:
        """Show the watched folders, how they fare and how many open rows they hold.

        PAUSED are those that nobody looks into for now: below the others.
        """
        self._sources, self._paused = tuple(health), tuple(paused)
        entries = []
        for source in self._sources:
            path = str(source.path)
            entries.append(
                Entry(
                    words.place(source.path),
                    counts.get(source.path, 0),
                    "ok" if source.ok else "trouble",
                    tooltip(f"{path}: {translated(source.sentence)}" if source.sentence else path),
                )
            )
        entries += [
            Entry(words.place(path), None, "paused", tooltip(f"{path}: {PAUSED}"), _("paused"))
            for path in self._paused
        ]
        self.source_model.show(entries)
        self.trouble.setText("\n".join(sentences(self._sources)[:3]))
        self._fit()

    def _fit_trouble(self, room: int) -> None:
        """Show what is wrong with the folders where there is ROOM for it: nothing moves for it."""
        high = self.trouble.heightForWidth(self.width())
        self.trouble.setFixedHeight(high)
        self.trouble.setVisible(bool(self.trouble.text()) and high <= room)

    def choose_section(self, section: Section) -> None:
        """Select a section as if it had been clicked."""
        self.sections.setCurrentIndex(self.section_model.index(self._listed.index(section)))

    def choose_source(self, path: Path | None) -> None:
        """Limit the table to one watched folder, or to none, without telling of it."""
        self._chosen_source = path
        place = next((i for i, one in enumerate(self._sources) if one.path == path), -1)
        if place < 0:
            self._chosen_source = None
            self.sources.clearSelection()
        else:
            self.sources.setCurrentIndex(self.source_model.index(place))

    def limit_to(self, path: Path) -> None:
        """Limit the table to one watched folder, as if it had been clicked."""
        self.choose_source(path)
        self.source_chosen.emit(self._chosen_source)

    def path_at(self, index: QModelIndex | None) -> Path | None:
        """The folder of a line, None for none."""
        if index is None:
            return None
        return (*(one.path for one in self._sources), *self._paused)[index.row()]

    def is_paused(self, path: Path) -> bool:
        """Whether nobody looks into a folder of the list for now."""
        return path in self._paused

    def at_first(self) -> QWidget | None:
        """Where the focus is for nobody's purpose, until somebody chooses a section."""
        return self.sections if self._untouched else None

    def section(self) -> Section:
        """The section that is selected."""
        return self._listed[max(self.sections.currentIndex().row(), 0)]

    def source(self) -> Path | None:
        """The folder that the table is limited to."""
        return self._chosen_source

    def _section(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            self._untouched = False
            self.section_chosen.emit(self._listed[current.row()])

    def _source(self, index: QModelIndex) -> None:
        path = self.path_at(index)
        if path in self._paused:
            # Nothing of it is listed.
            self.choose_source(self._chosen_source)
            self.resting_chosen.emit(path)
            return
        self._chosen_source = None if path == self._chosen_source else path
        if self._chosen_source is None:
            self.sources.clearSelection()
        self.source_chosen.emit(self._chosen_source)
