"""Very many rows are ordered in steps; they end in the order that one sort gives."""

import random
from datetime import timedelta

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.liveness import Process
from lineclear.ui.queue import queue_model, row_order
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sort_rule import UNSORTED
from tests.ui.sample import NOW, a_row

WAYS = (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder)
TOOLS = ("bash", "send_refund", "Deploy", "run_sql")


def rows(count: int, first: int = 0) -> tuple[Row, ...]:
    chance = random.Random(first)
    return tuple(
        a_row(
            number,
            tool=chance.choice(TOOLS),
            arguments={"customer": f"C-{chance.randrange(20)}"},
            process=chance.choice([Process.ALIVE, Process.DEAD]),
            asked_at=NOW - timedelta(seconds=chance.randrange(30)),
        )
        for number in range(first, first + count)
    )


def a_model() -> QueueModel:
    model = QueueModel(now=lambda: NOW)
    model.apply(Diff(added=rows(200)))
    return model


def ids(model: QueueModel) -> list[str]:
    return [model.id_at(place) or "" for place in range(model.rowCount())]


@pytest.fixture
def in_steps(monkeypatch):
    monkeypatch.setattr(queue_model, "MANY", 10)
    monkeypatch.setattr(row_order, "AT_ONCE", 7)


def test_in_steps_the_order_is_that_of_one_sort(qtbot, monkeypatch):
    at_once, slowly = a_model(), a_model()
    QAbstractItemModelTester(slowly, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for column in (*Column, UNSORTED):
        for way in WAYS:
            at_once.sort(column, way)
            assert not at_once._arranging.under_way
            with monkeypatch.context() as patched:
                patched.setattr(queue_model, "MANY", 10)
                patched.setattr(row_order, "AT_ONCE", 7)
                slowly.sort(column, way)
                qtbot.waitUntil(lambda: not slowly._arranging.under_way)
            assert ids(slowly) == ids(at_once), (column, way)


def test_current_and_selected_rows_move_along(qtbot, in_steps):
    model = a_model()
    known = [QPersistentModelIndex(model.index(place, 1)) for place in range(0, 200, 3)]
    were = [model.id_at(index.row()) for index in known]
    before = ids(model)
    model.sort(Column.ARGUMENTS, WAYS[1])
    assert ids(model) == before, "as it was until all is worked out"
    qtbot.waitUntil(lambda: not model._arranging.under_way)
    assert ids(model) != before
    assert [model.id_at(index.row()) for index in known] == were


def test_what_arrives_leaves_or_changes_meanwhile_stands_in_its_place(qtbot, in_steps):
    model, other = a_model(), a_model()
    changed = tuple(a_row(number, tool="zz", asked_at=NOW) for number in range(5))
    news = Diff(added=rows(50, 1_000), changed=changed, removed=(a_row(7).id, a_row(9).id))
    model.sort(Column.TOOL, WAYS[0])
    assert model._arranging.under_way
    model.apply(news)
    qtbot.waitUntil(lambda: not model._arranging.under_way)
    other.apply(news)
    other.sort(Column.TOOL, WAYS[0])
    other._arranging.finish()
    assert ids(model) == ids(other)
    assert len(ids(model)) == 248


def test_rows_that_change_again_and_again_do_not_put_it_off_for_ever(qtbot, in_steps):
    model = a_model()
    model.sort(Column.TOOL, WAYS[0])
    for number in range(5):
        model.apply(Diff(changed=(a_row(number, tool=f"aa{number}"),)))
    assert not model._arranging.under_way
    assert [model.index(place, Column.TOOL).data() for place in range(5)] == [
        f"aa{number}" for number in range(5)
    ]


def test_another_sort_or_scope_takes_its_place(qtbot, in_steps):
    model, other = a_model(), a_model()
    model.sort(Column.TOOL, WAYS[0])
    model.sort(Column.AGENT, WAYS[1])
    qtbot.waitUntil(lambda: not model._arranging.under_way)
    other.sort(Column.AGENT, WAYS[1])
    other._arranging.finish()
    assert ids(model) == ids(other)
    model.sort(Column.TOOL, WAYS[0])
    model.set_scope(Scope(source=a_row().source))
    assert not model._arranging.under_way
    other.sort(Column.TOOL, WAYS[0])
    other._arranging.finish()
    assert ids(model) == ids(other)
