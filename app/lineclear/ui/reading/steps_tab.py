"""The Steps tab: what the run did before, one line per step and the chosen one in full."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QSplitter, QVBoxLayout, QWidget

from lineclear.core.checkpoints.model import Step
from lineclear.core.checkpoints.text import visible, visible_line
from lineclear.ui import cells, theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.shown_text import exact_text
from lineclear.ui.reading.text_view import TextView

Index = QModelIndex | QPersistentModelIndex


class StepsModel(QAbstractListModel):
    """Steps as lines: number, tool, what it was given."""

    def __init__(self, steps: tuple[Step, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps = steps

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many steps there are."""
        return 0 if parent.isValid() else len(self.steps)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One line."""
        if not index.isValid() or index.row() >= len(self.steps):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            step = self.steps[index.row()]
            given = cells.preview(step.tool_input)
            return f"{index.row() + 1:>3}  {visible_line(step.tool, 40)}  {given}"
        return None


def step_text(step: Step) -> str:
    """A step in full: what was called, with what, and what came back."""
    parts = [f"{visible_line(step.tool)}", "", exact_text(step.tool_input), ""]
    if step.log:
        parts += ["log:", visible(step.log).text, ""]
    parts += ["came back:", *(visible(line).text for line in step.observation.split("\n"))]
    return "\n".join(parts)


class StepsTab(QWidget):
    """A list of steps above, the chosen one below."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName("Steps")
        self._empty = PlainLabel("No steps came before this call.")
        self._empty.setProperty("tone", "muted")
        self._empty.setContentsMargins(16, 12, 16, 12)
        self.list = QListView()
        self.list.setObjectName("steps")
        self.list.setAccessibleName("Steps")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setFont(theme.mono_font())
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.full = TextView(look, "step", "The chosen step in full")
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.addWidget(self.list)
        self._split.addWidget(self.full)
        self._split.setSizes([200, 300])
        self._split.setChildrenCollapsible(False)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 4, 0, 0)
        box.addWidget(self._empty)
        box.addWidget(self._split, 1)
        self._model = StepsModel((), self)
        self.list.setModel(self._model)
        self.show_steps(())

    def show_steps(self, steps: tuple[Step, ...]) -> None:
        """Show a run's steps, the last one chosen."""
        old = self._model
        self._model = StepsModel(steps, self)
        self.list.setModel(self._model)
        old.deleteLater()
        self.list.selectionModel().currentChanged.connect(self._chosen)
        self._empty.setVisible(not steps)
        self._split.setVisible(bool(steps))
        self.full.show_text("")
        if steps:
            self.list.setCurrentIndex(self._model.index(len(steps) - 1))

    def _chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            self.full.show_text(step_text(self._model.steps[current.row()]))
