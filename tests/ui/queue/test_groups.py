"""Groups of what waits: their order, what moves as time goes on, and what stays where it is."""

import random
from datetime import timedelta

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.grouping import Group
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sections import Section
from lineclear.ui.queue.sort_rule import UNSORTED
from tests.ui.sample import NOW, a_row, row_id


class Clock:
    at = NOW

    def __call__(self):
        return self.at


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def model(qapp, clock):
    made = QueueModel(now=clock)
    tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield made
    del tester


def ids(model):
    return [int(model.id_at(place) or "", 16) for place in range(model.rowCount())]


def told(model):
    return [(each.group, each.position, each.count) for each in model.headings()]


def in_minutes(number):
    return NOW + timedelta(minutes=number)


def test_whose_agent_may_wait_or_not_stands_in_no_group_that_says_it_does(model):
    unknown = a_row(2, process=Process.UNKNOWN)
    model.apply(Diff(added=(dead(1), unknown, a_row(3), a_row(4, process=Process.ELSEWHERE))))
    assert told(model) == [
        (Group.AGENTS_WAITING, 0, 2),
        (Group.AGENTS_UNKNOWN, 2, 1),
        (Group.AGENTS_DEAD, 3, 1),
    ]
    assert model.group_words(2) == "Not known whether agents wait"


def dead(number, **more):
    return a_row(number, process=Process.DEAD, **more)


def test_what_expires_soon_is_first_and_the_oldest_first_within(model):
    soon = a_row(1, expires_at=in_minutes(4))
    late = a_row(6, expires_at=in_minutes(90))
    model.apply(Diff(added=(dead(9), a_row(5), soon, late, dead(8, expires_at=in_minutes(2)))))
    assert ids(model) == [8, 1, 6, 5, 9]
    assert told(model) == [
        (Group.EXPIRES_SOON, 0, 2),
        (Group.AGENTS_WAITING, 2, 2),
        (Group.AGENTS_DEAD, 4, 1),
    ]


def test_a_row_goes_over_as_its_expiry_comes_near(model, clock):
    model.apply(Diff(added=(a_row(9), a_row(1, expires_at=in_minutes(10)))))
    kept = QPersistentModelIndex(model.index(1, 0))
    assert ids(model) == [9, 1]
    clock.at = in_minutes(4.9)
    model.pass_time()
    assert ids(model) == [9, 1]
    clock.at = in_minutes(5)
    model.pass_time()
    assert ids(model) == [1, 9]
    assert kept.row() == 0


def test_an_agent_that_dies_moves_its_call_one_row(model):
    model.apply(Diff(added=(a_row(1), a_row(2), a_row(3))))
    moved = []
    model.rowsMoved.connect(lambda _p, a, _b, _q, c: moved.append((a, c)))
    model.apply(Diff(changed=(dead(3),)))
    assert ids(model) == [2, 1, 3]
    assert moved == [(0, 3)]


def test_under_a_hand_a_row_changes_its_group_later(model, clock):
    model.apply(Diff(added=(a_row(9), a_row(1, expires_at=in_minutes(6)), dead(4))))
    held: list[int] = []
    model.held_changed.connect(held.append)
    model.keeps_still = lambda: True
    model.may_insert = lambda _place: False
    clock.at = in_minutes(2)
    model.pass_time()
    model.apply(Diff(changed=(dead(9),)))
    assert ids(model) == [9, 1, 4]
    assert held[-1] == 2
    assert sorted(model.held_moves()) == [Group.EXPIRES_SOON, Group.AGENTS_DEAD]
    # The row itself tells at once what it is.
    assert "dead" in model.index(0, Column.AGENT).data()
    model.release_held()
    assert ids(model) == [1, 9, 4]
    assert held[-1] == 0


def test_a_column_turns_groups_off_and_no_column_on_again(model):
    model.apply(Diff(added=(a_row(1), dead(9), a_row(2))))
    assert ids(model) == [2, 1, 9]
    model.sort(Column.AGE)
    assert ids(model) == [9, 2, 1]
    assert (model.grouped, model.headings()) == (False, [])
    model.sort(UNSORTED)
    assert ids(model) == [2, 1, 9]
    assert model.grouped


def test_other_sections_have_no_groups_and_what_is_over_begins_with_the_latest(model):
    over = [
        a_row(n, state=State.DONE, closed=True, outcome="ok", ended_at=in_minutes(-n))
        for n in (1, 2, 3)
    ]
    model.apply(Diff(added=(a_row(9), *over, a_row(7, state=State.RUNNING))))
    model.set_scope(Scope(Section.FINISHED))
    assert ids(model) == [1, 2, 3]
    assert model.headings() == []
    model.set_scope(Scope())
    assert ids(model) == [9]
    assert told(model) == [(Group.AGENTS_WAITING, 0, 1)]


def test_a_heading_counts_no_tombstones_and_reads_with_the_first_cell(model):
    model.pinned = lambda _id: True
    model.apply(Diff(added=(a_row(1), a_row(2), dead(3))))
    model.apply(Diff(changed=(a_row(2, state=State.DENIED),)))
    assert told(model) == [(Group.AGENTS_WAITING, 0, 1), (Group.AGENTS_DEAD, 2, 1)]
    spoken = model.index(2, Column.STATE).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Agents not running. State: Waiting. send_refund. agent-3")
    assert model.headerData(2, Qt.Orientation.Vertical) == "Agents not running"


