"""What was denied for some minutes goes on after a kill: said, listed and revocable."""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtWidgets import QPushButton

from lineclear.core import places
from lineclear.core.inbox.deciding.kept_denials import FOLDER
from lineclear.core.inbox.deciding.standing_denials import Stand, StandingDenial
from lineclear.ui.deciding.verdicts import Lasting
from lineclear.ui.frame.open_words import OpenWords
from tests.ui.sample import ask_for
from tests.ui.test_window import decision_of

END_S = 20.0
DENIES = """
import asyncio, sys
from lineclear.core.inbox.deciding.path import Origin
from lineclear.ui import running
from lineclear.ui.app import parse
from lineclear.ui.deciding.arming import Act

async def deny(window):
    while not window.model.rowCount():
        await asyncio.sleep(0.02)
    window.table.choose(window.model.id_at(0))
    while not window.flow.arming.readiness(Act.DENY).ready:
        window.activateWindow()
        await asyncio.sleep(0.05)
    window.flow.deny()
    window.pane.editor.text.setPlainText("wrong customer")
    window.pane.editor.lasting.setChecked(True)
    window.pane.editor.send(Origin.KEY)
    while not window.flow.standing.listed():
        await asyncio.sleep(0.02)

running.start(parse(["--source", sys.argv[1]]), deny)
"""
"""A person who denies what a run asks, for some minutes."""
pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
]


def kept():
    return list((places.state() / FOLDER).glob("*.json"))


def deny_and_end(source, told) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", DENIES, str(source)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        end = time.monotonic() + END_S
        while not kept():
            assert child.poll() is None, child.communicate()[0]
            assert time.monotonic() < end, "it was never kept"
            time.sleep(0.02)
        child.send_signal(told)
        child.communicate(timeout=END_S)
    finally:
        child.kill()


@pytest.fixture(params=[signal.SIGKILL, signal.SIGTERM])
def denied(source, request):
    """A run of which a call was denied with the rest of what it asks, by a window that is gone."""
    first = ask_for(source).shown
    deny_and_end(source, request.param)
    decision = decision_of(first)
    assert decision is not None
    assert decision.verdict == "deny"
    return first


async def test_it_goes_on_is_said_and_is_taken_back(denied, inbox, source, until):
    strip = inbox.open_words.strip
    assert strip.isVisible()
    said = strip.label.text()
    assert said.startswith("Your denial from before goes on. refund-bot: denied until ")
    assert "so far" not in said
    assert "(0 calls so far)" in inbox.status.standing.text()
    second = ask_for(source, arguments={"customer": "C-9", "amount": 1}).shown
    later = await until(lambda: decision_of(second), "the denial of what came after")
    assert later.reason == "wrong customer"
    await until(lambda: "(1 call so far)" in inbox.status.standing.text(), "it counted")
    assert strip.label.text() == said
    (entry,) = inbox.open_words.standing_menu().actions()
    entry.trigger()
    await until(lambda: not kept(), "the file gone")
    assert not inbox.status.standing.isVisible()
    await until(strip.isHidden, "the strip gone")
    third = ask_for(source, arguments={"customer": "C-9", "amount": 2}).shown
    await until(lambda: inbox.model.row(third.aid), "the call")
    assert decision_of(third) is None


async def test_what_is_said_of_before_ends_with_it_though_a_later_word_stands(
    denied, inbox, source, until
):
    strip = inbox.open_words.strip
    other = ask_for(source, agent="other-bot").shown
    row = await until(lambda: inbox.model.row(other.aid), "the other run's call")
    inbox.flow.standing.add(row, Lasting("not now", datetime.now(UTC), frozenset()))
    assert "refund-bot" in strip.label.text()
    assert "more" not in strip.label.text()
    entry, _later = inbox.open_words.standing_menu().actions()
    entry.trigger()
    await until(strip.isHidden, "the strip gone")
    assert inbox.status.standing.text().startswith("other-bot: denied until ")


@pytest.mark.parametrize("how", ["stopped", "lapsed"])
async def test_what_is_said_names_the_words_that_still_stand(inbox, source, until, how):
    standing, now = inbox.flow.standing, datetime.now(UTC)
    early, late = (
        StandingDenial(source, source, agent, "r", "no", now + timedelta(minutes=minutes))
        for agent, minutes in (("early-bot", 1), ("late-bot", 9))
    )
    standing._words.go_on(dict.fromkeys((early, late), Stand(frozenset(), 0)))
    strip = OpenWords(inbox.flow, inbox.status).strip
    assert "early-bot: denied until " in strip.label.text()
    assert strip.label.text().endswith(", and 1 more.")
    if how == "lapsed":
        standing._now = lambda: now + timedelta(minutes=2)
    standing.revoke(early if how == "stopped" else None)
    await until(lambda: "early-bot" not in strip.label.text(), "it tells of that one no more")
    assert "before goes on. late-bot: denied until " in strip.label.text()
    assert "more" not in strip.label.text()
    strip.button("standingWordsOk").click()
    standing.revoke(late)
    assert strip.isHidden()


async def test_what_is_said_goes_when_it_was_read(denied, inbox, until):
    strip = inbox.open_words.strip
    strip.findChild(QPushButton, "standingWordsOk").click()
    assert strip.isHidden()
    assert inbox.status.standing.isVisible()
    assert len(kept()) == 1


class TestADamagedFile:
    @pytest.fixture(autouse=True)
    def left(self):
        folder = places.state() / FOLDER
        folder.mkdir(mode=0o700, parents=True)
        (folder / f"{'a' * 32}.json").write_bytes(b"{")
        (folder / f"{'a' * 32}.json").chmod(0o600)

    async def test_is_kept_aside_and_said(self, left, inbox):
        assert inbox.open_words.strip.isVisible()
        said = inbox.open_words.strip.label.text()
        assert "does not go on" in said
        assert ".damaged-" in said
        assert not inbox.status.standing.isVisible()
