"""Nothing that arrives moves what is under the eyes, the pointer or the hand."""

from datetime import timedelta

import pytest
from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui import theme
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.column_needs import AGAIN_MS
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.row_delegate import heading_words
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sections import Section
from lineclear.ui.queue.table_view import GLYPH_ALONE, QUIET_AFTER_KEY_S, QueueView
from tests.ui.sample import NOW, a_decision, a_row, row_id


class Hands:
    """A clock by hand."""

    time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def view(qtbot, qapp, hands):
    look = theme.Theme(qapp, dark=False)
    model = QueueModel(now=lambda: NOW)
    made = QueueView(model, look, clock=hands)
    qtbot.addWidget(made)
    made.resize(700, 10 * theme.ROW_HEIGHT)
    made.show()
    qtbot.waitExposed(made)
    yield made
    look.stop()


def model_of(view: QueueView) -> QueueModel:
    model = view.model()
    assert isinstance(model, QueueModel)
    return model


def fill(view: QueueView, numbers) -> None:
    """Rows whose order is that of their numbers."""
    rows = [a_row(number, asked_at=NOW + timedelta(seconds=number)) for number in numbers]
    model_of(view).apply(Diff(added=tuple(rows)))
    # What Qt does in its next turn.
    view.executeDelayedItemsLayout()


def top(view: QueueView) -> str | None:
    return model_of(view).id_at(view.rowAt(0))


def test_an_arrival_above_the_view_moves_nothing_in_it(view):
    fill(view, range(100, 200))
    view.verticalScrollBar().setValue(40 * theme.ROW_HEIGHT + 5)
    before = top(view)
    fill(view, [1, 2, 3])
    assert top(view) == before
    assert view.verticalScrollBar().value() == 43 * theme.ROW_HEIGHT + 5


def test_a_row_that_leaves_above_the_view_moves_nothing_in_it(view):
    fill(view, range(100, 200))
    view.verticalScrollBar().setValue(40 * theme.ROW_HEIGHT)
    before = top(view)
    model_of(view).apply(Diff(removed=(row_id(101), row_id(102))))
    assert top(view) == before


def test_an_arrival_moves_no_selection(view):
    fill(view, [10, 20, 30])
    view.choose(row_id(20))
    fill(view, [15, 25])
    assert view.current_id == row_id(20)
    assert [index.row() for index in view.selectionModel().selectedRows()] == [2]


def test_an_arrival_inside_the_view_waits_while_keys_are_used(view, hands):
    fill(view, [10, 20, 30])
    QTest.keyClick(view, Qt.Key.Key_Down)
    fill(view, [15])
    assert model_of(view).rowCount() == 3
    assert view.pill.isVisible()
    assert view.pill.text() == "1 new call"
    fill(view, [16])
    assert view.pill.text() == "2 new calls"
    hands.time += QUIET_AFTER_KEY_S + 0.1
    view._second()
    assert model_of(view).rowCount() == 5
    assert not view.pill.isVisible()


def test_the_pill_shows_them_at_once(view):
    fill(view, [10, 20])
    QTest.keyClick(view, Qt.Key.Key_Down)
    fill(view, [15])
    QTest.mouseClick(view.pill, Qt.MouseButton.LeftButton)
    assert model_of(view).rowCount() == 3


def test_an_arrival_at_the_end_moves_nothing_and_waits_for_nothing(view):
    fill(view, [10, 20])
    QTest.keyClick(view, Qt.Key.Key_Down)
    fill(view, [30])
    assert model_of(view).rowCount() == 3


def test_the_current_row_stays_when_the_filter_keeps_it(view):
    fill(view, range(1, 300))
    view.choose(row_id(150))
    model_of(view).set_scope(Scope(filter=parse_filter("agent-15")))
    assert view.current_id == row_id(150)
    assert view.selectionModel().isSelected(view.currentIndex())
    model_of(view).set_scope(Scope())
    assert view.current_id == row_id(150)


def test_the_current_row_is_let_go_when_the_filter_hides_it(view, qtbot):
    fill(view, range(1, 300))
    view.choose(row_id(150))
    with qtbot.waitSignal(view.chosen) as told:
        model_of(view).set_scope(Scope(filter=parse_filter("agent-299")))
    assert told.args == [""]
    assert view.current_id == ""


