"""Sixty calls of one tool on disk, compared and decided together: real files, keys and clicks."""

import asyncio
import contextlib
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from lineclear.core.ledger import ask as asking
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.records import Decision
from lineclear.core.ledger.store import Shown, Store
from lineclear.ui.burst.block import Block
from lineclear.ui.burst.flow import BurstFlow
from lineclear.ui.burst.model import Phase
from lineclear.ui.deciding.arming import SETTLE_S, Act, Need
from lineclear.ui.labels import PlainLabel
from lineclear.ui.window import MainWindow
from tests.ui.sample import ask_for
from tests.ui.test_markup import interpreting

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
CALLS = 60
HIDDEN, LONG = 50, (51, 52, 53)
DENY_AS_BOB = """\
import pathlib, sys
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.store import Store
bob = this_person("bob").model_copy(update={"host": "bobs-desk"})
with Store.open(pathlib.Path(sys.argv[1])) as store:
    shown = store.read_request(int(sys.argv[2]))
    decide(store, shown, Verdict("deny", reason="a second refund"), bob, valid_for_s=900)
"""


def arguments(number: int) -> dict[str, object]:
    given: dict[str, object] = {
        "customer": f"C-{1200 + number}",
        "amount": 4900 if number == 33 else 20 + number,
        "currency": "USD" if number in (17, 41) else "EUR",
        "notify": True,
    }
    if number == HIDDEN:
        given["note"] = "paid\u202e001$\u202c"
    if number in LONG:
        given["note"] = f"{number} wrote again. " * 20
    return given


def ask_all(source: Path, count: int = CALLS, tool: str = "send_refund") -> list[Shown]:
    """Calls of one agent, each in a lane of its own."""
    found = []
    for number in range(count):
        with Store.create(source / "refunds" / str(number + 1)) as store:
            asked = ask(store, Call(tool, arguments(number), "refunds"))
        assert isinstance(asked, Asked)
        found.append(asked.shown)
    return found


def decision_of(shown: Shown) -> Decision | None:
    with Store.open(shown.store) as store:
        return store.records(shown.seq, shown.aid).decision


def verdicts(calls: list[Shown]) -> Counter[str]:
    decisions = [decision_of(one) for one in calls]
    return Counter("none" if one is None else one.verdict for one in decisions)


def deny_as_colleague(shown: Shown) -> None:
    argv = [sys.executable, "-c", DENY_AS_BOB, str(shown.store), str(shown.seq)]
    subprocess.run(argv, check=True)


def withdraw(shown: Shown) -> None:
    with Store.open(shown.store) as store:
        assert asking.withdraw(store, shown)


def says(window: QWidget, name: str) -> str:
    labels = [one for one in window.findChildren(PlainLabel, name) if one.isVisibleTo(window)]
    return labels[0].text() if labels else ""


def banner(flow: BurstFlow, name: str) -> str:
    frames = [one for one in flow.window.findChildren(QWidget, name) if not one.isHidden()]
    return frames[0].accessibleName() if frames else ""


def press(flow: BurstFlow, key: Qt.Key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or flow.window, key, modifier)


def click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


async def select_all(inbox: MainWindow, until, count: int = CALLS) -> None:
    await until(lambda: inbox.model.rowCount() >= count, "the rows")
    inbox.table.step(1)
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    inbox.table.selectAll()


@pytest.fixture
async def calls(source):
    return ask_all(source)


@pytest.fixture
async def flow(inbox, calls, until) -> BurstFlow:
    """The window of a burst over all calls."""
    await select_all(inbox, until)
    inbox.table.setFocus()
    QTest.keyClick(inbox.table, Qt.Key.Key_B)
    opened = await until(lambda: inbox.together.flow, "the window of the burst")
    await until(opened.window.on_screen, "the burst on screen")
    assert isinstance(opened, BurstFlow)
    return opened


async def tells(flow: BurstFlow, until, name: str, text: str) -> None:
    await until(lambda: banner(flow, name) == text, f"{name} to say: {text}")


async def settled(flow: BurstFlow, until) -> None:
    """Ready but for what was not seen yet."""
    await until(lambda: flow.arming.readiness(Act.DENY).ready, "0.7 s")


async def ready(flow: BurstFlow, until) -> None:
    flow.window.table.setFocus()
    # What stands out is on top, and has to be in view first.
    flow.pulse()
    press(flow, Qt.Key.Key_End)
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready, "the burst to be ready")


