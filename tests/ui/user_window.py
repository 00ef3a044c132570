"""The program's own window, offscreen, used by one JSON line after another on its input.

python -m tests.ui.user_window SOURCE: {"choose": id} reads a call, {"press": "approve"} presses
that button once it is ready, {"texts": true} gives every visible text, {"buttons": true} those of
the decision bar; each is answered by a line.
"""

import asyncio
import json
import sys
from typing import Any

from PySide6.QtWidgets import QAbstractButton

from lineclear.ui import running
from lineclear.ui.app import parse
from lineclear.ui.deciding.arming import Act
from lineclear.ui.self_check import click
from lineclear.ui.window import MainWindow
from tests.e2e.probe import Looker

PATIENCE_S = 20.0


async def until(fact: Any) -> bool:
    end = asyncio.get_running_loop().time() + PATIENCE_S
    while not fact():
        if asyncio.get_running_loop().time() > end:
            return False
        await asyncio.sleep(0.02)
    return True


class Hand:
    """Does what a line says."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    async def choose(self, call: str) -> bool:
        window = self._window

        def shown() -> bool:
            return (
                window.model.row(call) is not None
                and window.table.choose(call)
                and window.flow.current == call
                and window.flow.view.prepared is not None
            )

        return await until(shown)

    async def press(self, name: str) -> bool:
        ready = self._window.flow.arming.readiness
        if not await until(lambda: ready(Act[name.upper()]).ready):
            return False
        click(getattr(self._window.pane.bar, name))
        return True

    async def buttons(self, _all: bool) -> list[str]:
        """The buttons of the decision bar that can be seen."""
        bar = self._window.pane.bar
        every = bar.findChildren(QAbstractButton)
        return [one.objectName() for one in every if one.isVisible()]

    async def texts(self, _all: bool) -> list[str]:
        return Looker()._texts()


async def operate(window: MainWindow) -> None:
    """Use the window until the input ends."""
    hand = Hand(window)
    loop = asyncio.get_running_loop()
    window.activateWindow()
    try:
        await until(window.on_screen)
        print(json.dumps("open"), flush=True)  # noqa: T201
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            ((name, value),) = json.loads(line).items()
            print(json.dumps(await getattr(hand, name)(value)), flush=True)  # noqa: T201
    finally:
        window.quit()


if __name__ == "__main__":
    sys.exit(running.start(parse(["--source", sys.argv[1]]), operate))