def test_a_filter_by_time_follows_the_time(model, clock, monkeypatch):
    model.apply(Diff(added=(a_row(1), a_row(9, expires_at=in_minutes(30)))))
    model.set_scope(Scope(filter=parse_filter("age:>5m")))
    assert ids(model) == [9]
    clock.at = in_minutes(4.5)
    model._timed_next = 0
    model.pass_time()
    assert ids(model) == [9, 1]
    model.set_scope(Scope(filter=parse_filter("expires:>20m")))
    assert ids(model) == [9]
    clock.at = in_minutes(11)
    model._timed_next = 0
    model.pass_time()
    assert ids(model) == []


def test_what_ended_today_is_over_at_midnight(model, clock):
    ended = a_row(1, state=State.DONE, closed=True, outcome="ok", ended_at=NOW)
    model.apply(Diff(added=(ended,)))
    assert model.counts()[Section.FINISHED] == 1
    clock.at = NOW + timedelta(days=1)
    model.pass_time()
    assert (model.counts()[Section.FINISHED], model.counts()[Section.HISTORY]) == (0, 1)


# --- Snooze -------------------------------------------------------------------------------------


def test_a_snoozed_call_is_counted_apart_and_comes_back_as_news(model, clock):
    model.apply(Diff(added=(a_row(1), a_row(2))))
    model.mark_seen(row_id(2))
    woken: list[str] = []
    model.woke.connect(lambda rows: woken.extend(row.id for row in rows))
    model.snooze({row_id(2): in_minutes(15)})
    assert ids(model) == [1]
    counts = model.counts()
    assert (counts[Section.WAITING], counts[Section.SNOOZED]) == (1, 1)
    model.set_scope(Scope(Section.SNOOZED))
    assert ids(model) == [2]
    assert model.index(0, Column.STATE).data().startswith("Until ")
    clock.at = in_minutes(15)
    model.pass_time()
    assert woken == [row_id(2)]
    assert ids(model) == []
    model.set_scope(Scope())
    assert ids(model) == [2, 1]
    assert model.snoozed_until(row_id(2)) is None
    assert model._unseen(model._known.index.slots[row_id(2)])


def test_a_snoozed_call_is_back_before_it_expires(model, clock):
    model.snooze({row_id(1): in_minutes(60)})
    model.apply(Diff(added=(a_row(1, expires_at=in_minutes(20)),)))
    assert model.counts()[Section.SNOOZED] == 1
    assert model.snoozed_until(row_id(1)) == in_minutes(15)
    clock.at = in_minutes(15)
    model.pass_time()
    assert told(model) == [(Group.EXPIRES_SOON, 0, 1)]


def test_a_snoozed_call_that_somebody_decides_is_snoozed_no_longer(model):
    model.apply(Diff(added=(a_row(1),)))
    model.snooze({row_id(1): in_minutes(60)})
    model.apply(Diff(changed=(a_row(1, state=State.APPROVED),)))
    counts = model.counts()
    assert (counts[Section.SNOOZED], counts[Section.HANDED_OVER]) == (0, 1)


def test_a_snooze_is_taken_back(model):
    model.apply(Diff(added=(a_row(1),)))
    model.snooze({row_id(1): in_minutes(60)})
    model.snooze({row_id(1): None})
    assert ids(model) == [1]


def test_next_waiting_skips_what_others_read(model):
    model.apply(Diff(added=(a_row(3), a_row(2), a_row(1))))
    model.skipped = {row_id(2)}.__contains__
    assert model.next_waiting(row_id(3)) == row_id(1)
    model.skipped = lambda _id: True
    assert model.next_waiting(row_id(3)) is None


# --- All together -------------------------------------------------------------------------------


def test_whatever_happens_in_whatever_order_gives_what_sorting_everything_gives(model, clock):
    chance = random.Random(11)
    known: dict[int, Row] = {}
    hands = [False]
    model.keeps_still = lambda: hands[0]
    model.may_insert = lambda place: place % 3 == 0
    for round_ in range(150):
        hands[0] = chance.random() < 0.5
        clock.at = NOW + timedelta(seconds=round_ * 7)
        rows = {
            number: a_row(
                number,
                tool=f"t{chance.randrange(5)}",
                process=chance.choice([Process.ALIVE, Process.DEAD]),
                expires_at=chance.choice([None, NOW + timedelta(seconds=chance.randrange(1500))]),
                state=chance.choice([State.PENDING] * 4 + [State.RUNNING]),
            )
            for number in chance.sample(range(1, 80), 4)
        }
        gone = chance.sample(sorted(known), min(2, len(known) // 8))
        gone = [number for number in gone if number not in rows]
        known.update(rows)
        for number in gone:
            del known[number]
        model.apply(Diff(tuple(rows.values()), (), tuple(map(row_id, gone))))
        if known and chance.random() < 0.3:
            number = chance.choice(sorted(known))
            until = chance.choice([None, clock.at + timedelta(seconds=chance.randrange(400))])
            model.snooze({row_id(number): until})
        model.pass_time()
        if chance.random() < 0.1:
            model.set_scope(Scope(filter=parse_filter(chance.choice(["", "tool:t1", "t2", "-t3"]))))
        if chance.random() < 0.1:
            model.sort(chance.choice([UNSORTED, Column.TOOL]), chance.choice(list(Qt.SortOrder)))
        model.headings()
    hands[0] = False
    model.set_scope(Scope(filter=parse_filter("t")))
    model.set_scope(Scope())
    model.sort(UNSORTED)
    soon = clock.at + timedelta(minutes=5)

    def place(number):
        row = known[number]
        if row.expires_at is not None and row.expires_at <= soon:
            return 0, -number
        return 1 + 2 * (row.process is Process.DEAD), -number

    waiting = [
        number
        for number, row in known.items()
        if row.state is State.PENDING and model.snoozed_until(row_id(number)) is None
    ]
    assert ids(model) == sorted(waiting, key=place)
    assert model.counts()[Section.WAITING] == len(waiting)
    assert sum(model.counts().values()) == len(known)
