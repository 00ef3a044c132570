"""The tabs of a call fit the pane: closer where they must, and a menu where that is not enough."""

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from lineclear.ui import theme
from lineclear.ui.reading.part_tabs import PartTabs

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
NATIVE = ("Call", "Changes 2", "Steps 12", "Inputs", "File", "Loop", "Execution")
EVERY = ("Call", "Diff", *NATIVE[1:], "Result", "Output")


@pytest.fixture
def tabs(qtbot, qapp):
    look = theme.Theme(qapp, dark=False)
    made = PartTabs()
    qtbot.addWidget(made)
    button = QPushButton("As fields")
    button.setProperty("flat", True)
    made.put_beside(button)
    yield made
    look.stop()


def lay_out(tabs, qtbot, names, width):
    for name in names:
        tabs.add(QWidget(), name)
    tabs.resize(width, 300)
    tabs.show()
    qtbot.waitUntil(lambda: tabs.width() == width)
    qtbot.wait(0)
    tabs.fit()


def in_view(tabs) -> list[str]:
    bar = tabs.tabBar()
    shown = bar.rect()
    return [
        tabs.tabText(place) for place in range(tabs.count()) if shown.contains(bar.tabRect(place))
    ]


@pytest.mark.parametrize("width, close", [(900, False), (500, True)])
def test_all_tabs_of_a_native_call_are_in_view(tabs, qtbot, width, close):
    lay_out(tabs, qtbot, NATIVE, width)
    qtbot.waitUntil(lambda: in_view(tabs) == list(NATIVE))
    assert bool(tabs.tabBar().property("close")) is close
    assert tabs.more.isHidden()


def test_a_menu_names_them_all_where_they_do_not_fit(tabs, qtbot):
    lay_out(tabs, qtbot, EVERY, 400)
    qtbot.waitUntil(lambda: not tabs.more.isHidden())
    entries = tabs.menu().actions()
    assert [one.text() for one in entries] == list(EVERY)
    assert [one.isChecked() for one in entries] == [True] + [False] * (len(EVERY) - 1)
    entries[-1].trigger()
    assert tabs.tabText(tabs.currentIndex()) == "Output"
    qtbot.waitUntil(lambda: tabs.tabBar().tabRect(9).right() <= tabs.tabBar().width())
    assert tabs.minimumSizeHint().width() <= 400, "the menu must not widen the pane"
    tabs.resize(1200, 300)
    qtbot.waitUntil(tabs.more.isHidden)
    qtbot.waitUntil(lambda: in_view(tabs) == list(EVERY))


def test_the_tabs_stay_while_the_button_beside_them_comes_and_goes(tabs, qtbot):
    lay_out(tabs, qtbot, NATIVE, 500)
    before = tabs.tabBar().tabRect(3)
    tabs._beside.hide()
    tabs.fit()
    assert tabs.tabBar().tabRect(3) == before
