"""What is paused is said wherever the window tells what it watches, with the way back."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from lineclear.core.inbox.operator.settings import Settings, SourceSetting, load, save
from lineclear.ui.frame.sidebar import Role
from lineclear.ui.window import MainWindow
from tests.ui.frame.test_tray import Notified
from tests.ui.sample import ask_for
from tests.ui.settings.test_settings_window import started

pytestmark = pytest.mark.qt_log_ignore(
    "propagateSizeHints", r"raise\(\)", "grabbing the keyboard", extend=True
)


def keep(*sources: SourceSetting) -> None:
    save(Settings(sources=sources))


def empty_sentence(window) -> str:
    return str(window.empty.sentence.text())


def way_back(window: MainWindow) -> QPushButton:
    found = window.empty.findChild(QPushButton, "watchEmpty")
    assert found is not None
    return found


@pytest.mark.parametrize("after_restart", [False, True])
async def test_a_window_that_watches_nothing_says_so_and_how_to_watch_again(
    qapp, source, until, after_restart
):
    ask_for(source)
    keep(SourceSetting(path=source, paused=after_restart))
    async with started(qapp, until) as window:
        tray: Any = window.tray
        icon = tray.icon = Notified()
        if not after_restart:
            await until(lambda: window.model.rowCount() == 1, "the call")
            window.desk.folder_menu(source).actions()[0].trigger()
        await until(lambda: "Every folder is paused" in empty_sentence(window), "the truth")
        assert "Nothing waits" not in empty_sentence(window)
        assert window.status.watching.text() == "1 paused"
        assert source.name in window.status.watching.toolTip()
        window.tray._redraw()
        assert "every folder is paused" in icon.tip
        assert window.sidebar.source_model.index(0).data(Role.NOTE) == "paused"
        QTest.mouseClick(way_back(window), Qt.MouseButton.LeftButton)
        await until(lambda: window.model.rowCount() == 1, "the call again")
        await until(lambda: "paused" not in icon.tip, "the tray's word")
        assert not load().sources[0].paused
        window.tray.icon = None


async def test_one_of_two_that_is_paused_is_named_beside_what_is_watched(
    qapp, source, tmp_path, until
):
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    keep(SourceSetting(path=source, paused=True), SourceSetting(path=other))
    async with started(qapp, until) as window:
        await until(lambda: "Nothing waits" in empty_sentence(window), "the empty state")
        assert empty_sentence(window) == (
            "Nothing waits. Watching 1 folder. 1 more is paused: what waits there is not shown."
        )
        assert window.status.watching.text() == "watching 1 folder \u00b7 1 paused"
        assert way_back(window).isVisible()


async def test_a_paused_folder_that_is_clicked_offers_to_be_watched_again(qapp, source, until):
    keep(SourceSetting(path=source, paused=True))
    async with started(qapp, until) as window:
        await until(lambda: window.sidebar.source_model.rowCount() == 1, "the folder")
        chosen: list[object] = []
        window.sidebar.resting_chosen.connect(chosen.append)
        line = window.sidebar.source_model.index(0)
        place = window.sidebar.sources.visualRect(line).center()
        QTest.mouseClick(window.sidebar.sources.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert chosen == [source]
        menu = qapp.activePopupWidget()
        assert menu.actions()[0].text() == "Watch it again"
        menu.close()
