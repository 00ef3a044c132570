"""The Call tab after a modify: fields and text both show the arguments that run."""

from dataclasses import replace
from pathlib import Path

import pytest

from lineclear.core.checkpoints.model import MISSING, Checkpoint, PendingCall
from lineclear.core.inbox.rows.row import Detail
from lineclear.ui import theme
from lineclear.ui.reading.call_tab import CHANGED, CallTab
from lineclear.ui.reading.prepared import prepare
from lineclear.ui.reading.shown_text import exact_text
from tests.ui.sample import a_decision, a_row

ASKED = {"path": "/tmp/a", "note": "x"}
GIVEN = {"path": "/tmp/b", "note": "x"}


def reading(**more):
    waiting = Checkpoint("lc-agents", b"", "", {}, calls=(PendingCall("send_refund", ASKED),))
    return prepare(Detail(a_row(**more), None, waiting, b"", Path("f")))


def modify(given):
    return a_decision("modify", arguments=given)


@pytest.fixture
def tab(qapp, qtbot):
    look = theme.Theme(qapp, dark=False)
    made = CallTab(look)
    qtbot.addWidget(made)
    made.resize(700, 400)
    yield made
    look.stop()


def texts(tab):
    """The note and the exact text."""
    tab._show_as_text(as_text=True)
    return tab._note.text(), tab.text.toPlainText()


@pytest.mark.parametrize("given", [GIVEN, {}, None, [1]])
def test_a_modify_that_stands_is_shown_in_both_forms(tab, given):
    prepared = reading(decision=modify(given))
    assert (prepared.shown, prepared.arguments) == (given, ASKED)
    tab.show_call(prepared)
    note, text = texts(tab)
    assert note.startswith(CHANGED)
    assert text == exact_text(given)


def test_long_arguments_given_are_counted_as_what_they_are(tab):
    given = {"lines": list(range(300))}
    tab.show_call(reading(decision=modify(given)))
    note, text = texts(tab)
    assert note.startswith(f"{CHANGED} 304 lines")
    assert exact_text(given).startswith(text)


@pytest.mark.parametrize("verdict", ["approve", "deny"])
def test_any_other_decision_leaves_what_was_asked(tab, verdict):
    prepared = reading(decision=a_decision(verdict))
    assert prepared.given is MISSING
    tab.show_call(prepared)
    assert texts(tab) == ("", exact_text(ASKED))


def test_a_modify_that_comes_while_the_call_is_shown_is_shown_too(tab):
    tab.show_call(reading())
    assert texts(tab) == ("", exact_text(ASKED))
    after = reading(decision=modify(GIVEN))
    tab.follow(after.detail.row)
    tab.take_given(after)
    assert texts(tab) == (CHANGED, exact_text(GIVEN))


def test_a_modify_taken_back_leaves_what_was_asked_whatever_reading_comes_late(tab):
    after = reading(decision=modify(GIVEN))
    tab.show_call(after)
    tab.follow(after.detail.row)
    assert texts(tab) == (CHANGED, exact_text(GIVEN))
    tab.follow(replace(after.detail.row, decision=None))
    assert texts(tab) == ("", exact_text(ASKED))
    tab.take_given(after)
    assert texts(tab) == ("", exact_text(ASKED))
