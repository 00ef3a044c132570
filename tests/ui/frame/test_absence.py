"""The line at a return: what came, expired or may have run, and nothing for a short way off."""

from datetime import timedelta

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.frame.absence import LONG, Absence
from tests.ui.sample import NOW, a_row, row_id

BACK = NOW + timedelta(hours=2)


def came(number: int, **more: object) -> Row:
    """A call that was asked after NOW."""
    return a_row(number, asked_at=NOW + timedelta(minutes=number), **more)


def test_it_tells_what_happened_since_the_operator_left():
    away = Absence()
    away.left(NOW)
    away.left(NOW + timedelta(minutes=30))
    away.take(Diff(added=(came(1), came(2), came(3, state=State.RUNNING))))
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
    said = f"Since {NOW.astimezone():%H:%M}: 1 new, 2 expired, 1 may have run."
    assert told.sentence(BACK) == said
    assert (told.new, told.may_have_run) == ((row_id(1),), (row_id(3),))


def test_nothing_is_told_of_a_short_way_off_or_a_quiet_one():
    away = Absence()
    away.left(NOW)
    away.take(Diff(added=(came(1),)))
    assert away.told(NOW + LONG - timedelta(seconds=1)) is None
    away.returned()
    away.left(NOW)
    away.take(Diff(added=(came(1, state=State.RUNNING),)))
    assert away.told(BACK) is None


def test_what_was_seen_before_is_not_told_again():
    away = Absence()
    away.take(Diff(added=(came(1),)))
    away.left(NOW)
    away.take(Diff(added=(came(2),)))
    first = away.told(BACK)
    assert first is not None
    assert first.new == (row_id(2),)
    away.returned()
    assert away.told(BACK) is None
    away.left(BACK)
    assert away.told(BACK + timedelta(hours=1)) is None


def test_what_others_settled_meanwhile_is_not_told():
    away = Absence()
    away.left(NOW)
    away.take(Diff(added=(came(1), came(2), came(3, state=State.UNCERTAIN), came(4))))
    away.take(
        Diff(
            changed=(
                came(1, state=State.DENIED),
                came(3, state=State.DONE, outcome="resolved", closed=True),
                came(4, state=State.EXPIRED),
            ),
            removed=(row_id(2),),
        )
    )
    told = away.told(BACK)
    assert told is not None
    assert (told.new, told.expired, told.may_have_run) == ((), (row_id(4),), ())
    away.take(Diff(removed=(row_id(4),)))
    assert away.told(BACK) is None


def test_a_folder_that_is_added_or_comes_back_tells_nothing_old():
    away = Absence()
    uncertain = a_row(6, state=State.UNCERTAIN)
    away.take(Diff(added=(uncertain,)))
    away.left(NOW)
    long_ago = NOW - timedelta(days=2)
    away.take(Diff(removed=(uncertain.id,)))
    away.take(
        Diff(
            added=(
                a_row(1),
                a_row(2, asked_at=None, file_time=long_ago),
                a_row(3, state=State.EXPIRED, expires_at=long_ago),
                a_row(4, state=State.DONE, outcome="expired", ended_at=long_ago, closed=True),
                uncertain,
            )
        )
    )
    assert away.told(BACK) is None
    away.take(Diff(added=(a_row(7, asked_at=None, file_time=NOW + timedelta(minutes=1)),)))
    away.take(Diff(added=(a_row(8, asked_at=None), a_row(9, state=State.UNCERTAIN))))
    told = away.told(BACK)
    assert told is not None
    # What has no time may be news; of what may have run nobody was told yet.
    assert (told.new, told.may_have_run) == ((row_id(7), row_id(8)), (row_id(9),))


def test_a_clock_that_is_set_while_nobody_is_there_changes_nothing_of_what_is_told():
    for hours in (-5, 5):
        away = Absence()
        away.left(NOW, 1000.0)
        set_to = NOW + timedelta(hours=hours)
        away.left(set_to + timedelta(minutes=1), 1060.0)
        # By the clock as it goes now the operator left a minute ago.
        assert away.since == set_to
        assert away.told(set_to + timedelta(minutes=1)) is None
        came_then = a_row(1, asked_at=set_to + timedelta(minutes=2))
        old = a_row(2, asked_at=set_to - timedelta(minutes=2))
        away.take(Diff(added=(came_then, old)))
        away.left(set_to + timedelta(minutes=6), 1360.0)
        told = away.told(set_to + timedelta(minutes=6))
        assert told is not None
        assert told.new == (row_id(1),)
        said = f"Since {set_to.astimezone():%H:%M}: 1 new."
        assert told.sentence(set_to + timedelta(minutes=6)) == said
