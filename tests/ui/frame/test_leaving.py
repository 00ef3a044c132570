"""Ending the program with words that are open: said first, whichever window they were given in."""

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtTest import QTest

from lineclear.ui.deciding.arming import Act
from tests.ui import test_burst as bursts
from tests.ui.sample import ask_for
from tests.ui.test_window import click, decision_of, press, ready, says, select

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
CTRL = Qt.KeyboardModifier.ControlModifier
RESTS = "A denial of yours is kept, but rests while no window is open: what its run asks waits."


@pytest.fixture
def ended(inbox) -> list[bool]:
    told: list[bool] = []
    inbox.ended.connect(lambda: told.append(True))
    return told


def hold(inbox, seconds: int) -> None:
    inbox._bridge.settings = inbox._bridge.settings.model_copy(update={"hold_s": seconds})


async def opened_burst(inbox, source, until, number):
    shown = [ask_for(source, agent=f"b{n}", arguments={"n": n}).shown for n in range(number)]
    await bursts.select_all(inbox, until, number)
    inbox.table.setFocus()
    QTest.keyClick(inbox.table, Qt.Key.Key_B)
    flow = await until(lambda: inbox.together.flow, "the window of the burst")
    await until(flow.window.on_screen, "the burst on screen")
    return flow, shown


async def held_burst(inbox, source, until):
    flow, shown = await opened_burst(inbox, source, until, 3)
    hold(inbox, 60)
    await bursts.ready(flow, until)
    click(flow.window.approve)
    await until(lambda: flow.run.holding, "the hold")
    return flow, shown


async def test_quitting_says_first_that_it_drops_the_words_of_a_burst(inbox, source, until, ended):
    _flow, shown = await held_burst(inbox, source, until)
    inbox.quit()
    assert ended == []
    said = "3 words of yours are not written yet. Quit again to drop them."
    assert says(inbox, "sentence") == said
    inbox.quit()
    assert ended == [True]
    assert [decision_of(one) for one in shown] == [None] * 3


async def test_closing_does_not_say_that_nothing_is_lost_where_it_is(inbox, source, until, ended):
    await held_burst(inbox, source, until)
    inbox.closeEvent(QCloseEvent())
    assert inbox.closing.end.label.text() == (
        "Lineclear closes. Agents keep waiting. 3 words of yours are not written yet."
    )
    assert ended == []
    inbox.closing.end.findChild(object, "endOk").click()
    assert ended == [True]


async def test_a_word_that_was_written_is_said_to_be_lost_no_more(inbox, source, until, ended):
    shown = ask_for(source).shown
    hold(inbox, 60)
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    inbox.closeEvent(QCloseEvent())
    label = inbox.closing.end.label
    lost = "A word of yours is not written yet."
    assert label.text() == f"Lineclear closes. Agents keep waiting. {lost}"
    inbox.flow.holding._clock = lambda: time.monotonic() + 61.0
    await until(lambda: decision_of(shown), "the decision")
    assert label.text() == "Lineclear closes. Agents keep waiting and nothing is lost."
    assert ended == []


async def test_a_burst_whose_window_is_closed_tells_how_it_went(inbox, source, until):
    flow, shown = await opened_burst(inbox, source, until, 9)
    await bursts.ready(flow, until)
    told: list[str] = []
    inbox.together.told.connect(told.append)
    flow.run.moved.connect(lambda: flow.leave() if flow.run.done == 2 else None)
    click(flow.window.approve)
    await until(lambda: told, "the word on how it went")
    assert told == ["2 approved, 7 not decided."]
    assert told[0] in (says(inbox, "sentence"), inbox.status.totals.text())
    assert sum(decision_of(one) is not None for one in shown) == 2


async def test_a_word_given_after_it_was_said_is_said_anew(inbox, source, until, ended):
    flow, _shown = await held_burst(inbox, source, until)
    inbox.quit()
    click(flow.window.stop)
    await until(lambda: not flow.run.going, "the end of the hold")
    flow.window.activateWindow()
    await until(flow.window.on_screen, "the burst on screen")
    await bursts.ready(flow, until)
    click(flow.window.approve)
    await until(lambda: flow.run.holding, "the hold")
    inbox.quit()
    assert ended == []


async def test_a_burst_that_was_stopped_loses_nothing(inbox, source, until, ended):
    flow, _shown = await held_burst(inbox, source, until)
    click(flow.window.stop)
    inbox.quit()
    assert ended == [True]


async def deny_for_a_while(inbox, source, until) -> None:
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.DENY)
    inbox.flow.deny()
    inbox.pane.editor.text.setPlainText("stop refunding")
    inbox.pane.editor.lasting.setChecked(True)
    press(inbox, Qt.Key.Key_Return, CTRL)
    await until(inbox.flow.standing.listed, "the standing word")


async def test_a_standing_denial_that_rests_without_a_window_is_said(inbox, source, until, ended):
    await deny_for_a_while(inbox, source, until)
    inbox.quit()
    assert ended == []
    line = says(inbox, "sentence") if inbox.flow.view.row else inbox.status.totals.text()
    assert line == f"{RESTS} Quit again to close the window."
    inbox.quit()
    assert ended == [True]


async def test_what_is_dropped_and_what_rests_are_told_apart(inbox, source, until, ended):
    await deny_for_a_while(inbox, source, until)
    await held_burst(inbox, source, until)
    inbox.quit()
    assert ended == []
    dropped = "3 words of yours are not written yet. Quit again to drop them."
    line = says(inbox, "sentence") if inbox.flow.view.row else inbox.status.totals.text()
    assert line == f"{dropped} {RESTS}"
    inbox.quit()
    assert ended == [True]


async def test_without_a_call_in_view_it_is_said_below(inbox, source, until, ended):
    shown = ask_for(source).shown
    hold(inbox, 60)
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    inbox.flow.view.show("")
    inbox.quit()
    assert ended == []
    told = "A word of yours is not written yet. Quit again to drop it."
    assert inbox.status.totals.text() == told
