"""Look: light or dark, how high a row is, whether anything moves by itself."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox

from lineclear.core.inbox.operator.settings import Settings
from lineclear.language import _
from lineclear.ui.settings.form import Change, Choice, Page, note, put
from lineclear.ui.theme import HIGH_CONTRAST


class LookPage(Page):
    """How the windows look."""

    def __init__(self, change: Change) -> None:
        super().__init__(_("Look"))
        self.theme = Choice(
            _("Colours"),
            (
                ("system", _("As the desktop")),
                ("light", _("Light")),
                ("dark", _("Dark")),
                (HIGH_CONTRAST, _("High contrast")),
            ),
            "theme",
        )
        self.theme.chosen.connect(lambda value: change(put(theme=value)))
        self.ask(_("Colours"), self.theme)
        self.rows = Choice(
            _("Rows"),
            ((24, _("Close (24)")), (28, _("Normal (28)")), (40, _("Wide (40)"))),
            "rowHeight",
        )
        self.rows.chosen.connect(lambda value: change(put(row_height=value)))
        self.ask(
            _("Rows of the table"), self.rows, _("Pixels; a narrow table has rows of two lines.")
        )
        self.still = QCheckBox(_("Nothing moves by itself"))
        self.still.setObjectName("reducedMotion")
        self.still.clicked.connect(lambda on: change(put(reduced_motion=on)))
        self.ask(
            _("Motion"), self.still, _("The line under a button that is not ready yet is left out.")
        )
        self.box.addWidget(note(_("Text has the size that your desktop gives it.")))
        self.box.addStretch(1)

    def show_settings(self, settings: Settings) -> None:
        """Show these."""
        self.theme.show_value(settings.theme)
        self.rows.show_value(settings.row_height)
        self.still.setChecked(settings.reduced_motion)
