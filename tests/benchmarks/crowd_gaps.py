#!/usr/bin/env python3
"""How long the window's thread is kept from its events by one act among very many calls.

    python tests/benchmarks/crowd_gaps.py [--rows N] [--limit MS]

Runs the whole window offscreen on rows made by hand, with a timer of 5 ms in its thread. Printed
per act: how long until it is done, and the longest gap between two beats, beside that of a quiet
window in the same run. Each act is done five times; the median gap is held against --limit (50 ms).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")
sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.watching.feed import Diff
from lineclear.ui.bridge import Bridge
from lineclear.ui.collecting import Collector
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.sort_rule import UNSORTED
from lineclear.ui.running import TURN_S
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow
from tests.benchmarks.queue_rows import BATCH, a_row

BEAT_MS = 5
TIMES = 5
CALM_S = 0.25
"""So long nothing happens any more after an act."""
TEXTS = ("r", "re", "ref", "refu", "C-99", "tool:bash C-1", "")


class Beat:
    """A timer in the window's thread, and the gaps between its turns in milliseconds."""

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self._last, self._spent = time.perf_counter(), time.thread_time()
        self._timer = QTimer()
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now, spent = time.perf_counter(), time.thread_time()
        # Of a gap counts what this thread worked: a busy machine adds nothing.
        self.gaps.append(min(now - self._last, spent - self._spent) * 1000)
        self._last, self._spent = now, spent


class Crowd:
    """The window with all its rows, and what one act costs in it."""

    def __init__(self, window: MainWindow, beat: Beat, limit: float) -> None:
        self._window = window
        self._beat = beat
        self._limit = limit
        self.missed: list[str] = []

    async def tell(self, what: str, *acts: Callable[[], object]) -> None:
        """Do ACTS one after the other, TIMES over; print the slowest one's medians."""
        worst: tuple[float, float] = (0.0, 0.0)
        longest = 0.0
        measured = [[await self._do(act) for act in acts] for _ in range(TIMES)]
        for place in range(len(acts)):
            took = statistics.median(row[place][0] for row in measured)
            gap = statistics.median(row[place][1] for row in measured)
            longest = max(longest, *(row[place][1] for row in measured))
            worst = max(worst, (gap, took))
        print(
            f"{what:26} done in {worst[1]:6.1f} ms, gap {worst[0]:6.1f} ms, longest {longest:6.1f}"
        )
        if worst[0] > self._limit:
            self.missed.append(f"{what}: {worst[0]:.0f} ms")

    async def _do(self, act: Callable[[], object]) -> tuple[float, float]:
        changes: list[float] = []
        model = self._window.model
        signals = (model.modelReset, model.layoutChanged, model.rowsRemoved, model.rowsInserted)
        told = [
            signal.connect(lambda *_: changes.append(time.perf_counter())) for signal in signals
        ]
        self._beat.gaps.clear()
        began = time.perf_counter()
        act()
        while model._arranging.under_way or time.perf_counter() < max([began, *changes]) + CALM_S:
            await asyncio.sleep(0.01)
        for connection in told:
            QObject.disconnect(connection)
        return (max(changes, default=began) - began) * 1000, max(self._beat.gaps)


async def measure(app: QApplication, count: int, limit: float) -> list[str]:
    """Fill the window and act in it; what took too long."""
    tasks = Tasks(asyncio.get_running_loop())
    look = Theme(app, dark=False)
    bridge = Bridge(Settings(), only=(Path("/srv/agents"),))
    window = MainWindow(bridge, look, tasks, app)
    collector = Collector(lambda: window.flow.arming.idle)
    window.show()
    chance = random.Random(1)
    rows = [a_row(number, chance) for number in range(count)]
    for start in range(0, count, BATCH):
        bridge.arrived.emit(Diff(added=tuple(rows[start : start + BATCH])))
        await asyncio.sleep(0)
    bridge.arrived.emit(Diff(complete=True))
    while window.model._texts.cold():
        await asyncio.sleep(0.05)
    beat = Beat()
    crowd = Crowd(window, beat, limit)
    await crowd.tell("quiet", lambda: None)
    await crowd.tell("arrival", lambda: bridge.arrived.emit(Diff(added=(a_row(count, chance),))))
    filters = [lambda text=text: window.filter.setText(text) for text in TEXTS]
    await crowd.tell("filter keystroke", *filters)
    ways = (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder)
    for column in (*Column, UNSORTED):
        name = "as at first" if column == UNSORTED else Column(column).name.lower()
        sorts = [
            lambda way=way, to=column: window.table.horizontalHeader().setSortIndicator(to, way)
            for way in ways
        ]
        await crowd.tell(f"sort by {name}", *sorts)
    sections = [
        lambda row=row: window.sidebar.sections.setCurrentIndex(
            window.sidebar.sections.model().index(row, 0)
        )
        for row in (3, 0)
    ]
    await crowd.tell("another section", *sections)
    collector.stop()
    window.quit()
    window.hide()
    await tasks.close()
    await bridge.stop()
    look.stop()
    return crowd.missed


def main() -> int:
    """Measure; exit 1 when an act kept the window longer than the limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--limit", type=float, default=50.0, help="milliseconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINECLEAR_HOME"] = folder
        app = QApplication(["crowd_gaps"])
        sys.setswitchinterval(TURN_S)
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            missed = runner.run(measure(app, options.rows, options.limit))
    for line in missed:
        print(f"over the limit: {line}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
