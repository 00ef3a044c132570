"""The line at a return: what came, expired or may have run, and nothing for a short way off."""

from datetime import timedelta

from lineclear.core.inbox.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.frame.absence import LONG, Absence
from tests.ui.sample import NOW, a_row, row_id

BACK = NOW + timedelta(hours=2)


def test_it_tells_what_happened_since_the_operator_left():
    away = Absence()
    away.left(NOW)
    away.left(NOW + timedelta(minutes=30))
    away.take(Diff(added=(a_row(1), a_row(2), a_row(3, state=State.RUNNING))))
    away.take(
        Diff(
            changed=(
                a_row(2, state=State.EXPIRED),
                a_row(3, state=State.UNCERTAIN),
                a_row(9, state=State.DONE, outcome="expired", closed=True),
            )
        )
    )
    away.take(Diff(changed=(a_row(2, state=State.EXPIRED),)))
    told = away.told(BACK)
    assert told is not None
    assert told.sentence == (f"Since {NOW.astimezone():%H:%M}: 2 new, 2 expired, 1 may have run.")
    assert (told.new, told.may_have_run) == ((row_id(1), row_id(2)), (row_id(3),))


def test_nothing_is_told_of_a_short_way_off_or_a_quiet_one():
    away = Absence()
    away.left(NOW)
    away.take(Diff(added=(a_row(1),)))
    assert away.told(NOW + LONG - timedelta(seconds=1)) is None
    away.returned()
    away.left(NOW)
    away.take(Diff(added=(a_row(1, state=State.RUNNING),)))
    assert away.told(BACK) is None


def test_what_was_seen_before_is_not_told_again():
    away = Absence()
    away.take(Diff(added=(a_row(1),)))
    away.left(NOW)
    away.take(Diff(added=(a_row(2),)))
    first = away.told(BACK)
    assert first is not None
    assert first.new == (row_id(2),)
    away.returned()
    assert away.told(BACK) is None
    away.left(BACK)
    assert away.told(BACK + timedelta(hours=1)) is None
