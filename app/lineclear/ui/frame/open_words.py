"""An operator's words that are still open, in the status line: those held, and those that stand."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu

from lineclear.language import _
from lineclear.ui.deciding.flow import DecisionFlow
from lineclear.ui.frame.bars import StatusLine, Strip


class OpenWords(QObject):
    """Keeps the status line true to them, and takes them back from there."""

    def __init__(self, flow: DecisionFlow, status: StatusLine) -> None:
        super().__init__(status)
        self._flow = flow
        self._status = status
        status.take_back.connect(flow.take_back_held)
        status.words_wanted.connect(self.list_standing)
        flow.unplaced.connect(status.say)
        flow.standing.told_once.connect(flow.hint)
        flow.holding.changed.connect(self._show)
        flow.standing.changed.connect(self._show)
        self._from_before = flow.standing.active()
        self._said = flow.standing.said
        self._read = ""
        """The trouble that the operator has read."""
        self._told = self._begins()
        self.strip = Strip(
            self._told,
            "standingWords",
            ("standingWordsList", _("List\u2026"), self._list_below),
            ("standingWordsOk", _("OK"), self._seen),
        )
        """What goes on from a window that was open before, and what goes wrong with such words."""
        self.strip.button("standingWordsList").setVisible(bool(self._from_before))
        self.strip.setVisible(bool(self.strip.label.text()))
        self._show()

    def _begins(self) -> str:
        told = self._flow.standing.told_of(self._from_before)
        goes_on = _("Your denial from before goes on. {told}.").format(told=told) if told else ""
        trouble = self._flow.standing.trouble()
        if trouble != self._read:
            # Once it is over, it is news again.
            self._read = ""
        parts = ("" if self._read else trouble, goes_on, self._said)
        return " ".join(filter(None, parts))

    def _seen(self) -> None:
        self._from_before, self._said, self._told = (), "", ""
        self._read = self._flow.standing.trouble()
        self.strip.hide()

    def _show(self) -> None:
        standing = self._flow.standing
        active = standing.active()
        self._status.show_words(
            self._flow.holding.told(), standing.told(), standing.told_of(active)
        )
        # It tells of no word that is over.
        self._from_before = tuple(one for one in self._from_before if one in active)
        told = self._begins()
        if told != self._told:
            self._told = told
            self.strip.button("standingWordsList").setVisible(bool(active))
            self.strip.tell(told)

    def list_standing(self) -> None:
        """List the standing denials above the status line."""
        menu = self.standing_menu()
        above = QPoint(0, -menu.sizeHint().height())
        menu.popup(self._status.standing.mapToGlobal(above))

    def _list_below(self) -> None:
        """List them where the strip tells of them."""
        button, menu = self.strip.button("standingWordsList"), self.standing_menu()
        # Its right edges meet: the list is longer than what is right of the button.
        beside = button.width() - menu.sizeHint().width()
        menu.popup(button.mapToGlobal(QPoint(beside, button.height())))

    def standing_menu(self) -> QMenu:
        """Make the list of standing denials; choosing one takes it back."""
        menu = QMenu(self._status)
        menu.setObjectName("standingWords")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for word, told in self._flow.standing.listed():
            entry = menu.addAction(_("Stop this: {told}").format(told=told).replace("&", "&&"))
            entry.triggered.connect(lambda _on=False, word=word: self._flow.standing.revoke(word))
        return menu
