"""Tests of the window: coroutines run on Qt's event loop, as they do in the program."""

import asyncio
from collections.abc import Callable

import pytest
import qasync
from PySide6.QtWidgets import QApplication


def _qt_loop() -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop = qasync.QEventLoop(QApplication.instance() or QApplication([]))
    return loop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"qasync": _qt_loop}
