"""The right side: the reading pane, or beside the history a row of it, or either by choice."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from lineclear.language import _
from lineclear.ui.frame.bars import separator


class Side(QWidget):
    """Shows the pane as it is, or the record of a call; where there are both, one may choose.

    Signals:
        record_wanted(bool): the record is to be shown, or the call as it stands in its store.
    """

    record_wanted = Signal(bool)

    def __init__(self, pane: QWidget, record: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pane = pane
        self._record = record
        self._stack = QStackedWidget()
        self._stack.addWidget(pane)
        self._stack.addWidget(record)
        self._choice = QFrame()
        self._choice.setObjectName("page")
        self._choice.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        line = QHBoxLayout(self._choice)
        line.setContentsMargins(8, 4, 8, 4)
        line.setSpacing(2)
        group = QButtonGroup(self)
        self.call = self._button(_("As it stands"), "showCall", record=False)
        self.record = self._button(_("As recorded"), "showRecord", record=True)
        for button in (self.call, self.record):
            group.addButton(button)
            line.addWidget(button)
        line.addStretch(1)
        self._line = separator()
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._choice)
        box.addWidget(self._line)
        box.addWidget(self._stack, 1)
        self.show_pane()

    def _button(self, text: str, name: str, *, record: bool) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setProperty("flat", True)
        button.setCheckable(True)
        button.setAutoDefault(False)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda _on: self.record_wanted.emit(record))
        return button

    def show_pane(self) -> None:
        """Show the reading pane alone: the history is not in front."""
        self._show(self._pane, choice=False)

    def show_call(self) -> None:
        """Show the reading pane; the record may be chosen instead."""
        self.call.setChecked(True)
        self._show(self._pane, choice=True)

    def show_record(self, *, call_too: bool) -> None:
        """Show the record; CALL_TOO: the call itself may be chosen instead."""
        self.record.setChecked(True)
        self._show(self._record, choice=call_too)

    def shows_record(self) -> bool:
        """Whether the record is in front."""
        return self._stack.currentWidget() is self._record

    def _show(self, page: QWidget, *, choice: bool) -> None:
        self._stack.setCurrentWidget(page)
        self._choice.setVisible(choice)
        self._line.setVisible(choice)
