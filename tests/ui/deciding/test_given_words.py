"""Words beside the plain verdict: held ones, standing ones, ready reasons, notes; real records."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton

from lineclear.core.inbox.watching.feed import Diff
from lineclear.ui.deciding.arming import Act
from tests.ui.sample import ask_for
from tests.ui.test_window import click, decision_of, press, ready, says, select

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def hold(inbox):
    def seconds(number):
        inbox._bridge.settings = inbox._bridge.settings.model_copy(update={"hold_s": number})

    return seconds


class Clock:
    """The window's own clock, and more."""

    def __init__(self, holding) -> None:
        self._clock = holding._clock
        self.more = 0.0
        holding._clock = lambda: self._clock() + self.more


async def approve(inbox, until, aid):
    await select(inbox, until, aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)


# --- The hold -----------------------------------------------------------------------------------


async def test_a_held_approval_can_be_taken_back_and_leaves_nothing(inbox, source, until, hold):
    shown = ask_for(source).shown
    hold(5)
    await approve(inbox, until, shown.aid)
    assert says(inbox, "sentence").startswith("send_refund of refund-bot is approved in 5 s")
    assert inbox.status.held.isVisible()
    press(inbox, Qt.Key.Key_Z, CTRL)
    assert not inbox.flow.holding.holds(shown.aid)
    assert not inbox.status.held.isVisible()
    assert says(inbox, "sentence") == "Taken back: nothing was written."
    assert inbox.pane.bar.approve.isVisible()
    assert decision_of(shown) is None
    assert sorted(path.name for path in (shown.store / ".approvals").glob("*decision*")) == []


async def test_after_its_seconds_a_held_approval_is_written_without_a_grab_for_the_focus(
    inbox, source, until, hold
):
    shown = ask_for(source).shown
    hold(3)
    clock = Clock(inbox.flow.holding)
    await approve(inbox, until, shown.aid)
    inbox.filter.setFocus()
    clock.more = 3
    decision = await until(lambda: decision_of(shown), "a decision")
    assert (decision.verdict, decision.shown["origin"]) == ("approve", "click")
    await until(lambda: not inbox.flow._busy, "the end of it")
    assert inbox.filter.hasFocus()


async def test_a_call_that_changes_meanwhile_takes_the_held_word_away(inbox, source, until, hold):
    shown = ask_for(source).shown
    hold(5)
    await approve(inbox, until, shown.aid)
    ask_for(source, arguments={"customer": "C-9999", "amount": 80})
    await until(lambda: inbox.flow.view.frozen, "the frozen pane")
    assert not inbox.flow.holding.holds(shown.aid)


@pytest.mark.parametrize("in_view", [True, False])
async def test_a_held_word_goes_with_its_call_where_that_is_not_shown_any_more(
    inbox, source, until, hold, in_view
):
    shown = ask_for(source).shown
    hold(60)
    await approve(inbox, until, shown.aid)
    if not in_view:
        inbox.flow.view.show("")
    await until(lambda: inbox.flow.holding.holds(shown.aid), "the hold")
    inbox._bridge.arrived.emit(Diff(removed=(shown.aid,)))
    assert not inbox.flow.holding.holds(shown.aid)
    if in_view:
        assert says(inbox, "sentence") == "Your word was not written."
    else:
        assert says(inbox, "totals") == (
            "Your word on send_refund of refund-bot was not written: it is not shown any more."
        )
    assert decision_of(shown) is None


async def test_the_button_takes_the_word_back_that_is_in_view(inbox, source, until, hold):
    shown = ask_for(source).shown
    hold(5)
    await approve(inbox, until, shown.aid)
    assert inbox.pane.bar.take_back.isVisible()
    click(inbox.pane.bar.take_back)
    assert not inbox.flow.holding.holds(shown.aid)
    assert decision_of(shown) is None


# --- Ready reasons and the standing word --------------------------------------------------------


