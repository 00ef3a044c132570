"""The decision bar: what can be done with the call in view; it never moves."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QWidget

from lineclear.core.inbox.deciding.path import Origin
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.buttons import ApproveButton, DecisionButton
from lineclear.ui.deciding.arming import Act, Readiness
from lineclear.ui.deciding.offers import ABOUT_ANSWER, Offer
from lineclear.ui.labels import WholeLabel, explain

_MARGIN = 16
_SPACING = 8
APART = 96
"""Pixels between what denies and what approves."""


class DecisionBar(QWidget):
    """Shows an Offer as buttons.

    Signals:
        wanted(str, Origin): the name of a button and by what it was pressed: `approve`, `deny`,
            `modify`, `answer`, `takeBack`, `resume`, `setCommand`, `itRan`, `itDidNotRun`,
            `askAgain`, `leaveIt`, `together`.
    """

    wanted = Signal(str, object)

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("decisionBar")
        self.setAccessibleName(_("Decision"))
        # Three lines of a sentence that stands here in the place of buttons.
        lines = 3 * QFontMetrics(theme.small_font()).height()
        self.setFixedHeight(max(theme.BAR_HEIGHT, lines + 16))
        self.approve = ApproveButton(look, _("Approve"), "approve")
        self.resume = ApproveButton(look, _("Resume"), "resume")
        self.deny = DecisionButton(_("Deny\u2026"), "deny")
        self.modify = DecisionButton(_("Modify\u2026"), "modify")
        self.answer = DecisionButton(_("Answer\u2026"), "answer")
        explain(self.answer, ABOUT_ANSWER)
        self.take_back = DecisionButton(_("Take back"), "takeBack")
        self.it_ran = DecisionButton(_("It ran\u2026"), "itRan")
        self.it_did_not = DecisionButton(_("It did not run\u2026"), "itDidNotRun")
        self.ask_again = DecisionButton(_("Ask again"), "askAgain")
        self.leave_it = DecisionButton(_("Leave it"), "leaveIt")
        self.together = DecisionButton(_("Decide together\u2026"), "together")
        self._offer = Offer()
        self._line = line = QHBoxLayout(self)
        line.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        line.setSpacing(_SPACING)
        left = (
            self.deny,
            self.modify,
            self.answer,
            self.take_back,
            self.it_ran,
            self.it_did_not,
            self.ask_again,
            self.leave_it,
            self.together,
        )
        for button in left:
            line.addWidget(button)
        self._apart = QWidget()
        self._apart.setFixedWidth(APART)
        line.addWidget(self._apart)
        line.addStretch(1)
        line.addWidget(self.resume)
        line.addWidget(self.approve)
        self.alone = WholeLabel(name="alone")
        self.alone.setProperty("tone", "muted")
        self.alone.setFont(theme.small_font())
        self.aside = QHBoxLayout()
        """Where an act that is no decision stands, while there is no decision to make."""
        line.insertWidget(0, self.alone, 100)
        line.addLayout(self.aside)
        for button in (*left, self.resume, self.approve):
            button.pressed_by.connect(self._wants(button.objectName()))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.empty = True
        """There are no buttons: the sentence stands in their place."""
        self.show_offer(Offer())

    def _wants(self, name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
        def tell(origin: Origin) -> None:
            self.wanted.emit(name, origin)

        return tell

    def show_offer(self, offer: Offer, *, busy: bool = False) -> None:
        """Show the buttons of an offer; BUSY keeps them there but not to be pressed."""
        shown = {
            self.approve: bool(offer.approve),
            self.resume: bool(offer.resume),
            self.deny: offer.deny,
            self.modify: offer.modify,
            self.answer: offer.answer,
            self.take_back: offer.take_back,
            self.it_ran: offer.resolve,
            self.it_did_not: offer.resolve,
            self.ask_again: offer.resolve,
            self.leave_it: offer.resolve,
            self.together: bool(offer.together),
        }
        self._offer = offer
        for button, visible in shown.items():
            if button.isHidden() == visible:
                button.setVisible(visible)
            if button.isEnabled() == busy:
                button.setEnabled(not busy)
        self.empty = not any(shown.values())
        self.alone.setVisible(self.empty)
        self._apart.setVisible(bool(offer.approve or offer.resume))
        self.approve.say(offer.approve or _("Approve"))
        self.together.say(offer.together or _("Decide together\u2026"))
        self.resume.say(offer.resume or _("Resume"))

    @property
    def approves(self) -> bool:
        """Whether there is a button here that approves."""
        return bool(self._offer.approve)

    def least(self) -> int:
        """Pixels of width that the buttons of any call need, Answer\u2026 put elsewhere."""
        left = sum(each.sizeHint().width() + _SPACING for each in (self.deny, self.modify))
        right = self.approve.width_of(_("Approve with changes"))
        return left + APART + _SPACING + right + 2 * _MARGIN

    def place_answer(self, elsewhere: QHBoxLayout | None) -> None:
        """Put Answer\u2026 beside Modify\u2026, or ELSEWHERE as a quiet button."""
        home = self._line if elsewhere is None else elsewhere
        if home.indexOf(self.answer) >= 0:
            return
        quiet = elsewhere is not None
        self.answer.setProperty("flat", quiet)
        after = home.count() - 1 if quiet else home.indexOf(self.modify) + 1
        side = Qt.AlignmentFlag.AlignBottom if quiet else Qt.AlignmentFlag.AlignVCenter
        home.insertWidget(after, self.answer, 0, side)
        self.answer.style().unpolish(self.answer)
        self.answer.style().polish(self.answer)
        # Polishing gives it the font of its kind.
        self.answer.setFont(theme.small_font() if quiet else theme.body_font())

    def show_readiness(self, act: Act, state: Readiness, *, letter: bool) -> None:
        """Show how far an act's waiting is."""
        button = self.approve if act is Act.APPROVE else self.resume
        button.show_readiness(ready=state.ready, progress=state.progress, letter=letter)