async def over(flow: BurstFlow, until) -> None:
    await until(lambda: flow.run.total and not flow.run.going, "the end", seconds=60)


# --- Offering -------------------------------------------------------------------------------------


async def test_several_calls_of_one_tool_are_offered_together(inbox, calls, until):
    await select_all(inbox, until)
    await until(inbox.pane.bar.together.isVisible, "the button")
    assert inbox.pane.bar.together.text() == "Decide 56 together\u2026"
    assert not inbox.pane.bar.approve.isVisible()
    told = "60 calls are selected. 56 of them can be decided together. 4 must be read one by one: "
    assert inbox.flow._offer.sentence.startswith(told)
    click(inbox.pane.bar.together)
    await until(lambda: inbox.together.flow, "the window")


async def test_calls_of_different_tools_are_not_and_it_is_said_why(inbox, source, until):
    ask_for(source, "one", "send_refund")
    ask_for(source, "two", "bash", {"command": "ls"})
    await select_all(inbox, until, 2)
    assert not inbox.pane.bar.together.isVisible()
    why = "They are of different tools; only calls of one tool can be decided together."
    assert inbox.pane.bar.alone.text() == f"2 calls are selected. {why} Choose one to decide."
    inbox.actions_table["together"].trigger()
    assert inbox.together.flow is None
    assert inbox.pane.bar.alone.text() == why


async def test_one_call_is_not_together(inbox, source, until):
    ask_for(source)
    await until(inbox.model.rowCount, "the row")
    inbox.table.step(1)
    inbox.actions_table["together"].trigger()
    await until(lambda: "Select several" in says(inbox, "sentence"), "the hint")
    assert inbox.together.flow is None


async def test_where_none_can_join_nothing_can_be_decided(inbox, source, until):
    for number in range(2):
        with Store.create(source / "refunds" / str(number + 1)) as store:
            ask(store, Call("note", {"text": f"{number}\u202e"}, "refunds"))
    await select_all(inbox, until, 2)
    why = "2 must be read one by one: 2 hidden characters."
    said = f"2 calls are selected. {why} Choose one to decide."
    assert inbox.pane.bar.alone.text() == said
    assert not inbox.pane.bar.together.isVisible()
    inbox.together.open()
    flow = await until(lambda: inbox.together.flow, "the window")
    told = "No call of these can be decided together."
    assert says(flow.window, "burstFacts") == told
    await tells(flow, until, "burstApart", "2 must be read one by one: 2 hidden characters.")
    assert not flow.window.approve.isVisible()
    assert not flow.window.deny.isVisible()
    assert flow.window.leave.isVisible()
    flow.deny()
    flow.hands.letter(Act.APPROVE)
    assert not flow.window.editor.isVisible()
    assert flow.arming.armed is None


async def test_the_window_is_opened_once_and_comes_to_the_front(inbox, flow):
    inbox.activateWindow()
    inbox.together.open()
    assert len(inbox.findChildren(QWidget, "burst")) == 1


# --- The table ------------------------------------------------------------------------------------


