"""The line below a call's head that names the other open calls of its run, and what that used."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.totals import newest, totals
from lineclear.language import _, counted
from lineclear.ui import theme, words
from lineclear.ui.buttons import in_line_button
from lineclear.ui.labels import ElidedLabel, explain
from lineclear.ui.queue import cells
from lineclear.ui.queue.totals import THIS_RUN, figures, spoken

_ARGUMENTS_LIMIT = 60


class RunLine(QWidget):
    """Says that a call is one of several, and lists them; nothing of it moves while one reads.

    Signals:
        wanted(str): the call of this id is to be shown.
    """

    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runLine")
        self._id = ""
        self._rows: Sequence[Row] = ()
        self.told = ElidedLabel(name="ofRun")
        self.told.setProperty("tone", "muted")
        self.told.setFont(theme.small_font(tabular=True))
        self.told.elide_mode = Qt.TextElideMode.ElideRight
        self.list = in_line_button(_("List\u2026"), "listRun")
        self.list.clicked.connect(self._list)
        line = QHBoxLayout(self)
        line.setContentsMargins(16, 0, 10, 8)
        line.setSpacing(8)
        line.addWidget(self.told, 1)
        line.addWidget(self.list)
        self.hide()

    def show_run(self, row: Row | None, rows: Sequence[Row], beside: Sequence[str]) -> None:
        """Show the open calls of ROW's run; BESIDE: ids of those that are handed over together.

        It comes and goes with the call in view alone: the others go while one is being read.
        """
        self._rows = rows
        if row is None or (row.id != self._id and len(rows) < 2):
            self._id = "" if row is None else row.id
            self.hide()
            return
        fresh, self._id = row.id != self._id, row.id
        if not fresh and self.isHidden():
            return
        others = [one for one in rows if one.id != row.id]
        self.list.setEnabled(bool(others))
        self.list.setAccessibleName(
            counted("List the {n} call of this run", "List the {n} calls of this run", len(rows))
        )
        self.told.setText(_told(row, others, beside, rows))
        explain(self.told, spoken(totals(rows), THIS_RUN) if others else "")
        self.show()

    def menu(self) -> QMenu:
        """Make the list of the run's calls; choosing one shows it."""
        menu = QMenu(self)
        menu.setObjectName("runCalls")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for row in self._rows:
            preview = cells.preview(row.decided_arguments)
            told = " \u00b7 ".join(
                part
                for part in (
                    words.name(row.tool, "\u2014", cells.TOOL_LIMIT),
                    words.state_word(row),
                    _cut(preview),
                )
                if part
            )
            entry = menu.addAction(told.replace("&", "&&"))
            entry.setCheckable(True)
            entry.setChecked(row.id == self._id)
            entry.triggered.connect(lambda _on=False, wanted=row.id: self.wanted.emit(wanted))
        return menu

    def _list(self) -> None:
        self.menu().popup(self.list.mapToGlobal(QPoint(0, self.list.height())))


def _told(row: Row, others: Sequence[Row], beside: Sequence[str], rows: Sequence[Row]) -> str:
    if not others:
        return _("The other calls of its run are over.")
    if row.id in beside and len(beside) > 1:
        place = words.run_place(beside.index(row.id) + 1, len(beside))
        told = _("{place}, with {others}").format(place=place, others=cells.tools(others))
    else:
        told = counted(
            "{n} other call of its run is open: {others}",
            "{n} other calls of its run are open: {others}",
            len(others),
            others=cells.tools(others),
        )
    if newest(rows).counters == row.counters:
        # The budgets above are those of the whole run.
        return told
    return _("{told} \u00b7 the run in all: {figures}").format(
        told=told, figures=figures(totals(rows))
    )


def _cut(text: str) -> str:
    return text if len(text) <= _ARGUMENTS_LIMIT else f"{text[: _ARGUMENTS_LIMIT - 1]}\u2026"
