"""A standing denial in the window: whom it leaves alone, what it says when it fails or is over."""

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt

from lineclear.core import places
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.deciding.kept_denials import FOLDER
from lineclear.core.inbox.watching.feed import Diff
from lineclear.ui.deciding import standing_word
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from tests.core.inbox.agents import Agent, asked
from tests.ui.sample import ask_for
from tests.ui.test_window import decision_of, press, ready, says, select

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(standing_word, "_AGAIN_S", (0.05,))
    monkeypatch.setattr(standing_word, "_LOOK_MS", 50)


async def deny_for_a_while(inbox, until, aid):
    await select(inbox, until, aid)
    await ready(inbox, until, Act.DENY)
    inbox.flow.deny()
    inbox.pane.editor.text.setPlainText("stop refunding")
    inbox.pane.editor.lasting.setChecked(True)
    press(inbox, Qt.Key.Key_Return, CTRL)
    await until(inbox.status.standing.isVisible, "the standing word")


def kept():
    return list((places.state() / FOLDER).glob("*.json"))


@pytest.fixture
def agent(source):
    """A run whose process lives and waits in its first lane."""
    with Agent(source / "refund-bot") as started:
        yield started


async def first_call(inbox, until):
    return await until(lambda: next(iter(inbox.model.rows_in(Section.WAITING)), None), "a call")


async def test_a_call_that_was_put_off_before_is_not_denied_unread(inbox, source, agent, until):
    first = await first_call(inbox, until)
    put_off = asked(source / "refund-bot" / "2")
    row = await until(lambda: inbox.model.row(put_off.aid), "the call")
    inbox.model.snooze({put_off.aid: datetime.now(UTC) + timedelta(hours=1)})
    assert inbox.model.section(put_off.aid) is Section.SNOOZED
    await deny_for_a_while(inbox, until, first.id)
    # Something is told anew of it, as when its process is looked at again.
    inbox.flow.standing.take(Diff(changed=(row,)))
    later = asked(source / "refund-bot" / "3")
    await until(lambda: decision_of(later), "the denial of what came after")
    assert decision_of(put_off) is None


async def test_a_call_asked_before_that_comes_to_light_later_is_not_denied(
    inbox, source, agent, until, tmp_path
):
    first = await first_call(inbox, until)
    hidden = asked(tmp_path / "refund-bot" / "2")
    await deny_for_a_while(inbox, until, first.id)
    (tmp_path / "refund-bot" / "2").rename(source / "refund-bot" / "2")
    row = await until(lambda: inbox.model.row(hidden.aid), "the call")
    assert row.run_key == first.run_key
    later = asked(source / "refund-bot" / "3")
    await until(lambda: decision_of(later), "the denial of what came after")
    assert inbox.model.section(hidden.aid) is Section.WAITING


async def test_one_that_cannot_be_denied_waits_is_told_and_tried_again(
    inbox, source, until, monkeypatch
):
    first = ask_for(source).shown
    await deny_for_a_while(inbox, until, first.aid)
    decide, refused = inbox._bridge.decide, []

    async def refuse(*said):
        refused.append(said)
        raise LineclearError("The disk is full.")

    monkeypatch.setattr(inbox._bridge, "decide", refuse)
    inbox.flow.view.show("")
    second = ask_for(source, arguments={"customer": "C-7", "amount": 1}).shown
    strip = inbox.open_words.strip
    await until(lambda: len(refused) > 1, "it tried again")
    await until(strip.isVisible, "the failure told with no call in view")
    assert strip.label.text() == (
        "send_refund of refund-bot is not denied and waits for you: The disk is full. "
        "It is tried again."
    )
    assert "(0 calls so far)" in inbox.status.standing.text()
    monkeypatch.setattr(inbox._bridge, "decide", decide)
    decision = await until(lambda: decision_of(second), "the denial")
    assert decision.shown["origin"] == "standing"
    await until(lambda: "(1 call so far)" in inbox.status.standing.text(), "it counted")
    await until(strip.isHidden, "nothing goes wrong any more")


async def test_one_that_was_taken_back_and_stays_on_disk_is_told_and_removed_later(
    inbox, source, until, tmp_path
):
    first = ask_for(source).shown
    await deny_for_a_while(inbox, until, first.aid)
    (file,) = await until(kept, "its file")
    folder, aside = file.parent, tmp_path / "aside"
    folder.rename(aside)
    folder.write_text("in its place")
    inbox.flow.view.show("")
    (entry,) = inbox.open_words.standing_menu().actions()
    entry.trigger()
    strip = inbox.open_words.strip
    await until(strip.isVisible, "the failure told with no call in view")
    assert strip.label.text().startswith("The denial that you took back may go on in the next")
    assert "is kept, but rests" not in inbox._leaving.told()
    assert "took back may go on in the next window" in inbox._leaving.told()
    folder.unlink()
    aside.rename(folder)
    await until(lambda: not kept(), "the file gone")
    await until(strip.isHidden, "nothing goes wrong any more")


async def test_it_is_over_when_its_process_is_and_that_is_said(inbox, agent, until):
    row = await first_call(inbox, until)
    assert row.pid == agent.pid
    await deny_for_a_while(inbox, until, row.id)
    ((word, _told),) = inbox.flow.standing.listed()
    assert word.here
    agent.kill()
    await until(inbox.status.standing.isHidden, "the word over")
    assert says(inbox, "sentence") == (
        "Your denial of what refund-bot asks is over: its process has ended. "
        "What is asked now waits for you."
    )
    await until(lambda: not kept(), "the file gone")


async def test_it_goes_on_under_another_name_of_the_same_operator(inbox, source, until):
    first = ask_for(source).shown
    await deny_for_a_while(inbox, until, first.aid)
    bridge = inbox._bridge
    bridge.settings = bridge.settings.model_copy(update={"operator": "Ada B"})
    assert inbox.flow.view.me.name == "Ada B"
    second = ask_for(source, arguments={"customer": "C-7", "amount": 1}).shown
    decision = await until(lambda: decision_of(second), "the denial")
    assert decision.by.name == "Ada B"
    await until(lambda: b'"met":1' in b"".join(one.read_bytes() for one in kept()), "it kept")
    assert b'"name":"Ada B"' in kept()[0].read_bytes()
