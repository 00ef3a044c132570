"""The rules of the hand, to the millisecond: no widget, no sleeping, a clock by hand."""

import pytest

from lineclear.ui.deciding.arming import (
    ASSISTIVE_S,
    CONFIRM_AFTER_S,
    CONFIRM_BEFORE_S,
    IDLE_S,
    QUIET_BEFORE_S,
    SETTLE_S,
    STOP_SETTLE_S,
    Act,
    Announced,
    Arming,
    Need,
    Press,
)


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time

    def pass_(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def arming(clock: Clock) -> Arming:
    """A call on screen since now, its end in view."""
    made = Arming(clock)
    made.set_on_screen(True)
    made.show("call")
    made.end_in_view()
    return made


def settle(clock: Clock) -> None:
    clock.pass_(SETTLE_S)


def need(arming: Arming, act: Act = Act.APPROVE) -> Need:
    return arming.readiness(act).need


# --- Time on screen -----------------------------------------------------------------------------


def test_no_call_is_never_ready(clock):
    arming = Arming(clock)
    arming.set_on_screen(True)
    clock.pass_(60)
    assert {need(arming, act) for act in Act} == {Need.NO_CALL}


@pytest.mark.parametrize("act", list(Act))
def test_every_act_waits_until_the_call_was_on_screen_long_enough(arming, clock, act):
    clock.pass_(SETTLE_S - 0.001)
    assert need(arming, act) is Need.SETTLING
    clock.pass_(0.001)
    assert need(arming, act) is Need.READY


def test_the_waiting_is_told_as_a_share(arming, clock):
    clock.pass_(SETTLE_S / 2)
    assert arming.readiness(Act.APPROVE).progress == pytest.approx(0.5)


@pytest.mark.parametrize("act", list(Act))
def test_a_window_that_is_not_before_the_eyes_is_not_ready(arming, clock, act):
    settle(clock)
    arming.set_on_screen(False)
    clock.pass_(60)
    assert need(arming, act) is Need.OFF_SCREEN


def test_time_begins_when_the_window_comes_before_the_eyes(clock):
    arming = Arming(clock)
    arming.show("call")
    clock.pass_(60)
    arming.set_on_screen(True)
    arming.end_in_view()
    assert need(arming) is Need.SETTLING
    settle(clock)
    assert need(arming) is Need.READY


# --- The end in view ----------------------------------------------------------------------------


def test_approving_waits_for_a_masked_place_and_begins_from_zero_once_it_is_shown(clock, arming):
    arming.masked_waits(waits=True)
    arming.end_in_view()
    settle(clock)
    assert need(arming) is Need.MASKED
    assert arming.letter(Act.APPROVE) is Press.NOT_READY
    assert not arming.may_click(Act.APPROVE)
    assert need(arming, Act.DENY) is Need.READY
    arming.masked_waits(waits=False)
    assert need(arming) is Need.SETTLING
    settle(clock)
    assert need(arming) is Need.END
    arming.end_in_view()
    settle(clock)
    assert need(arming) is Need.READY


def test_approving_needs_the_end_in_view_and_denying_does_not(clock):
    arming = Arming(clock)
    arming.set_on_screen(True)
    arming.show("call")
    settle(clock)
    assert (need(arming), need(arming, Act.DENY), need(arming, Act.RESUME)) == (
        Need.END,
        Need.READY,
        Need.READY,
    )
    arming.end_in_view()
    assert need(arming) is Need.SETTLING
    settle(clock)
    assert need(arming) is Need.READY


def test_the_time_is_counted_from_when_the_end_came_into_view(clock):
    arming = Arming(clock)
    arming.set_on_screen(True)
    arming.show("call")
    clock.pass_(60)
    arming.end_in_view()
    assert not arming.may_click(Act.APPROVE)
    clock.pass_(SETTLE_S - 0.001)
    assert arming.letter(Act.APPROVE) is Press.NOT_READY
    assert arming.readiness(Act.APPROVE).progress == pytest.approx(1, abs=0.01)
    clock.pass_(0.001)
    assert need(arming) is Need.READY


def test_an_end_that_was_in_view_may_be_scrolled_away_again(arming, clock):
    settle(clock)
    arming.end_in_view(still=False)
    assert need(arming) is Need.READY


def test_an_end_that_only_flew_past_was_not_seen(arming, clock):
    clock.pass_(SETTLE_S - 0.001)
    arming.end_in_view(still=False)
    clock.pass_(60)
    assert need(arming) is Need.END


def test_an_end_seen_while_the_window_was_covered_does_not_count(clock):
    arming = Arming(clock)
    arming.show("call")
    arming.end_in_view()
    arming.set_on_screen(True)
    settle(clock)
    assert need(arming) is Need.END


# --- Stop warnings ------------------------------------------------------------------------------


def test_a_stop_waits_two_seconds_from_when_its_place_was_in_view(clock):
    arming = Arming(clock)
    arming.set_on_screen(True)
    arming.show("call", stop=True)
    arming.end_in_view()
    clock.pass_(10)
    assert need(arming) is Need.FLAG
    arming.flags_in_view()
    clock.pass_(STOP_SETTLE_S - 0.001)
    assert need(arming) is Need.SETTLING
    arming.flags_in_view()  # a second look does not begin anew
    clock.pass_(0.001)
    assert need(arming) is Need.READY


def test_a_stop_does_not_keep_anyone_from_denying(clock):
    arming = Arming(clock)
    arming.set_on_screen(True)
    arming.show("call", stop=True)
    settle(clock)
    assert need(arming, Act.DENY) is Need.READY


# --- From zero ----------------------------------------------------------------------------------


REASONS = {
    "another call": lambda arming: arming.show("other"),
    "changed content": lambda arming: arming.show("call"),
    "a new banner": lambda arming: arming.restart(),
    "raise": lambda arming: (arming.set_on_screen(False), arming.set_on_screen(True)),
}


@pytest.mark.parametrize("reason", list(REASONS))
def test_it_begins_from_zero(arming, clock, reason):
    settle(clock)
    assert arming.letter(Act.APPROVE) is Press.ARMED
    clock.pass_(CONFIRM_AFTER_S)
    REASONS[reason](arming)
    assert arming.armed is None
    assert arming.confirm() == (Press.IGNORED, None)
    assert need(arming) is Need.SETTLING
    settle(clock)
    assert need(arming) is Need.END
    arming.end_in_view()
    settle(clock)
    assert need(arming) is Need.READY


def test_two_minutes_without_input_begin_from_zero(arming, clock):
    settle(clock)
    arming.touched()
    clock.pass_(IDLE_S)
    assert need(arming) is Need.READY
    clock.pass_(0.001)
    assert {need(arming, act) for act in Act} == {Need.IDLE}
    arming.touched()
    assert need(arming) is Need.SETTLING


def test_the_first_click_after_a_long_rest_decides_nothing(arming, clock):
    settle(clock)
    clock.pass_(IDLE_S + 1)
    assert not arming.may_click(Act.APPROVE)


def test_the_first_letter_after_a_long_rest_arms_nothing(arming, clock):
    settle(clock)
    clock.pass_(IDLE_S + 1)
    assert arming.letter(Act.APPROVE) is Press.NOT_READY


# --- Clicks -------------------------------------------------------------------------------------


def test_a_click_counts_exactly_when_it_is_ready(arming, clock):
    clock.pass_(SETTLE_S - 0.001)
    assert not arming.may_click(Act.APPROVE)
    clock.pass_(0.001)
    assert arming.may_click(Act.APPROVE)


def test_a_click_takes_an_armed_letter_back(arming, clock):
    settle(clock)
    arming.letter(Act.APPROVE)
    clock.pass_(CONFIRM_AFTER_S)
    arming.may_click(Act.RESUME)
    assert arming.confirm() == (Press.IGNORED, None)


# --- The letter and Enter -----------------------------------------------------------------------


@pytest.mark.parametrize("act", [Act.APPROVE, Act.RESUME])
def test_the_letter_then_enter_confirms(arming, clock, act):
    settle(clock)
    assert arming.letter(act) is Press.ARMED
    assert arming.armed is act
    clock.pass_(CONFIRM_AFTER_S)
    assert arming.confirm() == (Press.CONFIRMED, act)
    assert arming.confirm() == (Press.IGNORED, None)


def test_enter_alone_does_nothing(arming, clock):
    settle(clock)
    assert arming.confirm() == (Press.IGNORED, None)


@pytest.mark.parametrize(
    "after, confirmed",
    [
        (CONFIRM_AFTER_S - 0.001, False),
        (CONFIRM_AFTER_S, True),
        (CONFIRM_BEFORE_S, True),
        (CONFIRM_BEFORE_S + 0.001, False),
    ],
)
def test_enter_counts_between_a_quarter_and_four_seconds(arming, clock, after, confirmed):
    settle(clock)
    arming.letter(Act.APPROVE)
    clock.pass_(after)
    press, act = arming.confirm()
    assert (press is Press.CONFIRMED) is confirmed
    assert act is (Act.APPROVE if confirmed else None)
    # However it ended, a second Enter finds nothing.
    clock.pass_(0.5)
    assert arming.confirm() == (Press.IGNORED, None)


def test_an_armed_letter_is_forgotten_after_four_seconds(arming, clock):
    settle(clock)
    arming.letter(Act.APPROVE)
    clock.pass_(CONFIRM_BEFORE_S + 0.001)
    assert arming.armed is None
    assert arming.letter(Act.APPROVE) is Press.ARMED


def test_a_letter_arms_nothing_before_it_is_ready(arming, clock):
    clock.pass_(SETTLE_S - 0.001)
    assert arming.letter(Act.APPROVE) is Press.NOT_READY
    clock.pass_(CONFIRM_AFTER_S)
    assert arming.confirm() == (Press.IGNORED, None)


@pytest.mark.parametrize(
    "quiet, press", [(QUIET_BEFORE_S - 0.001, Press.TYPING), (QUIET_BEFORE_S, Press.ARMED)]
)
def test_a_letter_in_the_middle_of_typing_arms_nothing(arming, clock, quiet, press):
    settle(clock)
    arming.printable_key()
    clock.pass_(quiet)
    assert arming.letter(Act.APPROVE) is press


def test_two_fast_letters_are_typing(arming, clock):
    settle(clock)
    clock.pass_(-0.2)
    arming.letter(Act.APPROVE)  # not ready yet
    clock.pass_(0.2)
    assert arming.letter(Act.APPROVE) is Press.TYPING


INPUTS = {
    "a printable key": lambda arming: arming.printable_key(),
    "another key, a click, a change of focus": lambda arming: arming.other_input(),
    "the same letter": lambda arming: arming.letter(Act.APPROVE),
    "the other letter": lambda arming: arming.letter(Act.RESUME),
}


@pytest.mark.parametrize("given", list(INPUTS))
def test_any_other_input_disarms(arming, clock, given):
    settle(clock)
    arming.letter(Act.APPROVE)
    clock.pass_(CONFIRM_AFTER_S)
    assert INPUTS[given](arming) is Press.DISARMED
    assert arming.confirm() == (Press.IGNORED, None)


def test_moving_the_pointer_disarms_nothing(arming, clock):
    settle(clock)
    arming.letter(Act.APPROVE)
    clock.pass_(CONFIRM_AFTER_S)
    arming.touched()
    assert arming.confirm() == (Press.CONFIRMED, Act.APPROVE)


# --- Assistive presses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after, does",
    [
        (CONFIRM_AFTER_S - 0.001, False),
        (CONFIRM_AFTER_S, True),
        (ASSISTIVE_S, True),
        (ASSISTIVE_S + 0.001, False),
    ],
)
def test_the_second_assistive_press_does_what_the_first_announced(clock, after, does):
    press = Announced(clock)
    assert not press.again("call:approve")
    clock.pass_(after)
    assert press.again("call:approve") is does


def test_a_press_for_something_else_announces_anew(clock):
    press = Announced(clock)
    press.again("call:approve")
    clock.pass_(1)
    assert not press.again("other:approve")
    clock.pass_(1)
    assert press.again("other:approve")
    clock.pass_(1)
    assert not press.again("other:approve")
