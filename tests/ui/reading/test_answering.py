"""A result in place of a run, from the row on disk to what the agent gets of it."""

import asyncio
import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest

from lineclear.core.inbox.deciding.path import Origin, answer
from lineclear.core.inbox.operator.settings import LaunchSetting
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.state import State
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.arming import SETTLE_S, STOP_SETTLE_S, Act
from lineclear.ui.deciding.offers import ABOUT_ANSWER, ANSWERING, Offer
from lineclear.ui.queue.sections import Section
from lineclear.ui.reading.answer_editor import ASKED
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    deferred,
    deferred_call,
    starweaver_document,
    waiting_state,
)
from tests.ui.sample import a_decision, a_row, ask_for
from tests.ui.test_window import click, decision_of, press, ready, says, select

BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def left(source: Path, request: object = None, approvals: int = 2) -> Path:
    """A run that waits for approvals and for one result."""
    waits = deferred("call_d")
    if request is not None:
        waits["metadata"]["deferred"] = request
    asked = [f"call_{number}" for number in range(1, approvals + 1)]
    commands = [{"command": f"make {item}"} for item in asked]
    state = waiting_state(
        *(approval(item, arguments=its) for item, its in zip(asked, commands, strict=True)),
        batch=[
            *(call(item, arguments=its) for item, its in zip(asked, commands, strict=True)),
            deferred_call(),
        ],
        deferred_tool_returns=[waits],
    )
    if not approvals:
        state["pending_approval_tool_returns"] = []
    (source / "web").mkdir(mode=0o700)
    path = source / "web" / "run.checkpoint.json"
    return badinputs.put(path, json.dumps(starweaver_document(state)).encode())


async def choose(window, until, item: str):
    """Select the row of one item and wait for its reading; the row."""

    def look():
        rows = [row for section in Section for row in window.model.rows_in(section)]
        return next((row for row in rows if row.item == item), None)

    row = await until(look, f"the row of {item}")
    await select(window, until, row.id)
    return row


def row_of(window, row):
    return window.model.row(row.id)


def resumable(window, source: Path) -> None:
    """A command of the settings resumes whatever is in SOURCE."""
    launch = (LaunchSetting(source=source, argv=("/bin/true",)),)
    changed = window._bridge.settings.model_copy(update={"launch": launch})
    window._bridge.settings = changed
    window._bridge._watcher.apply(changed)


async def opened(window, until, item: str = "call_d"):
    """Select a call, open the editor of its answer by its key; the editor."""
    row = await choose(window, until, item)
    await until(window.pane.bar.answer.isVisible, "Answer\u2026")
    press(window, Qt.Key.Key_M)
    editor = window.pane.answer
    assert editor.yours.hasFocus()
    return row, editor


async def give(window, until) -> None:
    """Click the button of what is reviewed once it may be."""
    await ready(window, until)
    click(window.pane.bar.approve)


def review(window) -> None:
    press(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def results(source: Path) -> list[Path]:
    return list((source / "web" / ".approvals").glob("*.results.json"))


# --- What is said -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more, told",
    [
        ({}, "agent-1 gets this at once; the tool does not run."),
        ({"process": Process.ELSEWHERE}, "agent-1 gets this at once; the tool does not run."),
        (
            {"process": Process.DEAD},
            "The tool does not run. agent-1 gets this when it is resumed.",
        ),
        (
            {"system": "starweaver", "kind": "deferred", "process": Process.ALIVE},
            "The tool does not run. agent-1 gets this when it is resumed.",
        ),
    ],
)
def test_the_bar_says_when_the_agent_gets_it(more, told):
    offer = offers.answering(a_row(1, **more), reviewed=True, flagged=False)
    assert (offer.sentence, offer.approve) == (told, "Give this answer")
    assert offers.answering(a_row(1, **more), reviewed=False, flagged=False) == Offer(ANSWERING)


@pytest.mark.parametrize(
    "warnings, flagged, label",
    [
        (("first_time",), False, "Give this answer"),
        (("twin",), False, "Answer anyway"),
        ((), True, "Answer anyway"),
    ],
)
def test_an_answer_despite_a_stop_says_so(warnings, flagged, label):
    row = a_row(1, warnings=warnings)
    assert offers.answering(row, reviewed=True, flagged=flagged).approve == label