async def test_the_table_says_what_is_shared_what_differs_and_who_is_not_in_it(flow, until):
    window = flow.window
    QAbstractItemModelTester(window.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert says(window, "burstTitle") == "send_refund"
    assert says(window, "burstFacts").startswith("refunds \u00b7 56 calls \u00b7 asked ")
    keys = [one.text() for one in window.findChildren(PlainLabel, "commonKey")]
    assert keys[-1] == "notify"
    headings = [
        window.model.headerData(column, Qt.Orientation.Horizontal)
        for column in range(window.model.columnCount())
    ]
    assert headings == ["State", "customer", "amount", "currency"]
    first = [[window.model.index(row, column).data() for column in (1, 2, 3)] for row in range(3)]
    assert first == [
        ['"C-1217"', "37", '"USD"'],
        ['"C-1241"', "61", '"USD"'],
        ['"C-1233"', "4900", '"EUR"'],
    ]
    told = "4 must be read one by one: 1 hidden character, 3 too long."
    await tells(flow, until, "burstApart", told)
    assert window.approve.text() == "Approve 56"
    spoken = window.model.index(2, 2).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "amount: 4900, unusual: 1 of 56 calls have this"


async def test_nothing_in_the_table_is_cut(flow):
    window = flow.window
    window.resize(520, 420)
    for column in range(window.model.columnCount()):
        delegate = window.table.itemDelegate()
        assert window.table.columnWidth(column) >= delegate.width_of(window.model, column)


async def test_a_call_that_is_read_alone_comes_to_the_front(inbox, flow, calls, until):
    button = flow.window.findChild(QAbstractButton, "burstApartAction")
    click(button)
    await until(lambda: inbox.flow.current in {calls[n].aid for n in (HIDDEN, *LONG)}, "the call")
    assert len(inbox.table.selected_ids()) == 1


# --- Arming ---------------------------------------------------------------------------------------


async def test_nothing_is_armed_before_the_last_row_was_in_view(flow, calls, until):
    await settled(flow, until)
    assert flow.arming.readiness(Act.APPROVE).need is Need.END
    flow.pulse()
    assert "rows below not seen \u00b7 End" in says(flow.window, "burstSentence")
    press(flow, Qt.Key.Key_A)
    press(flow, Qt.Key.Key_Return)
    click(flow.window.approve)
    assert "rows below not seen" in says(flow.window, "burstSentence")
    assert not flow.run.total
    await ready(flow, until)


async def test_nothing_is_armed_before_all_columns_were_in_view(inbox, source, until):
    for number in range(4):
        with Store.create(source / "refunds" / str(number + 1)) as store:
            ask(store, Call("note", {"text": f"{number} " * 75, "also": number}, "refunds"))
    await select_all(inbox, until, 4)
    inbox.together.open()
    flow = await until(lambda: inbox.together.flow, "the window")
    flow.window.resize(600, 500)
    await settled(flow, until)
    press(flow, Qt.Key.Key_End)
    await asyncio.sleep(SETTLE_S)
    assert flow.arming.readiness(Act.APPROVE).need is Need.END
    assert "Not all columns were seen" in says(flow.window, "burstSentence")
    bar = flow.window.table.horizontalScrollBar()
    while bar.value() < bar.maximum():
        press(flow, Qt.Key.Key_Right)
        flow.pulse()
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready, "readiness")
    # A jump over the middle shows the end, not what is between.
    flow.arming.restart()
    flow.pulse()
    bar.setValue(0)
    flow.pulse()
    assert not flow.window.table.width_seen() or bar.maximum() <= bar.pageStep()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
async def test_a_stray_key_decides_nothing(flow, calls, until, key):
    await ready(flow, until)
    for widget in (flow.window.table, flow.window.approve, flow.window.deny, flow.window.leave):
        widget.setFocus()
        press(flow, key)
        for _ in range(20):
            repeat = QKeyEvent(
                QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, " ", True, 1
            )
            QApplication.sendEvent(QApplication.focusWidget() or flow.window, repeat)
        with contextlib.suppress(AttributeError):
            flow._close_reason()
    assert not flow.run.total
    assert verdicts(calls)["none"] == CALLS


async def test_the_key_that_opened_the_window_held_down_decides_nothing(inbox, calls, until):
    await select_all(inbox, until)
    inbox.table.setFocus()
    QTest.keyClick(inbox.table, Qt.Key.Key_B)
    flow = await until(lambda: inbox.together.flow, "the window")
    for key in (Qt.Key.Key_A, Qt.Key.Key_Return, Qt.Key.Key_A, Qt.Key.Key_Return):
        press(flow, key)
        click(flow.window.approve)
    await asyncio.sleep(0.1)
    assert not flow.run.total
    assert verdicts(calls)["none"] == CALLS


async def test_any_other_key_or_click_takes_the_letter_back(flow, calls, until):
    await ready(flow, until)
    for disarm in (
        lambda: press(flow, Qt.Key.Key_J),
        lambda: click(flow.window.table.viewport()),
        lambda: press(flow, Qt.Key.Key_Escape),
        flow.window.deny.setFocus,
    ):
        await asyncio.sleep(0.45)
        flow.window.table.setFocus()
        press(flow, Qt.Key.Key_A)
        told = "Press Enter to approve 56 calls \u00b7 Esc to cancel"
        assert says(flow.window, "burstSentence") == told
        disarm()
        await asyncio.sleep(0.3)
        flow.window.table.setFocus()
        press(flow, Qt.Key.Key_Return)
    assert not flow.run.total


async def test_enter_right_after_the_letter_is_too_fast(flow, calls, until):
    await ready(flow, until)
    press(flow, Qt.Key.Key_A)
    press(flow, Qt.Key.Key_Return)
    await asyncio.sleep(0.3)
    press(flow, Qt.Key.Key_Return)
    assert not flow.run.total


