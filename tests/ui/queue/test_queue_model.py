"""The table's model under Qt's own tester: ids keep their rows, selection and place."""

import random
import time
from datetime import timedelta

import pytest
from PySide6.QtCore import QItemSelectionModel, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.queue_model import QueueModel, Role
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sections import Section
from tests.ui.sample import NOW, SOURCE, a_decision, a_row, row_id


@pytest.fixture
def model(qapp):
    made = QueueModel(now=lambda: NOW)
    tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield made
    del tester


def ids(model: QueueModel) -> list[int]:
    return [int(model.id_at(place) or "", 16) for place in range(model.rowCount())]


def add(model: QueueModel, *rows: Row) -> None:
    model.apply(Diff(added=rows))


def changes(model: QueueModel) -> list[str]:
    """Record which kinds of change the views are told of."""
    told: list[str] = []
    model.rowsInserted.connect(lambda _p, a, b: told.append(f"insert {a}-{b}"))
    model.rowsRemoved.connect(lambda _p, a, b: told.append(f"remove {a}-{b}"))
    model.rowsMoved.connect(lambda _p, a, _b, _q, c: told.append(f"move {a} {c}"))
    model.modelReset.connect(lambda: told.append("reset"))
    model.dataChanged.connect(lambda a, _b, _r: told.append(f"data {a.row()}"))
    return told


def test_the_oldest_call_is_first(model):
    add(model, a_row(1), a_row(3), a_row(2))
    assert ids(model) == [3, 2, 1]


def test_an_arrival_is_one_insert(model):
    add(model, a_row(1), a_row(3))
    told = changes(model)
    add(model, a_row(2))
    assert told == ["insert 1-1"]


def test_neighbours_arrive_together(model):
    add(model, a_row(1), a_row(9))
    told = changes(model)
    add(model, a_row(3), a_row(4), a_row(5))
    assert told == ["insert 1-3"]
    assert ids(model) == [9, 5, 4, 3, 1]


def test_a_change_in_place_is_one_repaint(model):
    add(model, a_row(1), a_row(2))
    told = changes(model)
    model.apply(Diff(changed=(a_row(2, tool="bash"),)))
    assert told == ["data 0"]
    assert model.index(0, Column.TOOL).data() == "bash"


def test_a_decided_row_leaves_and_counts_drop(model):
    add(model, a_row(1), a_row(2))
    model.apply(Diff(changed=(a_row(2, state=State.APPROVED, decision=a_decision()),)))
    assert ids(model) == [1]
    counts = model.counts()
    assert (counts[Section.WAITING], counts[Section.HANDED_OVER]) == (1, 1)


def test_counts_are_disjoint(model):
    rows = [a_row(number, state=state) for number, state in enumerate(State)]
    add(model, *rows)
    assert sum(model.counts().values()) == len(rows)


def test_calls_of_one_checkpoint_are_counted_together(model):
    beside = [
        a_row(number, item=f"c{number}", store=SOURCE / "one", agent="a", run="r", state=state)
        for number, state in enumerate([State.PENDING, State.HELD, State.APPROVED, State.PENDING])
    ]
    add(model, *beside, a_row(9, item="other", run="r"), a_row(10))
    assert model.together(beside[0]) == (2, 4, "send_refund")
    assert model.together(a_row(10)) == (0, 1, "")


def test_a_removed_row_is_forgotten(model):
    add(model, a_row(1), a_row(2))
    model.apply(Diff(removed=(row_id(1),)))
    assert ids(model) == [2]
    assert model.row(row_id(1)) is None
    assert model.source_count(SOURCE) == 1


def test_a_pinned_row_stays_as_a_tombstone_until_it_is_let_go(model):
    add(model, a_row(1), a_row(2))
    pinned = {row_id(2)}
    model.pinned = pinned.__contains__
    model.apply(Diff(changed=(a_row(2, state=State.DENIED, decision=a_decision("deny")),)))
    assert ids(model) == [2, 1]
    assert model.index(0, 0).data(Role.TOMBSTONE)
    assert model.index(0, 0).data() == "Denied"
    assert model.counts()[Section.WAITING] == 1
    model.release_tombstones()
    assert ids(model) == [2, 1]
    pinned.clear()
    model.release_tombstones()
    assert ids(model) == [1]


def test_a_pinned_row_whose_file_is_gone_stays_too(model):
    add(model, a_row(1))
    model.pinned = lambda _id: True
    assert model.index(0, 0).data() == "Waiting"
    model.apply(Diff(removed=(row_id(1),)))
    assert ids(model) == [1]
    assert model.row(row_id(1)) is None
    assert model.index(0, 0).data() == "Gone"
    add(model, a_row(1))
    assert model.index(0, 0).data() == "Waiting"
    model.apply(Diff(removed=(row_id(1),)))
    model.pinned = lambda _id: False
    model.release_tombstones()
    assert model.rowCount() == 0


