"""`lineclear-inbox --self-check`: one call of a pretend agent, from its question to its outcome.

The window, the ledger and the agent's gate are the real ones; the folders are temporary, and what
is approved is a function of this module that touches nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from lineclear.core.agent.gate import Gate
from lineclear.core.errors import LineclearError
from lineclear.core.ledger.state import State
from lineclear.ui.deciding.arming import Act
from lineclear.ui.window import MainWindow

LIMIT_S: Final = 60.0
"""Each step has this long; on a machine at rest all of them take about two seconds."""
LOOK_S: Final = 0.02
AGENT: Final = "self-check"
CUSTOMER: Final = "C-1204"
AMOUNT: Final = 80
RESULT: Final = f"refunded {AMOUNT} to {CUSTOMER}"


class FailedCheck(LineclearError):
    """A step of the self-check did not come about; the sentence says which."""


class _FirstPaint(QObject):
    """Notes when a window was first painted."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.at: float | None = None
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Let every event pass."""
        if self.at is None and watched is self._window and event.type() is QEvent.Type.Paint:
            self.at = time.monotonic()
        return False


class _Agent:
    """A pretend agent with a real gate, in a thread of its own."""

    def __init__(self, source: Path) -> None:
        self.runs = 0
        self.said = ""
        self.failure = ""
        self._source = source
        self._thread = threading.Thread(target=self._live, name=AGENT, daemon=True)

    def start(self) -> None:
        """Ask for the one call."""
        self._thread.start()

    def ended(self) -> bool:
        """Whether it has its result or its failure, and gave its folder back."""
        return not self._thread.is_alive()

    def _live(self) -> None:
        try:
            with Gate(AGENT, self._source) as gate:
                self.said = gate.guard(self.send_refund)(CUSTOMER, AMOUNT)
        except LineclearError as why:
            self.failure = why.sentence
        except OSError as why:
            self.failure = str(why)

    def send_refund(self, customer: str, amount: int) -> str:
        """Pretend to pay money back."""
        self.runs += 1
        return f"refunded {amount} to {customer}"


class SelfCheck:
    """Plays the agent and the operator's hand; `passed` holds the times of the steps.

    Each time is in seconds of `time.monotonic()`, one clock for all processes of a machine.
    """

    def __init__(self, source: Path, limit_s: float = LIMIT_S) -> None:
        self._source = source
        self._limit_s = limit_s
        self.passed: dict[str, float] = {}
        self.failure = ""
        """Why it failed, as a sentence; empty when it passed."""

    async def operate(self, window: MainWindow) -> None:
        """Decide the sample call by its button, see its outcome, and end the program."""
        try:
            await self._steps(window)
        except FailedCheck as why:
            self.failure = why.sentence
        finally:
            window.quit()

    async def _steps(self, window: MainWindow) -> None:
        paint = _FirstPaint(window)
        window.activateWindow()
        await self._until("The window was not painted", lambda: paint.at is not None)
        assert paint.at is not None
        self.passed["painted"] = paint.at
        # Asked only now: a call that is read when it arrives sends no notification.
        await self._until("The window did not become the active one", window.on_screen)
        agent = _Agent(self._source)
        agent.start()
        await self._decide(window, agent)
        await self._until("The agent did not end", agent.ended)
        if (agent.said, agent.runs) != (RESULT, 1):
            told = agent.failure or f"it ran {agent.runs} times and said {agent.said!a}"
            raise FailedCheck(f"The agent did not get its approval: {told}.", code="self_check")

    async def _decide(self, window: MainWindow, agent: _Agent) -> None:
        def shown() -> bool:
            if agent.failure:
                raise FailedCheck(f"The agent could not ask: {agent.failure}", code="self_check")
            row_id = window.model.next_waiting(None)
            if row_id is None or not window.table.choose(row_id):
                return False
            return window.flow.current == row_id and window.flow.view.prepared is not None

        await self._until("The sample call did not come into view", shown)
        self.passed["shown"] = time.monotonic()
        call = window.flow.current
        arming = window.flow.arming
        await self._until(
            "Approve did not become ready", lambda: arming.readiness(Act.APPROVE).ready
        )
        click(window.pane.bar.approve)

        def finished() -> bool:
            row = window.model.row(call)
            return row is not None and row.state is State.DONE and row.outcome == "ok"

        await self._until("The window did not learn of the outcome", finished)
        self.passed["finished"] = time.monotonic()

    async def _until(self, fact: str, look: Callable[[], bool]) -> None:
        """Wait until LOOK is true; raises FailedCheck with FACT when it never is."""
        end = time.monotonic() + self._limit_s
        while not look():
            if time.monotonic() > end:
                raise FailedCheck(f"{fact} within {self._limit_s:g} seconds.", code="self_check")
            await asyncio.sleep(LOOK_S)


def click(button: QWidget) -> None:
    """Press and release the pointer in the middle of a button, through Qt's own dispatch."""
    place = QPointF(button.rect().center())
    left = Qt.MouseButton.LeftButton
    for kind, held in (
        (QEvent.Type.MouseButtonPress, left),
        (QEvent.Type.MouseButtonRelease, Qt.MouseButton.NoButton),
    ):
        event = QMouseEvent(
            kind,
            place,
            button.mapToGlobal(place),
            left,
            held,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(button, event)


@contextlib.contextmanager
def surroundings() -> Iterator[Path]:
    """Give a temporary home, with a runtime folder where there is none; its source is yielded.

    To be entered before Qt starts, which reads the environment.
    """
    with tempfile.TemporaryDirectory(prefix="lineclear-check-", ignore_cleanup_errors=True) as made:
        home = Path(made)
        os.environ["LINECLEAR_HOME"] = str(home / "home")
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        if not runtime or not Path(runtime).is_dir():
            (home / "run").mkdir(mode=0o700)
            os.environ["XDG_RUNTIME_DIR"] = str(home / "run")
        source = home / "agents"
        source.mkdir(mode=0o700)
        yield source
