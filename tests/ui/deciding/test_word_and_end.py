"""What comes with a word: its end, whatever is in view, and nothing of it once it is taken back."""

import re

import pytest
from PySide6.QtCore import Qt

from lineclear.core.inbox.operator.settings import LaunchSetting
from lineclear.ui.deciding.arming import Act
from tests.ui.sample import ask_for
from tests.ui.test_dead_agents import dead_agent, set_command, started_and_dead
from tests.ui.test_window import click, decision_of, press, ready, says, select

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def change(inbox):
    def settings(**values):
        inbox._bridge.settings = inbox._bridge.settings.model_copy(update=values)

    return settings


# --- A standing denial ends with its word -------------------------------------------------------


async def deny_for_a_while(inbox, until, aid):
    await select(inbox, until, aid)
    await ready(inbox, until, Act.DENY)
    inbox.flow.deny()
    inbox.pane.editor.text.setPlainText("stop refunding")
    inbox.pane.editor.lasting.setChecked(True)
    press(inbox, Qt.Key.Key_Return, CTRL)


@pytest.mark.parametrize("by_key", [True, False])
async def test_a_denial_that_was_taken_back_denies_nothing_later(
    inbox, source, until, change, by_key
):
    shown = ask_for(source).shown
    change(hold_s=3)
    await deny_for_a_while(inbox, until, shown.aid)
    assert inbox.flow.holding.holds(shown.aid)
    if by_key:
        press(inbox, Qt.Key.Key_Z, CTRL)
    else:
        click(inbox.pane.bar.take_back)
    change(hold_s=0)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert decision.verdict == "approve"
    await until(lambda: not inbox.flow._busy, "its end")
    assert inbox.flow.standing.listed() == []


async def test_a_denial_that_stands_goes_on_denying(inbox, source, until, change):
    shown = ask_for(source).shown
    await deny_for_a_while(inbox, until, shown.aid)
    await until(lambda: decision_of(shown), "a decision")
    await until(inbox.flow.standing.listed, "the standing word")
    assert "\u201cstop refunding\u201d" in inbox.flow.standing.listed()[0][1]


# --- What was said is done for that call --------------------------------------------------------


async def a_resumable_one(inbox, source, until, tmp_path):
    """A call of a dead agent with a command, another one that waits, and what the command makes."""
    shown = dead_agent(source)
    other = ask_for(source, agent="other-bot", arguments={"customer": "C-9", "amount": 1}).shown
    mark = tmp_path / "resumed"
    await select(inbox, until, shown.aid)
    await set_command(inbox, until, f'open("{mark}", "w")')
    await until(lambda: inbox.pane.bar.approve.text() == "Approve and resume", "the offer")
    await ready(inbox, until)
    return shown, other, mark


async def approve_by_keys(inbox, until):
    inbox.table.setFocus()
    press(inbox, Qt.Key.Key_A)
    assert says(inbox, "sentence").startswith("Press Enter to approve and start the agent again")
    await until(lambda: inbox.flow.arming._elapsed(inbox.flow.arming._armed[1]) > 0.3)
    press(inbox, Qt.Key.Key_Return)


async def test_the_agent_is_started_though_the_next_call_comes_into_view(
    inbox, source, until, tmp_path, change
):
    shown, other, mark = await a_resumable_one(inbox, source, until, tmp_path)
    change(after_decision="next")
    await approve_by_keys(inbox, until)
    await until(mark.exists, "the agent's start")
    assert getattr(decision_of(shown), "verdict", "") == "approve"
    await until(lambda: inbox.flow.view.id == other.aid, "the next call")
    await until(lambda: says(inbox, "sentence") == "refund-bot was started again.", "that")


async def test_the_agent_is_started_though_another_call_is_read_in_the_hold(
    inbox, source, until, tmp_path, change
):
    shown, other, mark = await a_resumable_one(inbox, source, until, tmp_path)
    change(hold_s=1)
    await approve_by_keys(inbox, until)
    await select(inbox, until, other.aid)
    await until(mark.exists, "the agent's start")
    assert getattr(decision_of(shown), "verdict", "") == "approve"
    assert inbox.flow.view.id == other.aid
    await until(lambda: says(inbox, "sentence") == "refund-bot was started again.", "that")


