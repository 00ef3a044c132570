#!/usr/bin/env python3
"""Make pictures of the real window on real stores.

    screenshots.py                                 the README's, into resources/screenshots
    screenshots.py FOLDER [--dark] [--scene NAME]  every scene, or some, into FOLDER

Runs offscreen. Every scene is the program itself, driven as an operator would drive it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from lineclear.core.inbox.deciding import operator
from lineclear.core.inbox.settings import LaunchSetting, Settings, SourceSetting
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import Limits, Tokens
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.store import Shown, Store
from lineclear.ui.bridge import Bridge
from lineclear.ui.sections import Section
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow

README_PICTURES = Path(__file__).resolve().parent.parent / "resources" / "screenshots"
STEPS = tuple(
    {
        "action": {
            "tool": tool,
            "tool_input": {"type": "object", "value": given},
            "log": "",
            "tool_call_id": None,
        },
        "observation": seen,
    }
    for tool, given, seen in (
        ("search_customer", {"name": "Ada Lovelace"}, "C-1204, one open order"),
        ("list_orders", {"customer": "C-1204"}, "O-7781: 80.00 EUR, delivered damaged"),
        ("read_policy", {"topic": "refunds"}, "Up to 150 EUR with a person's word."),
    )
)
"""What the refund agent did before it asked."""


START_AND_DIE = """\
import pathlib, sys
from lineclear.core.ledger.start import begin, read_decision
from lineclear.core.ledger.store import Store
with Store.open(pathlib.Path(sys.argv[1])) as store:
    shown = store.read_request(int(sys.argv[2]))
    assert begin(store, shown, read_decision(store, shown))
"""


class Stage:
    """A folder of stores with everything that the pictures show."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "agents"
        self.locks: list[AgentLock] = []
        self.calls: dict[str, Shown] = {}
        self.by = operator(Settings())

    def ask(
        self, name: str, agent: str, call: Call, *, alive: bool = True, lane: str = "1"
    ) -> None:
        """Publish a request; ALIVE agents' locks are held by this process."""
        run = self.source / agent
        if not alive:
            # It held its lock once: known to be dead, not unknown.
            AgentLock.acquire(run).close()
        elif not any(shown.store.parent == run for shown in self.calls.values()):
            self.locks.append(
                AgentLock.acquire(run, argv=("python", f"{agent.replace('-', '_')}.py"))
            )
        with Store.create(run / lane) as store:
            asked = ask(store, call)
        assert isinstance(asked, Asked)
        self.calls[name] = asked.shown

    def settle(self, name: str, outcome: Literal["ok", "error"] | None, result: str = "") -> None:
        """Approve a call, start it, and end it with an outcome, or not at all."""
        shown = self.calls[name]
        with Store.open(shown.store) as store:
            decide(store, shown, Verdict("approve"), self.by, valid_for_s=900)
        if outcome is None:
            # Another process starts it and is gone before it says how it ended.
            argv = [sys.executable, "-c", START_AND_DIE, str(shown.store), str(shown.seq)]
            subprocess.run(argv, check=True)
            return
        with Store.open(shown.store) as store:
            found = read_decision(store, shown)
            assert isinstance(found, Verified)
            assert begin(store, shown, found)
            finish(store, shown, outcome, result=result, duration_ms=1240)


def call(tool: str, arguments: object, agent: str, **more: Any) -> Call:
    """A call with the counters that most agents report."""
    known = Call(
        tool,
        arguments,
        agent,
        iteration=3,
        tool_calls=4,
        tokens=31_200,
        limits=Limits(iteration=10, tool_calls=20, tokens=100_000),
        usage=Tokens(tokens_in=29_000, tokens_out=2_200),
    )
    return replace(known, **more)


