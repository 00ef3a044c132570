"""Names the secrets that a text does not show, each with a button that shows it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.comparing.comparison import Change
from lineclear.core.inbox.secrets.masking import Masked, Path
from lineclear.language import _, counted, translated
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel

NAMED_AT_MOST = 3
_NAME_LENGTH = 24


class ShowButton(QPushButton):
    """Shows what is masked: by a click, Space or Enter."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Take Enter as Space; a button that is no dialog's leaves it alone."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
            return
        super().keyPressEvent(event)


class MaskedList(QWidget):
    """One line: how many values are masked, and a button for each of the first.

    Signals:
        show_wanted(Path): the value at a place should be shown.
    """

    show_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None, *, margin: int = 16) -> None:
        super().__init__(parent)
        self.setObjectName("maskedList")
        self.places: tuple[Path, ...] = ()
        """Where the values are that are masked."""
        self._about = PlainLabel()
        self._about.setProperty("tone", "muted")
        self._about.setFont(theme.small_font())
        self._box = QHBoxLayout(self)
        self._box.setContentsMargins(margin, 4, margin, 0)
        self._box.setSpacing(4)
        self._box.addWidget(self._about)
        self._box.addStretch(1)
        self._buttons: list[QPushButton] = []
        self.hide()

    def take_focus(self) -> None:
        """Put the focus on the first button."""
        if self._buttons:
            self._buttons[0].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def list_places(self, masked: list[tuple[Path, Masked]]) -> None:
        """Name what is masked; the first few can be shown from here."""
        for button in self._buttons:
            button.hide()
            self._box.removeWidget(button)
            button.deleteLater()
        self._buttons = []
        self.places = tuple(path for path, _text in masked)
        self.places = tuple(path for path, _text in masked)
        self._about.setText(counted("{n} value is masked.", "{n} values are masked.", len(masked)))
        for path, _text in masked[:NAMED_AT_MOST]:
            name = translated(Change(path, None, None).where()) if path else _("it")
            button = ShowButton(
                _("Show {name}").format(name=visible_line(name, _NAME_LENGTH)).replace("&", "&&")
            )
            button.setObjectName("showMasked")
            button.setProperty("flat", True)
            button.setFont(theme.small_font())
            button.setAutoDefault(False)
            button.clicked.connect(lambda _on=False, path=path: self.show_wanted.emit(path))
            self._box.insertWidget(self._box.count() - 1, button)
            # At once: what the layout shows later takes no focus before.
            button.show()
            self._buttons.append(button)
