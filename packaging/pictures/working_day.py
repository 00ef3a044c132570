"""Scenes of a working day: what waits, what stopped, what is being read and answered."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Person
from lineclear.ui.queue.sections import Section
from pictures.set import Scene, Set, until
from pictures.waiting_run import leave_waiting_run

README_SCENE = "inbox"


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


async def totals(on: Set) -> None:
    """Every figure of a selection and of all that waits."""
    file = "fixtures/starweaver/v041_waiting_medium_40_steps.json"
    on.stage.leave(file, "analyst", "run.checkpoint.json")
    await on.section(Section.WAITING)
    await until(lambda: on.choose_agent("analyst"))
    await asyncio.sleep(0.9)
    for _row in range(3):
        QTest.keyClick(on.window.table, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    await asyncio.sleep(0.6)
    QTest.mouseClick(on.window.status.totals, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))


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
    failed = editor.findChild(QWidget, "answerFailed")
    assert failed is not None
    QTest.mouseClick(failed, Qt.MouseButton.LeftButton)
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


WORKING_DAY: dict[str, Scene] = {
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
    "totals": totals,
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
    "empty": empty,
    "demo": empty,
}
