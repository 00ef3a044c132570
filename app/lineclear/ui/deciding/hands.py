"""From a letter, a click or an assistive press to an act that is meant, or to why it is not."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from lineclear.core.inbox.deciding.path import Origin
from lineclear.language import _
from lineclear.ui.announcing import announce
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.arming import Act, Announced, Arming, Press, Readiness
from lineclear.ui.deciding.offers import Offer


class Hands(QObject):
    """Holds the arming of the call in the pane, and what is offered for it now.

    Signals:
        meant(Act, Origin): an act is to be done.
        told(str, Act | None): something to say in the place of the sentence: why not, which is
            over once the act is ready, or what a second press would do.
        looking: time and sight are about to be asked; whoever knows the screen tells the arming.
        changed: an act was armed or disarmed.
    """

    meant = Signal(object, object)
    told = Signal(str, object)
    looking = Signal()
    changed = Signal()

    def __init__(
        self,
        pane: QWidget,
        missing: Callable[[Readiness], str],
        clock: Callable[[], float],
        parent: QObject | None = None,
    ) -> None:
        """MISSING says what an act still needs, in words; "" when nothing."""
        super().__init__(parent)
        self._pane = pane
        self._missing = missing
        self.arming = Arming(clock)
        self._announced = Announced(clock)
        self._offer = Offer()
        self._call = ""

    def offer(self, call: str, offer: Offer) -> None:
        """What can be done with CALL now; an empty offer: nothing, as while it is saved."""
        self._call = call
        self._offer = offer

    def can(self, act: Act) -> bool:
        """Whether the act is offered at all."""
        return bool(self._offer.resume if act is Act.RESUME else self._offer.approve)

    def why_not(self, act: Act) -> str:
        """What the act still needs, in words; "" when nothing."""
        return self._missing(self.arming.readiness(act))

    def letter(self, act: Act) -> None:
        """The letter of an act was pressed."""
        if not self.can(act):
            self.arming.printable_key()
            if self._call:
                self._tell(_("There is nothing to {doing} here.").format(doing=offers.DOING[act]))
            return
        self.looking.emit()
        done = self.arming.letter(act)
        if done is Press.NOT_READY:
            self._tell(self.why_not(act), act)
        elif done is Press.TYPING:
            self._tell(_("That came in the middle of other keys. Press it again."))
        elif done is Press.ARMED:
            announce(self._pane, offers.press_enter(act, self._offer), urgent=True)
        self.changed.emit()

    def confirm(self) -> bool:
        """Enter was pressed; True when it was meant for an armed act."""
        if self.arming.armed is None:
            return False
        self.looking.emit()
        done, act = self.arming.confirm()
        if done is Press.CONFIRMED and act is not None and self.can(act):
            self.meant.emit(act, Origin.KEY)
        self.changed.emit()
        return True

    def disarm(self) -> bool:
        """Esc, or anything else that takes an armed letter back; True when there was one."""
        was = self.arming.other_input() is Press.DISARMED
        self.changed.emit()
        return was

    def press(self, act: Act, origin: Origin) -> None:
        """The button of an act was pressed; by the keyboard it only arms."""
        if not self.can(act):
            return
        self.looking.emit()
        if origin is Origin.KEY:
            self.letter(act)
            return
        if origin is Origin.ASSISTIVE and not self._second_press(act):
            return
        if self.arming.may_click(act):
            self.meant.emit(act, origin)
        else:
            self._tell(self.why_not(act), act)

    def _second_press(self, act: Act) -> bool:
        if self._announced.again(f"{self._call}:{act.value}"):
            return True
        self._tell(
            _("{sentence} Press again to {doing}.").format(
                sentence=self._offer.sentence, doing=offers.doing(act, self._offer)
            )
        )
        return False

    def _tell(self, text: str, until: Act | None = None) -> None:
        self.told.emit(text, until)
        announce(self._pane, text, urgent=True)
