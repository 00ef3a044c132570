#!/usr/bin/env python3
"""Make pictures of the real window on real stores.

    screenshots.py                            the README's two, into resources/screenshots
    screenshots.py --all DIR                  every scene, light and dark, into DIR
    screenshots.py --all DIR --scene NAME     only that scene (repeatable)

Runs offscreen. Every scene is the program itself, driven as an operator would drive it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from history_scenes import HISTORY, past
from picture_burst import crowd
from picture_run import leave_waiting_run
from picture_settings import SETTINGS
from picture_settings import SHOWN as SETTINGS_SHOWN
from picture_stage import Stage, day, nothing
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop
from reading_scenes import READING

from lineclear.core.inbox.settings import LaunchSetting, Settings, SourceSetting
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Person
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow

README_PICTURES = Path(__file__).resolve().parent.parent / "resources" / "screenshots"
README_SCENE = "inbox"
RESUMED = """\
import time
print("Resuming archiver ...")
for table in ("orders", "invoices", "shipments"):
    print(f"archived {table} of 2024", flush=True)
time.sleep(20)
"""
"""What the resume command of the pictures runs."""


@dataclass(frozen=True)
class Set:
    """The window and what it looks at."""

    window: MainWindow
    stage: Stage
    calls: dict[str, str]
    """Ids by name."""

    async def choose(self, name: str) -> None:
        """Select a call, wait until it is read, and as long as makes it ready."""
        aid = self.calls[name]
        flow = self.window.flow
        await until(lambda: self.window.table.choose(aid))
        self.window.table.setFocus()
        await until(lambda: flow.current == aid and flow.view.prepared is not None)
        await asyncio.sleep(0.9)

    async def section(self, section: Section) -> None:
        """Go to a section once it has rows."""
        await until(lambda: self.window.model.counts()[section])
        self.window.sidebar.choose_section(section)

    def choose_agent(self, agent: str) -> bool:
        """Select the row of an agent that is not of this day, once it is there."""
        rows = [row for section in Section for row in self.window.model.rows_in(section)]
        return any(row.agent == agent and self.window.table.choose(row.id) for row in rows)

    def tab(self, name: str) -> bool:
        """Bring a tab of the reading pane to the front, once it is there."""
        tabs = self.window.pane.tabs
        for place in range(tabs.count()):
            if tabs.isTabVisible(place) and tabs.tabText(place) == name:
                tabs.setCurrentIndex(place)
                return True
        return False

    def do(self, action: str) -> None:
        """Do what a key does."""
        self.window.actions_table[action].trigger()


Scene = Callable[[Set], Awaitable[None]]


async def until(fact: Callable[[], object], seconds: float = 15) -> None:
    """Wait for a fact."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.02)


async def inbox(on: Set) -> None:
    """A waiting call, and others around it."""
    for name in ("query", "deploy", "refund"):
        await on.choose(name)


async def hidden(on: Set) -> None:
    """Characters that hide."""
    await on.choose("hidden")


async def long_text(on: Set) -> None:
    """Longer than the pane: not ready before its end."""
    await on.choose("hosts")
    on.do("approve")
    await asyncio.sleep(0.2)


async def armed(on: Set) -> None:
    """The letter was pressed, Enter is awaited."""
    await on.choose("bash")
    await asyncio.sleep(0.5)
    on.do("approve")
    await asyncio.sleep(0.1)


async def dead(on: Set) -> None:
    """Its agent died while it waited."""
    await on.choose("mail")


async def uncertain(on: Set) -> None:
    """A call that may have run."""
    await on.section(Section.MAY_HAVE_RUN)
    await on.choose("uncertain")


async def resume(on: Set) -> None:
    """Approved after its agent died: a resume is offered."""
    await on.section(Section.HANDED_OVER)
    await on.choose("approved")
    await asyncio.sleep(0.5)


async def console(on: Set) -> None:
    """Resumed, and what the agent prints."""
    await resume(on)
    QTest.mouseClick(on.window.pane.bar.resume, Qt.MouseButton.LeftButton)
    text = on.window.pane.console.text
    await until(lambda: "shipments" in text.toPlainText())
    await asyncio.sleep(0.3)


async def other_run(on: Set) -> None:
    """A run of another system that stopped."""
    await on.section(Section.TO_RESUME)
    on.window.table.step(1)
    await asyncio.sleep(1.2)