def test_arrivals_wait_behind_the_pill(model):
    add(model, a_row(1), a_row(9))
    held: list[int] = []
    model.held_changed.connect(held.append)
    model.keeps_still = lambda: True
    model.may_insert = lambda _place: False
    add(model, a_row(5), a_row(4))
    assert ids(model) == [9, 1]
    assert held[-1] == 2
    assert model.counts()[Section.WAITING] == 4
    model.release_held()
    assert ids(model) == [9, 5, 4, 1]
    assert held[-1] == 0


def test_a_held_arrival_that_is_gone_again_never_shows(model):
    add(model, a_row(1))
    model.keeps_still = lambda: True
    model.may_insert = lambda _place: False
    add(model, a_row(2), a_row(3))
    model.apply(Diff(removed=(row_id(2),), changed=(a_row(3, state=State.RUNNING),)))
    model.release_held()
    assert ids(model) == [1]


def test_a_scope_lists_another_section(model):
    add(model, a_row(1), a_row(2, state=State.UNCERTAIN), a_row(3, state=State.RUNNING))
    model.set_scope(Scope(Section.MAY_HAVE_RUN))
    assert ids(model) == [2]


def test_a_scope_lists_one_source(model):
    other = SOURCE / "other"
    add(model, a_row(1), a_row(2, source=other))
    model.set_scope(Scope(source=other))
    assert ids(model) == [2]


def test_a_filter_removes_only_what_it_hides(model):
    add(model, a_row(1, tool="bash"), a_row(2), a_row(3, tool="bash"))
    told = changes(model)
    model.set_scope(Scope(filter=parse_filter("tool:bash")))
    assert ids(model) == [3, 1]
    assert told == ["remove 1-1"]
    assert model.hidden_by_filter() == 1
    model.set_scope(Scope())
    assert ids(model) == [3, 2, 1]
    assert told == ["remove 1-1", "insert 1-1"]


def test_sorting_both_ways(model):
    add(model, a_row(1, tool="b"), a_row(2, tool="a"), a_row(3, tool="c"))
    model.sort(Column.TOOL)
    assert ids(model) == [2, 1, 3]
    model.sort(Column.TOOL, Qt.SortOrder.DescendingOrder)
    assert ids(model) == [3, 1, 2]
    add(model, a_row(4, tool="bb"))
    assert ids(model) == [3, 4, 1, 2]


@pytest.mark.parametrize("column", list(Column))
def test_every_column_sorts_rows_of_every_kind(model, column):
    rows = [a_row(number, state=state) for number, state in enumerate(State)]
    bare = [
        a_row(90 + number, tool=None, arguments=None, asked_at=None, counters=type(row.counters)())
        for number, row in enumerate(rows[:3])
    ]
    add(model, *rows, *bare)
    model.sort(column)
    forward = ids(model)
    model.sort(column, Qt.SortOrder.DescendingOrder)
    assert ids(model) == forward[::-1]


def test_persistent_indexes_follow_their_ids_through_sorting_and_moves(model):
    add(model, *(a_row(number, tool=f"t{number % 3}") for number in range(1, 30)))
    kept = {
        model.id_at(place): QPersistentModelIndex(model.index(place, 0))
        for place in range(model.rowCount())
    }
    model.sort(Column.TOOL)
    model.apply(Diff(changed=(a_row(7, tool="a-first"), a_row(8, tool="z-last"))))
    add(model, a_row(40, tool="t1"))
    for one, index in kept.items():
        assert model.id_at(index.row()) == one
    assert ids(model)[0] == 7
    assert ids(model)[-1] == 8


def test_the_selection_survives_what_arrives(model, qapp):
    selection = QItemSelectionModel(model)
    add(model, a_row(1), a_row(5))
    selection.setCurrentIndex(model.index(1, 0), QItemSelectionModel.SelectionFlag.ClearAndSelect)
    add(model, a_row(3), a_row(9))
    assert model.id_at(selection.currentIndex().row()) == row_id(1)


