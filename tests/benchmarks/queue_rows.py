#!/usr/bin/env python3
"""How long the table of calls takes with very many rows, beside QSortFilterProxyModel in one run.

    python tests/benchmarks/queue_rows.py [--rows N] [--no-proxy]

Runs the real model and view offscreen on rows made by hand. Printed, in milliseconds: an arrival,
each keystroke of a filter, sorts by every column, a frame of scrolling; the longest the window's
thread stood still at once while texts were made; bytes of the model per row. Processor time, so
that a busy machine says the same as a quiet one. Fails above the goals: 10, 50, 300, 16 ms, 2 KB,
each times --slack (a slow or shared machine).
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt  # noqa: TID251  # What is compared with.
from PySide6.QtWidgets import QApplication

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.ui import theme
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sort_rule import UNSORTED
from lineclear.ui.queue.table_view import QueueView

NOW = datetime.now(UTC)
SOURCE = Path("/srv/agents")
TOOLS = ("bash", "send_refund", "write_file", "run_sql", "deploy", "send_mail")
PROCESSES = (Process.ALIVE, Process.ALIVE, Process.ALIVE, Process.DEAD)
LINES = ("r", "re", "ref", "refu", "ref", "re", "r", "", "C-99", "tool:bash", "tool:bash C-1", "")
BATCH = 500


def a_row(number: int, chance: random.Random) -> Row:
    """A waiting call as agents ask them."""
    arguments = {
        "customer": f"C-{number}",
        "amount": number % 977,
        "note": f"please refund order {number}",
    }
    expires = NOW + timedelta(seconds=chance.randrange(7200)) if number % 3 == 0 else None
    return Row(
        id=f"{chance.getrandbits(128):032x}",
        system="lineclear",
        state=State.PENDING,
        source=SOURCE,
        store=SOURCE / f"agent-{number % 500}" / str(number),
        agent=f"agent-{number % 500}",
        run=f"run-{number % 5000}",
        tool=chance.choice(TOOLS),
        arguments=arguments,
        process=chance.choice(PROCESSES),
        asked_at=NOW - timedelta(seconds=chance.randrange(100_000)),
        expires_at=expires,
    )


def spent(act: Callable[..., object], *with_: object) -> float:
    """Milliseconds of processor time."""
    began = time.process_time()
    act(*with_)
    return (time.process_time() - began) * 1000


class Figures:
    """What was measured, and whether it keeps to its goals."""

    def __init__(self, slack: float) -> None:
        self._slack = slack
        self.missed: list[str] = []

    def tell(self, what: str, values: list[float], goal: float, unit: str = "ms") -> None:
        """Print the median and the worst; the median is held against the goal."""
        middle, worst = statistics.median(values), max(values)
        print(f"{what:34} median {middle:8.1f} {unit}   worst {worst:8.1f}   goal {goal:g}")
        if middle > goal * self._slack:
            self.missed.append(f"{what}: {middle:.1f} {unit}, goal {goal:g}")


def fill(model: QueueModel, rows: list[Row]) -> None:
    for start in range(0, len(rows), BATCH):
        model.apply(Diff(added=tuple(rows[start : start + BATCH])))


def memory(rows: list[Row]) -> float:
    """Bytes per row of the model beside the rows themselves, all texts made."""
    gc.collect()
    tracemalloc.start()
    model = QueueModel()
    fill(model, rows)
    model._texts.make_all()  # What the idle time would do.
    model.set_scope(Scope(filter=parse_filter("refund")))
    model.set_scope(Scope())
    gc.collect()
    size, _peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / len(rows)


def warmed(model: QueueModel, app: QApplication) -> list[float]:
    """Let the texts be made in idle time; the turns' lengths."""
    turns = []
    while model._texts.cold():
        turns.append(spent(app.processEvents))
    return turns


def measure(app: QApplication, count: int, figures: Figures) -> tuple[list[Row], float, float]:
    """Measure the table; the rows, and the medians of a keystroke and a sort."""
    chance = random.Random(1)
    rows = [a_row(number, chance) for number in range(count)]
    model = QueueModel()
    look = theme.Theme(app, dark=False)
    view = QueueView(model, look)
    view.resize(1000, 700)
    view.show()
    app.processEvents()
    print(f"{count} rows in pieces of {BATCH}: {spent(lambda: fill(model, rows)):.0f} ms")
    app.processEvents()
    first = time.process_time()
    model.set_scope(Scope(filter=parse_filter("please")))
    turns = warmed(model, app)
    print(f"first filter, no text made yet: {(time.process_time() - first) * 1000:.0f} ms in turns")
    figures.tell("longest turn of making texts", [max(turns, default=0.0)], 50)
    model.set_scope(Scope())
    more = [Diff(added=(a_row(count + number, chance),)) for number in range(200)]
    arrivals = [spent(model.apply, diff) for diff in more]
    figures.tell("arrival", arrivals, 10)
    scopes = [Scope(filter=parse_filter(line)) for line in LINES]
    keys = [spent(model.set_scope, scope) for scope in scopes]
    figures.tell("filter keystroke", keys, 50)
    sorts = []

    def sort(column: int, way: Qt.SortOrder) -> None:
        model.sort(column, way)
        while model._arranging.under_way:
            app.processEvents()

    for column in (*Column, UNSORTED):
        for way in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
            sorts.append(spent(sort, column, way))
            app.processEvents()
    figures.tell("sort", sorts, 300)
    bar = view.verticalScrollBar()
    frames = []
    for step in range(100):
        bar.setValue(step * 917)
        frames.append(spent(view.viewport().repaint))
    figures.tell("scroll frame", frames, 16)
    figures.tell("second's look at the time", [spent(model.pass_time) for _ in range(20)], 10)
    look.stop()
    return rows, statistics.median(keys), statistics.median(sorts)


class Proxied(QSortFilterProxyModel):
    """The same rows behind Qt's own proxy."""

    needle = ""

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:  # noqa: N802
        """Search the text of the arguments."""
        index = self.sourceModel().index(row, Column.ARGUMENTS, parent)
        return self.needle in str(index.data()).casefold()


def compare(rows: list[Row], keystroke: float, sort: float) -> None:
    """Print how much longer Qt's proxy takes for one keystroke and one sort."""
    model = QueueModel()
    fill(model, rows)
    proxy = Proxied()
    proxy.setSourceModel(model)
    proxy.sort(Column.AGENT)
    proxy.needle = "c-99"
    theirs = spent(proxy.setFilterFixedString, "c-99")
    print(f"QSortFilterProxyModel: keystroke {theirs:.0f} ms, {theirs / keystroke:.0f} times ours")
    proxy.needle = ""
    proxy.setFilterFixedString("")
    theirs = spent(lambda: proxy.sort(Column.TOOL))
    print(f"QSortFilterProxyModel: sort {theirs:.0f} ms, {theirs / sort:.0f} times ours")


def main() -> int:
    """Measure; exit 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--slack", type=float, default=1.0, help="what the goals are multiplied by")
    parser.add_argument("--no-proxy", action="store_true", help="leave the comparison out")
    options = parser.parse_args()
    app = QApplication(["queue_rows"])
    figures = Figures(options.slack)
    rows, keystroke, sort = measure(app, options.rows, figures)
    figures.tell("memory per row", [memory(rows)], 2048, "B ")
    if not options.no_proxy:
        compare(rows, keystroke, sort)
    for line in figures.missed:
        print(f"missed: {line}")
    return int(bool(figures.missed))


if __name__ == "__main__":
    sys.exit(main())