def test_a_decided_row_is_a_tombstone_until_selection_and_pointer_are_away(view, qtbot):
    fill(view, [10, 20])
    view.choose(row_id(10))
    model_of(view).apply(Diff(changed=(a_row(10, state=State.APPROVED, decision=a_decision()),)))
    assert model_of(view).rowCount() == 2
    view.choose(row_id(20))
    qtbot.waitUntil(lambda: model_of(view).rowCount() == 1, timeout=5000)


def test_the_focus_chooses_no_row(view, qtbot):
    fill(view, [10, 20])
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    assert view.current_id == ""
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current_id == row_id(10)


def test_letters_search_nothing(view):
    fill(view, [10, 20])
    view.choose(row_id(20))
    QTest.keyClicks(view, "agent-1")
    assert view.current_id == row_id(20)


def test_stepping_stays_inside(view):
    fill(view, [10, 20, 30])
    view.step(1)
    assert view.current_id == row_id(10)
    view.step(-1)
    assert view.current_id == row_id(10)
    view.step(1)
    view.step(1)
    view.step(1)
    assert view.current_id == row_id(30)


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_columns_are_chosen_from_their_header(view, qtbot):
    view.columns.choose(QPoint(10, 10))
    menu = view.findChild(QMenu, "columns")
    tokens, tool = (
        next(each for each in menu.actions() if each.text() == text) for text in ("Tokens", "Tool")
    )
    assert not tool.isEnabled()
    tokens.trigger()
    assert not view.isColumnHidden(Column.TOKENS)
    tokens.trigger()
    assert view.isColumnHidden(Column.TOKENS)
    menu.close()


def test_several_rows_can_be_selected(view):
    fill(view, [10, 20, 30])
    view.choose(row_id(10))
    index = model_of(view).index(2, Column.TOOL)
    view.selectionModel().select(
        index,
        QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
    )
    assert sorted(view.selected_ids()) == [row_id(10), row_id(30)]


def test_selected_rows_that_leave_together_are_told_of_once(view):
    fill(view, range(10, 40))
    view.selectAll()
    told: list[list[str]] = []
    view.selected.connect(lambda: told.append(sorted(view.selected_ids())))
    # Every second one, so that no two of them leave side by side.
    gone = tuple(row_id(number) for number in range(11, 40, 2))
    model_of(view).apply(Diff(removed=gone))
    stay = sorted(row_id(number) for number in range(10, 40, 2))
    assert [ids for ids in told if ids == stay] == [stay]
    assert len(told) == 1


def test_a_selected_row_that_leaves_before_others_is_told_of_too(view):
    fill(view, range(10, 20))
    model = model_of(view)
    select = QItemSelectionModel.SelectionFlag
    for place in (4, 8):
        view.selectionModel().select(model.index(place, 0), select.Select | select.Rows)
    told: list[list[str]] = []
    view.selected.connect(lambda: told.append(view.selected_ids()))
    model.apply(Diff(removed=(row_id(18), row_id(11))))
    assert told == [[row_id(14)]]


def test_every_kind_of_row_is_painted(view, qapp):
    states = [
        a_row(
            number,
            state=state,
            outcome="ok",
            asked_at=NOW,
            warnings=("invisible", "twin", "first_time"),
            system="lc-agents" if number % 2 else "lineclear",
        )
        for number, state in enumerate(State)
    ]
    model = model_of(view)
    model.apply(Diff(added=tuple(states)))
    for section in filter(None, {model._known.section(row.id) for row in states}):
        model.set_scope(Scope(section))
        assert not view.grab().isNull()


def test_the_pointer_that_leaves_begins_the_second(view):
    view._away.stop()
    QApplication.sendEvent(view.viewport(), QEvent(QEvent.Type.Leave))
    assert view._away.isActive()
    assert view.rowAt(QPoint(0, 10_000).y()) == -1


def test_where_all_rows_are_in_one_state_its_glyph_is_enough(view):
    fill(view, [1, 2])
    model = model_of(view)
    assert view.columnWidth(Column.STATE) == GLYPH_ALONE
    assert model.headerData(Column.STATE, Qt.Orientation.Horizontal) == ""
    state = model.index(0, Column.STATE)
    assert str(state.data(Qt.ItemDataRole.AccessibleTextRole)).startswith(
        "Agents waiting. State: Wait"
    )
    assert state.data(Qt.ItemDataRole.ToolTipRole) == "<p>Waiting</p>"
    narrow = view.columnWidth(Column.ARGUMENTS)
    model.set_scope(Scope(Section.HANDED_OVER))
    assert view.columnWidth(Column.STATE) > GLYPH_ALONE
    assert view.columnWidth(Column.ARGUMENTS) < narrow
    assert model.headerData(Column.STATE, Qt.Orientation.Horizontal) == "State"
    # A width that the operator chose comes back.
    view.setColumnWidth(Column.STATE, 150)
    model.set_scope(Scope(Section.RUNNING))
    model.set_scope(Scope(Section.HISTORY))
    assert view.columnWidth(Column.STATE) == 150


