#!/usr/bin/env python3
"""How long the window's thread is kept from its events while a long checkpoint is read and shown.

    python tests/benchmarks/checkpoint_gaps.py [--systems NAMES] [--shapes NAMES] [--sizes MB,MB]
                                               [--limit RATIO] [--where] [--give-up S]

Runs the real window offscreen on checkpoints of the three systems: many small objects, few huge
texts, numbers, deep nesting. A timer of 5 ms beats in the window's thread. Of each gap between two
beats counts what other threads worked in it, or this one: a busy machine adds nothing. Printed is
the longest gap while the checkpoint is found, read, shown and let go again, as a ratio to 50 ms.
A reading that takes longer than --give-up is stopped, as the choice of another call stops it.
With --where it is told what the window's thread did in a gap, or a worker, over 50 ms. Fails above
--limit (1: 50 ms).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.watching.feed import Diff
from lineclear.ui.bridge import Bridge
from lineclear.ui.collecting import Collector
from lineclear.ui.running import TURN_S
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow

BEAT_MS = 5
OVER_MS = 50.0
SHOWN_S = 2.0
"""How long a call stays in view after it was read."""
USAGE = {"requests": 1, "input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
WAITING = ("_worker", "_listen", "_obey", "_watch", "_tell", "_rest", "wait")
"""What threads are in that do nothing."""
AT_MOST = {"lc-agents": 16, "starweaver": 16, "a3s": 256}
"""MiB that each system's checkpoints may have."""


# --- Checkpoints --------------------------------------------------------------------------------


