"""Who gets the note with which a call is settled: an agent of ours, and nobody else by itself."""

import pytest

from lineclear.cli.settled_elsewhere import told
from lineclear.core.inbox.settling import comes_of
from lineclear.core.ledger.state import State
from lineclear.ui.reading.editors import IT_DID_NOT_RUN, IT_RAN, QUESTIONS, question_about
from tests.ui.sample import a_row

OURS = a_row(1, state=State.UNCERTAIN)
CALL = a_row(2, state=State.UNCERTAIN, system="lc-agents")
RUN = a_row(3, state=State.UNCERTAIN, system="a3s", tool=None)
KEPT = "Your note is kept here; nothing tells its agent so by itself."
SAID = [
    (OURS, "ran", "The agent gets your note as the tool's result."),
    (OURS, "not_run", "The agent is told that the tool did not run, with your note."),
    (CALL, "ran", KEPT),
    (CALL, "not_run", KEPT),
    (RUN, "ran", "Your note is kept here; the run is not resumed again."),
    (RUN, "not_run", KEPT),
]


@pytest.mark.parametrize("row, resolution, sentence", SAID)
def test_the_window_asks_with_what_the_command_line_then_says(row, resolution, sentence):
    assert comes_of(row, resolution) == sentence
    asked = IT_RAN if resolution == "ran" else IT_DID_NOT_RUN
    question = question_about(asked.name, row)
    assert question.title == f"{asked.title} {sentence}"
    assert (question.name, question.send) == (asked.name, asked.send)
    if row is not OURS:
        assert sentence in told(row, resolution, [], note="seen")


def test_no_note_is_spoken_of_where_none_is_given():
    for row in (OURS, CALL, RUN):
        assert "your note" not in comes_of(row, "ask_again").lower()


def test_any_other_question_is_the_same_for_every_call():
    for name in QUESTIONS.keys() - {IT_RAN.name, IT_DID_NOT_RUN.name}:
        assert question_about(name, CALL) is QUESTIONS[name]
