"""The operator's own files, edited by hand into nonsense: told, kept aside, and it opens."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from lineclear.core.inbox.operator import settings_change
from lineclear.core.ledger.ask import Asked
from lineclear.ui.bridge import Bridge
from lineclear.ui.frame.window_state import read_state
from lineclear.ui.settings import following
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow
from tests.ui.conftest import end
from tests.ui.sample import ask_for

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
BROKEN = {
    "empty": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "null": b"null",
    "other bytes": b"\xff\xfe\x00{",
    "the same key twice": b'{"v":1,"v":1}',
    "nested": b'{"v":' + b"[" * 5000,
    "half a character": b'{"operator":"\\ud800"}',
}
SETTINGS = {
    **BROKEN,
    "a relative folder": b'{"sources":[{"path":"agents"}]}',
    "no path at all": b'{"sources":[{"path":"/x\\u0000y"}]}',
    "a depth beyond counting": b'{"sources":[{"path":"/tmp","depth":99999999999999999999}]}',
    "no number": b'{"valid_live_s":NaN}',
    "no end": b'{"valid_live_s":1e999}',
    "a height as text": b'{"row_height":"28"}',
    "no hours": b'{"quiet_hours":"25:00-99:99"}',
    "no command": b'{"launch":[{"argv":[]}]}',
}
KEPT = {
    **BROKEN,
    "no time": b'{"snoozed":{"x":"tomorrow"}}',
    "a time without a zone": b'{"snoozed":{"x":"2026-11-30T12:00:00"}}',
    "a nameless filter": b'{"filters":[{"name":"","line":"tool:bash"}]}',
    "filters in a heap": b'{"filters":{"a":"b"}}',
}
ODD = {
    "inbox.json": (
        b'{"snoozed":{"CALL":"9999-12-31T23:59:59-23:59"}}',
        b'{"snoozed":{"CALL":"0001-01-01T00:00:00+23:59"}}',
        b'{"filters":[{"name":"\\u202e<b>x</b>","line":"age:>99999999999999999999d tool:"}]}',
        b'{"filters":[{"name":"a","line":"agent:\\"\\u0000"},{"name":"a","line":"("}]}',
        b'{"seen":{"CALL":"nowhere"}}',
    ),
    "window.json": (
        b'{"panes":[1' + b"0" * 30 + b",1,1]}",
        b'{"panes":[-5,-5,-5]}',
        b'{"panes":[0,0,0],"geometry":"zz","columns":"zz"}',
        b'{"geometry":"01d9d0cb0003000000","columns":"000000ff00000000000000"}',
        b'{"panes":"wide"}',
        b"\xff",
    ),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LINECLEAR_HOME", str(tmp_path))
    return tmp_path


@contextlib.asynccontextmanager
async def opened(qapp: QApplication) -> AsyncIterator[MainWindow]:
    """The window as a start opens it."""
    tasks = Tasks(asyncio.get_running_loop())
    failures: list[object] = []
    tasks.on_error = lambda name, error: failures.append((name, error))
    look = Theme(qapp, dark=False)
    loaded = settings_change.load_for_window()
    bridge = Bridge(loaded.settings)
    window = MainWindow(bridge, look, tasks, qapp, state=read_state())
    window.desk.begin(str(loaded.said), None if loaded.said else following.mark())
    window.show()
    window.activateWindow()
    bridge.start()
    try:
        yield window
    finally:
        await end(window, bridge, tasks, look)
    assert failures == []


def in_the_source(home: Path) -> Asked:
    return ask_for(home / "agents")


@pytest.mark.parametrize("nonsense", SETTINGS)
async def test_settings_that_cannot_be_understood(qapp, home, until, nonsense):
    asked = in_the_source(home)
    (home / "settings.json").write_bytes(SETTINGS[nonsense])
    async with opened(qapp) as window:
        await until(lambda: window.model.row(asked.shown.aid), "the call, as ever")
        assert "settings.json cannot be understood" in window.desk.strip.label.text()
        assert window.desk.strip.isVisible()
    (kept,) = home.glob("settings.json.damaged-*")
    assert kept.read_bytes() == SETTINGS[nonsense]


async def test_settings_of_a_later_version_are_left_alone(qapp, home, until):
    (home / "settings.json").write_bytes(b'{"v":99,"sources":"elsewhere"}')
    async with opened(qapp) as window:
        assert "The file is left alone" in window.desk.strip.label.text()
    assert (home / "settings.json").read_bytes() == b'{"v":99,"sources":"elsewhere"}'


@pytest.mark.parametrize("nonsense", KEPT)
async def test_what_was_snoozed_and_saved_cannot_be_understood(qapp, home, until, nonsense):
    asked = in_the_source(home)
    (home / "inbox.json").write_bytes(KEPT[nonsense])
    async with opened(qapp) as window:
        await until(lambda: window.model.row(asked.shown.aid), "the call, not put off")
        assert "inbox.json cannot be understood" in window.own_view.strip.label.text()
        assert window.own_view.strip.isVisible()
    (kept,) = home.glob("inbox.json.damaged-*")
    assert kept.read_bytes() == KEPT[nonsense]


@pytest.mark.parametrize(
    "name, odd", [(name, odd) for name, every in ODD.items() for odd in every], ids=repr
)
async def test_what_is_only_odd_hides_nothing_and_breaks_nothing(qapp, home, until, name, odd):
    asked = in_the_source(home)
    (home / name).write_bytes(odd.replace(b"CALL", asked.shown.aid.encode()))
    async with opened(qapp) as window:
        await until(lambda: window.table.choose(asked.shown.aid), "the call in the table")
        assert all(size > 0 for size in window.panes.sizes()[1:])
        for one in window.own_view.kept.state.filters:
            window.filter.setText(one.line)
            await asyncio.sleep(0)
            window.filter.clear()
        await until(lambda: window.flow.current == asked.shown.aid, "the call in the pane")
