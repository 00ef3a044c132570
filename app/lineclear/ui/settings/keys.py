"""Keys: what each does, and whether a letter alone does anything."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from lineclear.core.inbox.operator.settings import Settings
from lineclear.language import _
from lineclear.ui.frame.key_list import key_grid
from lineclear.ui.settings.flow import WrappingCheckBox
from lineclear.ui.settings.form import Change, Page, put


class KeysPage(Page):
    """The list of keys under the one switch that it has."""

    def __init__(self, change: Change) -> None:
        super().__init__(_("Keys"))
        self.letters = WrappingCheckBox(_("A letter alone acts in the table and the reading pane"))
        self.letters.setObjectName("letters")
        self.letters.clicked.connect(lambda on: change(put(letters=on)))
        self.ask(
            _("Letters"),
            self.letters,
            _(
                "Off, only the keys with Ctrl and the function keys do. Approving takes Enter as"
                " well in either case."
            ),
        )
        self._keys = QVBoxLayout()
        self._listed: QWidget | None = None
        self._with_letters = False
        self._list(letters=True)
        self.box.addLayout(self._keys)
        self.box.addStretch(1)

    def show_settings(self, settings: Settings) -> None:
        """Show these."""
        self.letters.setChecked(settings.letters)
        if settings.letters is not self._with_letters:
            self._list(letters=settings.letters)

    def _list(self, *, letters: bool) -> None:
        """List the keys that do something."""
        if self._listed is not None:
            self._listed.hide()
            self._listed.deleteLater()
        self._listed = QWidget()
        grid = key_grid(wrap=True, letters=letters)
        grid.setContentsMargins(0, 0, 0, 0)
        self._listed.setLayout(grid)
        self._keys.addWidget(self._listed)
        self._with_letters = letters
