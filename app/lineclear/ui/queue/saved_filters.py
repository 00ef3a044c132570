"""Filters saved by name: a menu at the filter line to apply, save and delete them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QPushButton

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.operator.operator_state import SavedFilter
from lineclear.language import _
from lineclear.ui.frame.kept_state import KeptState
from lineclear.ui.queue.filtering import parse_filter

NAME_LIMIT = 80
WIDTH = 400


class SavedFilters(QPushButton):
    """Opens the menu of the operator's own filters."""

    def __init__(self, line: QLineEdit, kept: KeptState) -> None:
        super().__init__(_("Filters"))
        self.setObjectName("savedFilters")
        self.setProperty("flat", True)
        self.setAutoDefault(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(_("Filters that you saved"))
        self._line = line
        self._kept = kept
        self.clicked.connect(self.open)

    def open(self) -> None:
        """Open the menu."""
        menu = QMenu(self)
        menu.setObjectName("savedFiltersMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        saved = self._kept.state.filters
        for one in saved:
            shown = one.name if one.name == one.line else f"{one.name}\t{one.line}"
            menu.addAction(_shown(shown)).triggered.connect(self._act(self._apply, one))
        if saved:
            menu.addSeparator()
        line = self._line.text().strip()
        save = menu.addAction(_("Save this filter\u2026"))
        save.setEnabled(bool(parse_filter(line).terms) and not parse_filter(line).wrong)
        save.triggered.connect(self.ask_name)
        if saved:
            delete = menu.addMenu(_("Delete"))
            delete.setObjectName("deleteFilters")
            for one in saved:
                delete.addAction(_shown(one.name)).triggered.connect(self._act(self._delete, one))
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def ask_name(self) -> None:
        """Ask under which name the line is saved; an old one of that name is replaced."""
        line = self._line.text().strip()
        dialog = QInputDialog(self)
        dialog.setObjectName("filterName")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(_("Save this filter"))
        dialog.setLabelText(_("Name"))
        dialog.setOkButtonText(_("Save"))
        dialog.setTextValue(line[:NAME_LIMIT])
        for button in dialog.findChildren(QPushButton):
            button.setIcon(QIcon())
        # Qt would make it as narrow as its words, and cut its title and the filter.
        for field in dialog.findChildren(QLineEdit):
            field.setMinimumWidth(WIDTH)
        dialog.textValueSelected.connect(lambda name: self.save(name, line))
        dialog.open()

    def save(self, name: str, line: str) -> None:
        """Keep LINE under NAME; the latest stands first."""
        name = name.strip()[:NAME_LIMIT]
        if not name or not line:
            return
        saved = SavedFilter(name=name, line=line)
        self._kept.update(
            lambda state: {"filters": (saved, *(one for one in state.filters if one.name != name))}
        )

    def _apply(self, one: SavedFilter) -> None:
        self._line.setText(one.line)
        self._line.setFocus(Qt.FocusReason.OtherFocusReason)

    def _delete(self, one: SavedFilter) -> None:
        self._kept.update(
            lambda state: {"filters": tuple(each for each in state.filters if each != one)}
        )

    def _act(self, act: Callable[[SavedFilter], None], one: SavedFilter) -> Callable[[], None]:
        return lambda: act(one)


def _shown(text: str) -> str:
    # A tab parts a menu's text from its right column; "&" would mark a key.
    name, tab, line = text.partition("\t")
    shown = visible_line(name, 40) + tab + visible_line(line, 60)
    return shown.replace("&", "&&")
