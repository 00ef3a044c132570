#!/usr/bin/env python3
"""How long the window's thread is kept from its events while a call's arguments are read and shown.

    python tests/benchmarks/window_gaps.py [--limit MS]

Runs the real window offscreen on real stores. A timer of 5 ms beats in the window's thread; printed
per call: until it is read, the longest gap between two beats, and how many were over 50 ms, beside
the longest gap of a quiet window in the same run. Fails when a gap is over the limit (200 ms).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from lineclear.core.inbox.settings import Settings
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.store import Store
from lineclear.ui.app import TURN_S
from lineclear.ui.bridge import Bridge
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow

BEAT_MS = 5
READING_S = 3.0
"""How long a call stays in view after it was read."""
CALLS = {
    "1 MB in one line": {"text": "x" * 1_000_000},
    "60,000 lines": {"text": "echo hello world\n" * 60_000},
    "600,000 lines": {"text": "echo hello world\n" * 600_000},
    "6,000 items": {"items": [{"k": number, "v": "abc"} for number in range(6_000)]},
    "10 MB in one line": {"text": "y" * 10_000_000},
    "400,000 hidden": {"text": "\u202e\x07" * 200_000},
}


class Beat:
    """A timer in the window's thread, and the gaps between its turns."""

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter()
        self.gaps.append((now - self._last) * 1000)
        self._last = now


def stores(source: Path) -> dict[str, str]:
    """Leave every call in a store of its own; ids by name."""
    known = {}
    for number, (name, arguments) in enumerate(CALLS.items()):
        with Store.create(source / f"agent-{number}" / "1") as store:
            asked = ask(store, Call("bash", arguments, f"agent-{number}"))
        assert isinstance(asked, Asked)
        known[name] = asked.shown.aid
    return known


async def measure(app: QApplication, source: Path, calls: dict[str, str]) -> float:
    """Show one call after the other; the longest gap in milliseconds."""
    tasks = Tasks(asyncio.get_running_loop())
    look = Theme(app)
    bridge = Bridge(Settings(), only=(source,))
    window = MainWindow(bridge, look, tasks, app)
    window.show()
    bridge.start()
    while window.model.rowCount() < len(calls):
        await asyncio.sleep(0.02)
    beat = Beat()
    await asyncio.sleep(2)
    print(f"{'quiet':20} {'':13} longest gap {max(beat.gaps):6.1f} ms")
    longest = 0.0
    for name, aid in calls.items():
        beat.gaps.clear()
        began = time.perf_counter()
        window.table.choose(aid)
        while window.pane.call.shown != aid:
            await asyncio.sleep(0.005)
        read = (time.perf_counter() - began) * 1000
        await asyncio.sleep(READING_S)
        over = sum(gap > 50 for gap in beat.gaps)
        gap = max(beat.gaps)
        longest = max(longest, gap)
        print(f"{name:20} read {read:5.0f} ms, longest gap {gap:6.1f} ms, over 50 ms: {over}")
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
    limit = parser.parse_args().limit
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINECLEAR_HOME"] = folder
        source = Path(folder) / "agents"
        source.mkdir(mode=0o700)
        calls = stores(source)
        app = QApplication(["window_gaps"])
        sys.setswitchinterval(TURN_S)
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            longest = runner.run(measure(app, source, calls))
    if longest > limit:
        print(f"The window stood still for {longest:.0f} ms; at most {limit:.0f} are allowed.")
    return int(longest > limit)


if __name__ == "__main__":
    sys.exit(main())