async def test_a_ready_reason_is_text_to_go_on_with(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    inbox.flow.deny()
    editor = inbox.pane.editor
    buttons = [one for one in editor.findChildren(QPushButton) if "template" in one.objectName()]
    assert [one.text() for one in buttons] == [
        "Wrong target",
        "Too much",
        "Ask me first",
        "Try another way",
    ]
    click(buttons[0])
    click(buttons[1])
    assert editor.typed() == "Too much at once. Do less in one call, and ask again."
    assert decision_of(shown) is None
    editor.text.setPlainText("C-1204 is closed")
    click(buttons[0])
    assert editor.typed() == (
        "Wrong target. Check what this acts on, and ask again.\nC-1204 is closed"
    )


async def deny_for_a_while(inbox, until, shown):
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    inbox.flow.deny()
    inbox.pane.editor.text.setPlainText("stop refunding")
    inbox.pane.editor.lasting.setChecked(True)
    press(inbox, Qt.Key.Key_Return, CTRL)
    await until(lambda: decision_of(shown), "a decision")
    await until(inbox.status.standing.isVisible, "the standing word")


async def test_what_the_run_goes_on_to_ask_is_denied_until_it_is_revoked(inbox, source, until):
    first = ask_for(source).shown
    other = ask_for(source, agent="other-bot").shown
    await deny_for_a_while(inbox, until, first)
    second = ask_for(source, arguments={"customer": "C-7", "amount": 1}).shown
    decision = await until(lambda: decision_of(second), "the second denial")
    assert (decision.verdict, decision.reason) == ("deny", "stop refunding")
    assert decision.shown["origin"] == "standing"
    await until(lambda: "(1 call so far)" in inbox.status.standing.text(), "it counted")
    (entry,) = inbox.open_words.standing_menu().actions()
    assert entry.text().startswith("Stop this: What this run of refund-bot asks is denied until ")
    entry.trigger()
    assert not inbox.status.standing.isVisible()
    third = ask_for(source, arguments={"customer": "C-8", "amount": 1}).shown
    await until(lambda: inbox.model.row(third.aid), "the third call")
    await until(lambda: inbox.table.choose(third.aid), "its row")
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    assert decision_of(third) is None
    assert decision_of(other) is None


# --- The note -----------------------------------------------------------------------------------


async def test_a_note_waits_for_the_approval_and_goes_with_it(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    inbox.flow.open_note()
    inbox.pane.editor.text.setPlainText("asked the customer")
    press(inbox, Qt.Key.Key_Return, CTRL)
    assert inbox.flow.asking.note == "asked the customer"
    assert not inbox.flow._busy
    kept = "Your note is kept, not sent: \u201casked the customer\u201d."
    assert kept in says(inbox, "sentence")
    assert decision_of(shown) is None
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert (decision.verdict, decision.note) == ("approve", "asked the customer")


# --- Where it is said -----------------------------------------------------------------------------


async def test_an_open_word_can_be_read_in_the_status_line_and_moves_nothing(
    inbox, source, until, hold
):
    shown = ask_for(source, tool="tool-" + "x" * 90).shown
    hold(5)
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    bar = inbox.pane.bar.mapTo(inbox, QPoint(0, 0)).y()
    click(inbox.pane.bar.approve)
    button = inbox.status.held
    assert button.isVisible()
    inside = button.height() - 2
    assert inside >= button.fontMetrics().height()
    assert inbox.pane.bar.mapTo(inbox, QPoint(0, 0)).y() == bar
    inbox.resize(640, 420)
    assert button.width() >= button.fontMetrics().horizontalAdvance(button.text())
    assert inbox.width() == 640
    assert button.mapTo(inbox, QPoint(button.width(), 0)).x() <= 640


async def test_quitting_says_first_that_it_drops_a_held_word(inbox, source, until, hold):
    shown = ask_for(source).shown
    hold(5)
    ended: list[bool] = []
    inbox.ended.connect(lambda: ended.append(True))
    await approve(inbox, until, shown.aid)
    inbox.quit()
    assert ended == []
    assert says(inbox, "sentence") == "A word of yours is not written yet. Quit again to drop it."
    inbox.quit()
    assert ended == [True]
    assert decision_of(shown) is None