async def test_an_assistive_press_announces_first(flow, calls, until):
    await ready(flow, until)
    flow.window.approve.click()
    assert "Press again to approve 56 calls." in says(flow.window, "burstSentence")
    assert not flow.run.total
    await asyncio.sleep(0.3)
    flow.window.approve.click()
    await over(flow, until)
    assert verdicts(calls)["approve"] == 56


async def test_letters_can_be_switched_off_while_it_is_open(inbox, flow, calls, until):
    await ready(flow, until)
    changed = inbox._bridge.settings.model_copy(update={"letters": False})
    inbox._bridge.settings = changed
    inbox._bridge.settings_changed.emit(changed)
    alternate = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    armed = []
    for modifier in (Qt.KeyboardModifier.NoModifier, alternate):
        press(flow, Qt.Key.Key_A, modifier)
        armed.append(flow.arming.armed)
        await asyncio.sleep(0.45)
    assert armed == [None, Act.APPROVE]
    flow.leave()
    inbox._bridge.settings_changed.emit(changed)


async def test_leaving_the_window_begins_from_zero(inbox, flow, until):
    await ready(flow, until)
    inbox.activateWindow()
    await until(lambda: not flow.window.on_screen(), "the window away")
    flow.pulse()
    assert flow.arming.readiness(Act.APPROVE).need is Need.OFF_SCREEN
    flow.window.activateWindow()
    await until(flow.window.on_screen, "the window back")
    flow.pulse()
    assert flow.arming.readiness(Act.APPROVE).need is Need.SETTLING


# --- Approving ------------------------------------------------------------------------------------


async def test_each_call_is_committed_singly_and_what_others_did_stands(flow, calls, until):
    await ready(flow, until)
    armed_before = flow.arming.beginnings
    deny_as_colleague(calls[7])
    withdraw(calls[8])
    await until(lambda: flow.window.approve.text() == "Approve 54", "the two to drop out")
    assert flow.arming.beginnings > armed_before
    assert flow.arming.readiness(Act.APPROVE).need is not Need.READY
    await tells(flow, until, "burstSummary", "1 already denied by bob, 1 withdrawn.")
    await ready(flow, until)
    press(flow, Qt.Key.Key_A)
    await asyncio.sleep(0.3)
    press(flow, Qt.Key.Key_Return)
    await over(flow, until)
    told = "54 approved, 1 already denied by bob, 1 withdrawn."
    await tells(flow, until, "burstSummary", told)
    assert verdicts(calls) == {"approve": 54, "deny": 1, "withdrawn": 1, "none": 4}
    assert {n for n, one in enumerate(calls) if decision_of(one) is None} == {HIDDEN, *LONG}
    for number, one in enumerate(calls):
        decision = decision_of(one)
        if decision is None or decision.verdict != "approve":
            continue
        assert number not in (7, 8)
        assert decision.request_sha256 == one.sha256
        assert decision.shown["front_end"] == "window"
        assert decision.shown["origin"] == "batch"
        assert decision.shown["tab"] == "batch"
        assert decision.shown["end_seen"] is True
        assert decision.shown["seconds"] >= SETTLE_S


async def test_what_is_noticed_only_at_the_commit_is_told_the_same_way(flow, calls, until):
    await ready(flow, until)
    flow._bridge.arrived.disconnect(flow.take)
    deny_as_colleague(calls[7])
    withdraw(calls[8])
    click(flow.window.approve)
    await over(flow, until)
    told = "54 approved, 1 already denied by bob, 1 withdrawn."
    await tells(flow, until, "burstSummary", told)
    assert verdicts(calls) == {"approve": 54, "deny": 1, "withdrawn": 1, "none": 4}
    flow._bridge.arrived.connect(flow.take)


async def test_decided_rows_leave_the_queue(inbox, flow, calls, until):
    await ready(flow, until)
    click(flow.window.approve)
    await over(flow, until)
    await until(lambda: "4 waiting" in inbox.windowTitle(), "the count")
    assert inbox.flow.view.frozen is None or not inbox.flow.view.frozen.text.startswith("You")


async def test_stop_leaves_the_rest_undecided(flow, calls, until):
    await ready(flow, until)
    flow.run.moved.connect(lambda: flow.run.done == 20 and flow.stop())
    click(flow.window.approve)
    await over(flow, until)
    await tells(flow, until, "burstSummary", "20 approved, 36 not decided.")
    assert verdicts(calls) == {"approve": 20, "none": 40}
    assert flow.window.approve.text() == "Approve 36"
    assert flow.arming.readiness(Act.APPROVE).need is not Need.READY


