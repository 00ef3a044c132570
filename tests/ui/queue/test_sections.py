from datetime import timedelta

import pytest

from lineclear.core.ledger.state import State
from lineclear.ui.queue.sections import ONE_STATE, Section, section_of, shows
from tests.ui.sample import NOW, a_row


@pytest.mark.parametrize(
    "state, section",
    [
        (State.PENDING, Section.WAITING),
        (State.HELD, Section.HANDED_OVER),
        (State.APPROVED, Section.HANDED_OVER),
        (State.LAPSED, Section.HANDED_OVER),
        (State.DENIED, Section.HANDED_OVER),
        (State.EXPIRED, Section.HANDED_OVER),
        (State.RUNNING, Section.RUNNING),
        (State.UNCERTAIN, Section.MAY_HAVE_RUN),
        (State.RESUMABLE, Section.TO_RESUME),
        (State.UNREADABLE, Section.UNREADABLE),
        (State.DAMAGED, Section.UNREADABLE),
        (State.STRAY, Section.UNREADABLE),
    ],
)
def test_an_open_row_is_counted_once(state, section):
    row = a_row(1, state=state)
    assert section_of(row, NOW) is section
    assert [one for one in Section if shows(one, section_of(row, NOW))] == [section]


def test_every_state_has_a_section():
    assert {section_of(a_row(1, state=state), NOW) for state in State} <= set(Section)


def test_what_ended_today_is_in_history_too():
    row = a_row(1, state=State.DONE, outcome="ok", closed=True, ended_at=NOW)
    assert section_of(row, NOW) is Section.FINISHED
    assert [one for one in Section if shows(one, section_of(row, NOW))] == [
        Section.FINISHED,
        Section.HISTORY,
    ]


def test_what_ended_earlier_is_history_only():
    row = a_row(1, state=State.DONE, closed=True, ended_at=NOW - timedelta(days=2))
    assert [one for one in Section if shows(one, section_of(row, NOW))] == [Section.HISTORY]


def test_a_denial_that_the_agent_read_waits_for_nobody():
    row = a_row(1, state=State.DENIED, closed=True, ended_at=NOW)
    assert section_of(row, NOW) is Section.FINISHED


def test_only_a_section_of_one_state_need_not_repeat_it():
    assert {Section.WAITING, Section.RUNNING, Section.MAY_HAVE_RUN, Section.TO_RESUME} == ONE_STATE