def test_random_diffs_give_what_sorting_everything_gives(model):
    chance = random.Random(7)
    known: dict[int, Row] = {}
    for _round in range(120):
        fresh = [number for number in chance.sample(range(1, 120), 5) if number not in known]
        added = [a_row(number, tool=f"t{chance.randrange(9)}") for number in fresh]
        old = chance.sample(sorted(known), min(3, len(known)))
        changed = [
            a_row(
                number,
                tool=f"t{chance.randrange(9)}",
                state=chance.choice([State.PENDING, State.RUNNING]),
            )
            for number in old[:2]
        ]
        removed = old[2:]
        for row in (*added, *changed):
            known[int(row.id, 16)] = row
        for number in removed:
            del known[number]
        model.apply(Diff(tuple(added), tuple(changed), tuple(row_id(number) for number in removed)))
        if _round % 40 == 20:
            model.sort(Column.TOOL, chance.choice(list(Qt.SortOrder)))
        if _round % 60 == 30:
            model.set_scope(Scope(filter=parse_filter(chance.choice(["", "tool:t1", "-tool:t2"]))))
    model.set_scope(Scope())
    model.sort(Column.AGE)
    waiting = [number for number, row in known.items() if row.state is State.PENDING]
    assert ids(model) == sorted(waiting, reverse=True)


def test_what_was_in_the_pane_is_no_longer_bold(model):
    add(model, a_row(1))
    assert model.index(0, 0).data(Role.UNSEEN)
    model.mark_seen(row_id(1))
    assert not model.index(0, 0).data(Role.UNSEEN)


def test_the_next_waiting_call_is_found_round_the_end(model):
    add(model, a_row(3), a_row(2), a_row(1))
    model.pinned = lambda _id: True
    model.apply(Diff(changed=(a_row(2, state=State.APPROVED),)))
    assert model.next_waiting(row_id(3)) == row_id(1)
    assert model.next_waiting(row_id(1)) == row_id(3)
    assert model.next_waiting(None) == row_id(3)


def test_a_tooltip_is_markup_with_everything_in_it_escaped(model):
    add(model, a_row(1, tool="<img src=x>", arguments={"a": "<b>x</b>"}))
    for column in Column:
        tip = model.index(0, column).data(Qt.ItemDataRole.ToolTipRole) or ""
        inner = tip.removeprefix("<p>").removesuffix("</p>")
        assert "<" not in inner


def test_a_hundred_thousand_rows_are_not_quadratic(qapp):
    # Without the tester, which looks at every row after each reset.
    model = QueueModel(now=lambda: NOW)
    rows = [
        a_row(number, asked_at=NOW - timedelta(seconds=(number * 7919) % 100_000))
        for number in range(100_000)
    ]
    spent: list[float] = []
    for start in range(0, len(rows), 500):
        began = time.process_time()
        add(model, *rows[start : start + 500])
        spent.append(time.process_time() - began)
    began = time.process_time()
    for number in range(100_000, 100_200):
        add(model, a_row(number, asked_at=NOW - timedelta(seconds=number % 777)))
    arrival = (time.process_time() - began) / 200
    assert model.rowCount() == 100_200
    # A batch among 100,000 rows costs no more than a few times one among few.
    assert sum(spent[-20:]) < 12 * sum(spent[1:21])
    assert arrival < 0.01


def test_of_what_is_over_the_column_of_ages_tells_when_it_ended(model):
    told: list[range] = []
    model.headerDataChanged.connect(lambda _way, first, last: told.append(range(first, last + 1)))
    assert model.headerData(Column.AGE, Qt.Orientation.Horizontal) == "Age"
    model.set_scope(Scope(Section.FINISHED))
    assert model.headerData(Column.AGE, Qt.Orientation.Horizontal) == "Ended"
    assert model.headerData(Column.AGENT, Qt.Orientation.Horizontal) == "Agent"
    assert any(Column.AGE in columns for columns in told)


def test_texts_are_made_while_nothing_arrives(model, qtbot):
    model.apply(Diff(added=tuple(a_row(number) for number in range(1, 400))))
    assert model._texts.cold()
    qtbot.waitUntil(lambda: not model._texts.cold(), timeout=10_000)
    assert len(model._known.index.holding("send_refund")) == 399
    model.apply(Diff(changed=(a_row(7, tool="other"),)))
    model.set_scope(Scope(filter=parse_filter("tool:other other")))
    assert [model.id_at(place) for place in range(model.rowCount())] == [row_id(7)]


def test_typing_on_keeps_the_order_and_what_arrived_meanwhile(model):
    model.apply(Diff(added=tuple(a_row(number, agent=f"a-{number}") for number in range(1, 30))))
    model.set_scope(Scope(filter=parse_filter("a-")))
    model.apply(Diff(added=(a_row(111, agent="a-111"),)))
    model.set_scope(Scope(filter=parse_filter("a-1")))
    listed = [model.id_at(place) for place in range(model.rowCount())]
    assert listed == [row_id(n) for n in (111, *range(19, 9, -1), 1)]
    model.set_scope(Scope(filter=parse_filter("a-11")))
    listed = [model.id_at(place) for place in range(model.rowCount())]
    assert listed == [row_id(111), row_id(11)]
    model.set_scope(Scope())
    assert model.rowCount() == 30
