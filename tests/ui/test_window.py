"""The window from a store on disk to a verdict on disk: real files, real keys and clicks."""

import asyncio
import dataclasses
import os

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.liveness import current_owner
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.records import Decision
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Shown, Store
from lineclear.ui.deciding.arming import CONFIRM_AFTER_S, SETTLE_S, STOP_SETTLE_S, Act, Need
from lineclear.ui.labels import PlainLabel
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.sections import Section
from lineclear.ui.reading.modify_editor import WHOLE
from lineclear.ui.window import MainWindow
from tests.ui.sample import BOB, ask_for


def decision_of(shown: Shown) -> Decision | None:
    with Store.open(shown.store) as store:
        return store.records(shown.seq, shown.aid).decision


def says(window: MainWindow, name: str) -> str:
    label = window.findChild(PlainLabel, name)
    assert label is not None
    return label.text()


async def select(window: MainWindow, until, aid: str) -> None:
    """Choose a row and wait until its bytes are in the pane."""
    await until(lambda: window.table.choose(aid), "the row")
    window.table.setFocus()
    await until(
        lambda: window.flow.view.prepared is not None and window.flow.current == aid, "the reading"
    )


async def ready(window: MainWindow, until, act: Act = Act.APPROVE) -> None:
    await until(lambda: window.flow.arming.readiness(act).ready, f"{act} to be ready")


def press(window: MainWindow, key: Qt.Key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, key, modifier)