# --- Widths -------------------------------------------------------------------------------------


@pytest.fixture
def another(qtbot, qapp):
    """Makes further tables, as of a next start."""
    look = theme.Theme(qapp, dark=False)

    def make(width: int) -> QueueView:
        made = QueueView(QueueModel(now=lambda: NOW), look)
        qtbot.addWidget(made)
        made.resize(width, 300)
        made.show()
        qtbot.waitExposed(made)
        return made

    yield make
    look.stop()


def widths(view):
    return {column: view.columnWidth(column) for column in Column}


def test_columns_kept_in_a_small_window_fit_a_bigger_one(view, another):
    view.resize(420, 300)
    assert widths(view)[Column.ARGUMENTS] >= 120
    other = another(800)
    other.restore_columns(view.kept_columns())
    assert widths(other) == widths(another(800))


def test_columns_kept_in_a_big_window_leave_the_arguments_room_in_a_small_one(view):
    view.resize(1400, 300)
    view.setColumnWidth(Column.AGENT, 500)
    kept = view.kept_columns()
    view.resize(460, 300)
    view.restore_columns(kept)
    assert widths(view)[Column.ARGUMENTS] >= 120
    view.resize(1400, 300)
    assert widths(view)[Column.AGENT] == 500


def more(view):
    """The columns beyond those of any width."""
    return [one for one in list(Column)[Column.ITERATION :] if not view.isColumnHidden(one)]


def test_a_wide_table_shows_more_columns_by_itself_and_never_against_a_choice(another):
    assert more(another(700)) == []
    view = another(850)
    assert more(view) == [Column.PROCESS, Column.EXPIRES]
    assert view.columnWidth(Column.ARGUMENTS) >= 300
    view.resize(1100, 300)
    assert more(view) == [*list(Column)[Column.ITERATION :]]
    view.resize(700, 300)
    assert more(view) == []
    view.resize(850, 300)
    # Nothing was chosen: elsewhere another width shows others.
    assert more(_restored(another(700), view)) == []
    view.columns.show_column(Column.PROCESS, on=False)
    view.resize(1400, 300)
    assert more(view) == [Column.EXPIRES]
    assert more(_restored(another(1400), view)) == [Column.EXPIRES]
    assert more(_restored(another(700), view)) == [Column.EXPIRES]
    view.columns._at_first()
    assert more(view) == [*list(Column)[Column.ITERATION :]]


def test_columns_that_were_kept_before_some_came_by_themselves_are_as_chosen(another):
    view, old = another(1400), another(700)
    view.columns.restore(old.horizontalHeader().saveState())
    assert more(view) == [*list(Column)[Column.ITERATION :]]
    old.setColumnHidden(Column.TOKENS, False)
    view.columns.restore(old.horizontalHeader().saveState())
    assert more(view) == [Column.TOKENS]


def _restored(view, other):
    view.restore_columns(other.kept_columns())
    return view


def test_the_arguments_have_what_names_do_not_need(view, qtbot):
    model = model_of(view)
    before = widths(view)
    under: list[bool] = [True]
    model.keeps_still = lambda: under[0]
    model.apply(Diff(added=(a_row(1, agent="ci", tool="bash"),)))
    qtbot.waitUntil(lambda: view.columns._needs._timer.interval() == AGAIN_MS)
    assert widths(view) == before
    under[0] = False
    qtbot.waitUntil(lambda: widths(view)[Column.AGENT] < before[Column.AGENT])
    now = widths(view)
    saved = sum(before[one] - now[one] for one in (Column.AGENT, Column.TOOL))
    assert now[Column.ARGUMENTS] == before[Column.ARGUMENTS] + saved
    # A name that needs more has it again, and what a hand drew stays.
    model.apply(Diff(added=(a_row(2, agent="an-agent-with-a-long-name", tool="bash"),)))
    qtbot.waitUntil(lambda: widths(view)[Column.AGENT] == before[Column.AGENT])
    view.setColumnWidth(Column.AGENT, 210)
    view.columns.fit()
    assert widths(view)[Column.AGENT] == 210
    assert _restored(view, view).columnWidth(Column.AGENT) == 210