def full(stage: Stage) -> None:
    """A working day: some wait, one is dead, one may have run, one has finished."""
    refund = {
        "customer": "C-1204",
        "order": "O-7781",
        "amount": 120.5,
        "currency": "EUR",
        "reason": "delivered damaged",
        "notify": True,
    }
    stage.ask(
        "refund",
        "refund-bot",
        call("send_refund", refund, "refund-bot", steps=STEPS, inputs={"input": "Ticket 4411"}),
    )
    stage.ask("bash", "ci", call("bash", {"command": "rm -rf build/ && make release"}, "ci"))
    content = "".join(f"127.0.0.{n} service-{n}.internal\n" for n in range(1, 255))
    stage.ask(
        "hosts",
        "ops",
        call(
            "write_file",
            {"path": "/etc/hosts", "content": content},
            "ops",
            iteration=9,
            tool_calls=18,
        ),
    )
    stage.ask(
        "mail",
        "mailer",
        call("send_mail", {"to": "a@example.org", "subject": "Invoice 2291"}, "mailer"),
        alive=False,
    )
    note = "paid\u202e001$\u202c in full"
    stage.ask("hidden", "billing", call("post_note", {"invoice": "2291", "note": note}, "billing"))
    stage.ask(
        "deploy",
        "deployer",
        call(
            "deploy",
            {"service": "checkout", "version": "2026.11.4", "production": True},
            "deployer",
        ),
    )
    stage.ask(
        "query",
        "reports",
        call(
            "run_sql", {"sql": "select sum(amount) from orders where day = '2026-11-28'"}, "reports"
        ),
    )
    stage.ask(
        "uncertain",
        "shipper",
        call("create_label", {"order": "O-7781", "carrier": "DHL"}, "shipper"),
        alive=False,
    )
    stage.ask("done", "indexer", call("reindex", {"table": "orders"}, "indexer"))
    stage.settle("uncertain", None)
    stage.settle("done", "ok", "12,408 rows in 1.2 s")


def nothing(stage: Stage) -> None:
    """A quiet inbox."""
    stage.source.mkdir(parents=True)


Scene = Callable[[MainWindow, Stage], Awaitable[None]]


