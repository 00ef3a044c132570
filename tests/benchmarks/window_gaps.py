#!/usr/bin/env python3
"""How long the window's thread is kept from its events while a call is read, shown and searched.

    python tests/benchmarks/window_gaps.py [--limit MS] [--only WORDS] [--where]

Runs the real window offscreen on real stores. A timer of 5 ms beats in the window's thread; printed
per call: until it is read, the longest gap between two beats, and how many were over 50 ms, beside
the longest gap of a quiet window in the same run; then the same while words are found in it. With
--where another thread notes what the window's thread was doing in each gap over 50 ms. Fails when a
gap is over the limit (200 ms).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.store import Store
from lineclear.ui.bridge import Bridge
from lineclear.ui.running import TURN_S
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow

BEAT_MS = 5
OVER_S = 0.05
FINDING_S = 1.0
READING_S = 3.0
"""How long a call stays in view after it was read."""
FILE = "<file>"
"""In the place of a file of 40,000 lines that stands on disk."""
WORDS = "needle"
CALLS: dict[str, dict[str, Any]] = {
    "1 MB in one line": {"text": "x" * 1_000_000},
    "60,000 lines": {"text": "echo hello world\n" * 60_000},
    "600,000 lines": {"text": "echo hello world\n" * 600_000},
    "6,000 items": {"items": [{"k": number, "v": "abc"} for number in range(6_000)]},
    "10 MB in one line": {"text": "y" * 10_000_000},
    "400,000 hidden": {"text": "\u202e\x07" * 200_000},
    "500,000 numbers": {"numbers": list(range(500_000))},
    "19,000 keys": {f"key{number}": number for number in range(19_000)},
    "a file of 40,000 lines": {
        "path": FILE,
        "content": "".join(f"line {number} changed\n" for number in range(40_000)),
    },
    "8 MB, many hits": {"text": ("a needle in a haystack of words \n" * 250_000)},
    "8 MB, one hit": {"text": ("x" * 1_999 + " ") * 4_000 + "needle"},
}


class Beat:
    """A timer in the window's thread, and the gaps between its turns."""

    def __init__(self, *, where: bool) -> None:
        self.gaps: list[float] = []
        self.own: list[float] = []
        """Of each gap, the time in which this thread itself ran: a busy machine adds none."""
        if where:
            window = threading.get_ident()
            threading.Thread(target=self._watch, args=(window,), daemon=True).start()
        self._last = time.perf_counter()
        self._spent = time.thread_time()
        self._timer = QTimer()
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now, spent = time.perf_counter(), time.thread_time()
        self.gaps.append((now - self._last) * 1000)
        self.own.append((spent - self._spent) * 1000)
        self._last, self._spent = now, spent

    def _watch(self, window: int) -> None:
        told = 0.0
        while True:
            time.sleep(0.01)
            frame = sys._current_frames().get(window)
            if time.perf_counter() - self._last > OVER_S and told != self._last and frame:
                told = self._last
                print("".join(traceback.format_stack(frame)[-6:]), file=sys.stderr)


def stores(source: Path, only: str) -> dict[str, str]:
    """Leave every call in a store of its own; ids by name."""
    known = {}
    file = source.parent / "file.txt"
    file.write_text("".join(f"line {number}\n" for number in range(40_000)), encoding="utf-8")
    for number, (name, arguments) in enumerate(CALLS.items()):
        if only not in name:
            continue
        if arguments.get("path") == FILE:
            arguments["path"] = str(file)
        with Store.create(source / f"agent-{number}" / "1") as store:
            asked = ask(store, Call("bash", arguments, f"agent-{number}"))
        assert isinstance(asked, Asked)
        known[name] = asked.shown.aid
    return known


def tell(name: str, took: str, beat: Beat) -> float:
    """Print the gaps since the last time, and give the longest."""
    gap = max(beat.gaps)
    over = sum(gap > OVER_S * 1000 for gap in beat.gaps)
    own = max(beat.own)
    print(
        f"{name:24} {took}, longest gap {gap:6.1f} ms, over 50 ms: {over}, own work {own:6.1f} ms",
        flush=True,
    )
    beat.gaps.clear()
    beat.own.clear()
    return gap


async def measure(app: QApplication, source: Path, calls: dict[str, str], *, where: bool) -> float:
    """Show one call after the other; the longest gap in milliseconds."""
    tasks = Tasks(asyncio.get_running_loop())
    look = Theme(app)
    bridge = Bridge(Settings(), only=(source,))
    window = MainWindow(bridge, look, tasks, app)
    window.show()
    bridge.start()
    while window.model.rowCount() < len(calls):
        await asyncio.sleep(0.02)
    beat = Beat(where=where)
    await asyncio.sleep(2)
    tell("quiet", " " * 12, beat)
    longest = 0.0
    for name, aid in calls.items():
        beat.gaps.clear()
        beat.own.clear()
        began = time.perf_counter()
        window.table.choose(aid)
        while window.pane.call.shown != aid:
            await asyncio.sleep(0.005)
        read = (time.perf_counter() - began) * 1000
        await asyncio.sleep(READING_S)
        longest = max(longest, tell(name, f"read {read:5.0f} ms", beat))
        began = time.perf_counter()
        window.pane.finder.words.setText(WORDS)
        window.pane.open_find()
        while not window.pane.finder._search.done:
            await asyncio.sleep(0.005)
        found = (time.perf_counter() - began) * 1000
        await asyncio.sleep(FINDING_S)
        window.pane.finder.step(1)
        await asyncio.sleep(FINDING_S)
        window.pane.finder.close_find()
        longest = max(longest, tell("", f"find {found:5.0f} ms", beat))
    window.quit()
    window.hide()
    await tasks.close()
    await bridge.stop()
    look.stop()
    return longest


def main() -> int:
    """Measure; exit 1 when the window stood still for longer than the limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--limit", type=float, default=200.0, help="milliseconds")
    parser.add_argument("--only", default="", help="calls whose name holds this")
    parser.add_argument("--where", action="store_true", help="say where each gap was")
    wanted = parser.parse_args()
    limit = wanted.limit
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINECLEAR_HOME"] = folder
        source = Path(folder) / "agents"
        source.mkdir(mode=0o700)
        calls = stores(source, wanted.only)
        app = QApplication(["window_gaps"])
        sys.setswitchinterval(TURN_S)
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            longest = runner.run(measure(app, source, calls, where=wanted.where))
    if longest > limit:
        print(f"The window stood still for {longest:.0f} ms; at most {limit:.0f} are allowed.")
    return int(longest > limit)


if __name__ == "__main__":
    sys.exit(main())