async def failed_run(on: Set) -> None:
    """A run of a third system that failed: where it stopped."""
    on.stage.leave("fixtures/starweaver/v041_run_failed.json", "planner", "run.checkpoint.json")
    await on.section(Section.TO_RESUME)
    await until(lambda: on.choose_agent("planner"))
    await asyncio.sleep(1.2)


async def waiting_run(on: Set) -> None:
    """A run of that system with several calls; one tab says where it stands."""
    file = "fixtures/starweaver/v041_waiting_medium_40_steps.json"
    on.stage.leave(file, "analyst", "run.checkpoint.json")
    await on.section(Section.WAITING)
    await until(lambda: on.choose_agent("analyst"))
    await until(lambda: on.tab("Execution"))
    await asyncio.sleep(0.4)


async def all_three(on: Set) -> None:
    """An agent that keeps its run in all three forms: the loop beside the call."""
    on.stage.execute()
    await on.section(Section.WAITING)
    await until(lambda: on.choose_agent("on-call"), 30)
    await until(lambda: on.tab("Loop"))
    await asyncio.sleep(0.4)


async def execution(on: Set) -> None:
    """The same, where its execution stands."""
    await all_three(on)
    on.tab("Execution")
    await asyncio.sleep(0.4)


async def unreadable(on: Set) -> None:
    """A checkpoint that is refused, with the reason."""
    await on.section(Section.UNREADABLE)
    on.window.table.step(1)
    await asyncio.sleep(1.2)


async def frozen(on: Set) -> None:
    """Somebody else denied the call while a reason was typed."""
    await deny(on)
    denied = Verdict("deny", reason="The order belongs to another customer.")
    bob = Person(uid=on.stage.by.uid, name="bob", host=on.stage.by.host)
    on.stage.decide(on.calls["refund"], denied, bob)
    await until(lambda: on.window.findChild(QWidget, "frozen"))
    await asyncio.sleep(0.3)


async def deny(on: Set) -> None:
    """The reason of a denial."""
    await on.choose("refund")
    on.do("deny")
    on.window.pane.editor.text.setPlainText("Wrong customer: the order belongs to C-1240.")
    await asyncio.sleep(0.2)


async def modify(on: Set) -> None:
    """Asked beside yours."""
    await on.choose("refund")
    on.do("modify")
    editor = on.window.pane.modify
    editor.yours.setPlainText(editor.draft().replace("120.5", "80.00"))
    await asyncio.sleep(0.4)


async def form(on: Set) -> None:
    """Yours as a form, where the tool left a schema."""
    await on.choose("refund")
    on.do("modify")
    on.window.pane.modify.as_form.click()
    await asyncio.sleep(0.4)


async def review(on: Set) -> None:
    """The differences before they are approved."""
    await modify(on)
    on.do("submit")
    await asyncio.sleep(1.0)


async def elsewhere(on: Set) -> None:
    """A call that runs elsewhere: it takes a result, and waits for the others of its run."""
    leave_waiting_run(on.stage.source)

    def issue() -> list[str]:
        rows = on.window.model.rows_in(Section.WAITING)
        return [row.id for row in rows if row.kind == "deferred"]

    await until(issue)
    (on.calls["issue"],) = issue()
    await on.choose("issue")


async def answer(on: Set) -> None:
    """What the agent gets in place of a run, while it is written."""
    await elsewhere(on)
    on.do("answer")
    on.window.pane.answer.yours.setPlainText('{\n  "issue": "OPS-4121",\n  "issue": "OPS-4122"\n}')
    await asyncio.sleep(0.4)


async def answer_failed(on: Set) -> None:
    """The message of a failure, which is no JSON."""
    await elsewhere(on)
    on.do("answer")
    editor = on.window.pane.answer
    editor.yours.setPlainText("The tracker is down until 14:00.")
    QTest.mouseClick(editor.findChild(QWidget, "answerFailed"), Qt.MouseButton.LeftButton)
    await asyncio.sleep(0.4)


async def answer_review(on: Set) -> None:
    """Exactly what the agent gets, before it is given."""
    await answer(on)
    on.window.pane.answer.yours.setPlainText('{"issue": "OPS-4121", "note": "see \\u202e14:00"}')
    on.do("submit")
    await asyncio.sleep(2.4)


async def result(on: Set) -> None:
    """A result in place of a run that an agent of ours waits with."""
    await on.choose("refund")
    on.do("answer")
    on.window.pane.answer.yours.setPlainText('{"refund": "R-88", "by": "phone"}')
    await asyncio.sleep(0.4)


