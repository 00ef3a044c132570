"""The three panes keep the widths that a hand gave them, whatever window they pass through."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from lineclear.ui.frame.panes import AT_FIRST, PANE_LEAST, SIDEBAR_LEAST, TABLE_BESIDE, Panes
from lineclear.ui.reading.banners import Banners, Notice

# A window of its own tells the system its least size, which there is nobody to take.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def shown(qtbot, width: int, sizes: tuple[int, ...]) -> Panes:
    panes = Panes(QWidget(), QWidget(), QWidget())
    qtbot.addWidget(panes)
    panes.resize(width, 600)
    panes.restore(sizes)
    panes.show()
    return panes


def test_a_start_in_a_small_window_leaves_the_widths_as_they_were(qtbot):
    wide = shown(qtbot, 1320, AT_FIRST)
    usual = wide.sizes()
    small = shown(qtbot, 640, AT_FIRST)
    assert small.narrow
    again = shown(qtbot, 640, small.kept())
    again.resize(1320, 600)
    assert not again.narrow
    assert [abs(a - b) <= 2 for a, b in zip(again.sizes(), usual, strict=True)] == [True] * 3


def test_widths_that_a_hand_gave_are_kept(qtbot):
    panes = shown(qtbot, 1320, AT_FIRST)
    panes.moveSplitter(700, 2)
    given = panes.sizes()
    assert panes.kept() == tuple(given) != AT_FIRST
    panes.resize(SIDEBAR_LEAST + TABLE_BESIDE + PANE_LEAST - 1, 600)
    panes.resize(1320, 600)
    assert [abs(a - b) <= 2 for a, b in zip(panes.sizes(), given, strict=True)] == [True] * 3


def test_a_banner_that_is_squeezed_is_not_in_view(qtbot):
    banners = Banners()
    qtbot.addWidget(banners)
    banners.show_notices([Notice("stop", "It holds characters that hide or reorder text. " * 4)])
    banners.resize(400, 200)
    banners.show()
    assert banners.whole()
    banners.setFixedHeight(30)
    qtbot.waitUntil(lambda: not banners.whole())
