"""The table's groups, its narrow form and what keys and pointer do there."""

import random
from datetime import timedelta

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.ui import theme
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sections import Section
from lineclear.ui.queue.sort_rule import UNSORTED
from lineclear.ui.queue.table_view import COMPACT_ROW, HEADING_HEIGHT, QueueView
from tests.ui.sample import NOW, a_row, row_id

ROW = theme.ROW_HEIGHT


class Hands:
    time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def view(qtbot, qapp, hands):
    look = theme.Theme(qapp, dark=False)
    model = QueueModel(now=lambda: NOW)
    made = QueueView(model, look, clock=hands)
    qtbot.addWidget(made)
    made.resize(700, 12 * ROW)
    made.show()
    qtbot.waitExposed(made)
    yield made
    look.stop()


def model_of(view: QueueView) -> QueueModel:
    model = view.model()
    assert isinstance(model, QueueModel)
    return model


def call(number, **more):
    """Rows in the order of their numbers."""
    return a_row(number, asked_at=NOW + timedelta(seconds=number), **more)


def dead(number):
    return call(number, process=Process.DEAD)


def soon(number):
    return call(number, expires_at=NOW + timedelta(minutes=2))


def fill(view, *rows):
    model_of(view).apply(Diff(added=tuple(rows)))
    view.executeDelayedItemsLayout()


def heights(view):
    return [view.rowHeight(place) for place in range(model_of(view).rowCount())]


def expected(view):
    first = {each.position for each in model_of(view).headings()}
    return [ROW + HEADING_HEIGHT * (place in first) for place in range(model_of(view).rowCount())]


def middle(view, number):
    """The middle of a row's own part."""
    place = model_of(view).position(row_id(number))
    assert place is not None
    return QPoint(300, view._body_top(place) + ROW // 2)


def test_the_first_row_of_each_group_has_its_heading_above_it(view):
    fill(view, call(1), call(2), dead(3))
    assert heights(view) == [ROW + HEADING_HEIGHT, ROW, ROW + HEADING_HEIGHT]
    fill(view, soon(9))
    assert heights(view) == [ROW + HEADING_HEIGHT, ROW + HEADING_HEIGHT, ROW, ROW + HEADING_HEIGHT]
    assert model_of(view).rowCount() == 4
    model_of(view).apply(Diff(removed=(row_id(1),)))
    assert heights(view) == expected(view)
    assert not view.grab().isNull()


def test_a_click_on_a_heading_chooses_nothing_and_one_below_it_its_row(view):
    fill(view, call(1), dead(3))
    top = view.rowViewportPosition(1)
    view.choose(row_id(1))
    for where in (QPoint(300, 4), QPoint(300, top + HEADING_HEIGHT - 2)):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)
        assert view.selected_ids() == [row_id(1)]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, 3))
    assert view.selected_ids() == [row_id(3)]


def test_keys_go_over_headings_from_row_to_row(view):
    fill(view, soon(9), call(1), dead(3))
    view.choose(row_id(9))
    seen = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
        QTest.keyClick(view, key)
        seen.append(view.current_id)
    # Home and End go along the row; the row stays.
    assert seen[:2] == [row_id(1), row_id(3)]