def small_objects(size: int) -> Any:
    one = {"id": 1, "name": "abc", "ok": True, "amount": 1.5, "tags": ["a", "b"]}
    return [one] * (size // 64)


def huge_texts(size: int) -> Any:
    return ["echo hello world\n" * (size // 36), "\u0436\u6f22" * (size // 10)]


def numbers(size: int) -> Any:
    return list(range(100_000, 100_000 + size // 7))


def words(size: int) -> Any:
    return ["word"] * (size // 7)


def nested(size: int) -> Any:
    deep: Any = 1
    for _ in range(40):
        deep = {"a": deep}
    return [deep] * (size // 242)


SHAPES: dict[str, Callable[[int], Any]] = {
    "objects": small_objects,
    "texts": huge_texts,
    "numbers": numbers,
    "words": words,
    "nested": nested,
}
KEYS_AT_MOST = 16_000
"""Keys within one call's arguments, above which a call is refused."""


def in_pieces(shape: str, size: int) -> list[Any]:
    """Cut a content into pieces such as a conversation has."""
    piece = SHAPES[shape](20_000 if shape != "texts" else size // 4)
    length = len(json.dumps(piece, ensure_ascii=False).encode())
    return [piece] * max(1, size // length)


def lc_agents(shape: str, size: int) -> tuple[str, dict[str, Any]]:
    """One call: its arguments, and steps where those would hold too many keys."""
    flat = shape in ("texts", "numbers", "words")
    steps = [
        {
            "action": {
                "tool": "look",
                "tool_input": {"type": "object", "value": piece},
                "log": "",
                "tool_call_id": f"c{number}",
            },
            "observation": "found",
        }
        for number, piece in enumerate([] if flat else in_pieces(shape, size))
    ]
    return "pending.json", {
        "tool_name": "bash",
        "arguments": {"content": SHAPES[shape](size) if flat else 1},
        "tool_id": "call-1",
        "inputs": {},
        "steps": steps,
        "iteration": 1,
        "tool_calls_consumed": 1,
        "tokens_consumed": 1,
        "trace_id": "run-1",
    }


def a3s(shape: str, size: int) -> tuple[str, dict[str, Any]]:
    """A loop whose conversation is long."""
    messages: list[dict[str, Any]] = []
    for number, piece in enumerate(in_pieces(shape, size)):
        call = {"type": "tool_use", "id": f"c{number}", "name": "look", "input": piece}
        found = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "found"}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [{**found, "is_error": False}]})
    name = base64.urlsafe_b64encode(b"run-1").rstrip(b"=").decode()
    return f"v1/loop_checkpoints/id_{name}.json", {
        "schema_version": 1,
        "run_id": "run-1",
        "session_id": "session-1",
        "turn": 3,
        "messages": messages,
        "total_usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "tool_calls_count": 3,
        "verification_reports": [],
        "convergence": {},
        "checkpoint_ms": 1,
    }


def starweaver(shape: str, size: int) -> tuple[str, dict[str, Any]]:
    """One call, and a long conversation before it."""
    call = {"id": "call_1", "name": "shell", "arguments": {"command": "rm -rf build"}}
    history: list[dict[str, Any]] = []
    for number, piece in enumerate(in_pieces(shape, size)):
        part = {"kind": "tool_call", "id": f"c{number}", "name": "look", "arguments": piece}
        back = {"kind": "tool_return", "tool_call_id": f"c{number}", "name": "look"}
        history.append({"kind": "response", "parts": [part], "usage": USAGE})
        history.append({"kind": "request", "parts": [{**back, "content": "found"}]})
    asked = {"control_flow": "approval_required", "approval": {"arguments": call["arguments"]}}
    waits = {"tool_call_id": "call_1", "name": "shell", "content": {}, "is_error": True}
    evidence = {"node": "tool_return", "status": "waiting", "run_step": 1, "usage": USAGE}
    cursor = {"model_request_attempt": 1, "output_validation_attempt": 0, "message_cursor": 2}
    counts = {"pending_approval_count": 1, "deferred_tool_count": 0}
    names = {"run_id": "run-1", "conversation_id": "conv-1"}
    return "run.checkpoint.json", {
        "checkpoint_id": "ckpt-1",
        **names,
        "node": "tool_return",
        "run_step": 1,
        "resume": {**evidence, "cursor": cursor, **counts},
        "state": {
            **names,
            "message_history": history,
            "usage": USAGE,
            "run_step": 1,
            "status": "waiting",
            "pending_tool_calls": [call],
            "pending_approval_tool_returns": [{**waits, "metadata": asked}],
        },
    }


SYSTEMS = {"lc-agents": lc_agents, "a3s": a3s, "starweaver": starweaver}


def leave(source: Path, system: str, shape: str, size: int) -> Path:
    """Leave a checkpoint of about SIZE bytes in a store of its own."""
    store = source / f"{system}-{shape}-{size}"
    name, document = SYSTEMS[system](shape, size)
    path = store / name
    path.parent.mkdir(parents=True)
    for folder in (store, *path.parents[: len(Path(name).parts) - 1]):
        folder.chmod(0o700)
    raw = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    path.write_bytes(raw)
    path.chmod(0o600)
    return store


# --- Gaps ---------------------------------------------------------------------------------------


class Beat:
    """A timer in the window's thread, and the work of this process between its turns."""

    def __init__(self, *, where: bool) -> None:
        self.gaps: list[float] = []
        self._last = time.perf_counter()
        self._spent = time.process_time()
        self._timer = QTimer()
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        self._window = threading.get_ident()
        self._where = where
        if where:
            threading.Thread(target=self._watch, daemon=True).start()

    def _beat(self) -> None:
        now, spent = time.perf_counter(), time.process_time()
        gap = min(now - self._last, spent - self._spent) * 1000
        if self._where and gap > OVER_MS:
            self._tell(f"gap of {gap:.0f} ms")
        self.gaps.append(gap)
        self._last, self._spent = now, spent

    def _watch(self) -> None:
        told = 0.0
        while True:
            time.sleep(0.01)
            if time.perf_counter() - self._last > OVER_MS / 1000 and told != self._last:
                told = self._last
                self._tell("perhaps in a gap")

    def _tell(self, when: str) -> None:
        for thread, frame in sys._current_frames().items():
            calls = traceback.extract_stack(frame)[-4:]
            if calls[-1].name not in WAITING:
                said = " < ".join(f"{Path(c.filename).name}:{c.lineno}" for c in calls[::-1])
                whose = "window" if thread == self._window else "worker"
                print(f"    {when}: {whose} in {calls[-1].name} {said}", file=sys.stderr)

    def longest(self) -> float:
        """Give the longest gap since the last time, in milliseconds."""
        gap = max(self.gaps, default=0.0)
        self.gaps.clear()
        return gap


async def until(done: Callable[[], bool], seconds: float) -> bool:
    """Wait for a fact."""
    end = time.perf_counter() + seconds
    while not done() and time.perf_counter() < end:
        await asyncio.sleep(0.02)
    return done()


async def show(
    window: MainWindow, bridge: Bridge, beat: Beat, store: Path, give_up: float
) -> float:
    """Have one store found, read, shown and let go; the longest gap as a ratio."""
    began = time.perf_counter()
    known: dict[Path, tuple[str, str]] = {}

    def take(diff: Diff) -> None:
        known.update({row.store: (row.id, row.state) for row in diff.added})

    told = bridge.arrived.connect(take)
    found = await until(lambda: store in known, give_up)
    QObject.disconnect(told)
    scanned = time.perf_counter() - began
    finding = beat.longest()
    if not found:
        print(f"{store.name:28} not found within {give_up:.0f} s, gap {finding:6.1f} ms")
        return finding / OVER_MS
    row_id, state = known[store]
    began = time.perf_counter()
    window.flow.view.show(row_id)
    ready = await until(lambda: window.flow.view.prepared is not None, give_up)
    took = time.perf_counter() - began
    reading = beat.longest()
    await asyncio.sleep(SHOWN_S)
    showing = beat.longest()
    window.flow.view.show("")
    await asyncio.sleep(SHOWN_S)
    leaving = beat.longest()
    ratio = max(finding, reading, showing, leaving) / OVER_MS
    end = f"read in {took:5.1f} s" if ready else f"stopped at {took:5.1f} s"
    print(
        f"{store.name:28} {state:11} found in {scanned:5.1f} s, {end}; gaps: finding"
        f" {finding:6.1f}, reading {reading:6.1f}, showing {showing:6.1f}, leaving"
        f" {leaving:6.1f} ms; ratio {ratio:5.2f}",
        flush=True,
    )
    return ratio


async def measure(app: QApplication, source: Path, wanted: argparse.Namespace) -> float:
    """Measure each of what is wanted; the worst ratio."""
    tasks = Tasks(asyncio.get_running_loop())
    look = Theme(app)
    bridge = Bridge(Settings(), only=(source,))
    window = MainWindow(bridge, look, tasks, app)
    collector = Collector(lambda: False)
    window.show()
    bridge.start()
    beat = Beat(where=wanted.where)
    await asyncio.sleep(SHOWN_S)
    print(f"{'quiet':28} gap {beat.longest():6.1f} ms")
    worst = 0.0
    for system in wanted.systems.split(","):
        for shape in wanted.shapes.split(","):
            for size in map(float, wanted.sizes.split(",")):
                if size * 1e6 > (AT_MOST[system] - 1) * (1 << 20):
                    continue
                aside = source.parent / "aside"
                store = leave(aside, system, shape, int(size * 1e6))
                await asyncio.sleep(0.1)
                beat.longest()
                store = store.rename(source / store.name)
                worst = max(worst, await show(window, bridge, beat, store, wanted.give_up))
    collector.stop()
    window.quit()
    window.hide()
    await tasks.close()
    await bridge.stop()
    look.stop()
    return worst


def main() -> int:
    """Measure; exit 1 when the window stood still for longer than the limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--sizes", default="8,15,36,64", help="megabytes, as far as a system reads")
    parser.add_argument("--limit", type=float, default=1.0, help="ratio to 50 ms")
    parser.add_argument("--give-up", type=float, default=120.0, help="seconds for one step")
    parser.add_argument("--where", action="store_true", help="say what was done in each gap")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINECLEAR_HOME"] = folder
        source = Path(folder) / "agents"
        source.mkdir(mode=0o700)
        app = QApplication(["checkpoint_gaps"])
        sys.setswitchinterval(TURN_S)
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            worst = runner.run(measure(app, source, wanted))
    print(f"The longest gap was {worst:.2f} times 50 ms; at most {wanted.limit:.2f} are allowed.")
    return int(worst > wanted.limit)


if __name__ == "__main__":
    sys.exit(main())