async def test_a_second_click_in_haste_stops_nothing(flow, calls, until):
    await ready(flow, until)
    where = flow.window.approve.geometry().center()
    QTest.mouseClick(flow.window.approve, Qt.MouseButton.LeftButton)
    await until(flow.window.stop.isVisible, "Stop")
    under = flow.window.childAt(where) or flow.window
    assert not isinstance(under, QAbstractButton)
    QTest.mouseClick(under, Qt.MouseButton.LeftButton)
    await over(flow, until)
    assert verdicts(calls)["approve"] == 56


async def test_progress_is_told_and_the_buttons_are_gone_meanwhile(flow, calls, until):
    seen: list[tuple[str, bool, bool]] = []
    await ready(flow, until)
    window = flow.window
    flow.run.moved.connect(
        lambda: seen.append(
            (says(window, "burstSentence"), window.stop.isVisible(), window.approve.isVisible())
        )
    )
    click(window.approve)
    await over(flow, until)
    assert ("Approving 12 of 56\u2026", True, False) in seen
    assert not window.stop.isVisible()
    assert window.leave.isVisible()


async def test_a_call_that_could_not_be_confirmed_stops_the_rest(flow, calls, until, monkeypatch):
    await ready(flow, until)
    real = Store.commit
    done = 0

    def failing(self: Store, kind: str, *more: object) -> Commit:
        nonlocal done
        if kind == "decision":
            done += 1
            if done > 5:
                raise asking_failure(self)
        return real(self, kind, *more)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(Store, "commit", failing)
    click(flow.window.approve)
    await over(flow, until)
    await tells(flow, until, "burstSummary", "5 approved, 1 not confirmed, 50 not decided.")
    assert "disk full" in banner(flow, "burstFailure")
    assert verdicts(calls) == {"approve": 5, "none": 55}


def asking_failure(store: Store) -> Exception:
    from lineclear.core.errors import NotConfirmed

    return NotConfirmed(f"disk full at {store}")


async def test_a_word_can_be_taken_back_while_it_is_held(inbox, flow, calls, until):
    inbox._bridge.settings = inbox._bridge.settings.model_copy(update={"hold_s": 3})
    await ready(flow, until)
    click(flow.window.approve)
    await until(lambda: flow.run.holding, "the hold")
    assert (
        says(flow.window, "burstSentence") == "Nothing is written yet. Stop or Esc takes it back."
    )
    click(flow.window.stop)
    await over(flow, until)
    assert verdicts(calls)["none"] == CALLS


async def test_esc_in_the_hold_takes_the_word_back_and_keeps_what_was_typed(
    inbox, flow, calls, until
):
    inbox._bridge.settings = inbox._bridge.settings.model_copy(update={"hold_s": 3})
    await settled(flow, until)
    press(flow, Qt.Key.Key_D)
    await until(flow.window.editor.isVisible, "the reason")
    flow.window.editor.text.setPlainText("yesterday's prices")
    press(flow, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: flow.run.holding, "the hold")
    press(flow, Qt.Key.Key_Escape)
    await over(flow, until)
    assert inbox.together.flow is flow
    assert flow.window.editor.isVisible()
    assert flow.window.editor.typed() == "yesterday's prices"
    # Closed with its frame it is kept too, for a burst of the same calls.
    flow.window.close()
    await until(lambda: inbox.together.flow is None, "the window closed")
    inbox.activateWindow()
    inbox.together.open()
    again = await until(lambda: inbox.together.flow, "the second window")
    again.deny()
    assert again.window.editor.typed() == "yesterday's prices"
    assert verdicts(calls)["none"] == CALLS


# --- Denying --------------------------------------------------------------------------------------