async def test_a_start_that_fails_is_told_though_another_call_is_in_view(
    inbox, source, until, tmp_path, change
):
    shown, other, _mark = await a_resumable_one(inbox, source, until, tmp_path)
    gone = LaunchSetting(agent="refund-bot", argv=(str(tmp_path / "gone"),))
    change(after_decision="next", launch=(gone,))
    await approve_by_keys(inbox, until)
    await until(lambda: decision_of(shown), "a decision")
    await until(lambda: inbox.flow.view.id == other.aid, "the next call")
    await until(lambda: "refund-bot was not started: " in says(inbox, "sentence"), "why")


async def test_changes_to_the_call_of_a_dead_agent_start_it_again_too(
    inbox, source, until, tmp_path
):
    shown, _other, mark = await a_resumable_one(inbox, source, until, tmp_path)
    inbox.flow.open_modify()
    editor = inbox.pane.modify
    editor.yours.setPlainText(editor.yours.toPlainText().replace("80", "70"))
    editor.submit()
    await until(inbox.pane.bar.approve.isVisible, "the review")
    assert inbox.pane.bar.approve.text() == "Approve changes and resume"
    told = r"The agent died (at|after) \d\d:\d\d\. This starts it again\. It gets your changes\."
    await until(lambda: re.match(told, says(inbox, "sentence")), "what it does")
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    await until(mark.exists, "the agent's start")
    assert getattr(decision_of(shown), "verdict", "") == "modify"


async def test_changes_to_the_call_of_a_dead_agent_without_a_command_say_so(inbox, source, until):
    shown = dead_agent(source)
    await select(inbox, until, shown.aid)
    inbox.flow.open_modify()
    editor = inbox.pane.modify
    editor.yours.setPlainText(editor.yours.toPlainText().replace("80", "70"))
    editor.submit()
    await until(inbox.pane.bar.approve.isVisible, "the review")
    assert inbox.pane.bar.approve.text() == "Approve with changes"
    assert re.match(
        r"The agent died (at|after) \d\d:\d\d\. Nothing runs until someone resumes refund-bot\."
        r" It gets your changes\.",
        says(inbox, "sentence"),
    )


# --- A red warning in the hold ------------------------------------------------------------------


@pytest.mark.parametrize("look_away", [False, True])
async def test_a_held_approval_is_not_written_over_a_red_warning_that_came_since(
    inbox, source, until, change, look_away
):
    shown = ask_for(source, agent="a-bot").shown
    other = ask_for(source, agent="z-bot", arguments={"q": 1}).shown
    change(hold_s=60)
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    assert inbox.flow.holding.holds(shown.aid)
    if look_away:
        await select(inbox, until, other.aid)
    # The same call of another agent was started and its process died: it may have run.
    started_and_dead(source, inbox.flow.view.me)
    await until(lambda: not inbox.flow.holding.holds(shown.aid), "the end of the word")
    assert "twin" in inbox.model.row(shown.aid).warnings
    assert says(inbox, "sentence").startswith(
        "Your word on send_refund of a-bot was not written: it has a red warning now."
        if look_away
        else "Your word was not written: the call has a red warning now."
    )
    assert decision_of(shown) is None
    if not look_away:
        assert inbox.pane.bar.approve.text() == "Approve anyway"
        assert not inbox.flow.arming.readiness(Act.APPROVE).ready


async def test_a_held_denial_stays_whatever_warning_comes(inbox, source, until, change):
    shown = ask_for(source, agent="a-bot").shown
    change(hold_s=60)
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    inbox.flow.deny()
    inbox.pane.editor.text.setPlainText("no")
    press(inbox, Qt.Key.Key_Return, CTRL)
    started_and_dead(source, inbox.flow.view.me)
    await until(lambda: "twin" in inbox.model.row(shown.aid).warnings, "the warning")
    assert inbox.flow.holding.holds(shown.aid)
