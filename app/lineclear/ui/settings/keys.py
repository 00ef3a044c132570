"""Keys: what each does, and whether a letter alone does anything."""

from __future__ import annotations

from lineclear.core.inbox.settings import Settings
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
        self.box.addLayout(key_grid(wrap=True))
        self.box.addStretch(1)

    def show_settings(self, settings: Settings) -> None:
        """Show these."""
        self.letters.setChecked(settings.letters)
