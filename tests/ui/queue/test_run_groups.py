"""Calls of one checkpoint stand together, by whichever column the table is sorted."""

import random
from datetime import timedelta
from typing import Any

import pytest
from PySide6.QtCore import Qt

from lineclear.core.checkpoints.model import Counters
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.row_table import Role
from lineclear.ui.queue.run_groups import RunPlace
from lineclear.ui.queue.sort_rule import UNSORTED
from tests.ui.sample import NOW, SOURCE, a_row

ORDERS = (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder)


def run_of(run: str, *numbers: int, **more: Any) -> list[Row]:
    known: dict[str, Any] = {"asked_at": None, "file_time": NOW, **more}
    tools = "zebra", "ant", "moth", "bee"
    return [
        a_row(
            number, item=f"call_{place}", agent=run, run=run, store=SOURCE / run,
            system="starweaver", tool=tools[place % 4], arguments={"n": number}, **known,
        )
        for place, number in enumerate(numbers)
    ]  # fmt: skip


@pytest.fixture
def model(qapp):
    return QueueModel(now=lambda: NOW)


def listed(model: QueueModel) -> list[str]:
    ids = (model.id_at(place) for place in range(model.rowCount()))
    return [one for one in ids if one is not None]


def numbers(model: QueueModel) -> list[int]:
    return [int(one, 16) for one in listed(model)]


def test_a_run_is_sorted_by_its_first_call_and_stays_together(model):
    model.apply(Diff(added=(a_row(1, tool="bee"), *run_of("r", 2, 3, 4), a_row(5, tool="zoo"))))
    model.sort(Column.TOOL)
    assert numbers(model) == [1, 2, 3, 4, 5]
    model.sort(Column.TOOL, Qt.SortOrder.DescendingOrder)
    assert numbers(model) == [5, 2, 3, 4, 1], "its calls keep their own order"


def test_two_runs_with_the_same_words_do_not_mix(model):
    first, second = run_of("a", 1, 2, 3), run_of("b", 4, 5, 6)
    mixed = [one for pair in zip(first, second, strict=True) for one in pair]
    model.apply(Diff(added=tuple(mixed)))
    for column in (UNSORTED, *Column):
        for order in ORDERS:
            model.sort(column, order)
            assert sorted(numbers(model)[:3]) in ([1, 2, 3], [4, 5, 6]), (column, order)


@pytest.mark.parametrize("seed", range(12))
def test_runs_stay_together_while_rows_come_and_go(model, seed):
    chance = random.Random(seed)
    known: dict[str, Row] = {}
    number = 0
    for _ in range(60):
        if known and chance.random() < 0.45:
            gone = chance.sample(sorted(known), min(len(known), chance.randint(1, 3)))
            for one in gone:
                del known[one]
            model.apply(Diff(removed=tuple(gone)))
        elif known and chance.random() < 0.3:
            changed = known[chance.choice(sorted(known))]
            changed = known[changed.id] = a_row(
                int(changed.id, 16), item=changed.item, agent=changed.agent, run=changed.run,
                store=changed.store, system=changed.system, tool=changed.tool,
                arguments=changed.arguments, asked_at=changed.asked_at,
                file_time=changed.file_time, warnings=("first_time",), counters=changed.counters,
            )  # fmt: skip
            model.apply(Diff(changed=(changed,)))
        else:
            counters = Counters(chance.randrange(3), chance.randrange(3), None)
            size = chance.choice([1, 1, 2, 3, 5])
            more = {"counters": counters, "file_time": NOW - timedelta(minutes=chance.randrange(3))}
            run = f"r{chance.randrange(6)}" if chance.random() < 0.3 else f"n{number}"
            fresh = run_of(run, *range(number + 1, number + 1 + size), **more)
            if size == 1 and chance.random() < 0.5:
                fresh = [a_row(number + 1, tool=chance.choice(["ant", "zebra"]), **more)]
            number += size
            known.update((one.id, one) for one in fresh)
            model.apply(Diff(added=tuple(fresh)))
        if chance.random() < 0.5:
            model.sort(chance.choice([UNSORTED, *Column]), chance.choice(ORDERS))
        ids = listed(model)
        assert sorted(ids) == sorted(known)
        assert [model.position(one) for one in ids] == list(range(len(ids)))


def test_calls_decided_already_are_of_their_run_until_it_is_over(model):
    calls = run_of("r", 1, 2, 3)
    model.apply(Diff(added=tuple(calls)))
    held = run_of("r", 1, state=State.HELD)[0]
    model.apply(Diff(changed=(held,)))
    assert [one.id for one in model.beside(calls[2])] == [one.id for one in calls]
    assert model.together(calls[2]) == (1, 3, "ant")
    assert model.beside(a_row(9)) == []


# --- How a row tells it ---------------------------------------------------------------------------


def test_a_row_tells_which_call_of_its_run_it_is(model):
    calls = run_of("r", 2, 3, 4)
    model.apply(Diff(added=(a_row(1, tool="bee"), *calls)))
    model.sort(Column.TOOL, Qt.SortOrder.DescendingOrder)
    cell = [model.index(place, Column.STATE) for place in range(4)]
    assert [one.data(Role.RUN) for one in cell] == [
        RunPlace(1, 3, above=False, below=True),
        RunPlace(2, 3, above=True, below=True),
        RunPlace(3, 3, above=True, below=False),
        None,
    ]
    assert "Call 2 of 3 of its run" in cell[1].data(Qt.ItemDataRole.AccessibleTextRole)
    assert "Call 2 of 3 of its run" in cell[1].data(Qt.ItemDataRole.ToolTipRole)
    assert "of its run" not in cell[3].data(Qt.ItemDataRole.AccessibleTextRole)


def test_a_call_that_is_handed_over_still_counts_and_joins_nothing(model):
    calls = run_of("r", 1, 2, 3)
    model.apply(Diff(added=tuple(calls)))
    model.apply(Diff(changed=(run_of("r", 1, state=State.HELD)[0],)))
    assert numbers(model) == [2, 3]
    assert model.index(0, 0).data(Role.RUN) == RunPlace(2, 3, above=False, below=True)


def test_a_call_alone_in_its_checkpoint_is_no_run_of_several(model):
    model.apply(Diff(added=tuple(run_of("r", 1))))
    assert model.index(0, 0).data(Role.RUN) is None