async def steps(on: Set) -> None:
    """What the run did before."""
    await on.choose("refund")
    on.window.pane.tabs.setCurrentWidget(on.window.pane.steps)
    await asyncio.sleep(0.2)


async def file(on: Set) -> None:
    """The file and its bytes."""
    await on.choose("refund")
    on.window.pane.tabs.setCurrentWidget(on.window.pane.file)
    await asyncio.sleep(0.2)


async def finished(on: Set) -> None:
    """What came of a call."""
    await on.section(Section.FINISHED)
    await on.choose("done")


async def failed(on: Set) -> None:
    """A call whose tool failed."""
    await on.section(Section.FINISHED)
    await on.choose("failed")


async def no_match(on: Set) -> None:
    """A filter that hides everything."""
    await until(on.window.model.rowCount)
    on.window.filter.setText("tool:nothing-like-it")
    await asyncio.sleep(0.5)


async def filter_help(on: Set) -> None:
    """How a filter may go on."""
    await until(lambda: on.window.overview.complete)
    on.do("filter")
    QTest.keyClicks(on.window.filter, "tool:s")
    await asyncio.sleep(0.3)


async def filter_wrong(on: Set) -> None:
    """A filter with a word that cannot be understood."""
    await until(on.window.model.rowCount)
    on.do("filter")
    QTest.keyClicks(on.window.filter, "tool:send age:soon")
    await asyncio.sleep(0.4)


async def snoozed(on: Set) -> None:
    """Calls that the operator put off."""
    await on.choose("refund")
    await on.choose("bash")
    later = datetime.now(UTC) + timedelta(minutes=40)
    rows = [on.window.model.row(on.calls[name]) for name in ("refund", "bash")]
    on.window.own_view.snoozing.put_off([row for row in rows if row is not None], later)
    on.window.sidebar.choose_section(Section.SNOOZED)
    await on.choose("bash")


async def keys(on: Set) -> None:
    """The list of keys."""
    await on.choose("refund")
    on.window.show_keys()
    await asyncio.sleep(0.3)


async def closing(on: Set) -> None:
    """Closed where there is no tray: what it means, said once."""
    await on.choose("refund")
    on.window.close()
    await asyncio.sleep(0.2)


async def empty(_on: Set) -> None:
    """A quiet inbox."""
    await asyncio.sleep(0.8)


async def several(on: Set) -> None:
    """Many calls of one tool are selected."""
    await until(lambda: on.window.model.rowCount() >= 60)
    await on.choose("0")
    on.window.table.selectAll()
    await asyncio.sleep(0.6)


async def burst(on: Set) -> None:
    """Calls of one tool side by side."""
    await several(on)
    on.do("together")
    await until(lambda: on.window.together.flow)
    await asyncio.sleep(0.9)


async def burst_armed(on: Set) -> None:
    """The last row was seen, the letter was pressed."""
    await burst(on)
    flow = on.window.together.flow
    assert flow is not None
    flow.window.table.scrollToBottom()
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready)
    flow.hands.letter(Act.APPROVE)
    await asyncio.sleep(0.1)


async def burst_deny(on: Set) -> None:
    """The one reason of all denials."""
    await burst(on)
    flow = on.window.together.flow
    assert flow is not None
    flow.deny()
    flow.window.editor.text.setPlainText("Yesterday's price list. Ask again with today's.")
    await asyncio.sleep(0.3)


async def burst_done(on: Set) -> None:
    """What became of each: two were decided elsewhere meanwhile."""
    await burst(on)
    flow = on.window.together.flow
    assert flow is not None
    bob = Person(uid=on.stage.by.uid, name="bob", host=on.stage.by.host)
    on.stage.decide(on.calls["7"], Verdict("deny", reason="A second refund of C-1207."), bob)
    on.stage.decide(on.calls["8"], Verdict("deny", reason="A second refund of C-1208."), bob)
    await until(flow.window.model.endings)
    flow.window.table.scrollToBottom()
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready)
    QTest.mouseClick(flow.window.approve, Qt.MouseButton.LeftButton)
    await until(lambda: flow.run.total and not flow.run.going)
    flow.window.table.scrollToTop()
    await asyncio.sleep(0.3)