async def test_all_are_denied_with_one_reason(flow, calls, until):
    await settled(flow, until)
    press(flow, Qt.Key.Key_D)
    editor = flow.window.editor
    await until(editor.isVisible, "the reason")
    assert editor.button.text() == "Deny 56 calls with this reason"
    press(flow, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert says(flow.window, "burstSentence") == "Say why in a few words: the agents read it."
    editor.text.setPlainText("yesterday's prices")
    press(flow, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await over(flow, until)
    await tells(flow, until, "burstSummary", "56 denied.")
    assert verdicts(calls) == {"deny": 56, "none": 4}
    decision = decision_of(calls[0])
    assert decision is not None
    assert decision.reason == "yesterday's prices"
    assert decision.shown["tab"] == "batch"
    assert decision.shown["end_seen"] is False


async def test_a_call_that_drops_out_changes_what_the_denial_says(flow, calls, until):
    await settled(flow, until)
    flow.deny()
    flow.window.editor.text.setPlainText("no")
    withdraw(calls[8])
    told = "Deny 55 calls with this reason"
    await until(lambda: flow.window.editor.button.text() == told, "one fewer")
    assert flow.window.editor.typed() == "no"


# --- Leaving --------------------------------------------------------------------------------------


async def test_esc_goes_back_from_the_innermost(inbox, flow, until):
    await ready(flow, until)
    press(flow, Qt.Key.Key_D)
    flow.window.editor.text.setPlainText("half a reason")
    press(flow, Qt.Key.Key_Escape)
    assert not flow.window.editor.isVisible()
    press(flow, Qt.Key.Key_D)
    assert flow.window.editor.typed() == "half a reason"
    press(flow, Qt.Key.Key_Escape)
    press(flow, Qt.Key.Key_Escape)
    await until(lambda: inbox.together.flow is None, "the window closed")
    await until(lambda: not inbox.findChildren(QWidget, "burst"), "the window gone")


async def test_closing_stops_what_goes_on_and_waits_for_it(inbox, flow, calls, until):
    await ready(flow, until)
    flow.run.moved.connect(lambda: flow.run.done == 10 and flow.window.close())
    click(flow.window.approve)
    await until(lambda: inbox.together.flow is None, "the window closed", seconds=30)
    assert verdicts(calls) == {"approve": 10, "none": 50}


async def test_a_second_burst_can_be_opened_after_the_first(inbox, flow, until):
    flow.leave()
    await until(lambda: inbox.together.flow is None, "the window closed")
    inbox.activateWindow()
    inbox.together.open()
    again = await until(lambda: inbox.together.flow, "the second window")
    assert again is not flow
    assert again.window.approve.text() == "Approve 56"


# --- Hostile text ---------------------------------------------------------------------------------


async def test_no_widget_of_it_interprets_markup_and_every_one_has_a_name(inbox, source, until):
    html = '<b>bold</b><img src="http://x.example/a.png">'
    for number in range(4):
        with Store.create(source / "refunds" / str(number + 1)) as store:
            ask(store, Call("send_refund", {html: html, "n": number}, "refunds"))
    await select_all(inbox, until, 4)
    inbox.together.open()
    flow = await until(lambda: inbox.together.flow, "the window")
    assert interpreting(flow.window) == []
    values = [one.text() for one in flow.window.findChildren(PlainLabel, "commonValue")]
    assert any(html.replace('"', '\\"') in text for text in values)
    flow.deny()
    visible = [one for one in flow.window.findChildren(QAbstractButton) if one.isVisible()]
    for button in visible:
        assert button.text() or button.accessibleName() or button.objectName().startswith("qt_")
        assert not getattr(button, "isDefault", bool)()


async def test_a_secret_is_masked_until_it_is_asked_for_and_that_begins_from_zero(
    inbox, source, until
):
    key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    for number in range(3):
        with Store.create(source / "refunds" / str(number + 1)) as store:
            ask(store, Call("fetch", {"api_key": key, "page": number}, "refunds"))
    await select_all(inbox, until, 3)
    inbox.together.open()
    flow = await until(lambda: inbox.together.flow, "the window")

    def shared() -> list[str]:
        labels = flow.window.common.widget().findChildren(PlainLabel, "commonValue")
        return [one.text() for one in labels]

    assert "\u2022\u2022\u2022\u2022 40 characters" in shared()
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready, "readiness")
    click(flow.window.secrets)
    assert f'"{key}"' in shared()
    assert flow.arming.readiness(Act.APPROVE).need is Need.SETTLING
    click(flow.window.secrets)
    assert f'"{key}"' not in shared()


async def test_a_call_that_comes_to_have_a_twin_drops_out(flow, source, calls, until):
    with Store.create(source / "refunds" / "99") as store:
        ask(store, Call("send_refund", arguments(3), "refunds"))
    await until(lambda: flow.window.approve.text() == "Approve 55", "the twin to drop out")
    standing = flow.window.model.standing(calls[3].aid)
    assert standing is not None
    assert standing.phase is Phase.OUT
    assert "also waits" in standing.why


# --- Long texts, equal calls, the words -----------------------------------------------------------

BODY = "\n".join(f"line {number} of the release notes" for number in range(60))


async def opened(inbox: MainWindow, until, count: int) -> BurstFlow:
    await select_all(inbox, until, count)
    inbox.together.open()
    flow = await until(lambda: inbox.together.flow, "the window")
    await until(flow.window.on_screen, "the burst on screen")
    assert isinstance(flow, BurstFlow)
    return flow


async def test_a_long_text_that_all_share_is_read_whole_once(inbox, source, until):
    """Sixty lines on top, in a part of their own that scrolls: its end alone does not arm."""
    for number in range(3):
        with Store.create(source / "notes" / str(number + 1)) as store:
            ask(store, Call("publish", {"page": number, "body": BODY}, "notes"))
    flow = await opened(inbox, until, 3)
    window = flow.window
    [block] = window.findChildren(Block, "commonBlock")
    assert block.lines() == f'"{BODY}"'.split("\n")
    assert [field.label for field in window.model.table.columns] == ["page"]
    assert not banner(flow, "burstApart")
    await settled(flow, until)
    bar = window.common.verticalScrollBar()
    assert bar.maximum() > bar.pageStep(), "the test needs more than two pages"
    bar.setValue(bar.maximum())
    flow.pulse()
    assert window.unseen() == "Not all of what is the same was seen \u00b7 End"
    for _ in range(2 + bar.maximum() // bar.pageStep()):
        press(flow, Qt.Key.Key_End)
        flow.pulse()
    assert window.common.wholly_seen()
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready, "readiness")


async def test_a_line_that_wraps_is_no_line_of_the_text(inbox, source, until):
    body = "x" * 300 + "\nrm -rf build"
    for number in range(2):
        with Store.create(source / "notes" / str(number + 1)) as store:
            ask(store, Call("publish", {"page": number, "body": body}, "notes"))
    flow = await opened(inbox, until, 2)
    [block] = flow.window.findChildren(Block, "commonBlock")
    assert block.lines() == ['"' + "x" * 300, 'rm -rf build"']
    narrow, wide = block.heightForWidth(300), block.heightForWidth(5000)
    line = block.fontMetrics().height()
    assert narrow > 6 * line
    assert wide <= 2 * line + 4


async def test_calls_in_which_nothing_differs_are_told_apart_by_their_ids(inbox, source, until):
    found = []
    for number in range(2):
        with Store.create(source / "notes" / str(number + 1)) as store:
            asked = ask(store, Call("publish", {"page": 7, "body": BODY * 9}, "notes"))
        assert isinstance(asked, Asked)
        found.append(asked.shown)
    for number in range(2):
        with Store.create(source / f"bot{number}" / "1") as store:
            ask(store, Call("publish", {"page": number}, f"bot{number}"))
    flow = await opened(inbox, until, 4)
    columns = [field.label for field in flow.window.model.table.columns]
    assert columns == ["Agent", "page"], "twins are read alone"
    assert "2 twins" in banner(flow, "burstApart")


async def test_an_only_call_has_no_empty_heading(inbox, source, until):
    for number, note in enumerate(("short", "l" * 9000, "m" * 9000)):
        with Store.create(source / "notes" / str(number + 1)) as store:
            ask(store, Call("publish", {"note": note}, "notes"))
    flow = await opened(inbox, until, 3)
    assert not flow.window.differs.isVisibleTo(flow.window)
    assert [field.label for field in flow.window.model.table.columns] == ["Call"]
    assert flow.window.model.index(0, 1).data() == flow.window.model.members[0].row.id[:8]
    assert flow.window.approve.text() == "Approve 1"
    flow.pulse()
    assert says(flow.window, "burstSentence").startswith("It runs")


async def test_where_none_can_join_no_table_stands_there(inbox, source, until):
    for number in range(2):
        with Store.create(source / "notes" / str(number + 1)) as store:
            ask(store, Call("publish", {"note": f"{number}" * 9000}, "notes"))
    flow = await opened(inbox, until, 2)
    assert not flow.window.table.isVisibleTo(flow.window)
    assert says(flow.window, "burstFacts") == "No call of these can be decided together."


async def test_an_odd_value_past_the_width_has_to_be_in_view(inbox, source, until):
    """All columns were seen at other rows; the one value that stands out was not."""
    for number in range(30):
        who = "Mallory" if number == 12 else "desk"
        with Store.create(source / "notes" / str(number + 1)) as store:
            given = {"page": number, "pad": f"{'p' * 120}{number % 2}", "who": who}
            ask(store, Call("publish", given, "notes"))
    flow = await opened(inbox, until, 30)
    window = flow.window
    window.resize(700, 420)
    await settled(flow, until)
    table, across = window.table, window.table.horizontalScrollBar()
    assert across.maximum() > 0
    press(flow, Qt.Key.Key_End)
    while across.value() < across.maximum():
        press(flow, Qt.Key.Key_Right)
        flow.pulse()
    assert table.width_seen()
    assert table.rows_below() == 0
    assert window.unseen() == "1 unusual value was not in view \u00b7 Home"
    press(flow, Qt.Key.Key_Home)
    flow.pulse()
    while across.value() < across.maximum():
        press(flow, Qt.Key.Key_Right)
        flow.pulse()
    press(flow, Qt.Key.Key_End)
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready, "readiness")


