"""When a notification comes, what it says and when it goes: rows in, one clock, words out."""

from datetime import datetime, timedelta

import pytest

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.desktop.alerts import APART_S, BURST_S, LATER_S, Alert, Alerts
from tests.ui.sample import NOW, a_row, row_id


class Operator:
    """Somebody who looks or not, with a clock that only goes when told; keeps what was told."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.looks = False
        self.quiet = False
        self.told: list[Alert | None] = []
        self.rows: dict[str, Row] = {}
        self.snoozed: set[str] = set()
        self.alerts = Alerts(
            waiting=self.waiting,
            attended=lambda: self.looks,
            quiet=lambda: self.quiet,
            tell=self.told.append,
            withdraw=lambda: self.told.append(None),
            clock=lambda: self.seconds,
            now=self.now,
        )
        self.alerts.take(Diff(complete=True))

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)

    def waiting(self) -> list[Row]:
        return [
            row
            for row in self.rows.values()
            if row.state is State.PENDING and row.id not in self.snoozed
        ]

    def arrive(self, *rows: Row) -> None:
        self.rows.update((row.id, row) for row in rows)
        self.alerts.take(Diff(added=rows))

    def change(self, *rows: Row) -> None:
        self.rows.update((row.id, row) for row in rows)
        self.alerts.take(Diff(changed=rows))

    def remove(self, *ids: str) -> None:
        for each in ids:
            del self.rows[each]
        self.alerts.take(Diff(removed=ids))

    def wait(self, seconds: float) -> None:
        """Let time go by as the window does: looking whenever something is due."""
        end = self.seconds + seconds
        while True:
            due = self.alerts.due()
            if due is None or self.seconds + due >= end:
                break
            self.seconds += max(due, 0.001)
            self.alerts.step()
        self.seconds = end
        self.alerts.step()

    def last(self) -> Alert:
        assert self.told, "nothing was told"
        alert = self.told[-1]
        assert alert is not None, "the last was withdrawn"
        return alert


@pytest.fixture
def operator() -> Operator:
    return Operator()


def of(agent: str, number: int, **more: object) -> Row:
    return a_row(number, agent=agent, **more)


def test_a_burst_is_one_notification_with_counts_and_no_arguments(operator):
    agents = ["refund-bot"] * 4 + ["ci"] * 2 + ["ops"]
    rows = [
        of(agent, 1, id=row_id(number), arguments={"card": "4111"}, tool="drop_table")
        for number, agent in enumerate(agents)
    ]
    old = of("refund-bot", 3, id=row_id(0), arguments={"card": "4111"})
    for row in (old, *rows[1:]):
        operator.arrive(row)
        operator.wait(0.1)
    assert operator.told == []
    operator.wait(60)
    assert operator.told == [
        Alert("7 calls wait", "refund-bot 4, ci 2, ops 1 \u00b7 oldest 3 min", urgent=False)
    ]


def test_one_call_is_one_call(operator):
    operator.arrive(of("ci", 0))
    operator.wait(BURST_S)
    assert operator.last() == Alert("1 call waits", "ci 1 \u00b7 oldest 1 s")


def test_more_agents_than_fit_are_counted(operator):
    operator.arrive(*(of(agent, n, id=row_id(n)) for n, agent in enumerate("aabbccde")))
    operator.wait(BURST_S)
    assert operator.last().body.startswith("a 2, b 2, c 2, 2 other agents 2 \u00b7 oldest ")


def test_names_of_agents_are_escaped_and_cut(operator):
    operator.arrive(of("x" * 500 + "\u202e<b>&\n", 1))
    operator.wait(BURST_S)
    name = operator.last().body.partition(" 1 \u00b7 ")[0]
    assert len(name) == 40
    assert "\u202e" not in name
    assert "\n" not in name
    # Markup is the service's matter: what it says that it renders decides.
    assert name.endswith("<b>&\u23ce\u201d")


def test_what_waited_before_the_window_opened_is_no_news():
    operator = Operator()
    operator.alerts = Alerts(
        waiting=operator.waiting,
        attended=lambda: False,
        quiet=lambda: False,
        tell=operator.told.append,
        withdraw=lambda: operator.told.append(None),
        clock=lambda: operator.seconds,
        now=operator.now,
    )
    operator.arrive(of("ci", 1), of("ops", 2, warnings=("invisible",)))
    operator.alerts.take(Diff(complete=True))
    operator.wait(600)
    assert operator.told == []
    operator.arrive(of("ci", 3))
    operator.wait(BURST_S)
    assert operator.last().title == "3 calls wait"


def test_nothing_is_told_to_who_looks(operator):
    operator.looks = True
    operator.arrive(of("ci", 1), of("ci", 2, warnings=("twin",)))
    operator.wait(60)
    operator.looks = False
    operator.wait(60)
    assert operator.told == []


def test_a_look_takes_the_notification_away(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.looks = True
    operator.wait(1)
    assert operator.told[1:] == [None]
    operator.wait(100)
    assert operator.told[2:] == []


def test_a_stream_of_calls_is_told_in_steps(operator):
    for number in range(300):
        operator.arrive(of("runaway", number))
        operator.wait(0.2)
    operator.wait(APART_S)
    assert 3 <= len(operator.told) <= 60 / APART_S + 2
    assert operator.last().title == "300 calls wait"


def test_the_notification_goes_when_nothing_of_it_waits_any_more(operator):
    first, second = of("ci", 1), of("ci", 2)
    operator.arrive(first, second)
    operator.wait(BURST_S)
    operator.change(a_row(1, state=State.APPROVED))
    assert len(operator.told) == 1
    operator.remove(second.id)
    assert operator.told[1:] == [None]
    operator.wait(600)
    assert operator.told[2:] == []


def test_a_count_is_corrected_without_a_bell_once_some_of_it_is_over(operator):
    operator.arrive(of("ci", 1), of("ci", 2), of("ops", 3))
    operator.wait(BURST_S)
    operator.change(of("ci", 1, state=State.DENIED))
    operator.wait(0.5)
    operator.change(of("ci", 2, state=State.DENIED))
    operator.wait(BURST_S)
    assert operator.told[1:] == [Alert("1 call waits", "ops 1 \u00b7 oldest 3 min", corrects=True)]
    operator.wait(600)
    assert len(operator.told) == 2
    operator.change(of("ops", 3, state=State.DENIED))
    assert operator.told[2:] == [None]


def test_an_urgent_word_goes_with_what_it_named_though_others_wait(operator):
    operator.arrive(of("ci", 1), of("hang", 2, state=State.UNCERTAIN))
    operator.wait(BURST_S)
    assert operator.last() == Alert(
        "1 call may have run", "hang 1 \u00b7 1 call waits", urgent=True
    )
    operator.change(of("hang", 2, state=State.DONE, outcome="resolved", closed=True))
    operator.wait(BURST_S)
    assert operator.last() == Alert("1 call waits", "ci 1 \u00b7 oldest 1 min", corrects=True)
    assert operator.alerts.review() == row_id(1)


def test_a_red_warning_that_went_is_said_no_more(operator):
    operator.arrive(*(of("ci", number, warnings=("twin",)) for number in (1, 2)))
    operator.wait(BURST_S)
    assert operator.last().body.startswith("2 with a red warning")
    operator.change(of("ci", 1, state=State.DENIED), of("ci", 2))
    operator.wait(BURST_S)
    assert operator.last() == Alert("1 call waits", "ci 1 \u00b7 oldest 2 min", corrects=True)


def test_what_is_still_urgent_stays_so_with_its_true_number(operator):
    operator.arrive(*(of("hang", number, state=State.UNCERTAIN) for number in (1, 2)))
    operator.wait(BURST_S)
    operator.change(of("hang", 2, state=State.DONE, outcome="resolved", closed=True))
    operator.wait(BURST_S)
    assert operator.last() == Alert("1 call may have run", "hang 1", urgent=True, corrects=True)


def test_a_call_that_came_meanwhile_is_counted_and_told_in_its_time(operator):
    operator.arrive(of("ci", 1), of("ci", 2))
    operator.wait(BURST_S)
    operator.arrive(of("ops", 3))
    operator.change(of("ci", 1, state=State.DENIED))
    operator.wait(BURST_S)
    assert (operator.last().title, operator.last().corrects) == ("2 calls wait", True)
    operator.wait(APART_S)
    assert (operator.last().title, operator.last().corrects) == ("2 calls wait", False)


def test_what_was_closed_by_hand_is_not_shown_again_to_be_corrected(operator):
    operator.arrive(of("ci", 1), of("ci", 2))
    operator.wait(BURST_S)
    operator.alerts.closed()
    operator.change(of("ci", 1, state=State.DENIED))
    operator.wait(600)
    assert len(operator.told) == 1


def test_a_call_that_was_decided_in_time_is_never_told(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S / 2)
    operator.change(a_row(1, state=State.DENIED))
    operator.wait(60)
    assert operator.told == []


def test_a_closed_notification_is_not_withdrawn(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.alerts.closed()
    operator.wait(600)
    assert len(operator.told) == 1


def test_again_once_when_a_stop_call_joins(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.arrive(of("ops", 2, warnings=("invisible", "first_time")))
    operator.wait(APART_S)
    assert operator.last() == Alert(
        "2 calls wait", "1 with a red warning \u00b7 ci 1, ops 1 \u00b7 oldest 2 min", urgent=True
    )
    operator.change(of("ops", 2, warnings=("invisible",)))
    operator.wait(600)
    assert len(operator.told) == 2


def test_a_red_warning_that_was_told_before_is_counted_as_long_as_its_call_waits(operator):
    operator.arrive(of("ops", 2, warnings=("invisible",)))
    operator.wait(APART_S)
    operator.arrive(of("ci", 1), of("ci", 3))
    operator.wait(APART_S)
    assert operator.last().body.startswith("1 with a red warning \u00b7 ci 2, ops 1")
    operator.change(of("ci", 3, state=State.DENIED))
    operator.wait(BURST_S)
    assert operator.last().corrects
    assert operator.last().body.startswith("1 with a red warning \u00b7 ci 1, ops 1")
    operator.change(of("ops", 2, state=State.DENIED))
    operator.wait(BURST_S)
    assert operator.last() == Alert("1 call waits", "ci 1 \u00b7 oldest 1 min", corrects=True)


def test_again_when_a_call_that_was_told_of_turns_into_a_stop(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.change(of("ci", 1, warnings=("twin",)))
    operator.wait(APART_S)
    assert operator.last().body.startswith("1 with a red warning \u00b7 ci 1")


def test_care_warnings_tell_nothing_again(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.change(of("ci", 1, warnings=("long_line",)))
    operator.wait(600)
    assert len(operator.told) == 1


def test_again_once_when_a_call_may_have_run(operator):
    operator.arrive(of("ci", 1), of("refund-bot", 2))
    operator.wait(BURST_S)
    operator.change(of("ci", 1, state=State.RUNNING))
    operator.wait(APART_S)
    operator.change(of("ci", 1, state=State.UNCERTAIN, started_at=NOW))
    operator.wait(APART_S)
    assert operator.last() == Alert("1 call may have run", "ci 1 \u00b7 1 call waits", urgent=True)
    assert operator.alerts.review() == row_id(1)
    operator.change(of("ci", 1, state=State.UNCERTAIN, warnings=("first_time",)))
    operator.wait(600)
    # The second only says that one call waits no more.
    assert [alert.corrects for alert in operator.told if alert] == [False, True, False]


def test_a_call_that_may_have_run_is_told_when_nothing_waits(operator):
    operator.arrive(of("ops", 1, state=State.UNCERTAIN))
    operator.wait(BURST_S)
    assert operator.last() == Alert("1 call may have run", "ops 1", urgent=True)
    operator.change(of("ops", 1, state=State.DONE, outcome="resolved", closed=True))
    assert operator.told[1:] == [None]


def test_again_once_five_minutes_before_calls_expire(operator):
    operator.arrive(
        of("ci", 1, expires_at=NOW + timedelta(minutes=20)),
        of("ops", 2, expires_at=NOW + timedelta(minutes=30)),
        of("ops", 3),
    )
    operator.wait(15 * 60 - 1)
    assert len(operator.told) == 1
    operator.wait(1 + BURST_S)
    assert operator.last() == Alert("1 call expires in 5 min", "ci 1 \u00b7 3 calls wait", True)
    assert operator.alerts.review() == row_id(1)
    operator.wait(60)
    assert len(operator.told) == 2


def test_a_deadline_does_not_hide_that_a_call_may_have_run(operator):
    operator.arrive(of("ci", 1, expires_at=NOW + timedelta(minutes=6)), of("ops", 3))
    operator.wait(BURST_S)
    operator.arrive(of("hang", 2, state=State.UNCERTAIN, started_at=NOW))
    operator.wait(APART_S)
    assert operator.last().title == "1 call may have run"
    operator.wait(60)
    assert operator.last() == Alert(
        "1 call may have run",
        "hang 1 \u00b7 1 call expires in 5 min \u00b7 2 calls wait",
        urgent=True,
    )
    operator.change(of("ci", 1, state=State.EXPIRED, closed=True))
    operator.wait(BURST_S)
    assert operator.last() == Alert(
        "1 call may have run", "hang 1 \u00b7 1 call waits", urgent=True, corrects=True
    )
    operator.arrive(of("ci", 4))
    operator.wait(APART_S)
    assert operator.last().body == "hang 1 \u00b7 2 calls wait"
    operator.change(of("hang", 2, state=State.DONE, outcome="resolved", closed=True))
    operator.wait(BURST_S)
    assert operator.last().title == "2 calls wait"


def test_what_may_have_run_and_was_looked_at_is_not_told_with_what_comes_after(operator):
    operator.arrive(of("hang", 2, state=State.UNCERTAIN))
    operator.wait(BURST_S)
    operator.looks = True
    operator.wait(1)
    operator.looks = False
    operator.arrive(of("ci", 1))
    operator.wait(APART_S)
    assert (operator.last().title, operator.last().urgent) == ("1 call waits", False)


def test_later_reminds_of_what_may_have_run_too(operator):
    operator.arrive(of("hang", 2, state=State.UNCERTAIN))
    operator.wait(BURST_S)
    operator.alerts.later()
    operator.wait(LATER_S + BURST_S)
    assert len(operator.told) == 2
    assert operator.last() == Alert("1 call may have run", "hang 1", urgent=True)


def test_calls_that_expire_together_are_one_notification(operator):
    ends = NOW + timedelta(minutes=6)
    operator.arrive(*(of("ci", number, expires_at=ends) for number in range(4)))
    operator.wait(120)
    assert [alert.title for alert in operator.told if alert] == [
        "4 calls wait",
        "4 calls expire, the first in 5 min",
    ]


def test_a_call_of_before_the_window_opened_is_told_when_it_expires():
    operator = Operator()
    row = of("ci", 1, expires_at=NOW + timedelta(minutes=10))
    operator.looks = True
    operator.arrive(row)
    operator.looks = False
    operator.wait(5 * 60 + BURST_S)
    assert operator.last().title == "1 call expires in 5 min"


def test_what_is_over_does_not_expire(operator):
    operator.arrive(of("ci", 1, expires_at=NOW + timedelta(minutes=6)))
    operator.wait(BURST_S)
    operator.change(of("ci", 1, state=State.APPROVED, expires_at=NOW + timedelta(minutes=6)))
    operator.wait(3600)
    assert [alert is None for alert in operator.told] == [False, True]


def test_later_is_silence_for_fifteen_minutes_and_then_a_reminder(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.alerts.later()
    operator.arrive(of("ci", 2, warnings=("invisible",)))
    operator.wait(LATER_S - 1)
    assert len(operator.told) == 1
    operator.wait(2)
    assert operator.last().title == "2 calls wait"
    assert len(operator.told) == 2
    operator.wait(3600)
    assert len(operator.told) == 2


def test_later_says_nothing_when_nothing_waits_any_more(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.alerts.later()
    operator.change(of("ci", 1, state=State.APPROVED))
    operator.wait(2 * LATER_S)
    assert [alert for alert in operator.told if alert] == operator.told[:1]


def test_later_is_never_too_late(operator):
    operator.arrive(of("ci", 1, expires_at=NOW + timedelta(minutes=10)))
    operator.wait(BURST_S)
    operator.alerts.later()
    operator.wait(5 * 60)
    assert operator.last().title == "1 call expires in 5 min"


def test_a_look_ends_later(operator):
    operator.arrive(of("ci", 1))
    operator.wait(BURST_S)
    operator.alerts.later()
    operator.looks = True
    operator.wait(1)
    operator.looks = False
    operator.arrive(of("ci", 2))
    operator.wait(APART_S)
    assert operator.last().title == "2 calls wait"


def test_quiet_is_quiet_and_what_still_waits_is_told_after_it(operator):
    operator.quiet = True
    operator.arrive(of("ci", 1), of("ci", 2, expires_at=NOW + timedelta(minutes=6)))
    operator.wait(600)
    assert operator.told == []
    operator.change(of("ci", 1, state=State.DENIED))
    operator.quiet = False
    operator.wait(10)
    assert len(operator.told) == 1
    assert "1 call waits" in f"{operator.last().title} {operator.last().body}"


def test_a_folder_that_comes_back_is_no_news(operator):
    row = of("ci", 1)
    operator.arrive(row)
    operator.wait(BURST_S)
    operator.remove(row.id)
    operator.arrive(row)
    operator.wait(600)
    assert [alert is None for alert in operator.told] == [False, True]


def test_what_was_put_off_is_told_when_it_comes_back(operator):
    row = of("ci", 1)
    operator.arrive(row)
    operator.wait(BURST_S)
    operator.alerts.closed()
    operator.snoozed.add(row.id)
    operator.wait(600)
    operator.snoozed.clear()
    operator.alerts.returned([row.id])
    operator.wait(BURST_S)
    assert [alert.title for alert in operator.told if alert] == ["1 call waits"] * 2


def test_review_shows_the_oldest_call(operator):
    operator.arrive(of("ci", 2), of("ops", 9), of("ci", 3))
    operator.wait(BURST_S)
    assert operator.alerts.review() == row_id(9)
    operator.change(of("ops", 9, state=State.APPROVED))
    assert operator.alerts.review() == row_id(3)
    operator.change(of("ci", 2, state=State.DENIED), of("ci", 3, state=State.DENIED))
    assert operator.alerts.review() == ""


def test_nothing_is_due_while_nothing_happens(operator):
    assert operator.alerts.due() is None
    operator.arrive(of("ci", 1))
    assert operator.alerts.due() == BURST_S
    operator.wait(BURST_S)
    assert operator.alerts.due() is None
