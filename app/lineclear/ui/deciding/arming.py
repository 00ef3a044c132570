"""When a verdict may be given by hand: a pure state machine over time, sight and key presses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum

SETTLE_S = 0.7
"""How long a call must have been on screen before any verdict, and its end before an approval."""
STOP_SETTLE_S = 2.0
"""How long ago the last flagged place must have come into view before "Approve anyway"."""
CONFIRM_AFTER_S = 0.25
CONFIRM_BEFORE_S = 4.0
"""Enter counts between these two, seconds after the letter."""
ASSISTIVE_S = 15.0
"""A second assistive press counts within this time after the first one announced."""
QUIET_BEFORE_S = 0.4
"""No printable key may have come this long before the letter: it would be typing, not a verdict."""
IDLE_S = 120.0
"""Without input for this long, nobody is reading any more."""


class Act(StrEnum):
    """What a hand can do to the call in view."""

    APPROVE = "approve"
    DENY = "deny"
    RESUME = "resume"


class Need(Enum):
    """What is still missing before an act; READY is nothing."""

    READY = "ready"
    NO_CALL = "no_call"
    OFF_SCREEN = "off_screen"
    IDLE = "idle"
    SETTLING = "settling"
    END = "end"
    MASKED = "masked"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether an act may be done now, and how far its waiting has come (0 to 1)."""

    need: Need
    progress: float = 1.0

    @property
    def ready(self) -> bool:
        """Nothing is missing."""
        return self.need is Need.READY


class Press(Enum):
    """What a key press did."""

    IGNORED = "ignored"
    """Nothing was armed and nothing happened."""
    NOT_READY = "not_ready"
    TYPING = "typing"
    """A letter in the middle of other keys: somebody is typing."""
    ARMED = "armed"
    CONFIRMED = "confirmed"
    DISARMED = "disarmed"