async def test_the_words_promise_no_more_than_one_after_the_other(flow):
    flow.pulse()
    told = says(flow.window, "burstSentence")
    assert told.startswith("The 56 are recorded one by one; each runs")
    assert "at once" not in told


async def test_no_hint_of_before_stays_after_the_end(inbox, flow, calls, until):
    await ready(flow, until)
    click(flow.window.approve)
    flow.hint("That came in the middle of other keys. Press it again.")
    await over(flow, until)
    assert says(flow.window, "burstSentence") == ""
    flow.leave()
    # Four of the sixty were to be read alone, and wait: nothing else is offered of them.
    told = "4 must be read one by one: 1 hidden character, 3 too long. Choose one to decide."
    await until(lambda: inbox.flow._offer.sentence.endswith(told), "the offer anew")
    assert " selected calls wait. " in inbox.flow._offer.sentence
    assert not inbox.pane.bar.together.isVisible()


# --- What could be done to an open burst ----------------------------------------------------------


async def test_a_call_that_expires_while_it_is_open_drops_out(inbox, source, until):
    soon = datetime.now(UTC) + timedelta(seconds=6)
    shown = []
    for number in range(3):
        with Store.create(source / "notes" / str(number + 1)) as store:
            expires = soon if number == 1 else None
            asked = ask(store, Call("publish", {"page": number}, "notes", expires_at=expires))
        assert isinstance(asked, Asked)
        shown.append(asked.shown)
    flow = await opened(inbox, until, 3)
    assert flow.window.approve.text() == "Approve 3"
    await until(lambda: flow.window.approve.text() == "Approve 2", "the expiry", seconds=30)
    await tells(flow, until, "burstSummary", "1 expired.")
    await ready(flow, until)
    click(flow.window.approve)
    await over(flow, until)
    assert [getattr(decision_of(one), "verdict", None) for one in shown] == [
        "approve",
        "expired",
        "approve",
    ]


