"""Shows the command that a run proposes, whole, before an operator lets it count."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings
from lineclear.core.inbox.relaunch import proposal_words
from lineclear.core.inbox.relaunch.proposals import accepted, same_command
from lineclear.core.inbox.relaunch.rehearsal import Rehearsal
from lineclear.language import _, translated
from lineclear.ui.deciding.arming import SETTLE_S
from lineclear.ui.labels import WholeLabel
from lineclear.ui.settings.form import button, note
from lineclear.ui.settings.would_run import WouldRun

NOT_SEEN = _("Its end has not been in view.")


class ProposalWindow(QWidget):
    """One proposal, as it was read; what the file says later is another one.

    Signals:
        trusted(LaunchSetting): exactly this is to count.
    """

    trusted = Signal(object)

    def __init__(
        self,
        proposal: LaunchSetting,
        would: Rehearsal,
        settings: Settings,
        agent: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("proposalWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(_("A command that a run proposes"))
        self.proposal = proposal
        self.heading = WholeLabel(
            visible_line(translated(proposal_words.heading(proposal))), name="proposes"
        )
        self.would = WouldRun()
        self.would.show_rehearsal(would)
        known = accepted(settings, proposal)
        self._known = known is not None and same_command(known, proposal)
        told = [
            proposal_words.standing(settings, proposal),
            proposal_words.overruled(settings, proposal, agent),
        ]
        self.standing = note(" ".join(map(translated, filter(None, told))), name="proposalStanding")
        self.standing.set_tone("muted" if self._known else "care")
        self.standing.setVisible(any(told))
        self.about = note(_(proposal_words.ABOUT))
        self.why = note(name="whyNotYet")
        self.why.setMinimumWidth(self.why.fontMetrics().horizontalAdvance(NOT_SEEN) // 2 + 12)
        self.later = button(_("Not now"), "notTrusted")
        self.trust = button(_("Trust this command"), "trust")
        self.trust.setEnabled(False)
        self.later.clicked.connect(self.close)
        self.trust.clicked.connect(self._trust)
        self._lay_out()
        self._settled = False
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.setInterval(int(SETTLE_S * 1000))
        self._settling.timeout.connect(self._settle)
        bar = self.would.text.verticalScrollBar()
        bar.valueChanged.connect(lambda _value: self._look())
        bar.rangeChanged.connect(lambda _least, _most: self._look())
        QShortcut(QKeySequence("Esc"), self).activated.connect(self.close)
        self.resize(680, 440)
        self.would.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.addWidget(self.later)
        line.addWidget(self.why, 1)
        line.addSpacing(96)
        line.addWidget(self.trust)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 20, 24, 16)
        box.setSpacing(10)
        box.addWidget(self.heading)
        box.addWidget(self.would, 1)
        for label in (self.standing, self.about):
            box.addWidget(label)
        box.addLayout(line)

    def event(self, event: QEvent) -> bool:
        """A window that has just come up cannot be answered by a click that was meant elsewhere."""
        handled = super().event(event)
        if event.type() in (QEvent.Type.WindowActivate, QEvent.Type.WindowDeactivate):
            self._settled = False
            self._settling.stop()
            if event.type() == QEvent.Type.WindowActivate:
                self._settling.start()
            self._look()
        return handled

    def _settle(self) -> None:
        self._settled = True
        self._look()

    def _look(self) -> None:
        seen = self.would.seen()
        self.trust.setEnabled(self._settled and seen and not self._known)
        self.why.setText("" if seen or self._known else NOT_SEEN)

    def _trust(self) -> None:
        self.trusted.emit(self.proposal)
        self.close()