@pytest.mark.parametrize(
    "more, offered",
    [
        ({}, True),
        ({"system": "lc-agents"}, False),
        ({"system": "starweaver", "kind": "deferred"}, True),
        ({"warnings": ("marked_cut",)}, False),
        ({"system": "starweaver", "kind": "deferred", "warnings": ("damaged",)}, False),
        ({"state": State.APPROVED, "decision": a_decision()}, False),
    ],
)
def test_an_answer_is_offered_where_one_is_taken(more, offered):
    assert offers.offer(a_row(1, **more)).answer is offered


def test_what_is_decided_already_takes_no_answer():
    row = a_row(1, system="starweaver", kind="deferred", decision=a_decision("result", result={}))
    offer = offers.allowed(row, offers.offer(row))
    assert not offer.answer
    assert "was already answered by ann" in offer.sentence


# --- What is offered ----------------------------------------------------------------------------


async def test_a_call_that_runs_elsewhere_takes_an_answer_and_nothing_else(inbox, source, until):
    left(source, approvals=0)
    await choose(inbox, until, "call_d")
    bar = inbox.pane.bar
    await until(bar.answer.isVisible, "Answer\u2026")
    assert not any(each.isVisible() for each in (bar.approve, bar.deny, bar.modify))
    assert says(inbox, "sentence") == ABOUT_ANSWER
    assert says(inbox, "standing") == "Waits for your answer."
    press(inbox, Qt.Key.Key_D)
    press(inbox, Qt.Key.Key_A)
    assert inbox.pane.editor.question is None
    assert inbox.flow.arming.armed is None


@pytest.mark.parametrize(
    "key, modifier",
    [
        (Qt.Key.Key_M, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_M, BOTH),
        (Qt.Key.Key_G, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_G, BOTH),
    ],
)
async def test_keys_open_the_answer(inbox, source, until, key, modifier):
    left(source)
    await choose(inbox, until, "call_d")
    await until(inbox.pane.bar.answer.isVisible, "Answer\u2026")
    press(inbox, key, modifier)
    assert inbox.pane.editing is inbox.pane.answer
    assert inbox.pane.answer.yours.hasFocus()
    assert '"title": "T"' in inbox.pane.answer.asked.toPlainText()
    assert says(inbox, "alone") == ANSWERING
    assert not inbox.pane.bar.approve.isVisible()


async def test_an_approval_of_another_system_takes_no_answer(inbox, source, until):
    left(source)
    await choose(inbox, until, "call_1")
    await until(inbox.pane.bar.modify.isVisible, "Modify\u2026")
    assert not inbox.pane.bar.answer.isVisible()
    press(inbox, Qt.Key.Key_G)
    assert inbox.pane.editing is None


# --- From the first to the last of a run --------------------------------------------------------


async def test_a_run_is_decided_call_by_call_and_can_then_be_resumed(inbox, source, until):
    left(source)
    resumable(inbox, source)
    first = await choose(inbox, until, "call_1")
    await until(lambda: "(0 done)" in says(inbox, "sentence"), "none done")
    assert says(inbox, "sentence") == (
        "Held until all 3 calls of this run are decided (0 done). "
        "Still to decide: shell, create_issue."
    )
    await give(inbox, until)
    await until(lambda: row_of(inbox, first).state is State.HELD, "the first one held")
    second = await choose(inbox, until, "call_2")
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_D)
    QTest.keyClicks(inbox.pane.editor.text, "no")
    review(inbox)
    await until(lambda: row_of(inbox, second).state is State.HELD, "the second one held")
    last, editor = await opened(inbox, until)
    held = "Held until all 3 calls of this run are decided (2 done)."
    press(inbox, Qt.Key.Key_Escape)
    assert says(inbox, "sentence") == f"{ABOUT_ANSWER} {held}"
    press(inbox, Qt.Key.Key_M)
    editor.yours.setPlainText('{"issue": "OPS-12", "n": 1e16}')
    review(inbox)
    assert says(inbox, "sentence") == held
    assert results(source) == []
    await give(inbox, until)
    await until(lambda: row_of(inbox, last).state is State.APPROVED, "handed over")
    (handed,) = results(source)
    document = json.loads(handed.read_text())
    assert {key: one["decision"] for key, one in document["approvals"].items()} == {
        "call_1": "approved",
        "call_2": "denied",
    }
    assert document["deferred_results"]["results"] == [
        {
            "deferred_id": "deferred_run_1_call_d",
            "status": "completed",
            "response": {"issue": "OPS-12", "n": 1e16},
        }
    ]
    assert "1e16" in handed.read_text()
    await until(inbox.pane.bar.resume.isVisible, "Resume")
    assert "Answered by you" in says(inbox, "standing")