def click(widget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


# --- Rows ---------------------------------------------------------------------------------------


async def test_a_call_on_disk_becomes_a_row(inbox, source, until):
    ask_for(source)
    await until(lambda: inbox.model.rowCount() == 1, "a row")
    cells = [inbox.model.index(0, column).data() for column in Column]
    assert cells[:4] == ["Waiting", "send_refund", 'customer="C-1204"  amount=80', "refund-bot"]
    await until(lambda: "1 waiting" in inbox.windowTitle(), "the title")


async def test_an_arrival_selects_nothing(inbox, source, until):
    ask_for(source)
    await until(lambda: inbox.table.hasFocus() and inbox.model.rowCount() == 1, "a row")
    assert inbox.flow.current == ""
    assert says(inbox, "hint") == "Select a call. a then Enter approves, d denies."


# --- Approving ----------------------------------------------------------------------------------


async def test_a_then_enter_approves_exactly_the_bytes_shown(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    press(inbox, Qt.Key.Key_A)
    assert says(inbox, "sentence") == "Press Enter to approve \u00b7 Esc to cancel"
    await asyncio.sleep(0.3)
    press(inbox, Qt.Key.Key_Return)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.verdict == "approve"
    assert decision.request_sha256 == shown.sha256
    assert decision.shown["front_end"] == "window"
    assert decision.shown["origin"] == "key"
    await until(inbox.table.hasFocus, "the focus in the table")


async def test_a_click_approves_when_it_is_armed_and_not_before(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    click(inbox.pane.bar.approve)
    assert not inbox.flow._busy
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.shown["origin"] == "click"


async def test_a_masked_place_has_to_be_shown_before_an_approval(inbox, source, until):
    given = {"url": "https://evil:hunter2@good.example/pay", "amount": 5}
    shown = ask_for(source, arguments=given).shown
    await select(inbox, until, shown.aid)
    arming = inbox.flow.arming
    await until(lambda: arming.readiness(Act.APPROVE).need is Need.MASKED, "the mask to be told")
    await until(lambda: "A masked place was not shown" in says(inbox, "sentence"), "the sentence")
    press(inbox, Qt.Key.Key_A)
    click(inbox.pane.bar.approve)
    assert arming.armed is None
    assert not inbox.flow._busy
    press(inbox, Qt.Key.Key_F8)
    await until(inbox.pane.call.fields.hasFocus, "the focus at the mask")
    press(inbox, Qt.Key.Key_Space)
    assert inbox.pane.masked_waiting() == []
    assert arming.readiness(Act.APPROVE).need is not Need.READY
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.shown["masked"] == {"shown": 1, "unshown": 0}
    assert decision.shown["end_seen"] is True


async def test_a_credential_may_stay_masked_and_then_nobody_says_that_all_was_seen(
    inbox, source, until
):
    given = {"api_key": "9f86d081884c7d659a2feaa0c55ad015", "amount": 5}
    shown = ask_for(source, arguments=given).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.shown["masked"] == {"shown": 0, "unshown": 1}
    assert "end_seen" not in decision.shown


async def test_a_denial_needs_no_mask_opened_and_says_that_it_was_not(inbox, source, until):
    shown = ask_for(source, arguments={"password": "correct-horse"}).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_D)
    inbox.pane.editor.text.setPlainText("no")
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.shown["end_seen"] is False
    assert decision.shown["masked"] == {"shown": 0, "unshown": 1}


async def test_enter_without_the_letter_and_the_letter_without_enter_do_nothing(
    inbox, source, until
):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    press(inbox, Qt.Key.Key_Return)
    press(inbox, Qt.Key.Key_A)
    press(inbox, Qt.Key.Key_Escape)
    await asyncio.sleep(0.3)
    press(inbox, Qt.Key.Key_Return)
    assert not inbox.flow._busy
    assert decision_of(shown) is None


async def test_typing_banana_and_enter_into_the_table_approves_nothing(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    for key in (Qt.Key.Key_B, Qt.Key.Key_A, Qt.Key.Key_N, Qt.Key.Key_A):
        press(inbox, key)
    await asyncio.sleep(0.3)
    press(inbox, Qt.Key.Key_Return)
    assert not inbox.flow._busy
    assert decision_of(shown) is None


async def test_a_letter_in_the_filter_is_text(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    press(inbox, Qt.Key.Key_Slash)
    assert inbox.filter.hasFocus()
    QTest.keyClicks(inbox.filter, "refund")
    assert inbox.filter.text() == "refund"
    assert inbox.flow.arming.armed is None


async def test_space_on_the_focused_button_only_arms_it(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    inbox.pane.bar.approve.setFocus()
    await asyncio.sleep(0.45)
    press(inbox, Qt.Key.Key_Space)
    assert inbox.flow.arming.armed is Act.APPROVE
    assert decision_of(shown) is None


async def test_an_assistive_press_announces_first_and_decides_on_the_second(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    inbox.pane.bar.approve.click()
    assert "Press again" in says(inbox, "sentence")
    assert not inbox.flow._busy
    await asyncio.sleep(0.3)
    inbox.pane.bar.approve.click()
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.shown["origin"] == "assistive"


async def test_a_long_call_is_not_ready_before_its_end_was_in_view(inbox, source, until):
    shown = ask_for(source, arguments={"script": "echo one\n" * 500}).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_A)
    assert "below not seen" in says(inbox, "sentence")
    press(inbox, Qt.Key.Key_End)
    await ready(inbox, until)
    inbox.flow.pulse()
    assert "not seen" not in says(inbox, "sentence")


async def test_the_end_of_many_lines_must_stay_in_view_before_an_approval(inbox, source, until):
    shown = ask_for(source, arguments={"script": "x\n" * 19_000}).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    await until(inbox.pane.call.text.complete, "the whole text")
    press(inbox, Qt.Key.Key_End)
    press(inbox, Qt.Key.Key_A)
    assert inbox.flow.arming.armed is None
    await asyncio.sleep(CONFIRM_AFTER_S + 0.1)
    press(inbox, Qt.Key.Key_Return)
    click(inbox.pane.bar.approve)
    assert not inbox.flow._busy
    assert decision_of(shown) is None
    await ready(inbox, until)


@pytest.mark.parametrize("as_text", [False, True])
async def test_a_flagged_place_that_was_not_on_screen_is_not_approved(
    inbox, source, until, as_text
):
    """Line 70 of 140, and the person only presses End."""
    lines = [f"line {number}" for number in range(140)]
    lines[70] = "pay\u202eevil"
    arguments = (
        {"script": "\n".join(lines)} if as_text else {f"k{n:03}": x for n, x in enumerate(lines)}
    )
    shown = ask_for(source, arguments=arguments).shown
    await select(inbox, until, shown.aid)
    if as_text != (inbox.pane.call._views.currentWidget() is inbox.pane.call.text):
        inbox.pane.call.switch.click()
    press(inbox, Qt.Key.Key_End)
    await asyncio.sleep(STOP_SETTLE_S + 0.2)
    assert inbox.flow.arming.readiness(Act.APPROVE).need is Need.FLAG
    press(inbox, Qt.Key.Key_A)
    assert "flagged place was not seen" in says(inbox, "sentence")
    click(inbox.pane.bar.approve)
    assert not inbox.flow._busy
    press(inbox, Qt.Key.Key_F8)
    assert inbox.flow.arming.readiness(Act.APPROVE).need is Need.SETTLING
    await ready(inbox, until)


async def test_a_flagged_place_that_a_change_leaves_is_in_the_review(inbox, source, until):
    arguments = {"amount": 80, "note": "\n" * 100 + "pay\u202eevil" + "\n" * 100}
    shown = ask_for(source, arguments=arguments).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_M)
    editor = inbox.pane.modify
    editor.yours.setPlainText(editor.draft().replace("80", "20"))
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor.in_review()
    assert "pay\u27e6U+202E\u27e7evil" in editor.changes.toPlainText()


async def test_a_change_approves_no_rest_that_was_not_in_view(inbox, source, until):
    arguments = {"n": 1, **{f"k{number}": number for number in range(300)}, "zz": "rm -rf /"}
    shown = ask_for(source, arguments=arguments).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_M)
    editor = inbox.pane.modify
    editor.yours.setPlainText(editor.draft().replace('"n": 1', '"n": 2', 1))
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor.in_review()
    await until(
        lambda: inbox.flow.arming.readiness(Act.APPROVE).need is Need.END, "the end is missed"
    )
    click(inbox.pane.bar.approve)
    assert not inbox.flow._busy
    inbox.pane.to_end()
    await ready(inbox, until)
    assert editor.changes.toPlainText().endswith('"zz": "rm -rf /"\n}')
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.arguments == {**arguments, "n": 2}


async def test_hidden_characters_that_the_operator_types_take_the_second_step(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_M)
    editor = inbox.pane.modify
    editor.yours.setPlainText('{"customer": "C-12\\u202e04", "amount": 20}')
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor.in_review()
    assert inbox.pane.bar.approve.text() == "Approve anyway"
    await asyncio.sleep(SETTLE_S + 0.3)
    assert not inbox.flow.arming.readiness(Act.APPROVE).ready
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.arguments == {"customer": "C-12\u202e04", "amount": 20}


async def test_arguments_that_the_agent_would_refuse_are_not_reviewed(inbox, source, until):
    schema = {
        "type": "object",
        "properties": {"customer": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["customer", "amount"],
        "additionalProperties": False,
    }
    shown = ask_for(source, tool_schema=schema).shown
    await select(inbox, until, shown.aid)
    press(inbox, Qt.Key.Key_M)
    editor = inbox.pane.modify
    for typed in ('{"customer": "C-1204"}', '{"customer": "C-1204", "amount": "20"}'):
        editor.yours.setPlainText(typed)
        press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert not editor.in_review()
        assert "amount" in editor.problem.text()
    editor.yours.setPlainText('{"customer": "C-1204", "amount": 20}')
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor.in_review()


async def test_a_long_tool_name_is_shown_whole(inbox, source, until):
    name = "read_only_" + "x" * 90 + "_and_delete_everything"
    shown = ask_for(source, tool=name).shown
    await select(inbox, until, shown.aid)
    title = inbox.pane.header.title
    assert title.text() == name
    await until(lambda: title.height() >= title.heightForWidth(title.width()), "all its lines")
    assert title._lines(title.width()).lineCount() > 1
    await ready(inbox, until)


async def test_a_tool_name_that_cannot_be_shown_whole_is_never_all_in_view(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await until(inbox.pane.end_in_view, "the end")
    row = dataclasses.replace(inbox.model.row(shown.aid), tool="x" * 1301)
    inbox.flow.view.take(Diff(changed=(row,)))
    assert not inbox.pane.end_in_view()


async def test_nested_names_are_readable_or_the_text_is_shown(inbox, source, until):
    value: dict[str, object] = {"delete_everything": True, "dry_run": False}
    for _ in range(60):
        value = {"options": value}
    shown = ask_for(source, arguments=value).shown
    await select(inbox, until, shown.aid)
    assert inbox.pane.call._views.currentWidget() is inbox.pane.call.text
    assert not inbox.pane.call.switch.isEnabled()
    text = inbox.pane.call.text
    await until(text.complete, "the whole text")
    text.selectAll()
    assert '"delete_everything": true' in text.createMimeDataFromSelection().text()


async def test_a_stop_warning_is_named_and_approved_despite(inbox, source, until):
    shown = ask_for(source, arguments={"note": "pay\u202eevil"}).shown
    await select(inbox, until, shown.aid)
    assert inbox.pane.bar.approve.text() == "Approve anyway"
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert "invisible" in decision.shown["warnings"]


async def test_two_selected_calls_cannot_be_approved_at_once(inbox, source, until):
    shown = ask_for(source).shown
    ask_for(source, "ci", "bash", {"command": "make"})
    await select(inbox, until, shown.aid)
    await until(lambda: inbox.model.rowCount() == 2, "both rows")
    inbox.table.selectAll()
    assert not inbox.pane.bar.approve.isVisible()
    assert "Choose one" in says(inbox, "sentence")


# --- Denying and modifying ----------------------------------------------------------------------


async def test_d_a_reason_and_ctrl_enter_deny(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_D)
    assert inbox.pane.editor.text.hasFocus()
    QTest.keyClicks(inbox.pane.editor.text, "wrong customer")
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert (decision.verdict, decision.reason) == ("deny", "wrong customer")
    await until(lambda: not inbox.pane.editor.isVisible(), "the editor closed")


async def test_escape_keeps_a_reason_as_a_draft(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_D)
    QTest.keyClicks(inbox.pane.editor.text, "half a tho")
    press(inbox, Qt.Key.Key_Escape)
    assert not inbox.pane.editor.isVisible()
    assert decision_of(shown) is None
    press(inbox, Qt.Key.Key_D)
    assert inbox.pane.editor.typed() == "half a tho"


async def test_an_empty_reason_denies_nothing(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    press(inbox, Qt.Key.Key_D)
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not inbox.flow._busy
    assert "Say why" in says(inbox, "sentence")


async def test_modified_arguments_are_reviewed_and_then_approved(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    press(inbox, Qt.Key.Key_M)
    editor = inbox.pane.modify
    assert editor.yours.hasFocus()
    editor.yours.setPlainText('{"customer": "C-1204", "amount": 20.50}')
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor.in_review()
    shown_lines = editor.changes.toPlainText().split("\n")
    assert shown_lines[:5] == ["amount", "    20.50", "  \u2190 was 80", "", WHOLE]
    assert [line.strip() for line in shown_lines[5:]] == [
        "{",
        '"customer": "C-1204",',
        '"amount": 20.50',
        "}",
    ]
    assert inbox.pane.bar.approve.text() == "Approve with changes"
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.verdict == "modify"
    assert decision.arguments == {"customer": "C-1204", "amount": 20.5}
    assert b"20.50" in decision.encode()


@pytest.mark.parametrize(
    "typed, problem",
    [
        ("{", "Not readable yet"),
        ('{"a": 1, "a": 2}', "Not readable yet"),
        ('{"a": NaN}', "Not readable yet"),
    ],
)
async def test_what_cannot_be_read_is_not_reviewed(inbox, source, until, typed, problem):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    press(inbox, Qt.Key.Key_M)
    editor = inbox.pane.modify
    editor.yours.setPlainText(typed)
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not editor.in_review()
    assert editor.problem.text().startswith(problem)
    assert not editor.review.isEnabled()


# --- What others do -----------------------------------------------------------------------------


async def test_a_denial_elsewhere_freezes_the_pane_and_keeps_the_text(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    press(inbox, Qt.Key.Key_D)
    QTest.keyClicks(inbox.pane.editor.text, "my reason")
    with Store.open(shown.store) as store:
        decide(store, shown, Verdict("deny", reason="too late"), _as_owner(), valid_for_s=900)
    inbox._bridge.look_again(shown.store)
    banner = await until(lambda: inbox.findChild(object, "frozen"), "the frozen banner")
    assert "bob denied this at" in banner.accessibleName()
    assert "Your text was not sent." in banner.accessibleName()
    assert not inbox.pane.bar.approve.isVisible()
    assert not inbox.pane.bar.deny.isVisible()
    assert inbox.pane.editor.typed() == "my reason"
    assert not inbox.pane.editor.button.isEnabled()
    # Only its text is kept: where it stands goes on being told.
    assert "not read" in says(inbox, "standing")
    read = dataclasses.replace(inbox.model.row(shown.aid), closed=True)
    inbox.flow.view.take(Diff(changed=(read,)))
    assert says(inbox, "standing").endswith("\u201ctoo late\u201d.")
    assert inbox.flow.view.frozen
    assert banner.findChild(QPushButton).text() == "Dismiss (u)"
    press(inbox, Qt.Key.Key_Escape)
    press(inbox, Qt.Key.Key_U)
    await until(lambda: not inbox.flow.view.frozen, "the new one")
    assert "Denied by bob" in says(inbox, "standing")


def _as_owner():
    return BOB.model_copy(update={"uid": os.getuid()})


async def test_a_decided_row_stays_as_a_tombstone_while_it_is_current(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    await until(lambda: inbox.model.counts()[Section.WAITING] == 0, "the count")
    assert inbox.model.rowCount() == 1
    assert inbox.model.index(0, 0).data() == "Handed over"


async def test_an_approval_can_be_taken_back(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    await until(inbox.pane.bar.take_back.isVisible, "Take back")
    click(inbox.pane.bar.take_back)

    def revoked() -> bool:
        with Store.open(shown.store) as store:
            outcome = store.records(shown.seq, shown.aid).outcome
            return outcome is not None and outcome.outcome == "withdrawn"

    await until(revoked, "the outcome")


async def test_a_live_agent_is_told_as_such(inbox, source, until):
    with AgentLock.acquire(source / "refund-bot"):
        shown = ask_for(source).shown
        await select(inbox, until, shown.aid)
        assert inbox.model.row(shown.aid).state is State.PENDING
        assert says(inbox, "sentence") == "refund-bot is waiting and runs it at once."
        assert f"pid {os.getpid()} alive" in says(inbox, "facts")
    assert current_owner().pid == os.getpid()


async def test_a_folder_that_is_gone_is_told_and_told_again_when_it_is_back(inbox, source, until):
    ask_for(source)
    await until(lambda: inbox.model.rowCount() == 1, "a row")
    await until(lambda: inbox.status.watching.text() == "watching 1 folder", "all read")
    away = source.with_name("away")
    at = inbox.table.viewport().mapTo(inbox, QPoint(0, inbox.table.rowViewportPosition(0)))
    source.rename(away)
    # The pointer rests on the table, its usual place: it is told all the same.
    inbox.table.viewport().setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    await until(inbox.status.trouble.isVisible, "the trouble told", seconds=5)
    assert inbox.status.trouble.text() == "the folder is missing"
    assert not inbox.status.watching.isVisible()
    assert inbox.status.totals.text().startswith("1 waiting")
    assert inbox.status.totals.text().endswith("1 as last seen")
    whole = inbox.sidebar.trouble
    assert whole.isVisible()
    assert "is missing since" in whole.text()
    assert "its call is shown as last seen and cannot be decided." in whole.text()
    (entry,) = inbox.overview._troubles.menu().actions()
    assert entry.text() == whole.text()
    entry.trigger()
    assert inbox.sidebar.source() == source
    away.rename(source)
    await until(lambda: not inbox.status.trouble.isVisible(), "the trouble over")
    assert not whole.isVisible()
    assert inbox.status.watching.text() == "watching 1 folder"
    here = inbox.table.viewport().mapTo(inbox, QPoint(0, inbox.table.rowViewportPosition(0)))
    assert here == at


async def test_a_missing_folder_never_lets_the_window_say_that_nothing_waits(inbox, source, until):
    await until(lambda: inbox.overview.complete, "all read")
    source.rename(source.with_name("away"))
    await until(inbox.status.trouble.isVisible, "the trouble told")
    said = inbox.empty.sentence.text()
    assert "is missing since" in said
    assert "Nothing waits" not in said


async def test_a_filter_that_hides_everything_says_so_and_is_cleared_by_escape(
    inbox, source, until
):
    ask_for(source)
    await until(lambda: inbox.model.rowCount() == 1, "a row")
    press(inbox, Qt.Key.Key_Slash)
    QTest.keyClicks(inbox.filter, "tool:nothing")
    await until(inbox.empty.isVisible, "the empty state")
    assert says(inbox, "empty") == "No call matches. 1 is hidden by the filter."
    press(inbox, Qt.Key.Key_Escape)
    assert inbox.filter.text() == ""
    assert inbox.table.isVisible()


async def test_f6_goes_round_the_panes(inbox, source, until):
    ask_for(source)
    await until(inbox.table.hasFocus, "the table's focus")
    seen = []
    for _ in range(3):
        press(inbox, Qt.Key.Key_F6)
        focus = QApplication.focusWidget()
        seen.append("" if focus is None else focus.objectName())
    assert seen[1:] == ["sidebar", "table"]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_F6, Qt.Key.Key_Tab])
async def test_from_the_filter_to_what_it_leaves(inbox, source, until, key):
    ask_for(source)
    await until(lambda: inbox.model.rowCount() == 1, "a row")
    press(inbox, Qt.Key.Key_Slash)
    QTest.keyClicks(inbox.filter, "refund")
    press(inbox, key)
    assert inbox.table.hasFocus()
    assert inbox.model.rowCount() == 1
    if key in (Qt.Key.Key_Return, Qt.Key.Key_Down):
        assert inbox.table.current_id
    inbox.table.step(1)
    press(inbox, Qt.Key.Key_Tab)
    assert inbox.pane.isAncestorOf(QApplication.focusWidget())


@pytest.mark.parametrize("size", [(640, 420), (800, 480), (944, 492), (1320, 820)])
async def test_every_button_is_in_the_window_at_any_size(inbox, source, until, size):
    shown = ask_for(source).shown
    inbox.resize(*size)
    await until(lambda: (inbox.width(), inbox.height()) == size, "the size")
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    room = inbox.rect()
    bar = inbox.pane.bar
    places = []
    for widget in (bar.deny, bar.modify, bar.approve, inbox.table, inbox.pane.call.fields):
        assert widget.isVisible()
        place = QRect(widget.mapTo(inbox, QPoint(0, 0)), widget.size())
        assert room.contains(place), widget.objectName()
        places.append(place)
    deny, modify, approve, table, fields = places
    assert approve.left() - modify.right() >= 96
    assert table.right() < deny.left()
    assert fields.height() >= 40


@pytest.mark.parametrize("size", [(640, 420), (1280, 680)])
async def test_the_head_of_a_call_stays_while_its_tabs_are_looked_through(
    inbox, source, until, size
):
    arguments = {"path": "/tmp/a", "content": "b\n" * 40}
    shown = ask_for(source, arguments=arguments, iteration=3, tool_calls=4, tokens=900).shown
    inbox.resize(*size)
    await select(inbox, until, shown.aid)
    tabs, header = inbox.pane.tabs, inbox.pane.header
    await until(lambda: tabs.count() >= 3, "the tabs")
    seen = set()
    for place in range(tabs.count()):
        tabs.setCurrentIndex(place)
        await until(lambda: not tabs.currentWidget().visibleRegion().isEmpty(), "the tab")
        QApplication.sendPostedEvents()
        parts = (header.facts, header.standing, header.budgets)
        head = tuple(part.isVisible() for part in parts)
        seen.add((head, tabs.tabBar().mapTo(inbox, QPoint(0, 0)).y()))
    assert len(seen) == 1


async def test_in_a_narrow_window_sections_and_table_take_turns(inbox, source, until):
    ask_for(source)
    await until(lambda: inbox.model.rowCount() == 1, "a row")
    assert not inbox.top.sections.isVisible()
    inbox.resize(640, 420)
    await until(inbox.top.sections.isVisible, "the button")
    assert not inbox.sidebar.isVisible()
    inbox.table.setFocus()
    press(inbox, Qt.Key.Key_F6)
    press(inbox, Qt.Key.Key_F6)
    assert inbox.sidebar.isVisible()
    assert not inbox.table.isVisible()
    inbox.sidebar.choose_section(Section.HISTORY)
    await until(inbox._middle.isVisible, "the table again")
    kept = inbox.state().panes
    assert all(kept)
    inbox.resize(1320, 820)
    await until(inbox.sidebar.isVisible, "the sidebar")
    assert inbox._middle.isVisible()


async def test_letters_can_be_switched_off(inbox, source, until):
    shown = ask_for(source).shown
    inbox._bridge.settings = inbox._bridge.settings.model_copy(update={"letters": False})
    inbox.actions_table.use_letters(on=False)
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    press(inbox, Qt.Key.Key_A)
    assert inbox.flow.arming.armed is None
    await asyncio.sleep(0.45)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    press(inbox, Qt.Key.Key_A, both)
    assert inbox.flow.arming.armed is Act.APPROVE