SCENES: dict[str, Scene] = {
    **READING,
    **HISTORY,
    **SETTINGS,
    README_SCENE: inbox,
    "hidden": hidden,
    "long": long_text,
    "armed": armed,
    "dead": dead,
    "uncertain": uncertain,
    "resume": resume,
    "console": console,
    "other-run": other_run,
    "failed-run": failed_run,
    "waiting-run": waiting_run,
    "all-three": all_three,
    "execution": execution,
    "unreadable": unreadable,
    "frozen": frozen,
    "deny": deny,
    "modify": modify,
    "form": form,
    "review": review,
    "elsewhere": elsewhere,
    "answer": answer,
    "answer-failed": answer_failed,
    "answer-review": answer_review,
    "result": result,
    "steps": steps,
    "file": file,
    "finished": finished,
    "failed": failed,
    "no-match": no_match,
    "filter-help": filter_help,
    "filter-wrong": filter_wrong,
    "snoozed": snoozed,
    "keys": keys,
    "closing": closing,
    "several": several,
    "burst": burst,
    "burst-armed": burst_armed,
    "burst-deny": burst_deny,
    "burst-done": burst_done,
    "burst-hostile": burst,
    "empty": empty,
    "demo": empty,
}
STAGES: dict[str, Callable[[Stage], dict[str, str]]] = {
    "empty": nothing,
    "demo": nothing,
    "several": crowd,
    "burst": crowd,
    "burst-armed": crowd,
    "burst-deny": crowd,
    "burst-done": crowd,
    "burst-hostile": lambda stage: crowd(stage, hostile=True),
    **dict.fromkeys(HISTORY, past),
}
"""Scenes on another source than a working day's."""


async def picture(
    app: QApplication, target: Path, name: str, *, dark: bool, size: QSize, high: bool = False
) -> None:
    """Make one picture; HIGH: in high contrast."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINECLEAR_HOME"] = os.environ["HOME"] = folder
        stage = Stage(Path(folder))
        calls = STAGES.get(name, day)(stage)
        tasks = Tasks(asyncio.get_running_loop())
        script = Path(folder) / "resume.py"
        script.write_text(RESUMED, encoding="utf-8")
        argv = (sys.executable, str(script), "{store}")
        launches = tuple(LaunchSetting(agent=agent, argv=argv) for agent in ("archiver", "mailer"))
        settings = Settings(sources=(SourceSetting(path=stage.source),), launch=launches)
        bridge = Bridge(settings)
        look = Theme(app, dark=dark)
        look.follow_desktop(high=high)
        window = MainWindow(bridge, look, tasks, app, demo=name == "demo")
        window.resize(size)
        window.show()
        window.activateWindow()
        bridge.start()
        try:
            await SCENES[name](Set(window, stage, calls))
            shown = (
                window.findChild(QWidget, "keyList") or window.findChild(QWidget, "burst") or window
            )
            own = (window.findChild(QWidget, each) for each in (*SETTINGS_SHOWN, "exportHistory"))
            shown = next((each for each in own if each is not None and each.isVisible()), shown)
            if shown.objectName() == "burst":
                shown.resize(size)
                await asyncio.sleep(0.2)
            shown.grab().save(str(target))
            print(target)
        finally:
            window.quit()
            window.hide()
            await tasks.close()
            await bridge.stop()
            look.stop()
            window.deleteLater()
            # The next look begins where a new process would.
            app.setStyleSheet("")
            app.setPalette(QPalette())
            stage.close()


async def pictures(app: QApplication, options: argparse.Namespace) -> None:
    """Make all that were asked for, light and dark."""
    out = README_PICTURES if options.all is None else Path(options.all)
    out.mkdir(parents=True, exist_ok=True)
    names = [README_SCENE] if options.all is None else options.scene or list(SCENES)
    width, height = (int(part) for part in options.size.split("x"))
    for name in names:
        for look in ("light", "dark"):
            kind = f"high-{look}" if options.high else look
            target = out / f"{name}-{kind}.png"
            size, dark = QSize(width, height), look == "dark"
            await picture(app, target, name, dark=dark, size=size, high=options.high)


def main() -> int:
    """Make the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", metavar="DIR", help="every scene, light and dark, into DIR")
    parser.add_argument("--scene", action="append", choices=list(SCENES), help="with --all")
    parser.add_argument("--high", action="store_true", help="in high contrast")
    parser.add_argument("--size", default="1280x680", metavar="WIDTHxHEIGHT")
    parser.add_argument("--ratio", default="2", help="device pixels per pixel (default: 2)")
    options = parser.parse_args()
    os.environ["QT_SCALE_FACTOR"] = options.ratio
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(pictures(app, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