def test_shift_and_ctrl_select_several_rows_over_a_heading(view):
    fill(view, call(1), call(2), dead(3), dead(4))
    view.choose(row_id(1))
    for _ in range(2):
        QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert sorted(view.selected_ids()) == [row_id(1), row_id(2), row_id(3)]
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert sorted(view.selected_ids()) == [row_id(1), row_id(2), row_id(3)]
    QTest.keyClick(view, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert sorted(view.selected_ids()) == [row_id(n) for n in (1, 2, 3, 4)]
    QTest.mouseClick(
        view.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.ControlModifier,
        middle(view, 2),
    )
    assert sorted(view.selected_ids()) == [row_id(n) for n in (1, 3, 4)]


def test_a_third_click_on_a_column_brings_the_groups_back(view):
    fill(view, dead(1), call(2))
    header = view.horizontalHeader()
    where = QPoint(header.sectionViewportPosition(Column.TOOL) + 20, header.height() // 2)
    states = []
    for _ in range(3):
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
        states.append((header.sortIndicatorSection(), model_of(view).grouped))
    assert states == [(Column.TOOL, False), (Column.TOOL, False), (UNSORTED, True)]
    assert heights(view) == expected(view) == [ROW + HEADING_HEIGHT] * 2


def test_nothing_under_the_eyes_moves_while_rows_come_go_and_change_groups(view, hands):
    chance = random.Random(5)
    fill(view, *(call(n) for n in range(100, 200)), *(dead(n) for n in range(300, 340)))
    model = model_of(view)
    view.verticalScrollBar().setValue(60 * ROW)
    QTest.keyClick(view, Qt.Key.Key_Shift)
    shown = {
        model.id_at(place) or "": view._body_top(place)
        for place in range(view.rowAt(0), view.rowAt(view.viewport().height() - 1) + 1)
    }
    away = [n for n in (*range(100, 200), *range(300, 340)) if row_id(n) not in shown]
    for round_ in range(60):
        number = chance.choice(away)
        made = chance.choice([call, dead, soon])
        diff = chance.choice(
            [
                Diff(changed=(made(number),)),
                Diff(changed=(call(number, state=State.APPROVED),)),
                Diff(added=(made(1000 + round_), made(round_))),
                Diff(changed=(made(int(chance.choice(list(shown)), 16)),)),
            ]
        )
        model.apply(diff)
        view.executeDelayedItemsLayout()
        now = {row: view._body_top(model.position(row) or 0) for row in shown}
        assert now == shown
        assert heights(view) == expected(view)
    assert view.pill.isVisible()
    hands.time += 10
    view._second()
    assert not view.pill.isVisible()
    assert heights(view) == expected(view)


def test_the_pill_tells_what_waits_behind_it(view, hands):
    fill(view, call(1), call(2), call(3))
    QTest.keyClick(view, Qt.Key.Key_Shift)
    model_of(view).apply(Diff(added=(soon(9),), changed=(soon(3), dead(1))))
    assert view.pill.text() == "1 new call \u00b7 1 expires soon \u00b7 1 moved"


def test_headings_leave_no_gap_behind_in_another_section(view):
    fill(
        view, soon(9), call(1), dead(3), call(4, state=State.RUNNING), call(5, state=State.RUNNING)
    )
    assert heights(view) == expected(view)
    model_of(view).set_scope(Scope(Section.RUNNING))
    assert heights(view) == [ROW, ROW]
    model_of(view).set_scope(Scope())
    assert heights(view) == [ROW + HEADING_HEIGHT] * 3


def test_a_filter_keeps_the_current_row_where_it_was(view):
    fill(view, *(call(n) for n in range(1, 200)))
    view.choose(row_id(150))
    before = view.visualRect(view.currentIndex()).bottom()
    model_of(view).set_scope(Scope(filter=parse_filter("agent-1")))
    model_of(view).set_scope(Scope())
    assert view.current_id == row_id(150)
    assert view.visualRect(view.currentIndex()).bottom() == before
    assert heights(view) == expected(view)


# --- Narrow -------------------------------------------------------------------------------------


def test_a_narrow_table_shows_a_row_on_two_lines_and_gives_the_columns_back(view):
    fill(view, call(1), dead(2))
    view.columns.show_column(Column.TOKENS, on=True)
    view.setColumnWidth(Column.AGENT, 200)
    before = {column: view.columnWidth(column) for column in Column}
    view.resize(164, 300)
    assert view.compact
    assert [c for c in Column if not view.isColumnHidden(c)] == [Column.ARGUMENTS]
    assert view.rowHeight(0) == COMPACT_ROW + HEADING_HEIGHT
    assert view.columnWidth(Column.ARGUMENTS) == view.viewport().width()
    view.choose(row_id(1))
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current_id == row_id(2)
    assert not view.grab().isNull()
    view.resize(900, 300)
    assert not view.compact
    view.resize(700, 300)
    assert {column: view.columnWidth(column) for column in Column} == before
    view.resize(1400, 300)
    assert view.columnWidth(Column.AGENT) == 200
    assert heights(view) == expected(view)


def test_columns_kept_are_taken_up_in_a_narrow_table_too(view, qtbot, qapp):
    view.columns.show_column(Column.TOKENS, on=True)
    view.horizontalHeader().moveSection(Column.AGE, 1)
    kept = view.kept_columns()
    look = theme.Theme(qapp, dark=True)
    other = QueueView(QueueModel(now=lambda: NOW), look)
    qtbot.addWidget(other)
    other.resize(200, 300)
    other.show()
    other.restore_columns(kept)
    assert other.compact
    other.resize(700, 300)
    QApplication.processEvents()
    assert not other.isColumnHidden(Column.TOKENS)
    assert other.horizontalHeader().visualIndex(Column.AGE) == 1
    assert not other.isColumnHidden(Column.TOOL)
    look.stop()
