import itertools
import random
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QPushButton, QWidget

from lineclear.core.checkpoints.model import Counters
from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.scanned import SourceHealth
from lineclear.ui import theme
from lineclear.ui.frame.sidebar import Entry, EntryModel, Role, Sidebar
from lineclear.ui.queue.sections import Section
from lineclear.ui.queue.totals import WAITING, RunTotals, Totals, total
from tests.ui.sample import NOW, SOURCE, a_row


@pytest.fixture
def sidebar(qtbot, qapp):
    look = theme.Theme(qapp, dark=False)
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(220, 620)
    made = Sidebar(look, host)
    made.resize(200, 600)
    host.show()
    yield made
    look.stop()


def test_a_line_changes_alone(qapp):
    model = EntryModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show([Entry("a", 1), Entry("b", 2)])
    told: list[int] = []
    model.dataChanged.connect(lambda first, _last, _roles: told.append(first.row()))
    model.show([Entry("a", 1), Entry("b", 3)])
    assert told == [1]
    assert model.index(1).data(Role.COUNT) == 3
    assert model.index(1).data(Qt.ItemDataRole.AccessibleTextRole) == "b, 3"
    del tester


def test_sections_have_their_counts_and_history_has_none(sidebar):
    sidebar.show_counts({Section.WAITING: 7, Section.MAY_HAVE_RUN: 1})
    lines = {
        sidebar.section_model.index(row).data(): sidebar.section_model.index(row).data(Role.COUNT)
        for row in range(sidebar.section_model.rowCount())
    }
    assert lines == {
        "Waiting": 7,
        "Snoozed": 0,
        "Handed over": 0,
        "Running": 0,
        "May have run": 1,
        "To resume": 0,
        "Unreadable": 0,
        "Finished today": 0,
        "History": None,
    }


def test_keys_choose_a_section(sidebar, qtbot):
    with qtbot.waitSignal(sidebar.section_chosen) as told:
        QTest.keyClick(sidebar.sections, Qt.Key.Key_Down)
    assert told.args == [Section.SNOOZED]
    assert sidebar.section() is Section.SNOOZED


def test_counts_that_change_keep_the_chosen_section(sidebar):
    sidebar.choose_section(Section.RUNNING)
    sidebar.show_counts({Section.RUNNING: 3})
    assert sidebar.section() is Section.RUNNING


def test_a_source_is_chosen_and_let_go_by_a_second_click(sidebar, qtbot):
    good, bad = Path("/srv/bots"), Path("/mnt/\u202egone")
    health = [SourceHealth(good, ok=True), SourceHealth(bad, ok=False, sentence="<b>missing</b>")]
    sidebar.show_sources(health, {good: 4})
    index = sidebar.source_model.index(0)
    assert (index.data(), index.data(Role.COUNT), index.data(Role.MARK)) == ("/srv/bots", 4, "ok")
    trouble = sidebar.source_model.index(1)
    assert trouble.data(Role.MARK) == "trouble"
    assert "\u27e6U+202E\u27e7" in trouble.data()
    assert "&lt;b&gt;missing" in trouble.data(Qt.ItemDataRole.ToolTipRole)
    chosen: list[object] = []
    sidebar.source_chosen.connect(chosen.append)
    for _ in range(2):
        where = sidebar.sources.visualRect(index).center()
        QTest.mouseClick(sidebar.sources.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert chosen == [good, None]
    assert sidebar.source() is None
    assert not sidebar.grab().isNull()


def test_totals_count_each_run_once():
    rows = [
        a_row(1, run="a", agent="one", run_folder=SOURCE, asked_at=NOW),
        a_row(2, run="a", agent="one", run_folder=SOURCE, asked_at=NOW + timedelta(seconds=1)),
        a_row(3, run="b"),
    ]
    assert total(rows) == Totals(3, 8, 62_000)
    assert total(rows).sentence(WAITING) == (
        "3 waiting \u00b7 8 tool calls \u00b7 62 k tokens over all that waits"
    )


def test_totals_of_rows_that_come_and_go_are_those_of_the_rows_that_are_there():
    chance = random.Random(3)
    running = RunTotals()
    known: dict[str, Row] = {}
    for number in range(400):
        if known and chance.random() < 0.45:
            running.remove(known.pop(chance.choice(sorted(known))))
        else:
            counters = chance.choice([Counters(), Counters(1, chance.randrange(9), None)])
            row = a_row(number, run=f"r{number % 5}", agent="one", counters=counters)
            known[row.id] = row
            running.add(row)
        if chance.random() < 0.3:
            assert running.totals() == total(known.values())
    for row in known.values():
        running.remove(row)
    assert running.totals() == Totals()


def test_totals_of_what_nobody_reports_are_not_zero():
    bare = a_row(1, counters=type(a_row(1).counters)())
    assert total([bare]).sentence(WAITING) == "1 waiting"
    assert total([]) == Totals(0, None, None)


@pytest.mark.parametrize("height", [600, 420, 345, 300, 200])
def test_no_line_lies_over_another_at_any_height(sidebar, qtbot, height):
    sidebar.show_sources([SourceHealth(Path("/srv/bots"), ok=True)], {})
    sidebar.resize(200, height)
    qtbot.waitUntil(lambda: sidebar.height() == height)
    add = sidebar.findChild(QPushButton, "addFolder")
    parts = [sidebar.sections, sidebar._heading, sidebar.sources, add]
    for above, below in itertools.pairwise(parts):
        assert above.geometry().bottom() < below.geometry().top() + 1
    assert add.geometry().bottom() < height
    assert sidebar.sources.height() >= 20
    last = sidebar.section_model.index(sidebar.section_model.rowCount() - 1)
    inside = sidebar.sections.viewport().rect().contains(sidebar.sections.visualRect(last))
    assert inside is (height >= 345)
    if not inside:
        assert sidebar.sections.verticalScrollBar().maximum() > 0