async def test_the_record_says_how_it_was_answered(inbox, source, until):
    left(source)
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText("[1, 2.50]")
    review(inbox)
    await asyncio.sleep(0.45)
    await ready(inbox, until)
    press(inbox, Qt.Key.Key_A)
    assert says(inbox, "sentence") == "Press Enter to give this answer \u00b7 Esc to cancel"
    await asyncio.sleep(0.3)
    press(inbox, Qt.Key.Key_Return)
    await until(lambda: row_of(inbox, row).decision, "the decision")
    decision = row_of(inbox, row).decision
    assert decision.verdict == "result"
    assert decision.result == {"status": "completed", "response": [1, 2.5]}
    assert (decision.shown["front_end"], decision.shown["origin"]) == ("window", "key")
    assert decision.shown["seconds"] >= SETTLE_S
    await until(inbox.table.hasFocus, "the focus in the table")


# --- Writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed, told",
    [
        ("{", "Line 1, column 2: "),
        ('{"a": 1,\n "a": 2}', "Line 2, column 2: the key 'a' appears twice"),
        ('{"a": NaN}', "Line 1, column 7: it holds NaN"),
        ('["half \\ud800"]', "Line 1, column 8: it holds half a character"),
        (f'"{"x" * 200_000}"', "Line 1, column 200001: it is too long"),
    ],
)
async def test_what_cannot_be_read_is_not_reviewed(inbox, source, until, typed, told):
    left(source)
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText(typed)
    review(inbox)
    assert not editor.in_review()
    assert editor.problem.text().startswith(told)
    assert not editor.review.isEnabled()
    assert not inbox.pane.bar.approve.isVisible()
    assert row_of(inbox, row).state is State.PENDING


async def test_plain_text_is_offered_to_be_sent_as_a_json_text(inbox, source, until):
    left(source)
    row, editor = await opened(inbox, until)
    QTest.keyClicks(editor.yours, 'say "done"')
    await until(editor.as_text.isVisible, "the offer")
    assert editor.problem.text() == "Line 1, column 1: this is not JSON: a value is missing there."
    click(editor.as_text)
    assert not editor.as_text.isVisible()
    assert editor.problem.text() == "Text, 10 characters."
    assert editor.yours.hasFocus()
    review(inbox)
    assert '  "response": "say \\"done\\""' in editor.changes.toPlainText().split("\n")
    await give(inbox, until)
    await until(lambda: row_of(inbox, row).decision, "the decision")
    assert row_of(inbox, row).decision.native["response"] == 'say "done"'


async def test_what_is_wrong_in_json_is_not_offered_as_text(inbox, source, until):
    left(source)
    _, editor = await opened(inbox, until)
    editor.yours.setPlainText('{"a": 1, "a": 2}')
    assert not editor.check()
    assert not editor.as_text.isVisible()


async def test_a_failure_needs_its_message(inbox, source, until):
    left(source)
    row, editor = await opened(inbox, until)
    editor._ends.button(1).click()
    assert editor.problem.text() == "Say what failed: the agent reads it."
    editor.yours.setFocus()
    review(inbox)
    assert not editor.in_review()
    QTest.keyClicks(editor.yours, "The tracker is down.")
    review(inbox)
    assert editor.in_review()
    await give(inbox, until)
    await until(lambda: row_of(inbox, row).decision, "the decision")
    assert row_of(inbox, row).decision.native == {
        "deferred_id": "deferred_run_1_call_d",
        "status": "failed",
        "response": "The tracker is down.",
    }


async def test_a_cancelled_call_needs_no_response(inbox, source, until):
    left(source)
    row, editor = await opened(inbox, until)
    editor._ends.button(2).click()
    assert editor.problem.text() == "The agent gets no response, only that it is cancelled."
    editor.yours.setFocus()
    review(inbox)
    await give(inbox, until)
    await until(lambda: row_of(inbox, row).decision, "the decision")
    assert row_of(inbox, row).decision.result == {"status": "cancelled"}


async def test_what_was_begun_keeps_its_form_when_its_end_changes(inbox, source, until):
    left(source)
    _, editor = await opened(inbox, until)
    editor.yours.setPlainText('{"code": 7}')
    editor._ends.button(1).click()
    assert editor.check()
    assert editor.value == {"code": 7}


# --- Reviewing ----------------------------------------------------------------------------------


