import itertools
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QPushButton, QWidget

from lineclear.core.inbox.watching.scanned import SourceHealth
from lineclear.ui import theme
from lineclear.ui.frame.sidebar import Entry, EntryModel, Role, Sidebar
from lineclear.ui.queue.sections import Section


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


def test_a_paused_folder_stays_in_the_list_and_lists_nothing(sidebar, qtbot):
    good, rests = Path("/srv/bots"), Path("/srv/night")
    sidebar.show_sources([SourceHealth(good, ok=True)], {good: 4}, [rests])
    lines = [sidebar.source_model.index(row) for row in range(sidebar.source_model.rowCount())]
    assert [line.data() for line in lines] == ["/srv/bots", "/srv/night"]
    assert lines[1].data(Qt.ItemDataRole.AccessibleTextRole) == "/srv/night, paused"
    assert (lines[1].data(Role.COUNT), lines[1].data(Role.MARK)) == (None, "paused")
    assert "nothing in it is looked at" in lines[1].data(Qt.ItemDataRole.ToolTipRole)
    assert (sidebar.path_at(lines[1]), sidebar.is_paused(rests)) == (rests, True)
    assert not sidebar.is_paused(good)
    chosen: list[object] = []
    sidebar.source_chosen.connect(chosen.append)
    where = sidebar.sources.visualRect(lines[1]).center()
    QTest.mouseClick(sidebar.sources.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert chosen == []
    assert sidebar.source() is None