async def until(fact: Callable[[], object], seconds: float = 15) -> None:
    """Wait for a fact."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.02)


async def choose(window: MainWindow, stage: Stage, name: str) -> None:
    """Select a call and wait until it is read."""
    aid = stage.calls[name].aid
    await until(lambda: window.table.choose(aid))
    window.table.setFocus()
    await until(lambda: window.flow.current == aid and window.flow._prepared is not None)  # noqa: SLF001
    await asyncio.sleep(0.9)


async def inbox(window: MainWindow, stage: Stage) -> None:
    """A waiting call, and others around it."""
    for name in ("bash", "query", "refund"):
        await choose(window, stage, name)


async def hidden(window: MainWindow, stage: Stage) -> None:
    """Characters that hide."""
    await choose(window, stage, "hidden")


async def long_text(window: MainWindow, stage: Stage) -> None:
    """Longer than the pane: not ready before its end."""
    await choose(window, stage, "hosts")
    window.actions_table["approve"].trigger()
    await asyncio.sleep(0.2)


async def armed(window: MainWindow, stage: Stage) -> None:
    """The letter was pressed, Enter is awaited."""
    await choose(window, stage, "bash")
    await asyncio.sleep(0.5)
    window.actions_table["approve"].trigger()
    await asyncio.sleep(0.1)


async def dead(window: MainWindow, stage: Stage) -> None:
    """Nobody can tell whether its agent lives."""
    await choose(window, stage, "mail")


async def uncertain(window: MainWindow, stage: Stage) -> None:
    """A call that may have run."""
    window.sidebar.choose_section(Section.MAY_HAVE_RUN)
    await choose(window, stage, "uncertain")


async def deny(window: MainWindow, stage: Stage) -> None:
    """The reason of a denial."""
    await choose(window, stage, "refund")
    window.actions_table["deny"].trigger()
    window.pane.editor.text.setPlainText("Wrong customer: the order belongs to C-1240.")
    await asyncio.sleep(0.2)


async def modify(window: MainWindow, stage: Stage) -> None:
    """Asked beside yours."""
    await choose(window, stage, "refund")
    window.actions_table["modify"].trigger()
    text = window.pane.modify.draft().replace("120.5", "80.00")
    window.pane.modify.yours.setPlainText(text)
    await asyncio.sleep(0.4)


async def review(window: MainWindow, stage: Stage) -> None:
    """The differences before they are approved."""
    await modify(window, stage)
    window.actions_table["submit"].trigger()
    await asyncio.sleep(1.0)


async def steps(window: MainWindow, stage: Stage) -> None:
    """What the run did before."""
    await choose(window, stage, "refund")
    window.pane.tabs.setCurrentIndex(1)
    await asyncio.sleep(0.2)


async def file(window: MainWindow, stage: Stage) -> None:
    """The file and its bytes."""
    await choose(window, stage, "refund")
    window.pane.tabs.setCurrentIndex(3)
    await asyncio.sleep(0.2)


async def finished(window: MainWindow, stage: Stage) -> None:
    """What came of a call."""
    window.sidebar.choose_section(Section.FINISHED)
    await choose(window, stage, "done")


async def no_match(window: MainWindow, _stage: Stage) -> None:
    """A filter that hides everything."""
    await until(window.model.rowCount)
    window.filter.setText("tool:nothing-like-it")
    await asyncio.sleep(0.5)


async def keys(window: MainWindow, stage: Stage) -> None:
    """The list of keys."""
    await choose(window, stage, "refund")
    window.show_keys()
    await asyncio.sleep(0.3)


async def empty(_window: MainWindow, _stage: Stage) -> None:
    """A quiet inbox."""
    await asyncio.sleep(0.8)


SCENES: dict[str, tuple[Callable[[Stage], None], Scene]] = {
    "inbox": (full, inbox),
    "hidden": (full, hidden),
    "long": (full, long_text),
    "armed": (full, armed),
    "dead": (full, dead),
    "uncertain": (full, uncertain),
    "deny": (full, deny),
    "modify": (full, modify),
    "review": (full, review),
    "steps": (full, steps),
    "file": (full, file),
    "finished": (full, finished),
    "no-match": (full, no_match),
    "keys": (full, keys),
    "empty": (nothing, empty),
}


async def picture(app: QApplication, out: Path, name: str, *, dark: bool, size: QSize) -> None:
    """Make one picture."""
    build, scene = SCENES[name]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINECLEAR_HOME"] = os.environ["HOME"] = folder
        stage = Stage(Path(folder))
        build(stage)
        tasks = Tasks(asyncio.get_running_loop())
        launch = LaunchSetting(
            agent="mailer", argv=("/usr/bin/env", "lineclear", "resume", "{store}")
        )
        settings = Settings(sources=(SourceSetting(path=stage.source),), launch=(launch,))
        bridge = Bridge(settings)
        look = Theme(app, dark=dark)
        window = MainWindow(bridge, look, tasks, app, demo=name == "empty")
        window.resize(size)
        window.show()
        window.activateWindow()
        bridge.start()
        try:
            await scene(window, stage)
            target = out / f"{name}-{'dark' if dark else 'light'}.png"
            window.grab().save(str(target))
            for dialog in app.topLevelWidgets():
                if dialog.isVisible() and dialog.objectName() == "keyList":
                    dialog.grab().save(str(target))
                    dialog.close()
            print(target)
        finally:
            window.quit()
            window.hide()
            await tasks.close()
            await bridge.stop()
            look.stop()
            window.deleteLater()
            for lock in stage.locks:
                lock.close()


async def pictures(app: QApplication, options: argparse.Namespace) -> None:
    """Make all that were asked for."""
    out = Path(options.folder)
    width, height = (int(part) for part in options.size.split("x"))
    for name in options.scene or SCENES:
        await picture(app, out, name, dark=options.dark, size=QSize(width, height))


def main() -> int:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--scene", action="append", choices=list(SCENES))
    parser.add_argument("--size", default="1280x680")
    options = parser.parse_args()
    readme = options.folder is None
    if readme:
        options.folder, options.scene = str(README_PICTURES), ["inbox"]
    Path(options.folder).mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(pictures(app, options))
        if readme:
            options.dark = True
            runner.run(pictures(app, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