async def test_different_secrets_are_never_decided_together(inbox, source, until):
    for number in range(3):
        with Store.create(source / "notes" / str(number + 1)) as store:
            token = f"sk-live-{number}f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
            ask(store, Call("publish", {"page": number, "api_key": token}, "notes"))
    flow = await opened(inbox, until, 3)
    assert "3 masked" in banner(flow, "burstApart")
    assert not flow.window.approve.isVisibleTo(flow.window)


async def test_a_shared_secret_in_a_long_text_is_read_alone(inbox, source, until):
    """A mask in a block would hide which lines stand there."""
    body = BODY + "\npassword = hunter2hunter2hunter2hunter2hunter2"
    for number in range(2):
        with Store.create(source / "notes" / str(number + 1)) as store:
            ask(store, Call("publish", {"page": number, "body": body}, "notes"))
    flow = await opened(inbox, until, 2)
    masked = flow.window.model.table.masked
    assert not masked or not flow.window.approve.isVisibleTo(flow.window)


async def test_three_hundred_calls_open_at_once_and_arm_after_the_last_row(inbox, source, until):
    ask_all_of(source, 300)
    await select_all(inbox, until, 300)
    inbox.together.open()
    flow = await until(lambda: inbox.together.flow, "the window", seconds=30)
    await until(flow.window.on_screen, "the burst on screen")
    assert flow.window.approve.text() == "Approve 300"
    await settled(flow, until)
    assert flow.arming.readiness(Act.APPROVE).need is Need.END
    await ready(flow, until)


def ask_all_of(source: Path, count: int) -> None:
    for number in range(count):
        with Store.create(source / "many" / str(number + 1)) as store:
            ask(store, Call("publish", {"page": number}, "many"))