class Arming:
    """Decides whether a hand may act: rules 2 and 3 of the hand, without any widget.

    Every input is a method; time comes from CLOCK (seconds, monotonic), so that each rule can be
    tested to the millisecond.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._subject: str | None = None
        self._stop = False
        self._on_screen = False
        self._since: float | None = None
        self._end_since: float | None = None
        self._flag_since: float | None = None
        self._masked = False
        self.beginnings = 0
        """How often it began from zero: what was in view before counts no more."""
        self._armed: tuple[Act, float] | None = None
        self._last_printable = float("-inf")
        self._last_input = clock()

    @property
    def last_input(self) -> float:
        """When a person last touched the window, by the clock."""
        return self._last_input

    # --- What is before the eyes --------------------------------------------------------------

    def show(self, subject: str | None, *, stop: bool = False) -> None:
        """Another call, or the same one with other content, is in the pane; None: no call."""
        self._subject = subject
        self._stop = stop
        self.restart()

    def restart(self) -> None:
        """Begin from zero: a new banner, a raise, a screen lock, changed content."""
        self.beginnings += 1
        self._armed = None
        self._end_since = None
        self._flag_since = None
        self._since = self._clock() if self._on_screen else None

    def set_on_screen(self, on_screen: bool) -> None:
        """The window became active and exposed, or stopped being so."""
        if on_screen == self._on_screen:
            return
        self._on_screen = on_screen
        self._last_input = self._clock()
        self.restart()

    def end_in_view(self, *, still: bool = True) -> None:
        """The end of the call is in view now, with nothing folded, or is not.

        Only an end that stayed in view for `SETTLE_S` was seen; it may then be scrolled away.
        """
        if still and self._on_screen and self._end_since is None:
            self._end_since = self._clock()
        elif not still and not self.end_seen:
            self._end_since = None

    @property
    def end_seen(self) -> bool:
        """The end stayed in view long enough since it began from zero."""
        return self._end_since is not None and self._elapsed(self._end_since) >= SETTLE_S

    def masked_waits(self, *, waits: bool) -> None:
        """A masked place has to be shown before an approval, or none has (any more).

        What is shown instead of a mask was not before the eyes yet: it begins from zero.
        """
        if waits == self._masked:
            return
        self._masked = waits
        self.restart()

    def flags_in_view(self) -> None:
        """Each place that a Stop warning speaks of has been in view by now."""
        if self._on_screen and self._flag_since is None:
            self._flag_since = self._clock()

    # --- What the hand does ---------------------------------------------------------------------

    def touched(self) -> None:
        """Any input of a person: pointer or key; the first after a long rest begins from zero."""
        now = self._clock()
        if self.idle:
            self.restart()
        self._last_input = now

    def printable_key(self) -> Press:
        """A printable key without a meaning of its own here: disarms, and counts as typing."""
        self.touched()
        self._last_printable = self._clock()
        return self._disarm()

    def other_input(self) -> Press:
        """Any other key, a click, or a change of focus: disarms."""
        self.touched()
        return self._disarm()

    def letter(self, act: Act) -> Press:
        """Press the letter of ACT; a second press disarms."""
        self.touched()
        now = self._clock()
        quiet = self._elapsed(self._last_printable) >= QUIET_BEFORE_S
        self._last_printable = now
        if self.armed is not None:
            return self._disarm()
        self._armed = None
        if not quiet:
            return Press.TYPING
        if not self.readiness(act).ready:
            return Press.NOT_READY
        self._armed = (act, now)
        return Press.ARMED

    def confirm(self) -> tuple[Press, Act | None]:
        """Press Enter; (CONFIRMED, act) only inside the window after the letter."""
        self.touched()
        if self._armed is None:
            return Press.IGNORED, None
        act, at = self._armed
        self._armed = None
        elapsed = self._elapsed(at)
        if not CONFIRM_AFTER_S <= elapsed <= CONFIRM_BEFORE_S or not self.readiness(act).ready:
            return Press.DISARMED, None
        return Press.CONFIRMED, act

    def may_click(self, act: Act) -> bool:
        """A click on the act's button counts now; it disarms a letter either way."""
        self.touched()
        self._armed = None
        return self.readiness(act).ready

    def _elapsed(self, since: float) -> float:
        # To the microsecond: a difference of floats is never quite 0.7.
        return round(self._clock() - since, 6)

    def _disarm(self) -> Press:
        was = self.armed
        self._armed = None
        return Press.IGNORED if was is None else Press.DISARMED

    # --- What may be done -----------------------------------------------------------------------

    @property
    def armed(self) -> Act | None:
        """The act that Enter would do; None when the letter is too long ago."""
        if self._armed is None or self._elapsed(self._armed[1]) > CONFIRM_BEFORE_S:
            return None
        return self._armed[0]

    def readiness(self, act: Act) -> Readiness:
        """What ACT still needs."""
        if self._subject is None:
            return Readiness(Need.NO_CALL, 0.0)
        if not self._on_screen or self._since is None:
            return Readiness(Need.OFF_SCREEN, 0.0)
        if self.idle:
            return Readiness(Need.IDLE, 0.0)
        settled = self._elapsed(self._since) / SETTLE_S
        if act is not Act.APPROVE:
            return Readiness(Need.SETTLING, settled) if settled < 1 else Readiness(Need.READY)
        if settled >= 1:
            if self._end_since is None:
                return Readiness(Need.END, 0.0)
            if self._masked:
                return Readiness(Need.MASKED, 0.0)
            if self._stop and self._flag_since is None:
                return Readiness(Need.FLAG, 0.0)
            settled = self._elapsed(self._end_since) / SETTLE_S
            if self._stop and self._flag_since is not None:
                settled = min(settled, self._elapsed(self._flag_since) / STOP_SETTLE_S)
        return Readiness(Need.SETTLING, settled) if settled < 1 else Readiness(Need.READY)

    @property
    def idle(self) -> bool:
        """No input of a person for so long that nobody is reading any more."""
        return self._elapsed(self._last_input) > IDLE_S


class Announced:
    """A press through assistive technology says first what it would do; the second one does it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._said = ""
        self._at = 0.0

    def again(self, what: str) -> bool:
        """Press for WHAT: True when it was announced between 0.25 and 15 s ago, once."""
        elapsed = round(self._clock() - self._at, 6)
        if what == self._said and CONFIRM_AFTER_S <= elapsed <= ASSISTIVE_S:
            self._said = ""
            return True
        self._said, self._at = what, self._clock()
        return False