async def test_ctrl_enter_reviews_and_never_gives(inbox, source, until):
    left(source)
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText('{"ok": true}')
    review(inbox)
    shown = editor.changes.toPlainText().split("\n")
    assert [line.strip() for line in shown[:6]] == [
        "{",
        '"deferred_id": "deferred_run_1_call_d",',
        '"status": "completed",',
        '"response": {',
        '"ok": true',
        "}",
    ]
    assert shown[shown.index(ASKED) + 1 :] == inbox.flow.view.prepared.text.split("\n")
    assert editor.heading.text() == "The agent gets exactly this; create_issue does not run:"
    assert inbox.pane.bar.approve.text() == "Give this answer"
    await ready(inbox, until)
    review(inbox)
    review(inbox)
    await asyncio.sleep(0.3)
    assert not inbox.flow._busy
    assert row_of(inbox, row).state is State.PENDING
    press(inbox, Qt.Key.Key_Escape)
    assert not editor.in_review()
    assert inbox.pane.editing is editor


async def test_a_long_request_must_be_in_view_to_its_end(inbox, source, until):
    left(source, {"lines": [f"line {number}" for number in range(300)]})
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText("1")
    review(inbox)
    await until(editor.changes.complete, "the whole text")
    await asyncio.sleep(SETTLE_S + 0.2)
    click(inbox.pane.bar.approve)
    assert "below not seen" in says(inbox, "sentence")
    assert not inbox.flow._busy
    press(inbox, Qt.Key.Key_End)
    await give(inbox, until)
    await until(lambda: row_of(inbox, row).decision, "the decision")


async def test_a_flagged_place_of_the_request_must_have_been_in_view(inbox, source, until):
    lines = [f"line {number}" for number in range(300)]
    lines[150] = "pay \u202eevil"
    left(source, {"lines": lines})
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText("1")
    review(inbox)
    await until(editor.changes.complete, "the whole text")
    assert inbox.pane.bar.approve.text() == "Answer anyway"
    press(inbox, Qt.Key.Key_End)
    await asyncio.sleep(STOP_SETTLE_S + 0.3)
    click(inbox.pane.bar.approve)
    assert "flagged place" in says(inbox, "sentence")
    assert not inbox.flow._busy
    press(inbox, Qt.Key.Key_F8)
    await give(inbox, until)
    decision = await until(lambda: row_of(inbox, row).decision, "the decision")
    assert "invisible" in decision.shown["despite"]


async def test_hidden_characters_that_the_operator_writes_take_the_second_step(
    inbox, source, until
):
    left(source)
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText('{"id": "A\\u202eB"}')
    assert editor.check()
    assert editor.problem.text().startswith("Look at it in the review: It holds characters")
    review(inbox)
    assert inbox.pane.bar.approve.text() == "Answer anyway"
    assert "\u27e6U+202E\u27e7" in editor.changes.toPlainText()
    await asyncio.sleep(SETTLE_S + 0.3)
    assert not inbox.flow.arming.readiness(Act.APPROVE).ready
    await give(inbox, until)
    decision = await until(lambda: row_of(inbox, row).decision, "the decision")
    assert decision.native["response"] == {"id": "A\u202eB"}
    assert decision.shown["despite"] == ["invisible"]


# --- Drafts and others --------------------------------------------------------------------------


async def test_a_draft_is_kept_for_its_call_with_its_end_and_form(inbox, source, until):
    left(source)
    row, editor = await opened(inbox, until)
    editor._ends.button(1).click()
    editor.yours.setPlainText("half a tho")
    await choose(inbox, until, "call_1")
    assert inbox.pane.editing is None
    row, editor = await opened(inbox, until)
    assert (editor._end(), editor._form()) == ("failed", "text")
    assert editor.yours.toPlainText() == "half a tho"
    press(inbox, Qt.Key.Key_Escape)
    assert inbox.pane.editing is None
    assert row_of(inbox, row).state is State.PENDING


@pytest.mark.parametrize("reviewed", [False, True])
async def test_an_answer_elsewhere_freezes_what_was_written(inbox, source, until, reviewed):
    left(source)
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText('{"mine": 1}')
    if reviewed:
        review(inbox)
    answer(read_detail(row), "completed", {"theirs": 1}, Origin.CLI, inbox._bridge.settings)
    inbox._bridge.look_again(row.store)
    banner = await until(lambda: inbox.findChild(object, "frozen"), "the frozen banner")
    assert "You answered this elsewhere at" in banner.accessibleName()
    assert "Your text was not sent." in banner.accessibleName()
    assert not inbox.pane.bar.approve.isVisible()
    assert inbox.pane.editing is editor
    assert editor.yours.isReadOnly()
    assert editor.yours.toPlainText() == '{"mine": 1}'
    if reviewed:
        click(editor.back)
    assert not editor.review.isEnabled()
    editor.submit()
    assert not editor.in_review()
    assert not any(button.isEnabled() for button in editor._ends.buttons())