def test_when_the_current_row_goes_nobody_has_chosen_its_neighbour(view):
    model = model_of(view)
    model.apply(Diff(added=tuple(a_row(number) for number in range(1, 6))))
    chosen: list[str] = []
    view.chosen.connect(chosen.append)
    view.choose(row_id(3))
    below = model.id_at((model.position(row_id(3)) or 0) + 1)
    model.apply(Diff(changed=(a_row(3, state=State.DENIED, decision=a_decision("deny")),)))
    model.set_scope(Scope(Section.WAITING, None, parse_filter("-tool:nothing")))
    assert model.position(row_id(3)) is None
    assert (view.current_id, view.selected_ids()) == ("", [])
    assert chosen[-1] == ""
    view.step(1)
    assert view.current_id == below


# --- The pill -------------------------------------------------------------------------------------


def place_of(view, widget):
    return QRect(widget.mapTo(view, QPoint(0, 0)), widget.size())


@pytest.mark.parametrize("width", [460, 700, 1200])
def test_the_pill_covers_no_row_and_no_heading_of_its_column(view, width):
    view.resize(width, 300)
    fill(view, [10, 20, 30])
    QTest.keyClick(view, Qt.Key.Key_Down)
    fill(view, [15])
    pill = place_of(view, view.pill)
    assert not view.compact
    assert not pill.intersects(place_of(view, view.viewport()))
    assert view.horizontalHeader().geometry().contains(pill)
    heading = view.horizontalHeader().sectionViewportPosition(Column.ARGUMENTS)
    word = view.fontMetrics().horizontalAdvance("Arguments") + 8
    assert pill.left() >= view.viewport().x() + heading + (word if width > 460 else 0)


def test_where_there_are_no_headings_the_pill_is_at_the_bottom(view):
    view.resize(260, 400)
    fill(view, [10, 20])
    QTest.keyClick(view, Qt.Key.Key_Down)
    fill(view, [15])
    assert view.compact
    pill = place_of(view, view.pill)
    below = view.rowViewportPosition(1) + view.rowHeight(1)
    assert view.pill.isVisible()
    assert pill.top() >= view.viewport().y() + below
    assert place_of(view, view.viewport()).contains(pill)


def test_a_group_of_nothing_but_tombstones_counts_none(view):
    fill(view, [10])
    view.choose(row_id(10))
    model_of(view).apply(
        Diff(changed=(a_row(10, state=State.DENIED, decision=a_decision("deny")),))
    )
    (heading,) = model_of(view).headings()
    assert heading_words(heading) == "Agents waiting"
    fill(view, [11, 12])
    (heading,) = model_of(view).headings()
    assert heading_words(heading) == "Agents waiting \u00b7 2"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_columns_and_sorting_are_reached_from_the_keyboard(view, qtbot):
    view.clearSelection()
    view.open_menu(QPoint(5, 5))
    menu = view.findChild(QMenu, "columns")
    assert menu is not None
    assert menu.activeAction().text() == "Agent"
    sorts = menu.findChild(QMenu, "sortBy")
    by = {action.text(): action for action in sorts.actions()}
    by["Tool, downward"].trigger()
    header = view.horizontalHeader()
    assert header.sortIndicatorSection() == Column.TOOL
    assert header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
    menu.close()


@pytest.mark.parametrize("code", ["first_time", "repeats_finished_call", "twin"])
@pytest.mark.parametrize("text", ["x", "x" * 400])
def test_a_warning_has_its_room_before_the_arguments(view, code, text):
    view.resize(500, 10 * theme.ROW_HEIGHT)
    row = a_row(1, asked_at=NOW, arguments={"note": text}, warnings=(code,))
    model_of(view).apply(Diff(added=(row,)))
    view.executeDelayedItemsLayout()
    cell = view.visualRect(model_of(view).index(0, Column.ARGUMENTS))
    assert cell.width() < 180
    shown = view.viewport().grab(cell).toImage()
    light = view.itemDelegate()._look.tokens
    back = QColor(light.stop_back if code == "twin" else light.care_back)
    places = [(x, y) for x in range(shown.width()) for y in range(shown.height())]
    assert sum(shown.pixelColor(*place) == back for place in places) > 200
