"""Tests of the window: coroutines run on Qt's event loop, as they do in the program."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtWidgets import QApplication

from lineclear.core.inbox.operator.settings import Settings
from lineclear.ui.bridge import Bridge
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow


def _qt_loop() -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop = qasync.QEventLoop(QApplication.instance() or QApplication([]))
    return loop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"qasync": _qt_loop}


class Deadline:
    """Waits for a fact without sleeping blindly: looks every few milliseconds, up to a limit."""

    async def __call__(self, fact: Callable[[], Any], what: str = "", seconds: float = 10) -> Any:
        end = time.monotonic() + seconds
        while not (found := fact()):
            if time.monotonic() > end:
                pytest.fail(f"waited {seconds} s in vain for {what or fact}")
            await asyncio.sleep(0.01)
        return found


@pytest.fixture(autouse=True)
def garbage_ends_in_this_thread() -> Iterator[None]:
    """As in the program: no worker's thread ever destroys a widget."""
    gc.disable()
    yield
    gc.collect(1)


@pytest.fixture(autouse=True, scope="module")
def all_garbage_ends_before_other_tests() -> Iterator[None]:
    """Agents of later tests have threads of their own."""
    yield
    gc.collect()
    gc.enable()


@pytest.fixture
def until() -> Deadline:
    return Deadline()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "agents"
    made.mkdir(mode=0o700)
    return made


async def end(window: MainWindow, bridge: Bridge, tasks: Tasks, look: Theme) -> None:
    """Close a window and all that it was made with, as its end does."""
    window.quit()
    window.hide()
    await tasks.close()
    await bridge.stop()
    look.stop()
    window.deleteLater()
    await asyncio.sleep(0)


@pytest.fixture
async def inbox(qapp: QApplication, source: Path, until: Deadline) -> AsyncIterator[MainWindow]:
    """The real window on a real, still empty source; it watches, and ends cleanly."""
    tasks = Tasks(asyncio.get_running_loop())
    failures: list[tuple[str, BaseException]] = []
    tasks.on_error = lambda name, error: failures.append((name, error))
    look = Theme(qapp, dark=False)
    bridge = Bridge(Settings(), only=(source,))
    window = MainWindow(bridge, look, tasks, qapp)
    window.resize(1320, 820)
    window.show()
    window.activateWindow()
    bridge.start()
    await until(window.on_screen, "the window on screen")
    yield window
    await end(window, bridge, tasks, look)
    assert failures == []