async def test_a_checkpoint_that_changes_freezes_what_was_written(inbox, source, until):
    path = left(source)
    row, editor = await opened(inbox, until)
    editor.yours.setPlainText('{"mine": 1}')
    badinputs.put(path, path.read_bytes() + b"\n")
    inbox._bridge.look_again(row.store)
    banner = await until(lambda: inbox.findChild(object, "frozen"), "the frozen banner")
    assert "Your text was not sent." in banner.accessibleName()
    assert editor.yours.isReadOnly()
    assert not inbox.pane.bar.approve.isVisible()


# --- Calls of our own agents --------------------------------------------------------------------


async def test_a_call_of_ours_takes_a_result_in_place_of_its_run(inbox, source, until):
    with AgentLock.acquire(source / "refund-bot"):
        shown = ask_for(source).shown
        await select(inbox, until, shown.aid)
        await until(inbox.pane.bar.answer.isVisible, "Answer\u2026")
        click(inbox.pane.bar.answer)
        editor = inbox.pane.answer
        assert not editor.ends.isVisible()
        assert editor.problem.text() == "Write the result that the agent gets."
        editor.yours.setPlainText('{"refund": "R-88"}')
        review(inbox)
        assert editor.changes.toPlainText().startswith('{\n  "refund": "R-88"\n}\n')
        assert says(inbox, "sentence") == ("refund-bot gets this at once; the tool does not run.")
        await give(inbox, until)
        decision = await until(lambda: decision_of(shown), "a decision")
        assert (decision.verdict, decision.result) == ("result", {"refund": "R-88"})


async def test_m_modifies_where_a_call_can_be_modified(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await until(inbox.pane.bar.modify.isVisible, "Modify\u2026")
    press(inbox, Qt.Key.Key_M)
    assert inbox.pane.editing is inbox.pane.modify
    press(inbox, Qt.Key.Key_Escape)
    press(inbox, Qt.Key.Key_G)
    assert inbox.pane.editing is inbox.pane.answer


async def test_a_note_of_an_approval_does_not_go_with_an_answer(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await until(inbox.pane.bar.answer.isVisible, "Answer\u2026")
    inbox.flow.asking.keep_note("as agreed")
    press(inbox, Qt.Key.Key_M)
    inbox.pane.modify.yours.setPlainText('{"customer": "C-1204", "amount": 20}')
    review(inbox)
    assert "as agreed" in says(inbox, "sentence")
    press(inbox, Qt.Key.Key_Escape)
    press(inbox, Qt.Key.Key_Escape)
    press(inbox, Qt.Key.Key_G)
    inbox.pane.answer.yours.setPlainText("1")
    review(inbox)
    assert "as agreed" not in says(inbox, "sentence")
    await give(inbox, until)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert (decision.verdict, decision.result, decision.note) == ("result", 1, None)


@pytest.mark.parametrize("width", [640, 1320, 1800])
async def test_every_button_is_whole_at_any_width(inbox, source, until, width):
    AgentLock.acquire(source / "refund-bot").close()
    resumable(inbox, source)
    shown = ask_for(source).shown
    inbox.resize(width, 620)
    await until(lambda: inbox.width() == width, "the width")
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    bar = inbox.pane.bar
    assert bar.approve.text() == "Approve and resume"
    for button in (bar.deny, bar.modify, bar.answer, bar.approve):
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()
        place = QRect(button.mapTo(inbox, QPoint(0, 0)), button.size())
        assert inbox.rect().contains(place), button.objectName()
    assert bar.approve.x() - bar.modify.geometry().right() >= 96
    # Answer has one place, whatever the width and the words on Approve.
    line = [each.mapTo(inbox, each.rect().bottomRight()) for each in (bar.answer, inbox.pane.note)]
    assert line[0].y() == line[1].y() < bar.mapTo(inbox, QPoint(0, 0)).y()
    assert 0 <= line[1].x() - inbox.pane.note.width() - line[0].x() <= 16
    press(inbox, Qt.Key.Key_G)
    assert inbox.pane.editing is inbox.pane.answer
