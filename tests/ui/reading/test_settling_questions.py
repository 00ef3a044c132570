"""Who gets the note with which a call is settled: an agent of ours, and nobody else by itself."""

import json

import pytest

from lineclear.cli.settled_elsewhere import told
from lineclear.core.inbox.deciding.settling import comes_of, note_reaches
from lineclear.core.ledger.foreign import show_foreign
from lineclear.core.ledger.state import State
from lineclear.ui.deciding import offers
from lineclear.ui.reading.editors import IT_DID_NOT_RUN, IT_RAN, QUESTIONS, question_about
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import starweaver_document, waiting_state
from tests.core.inbox.agents import asked
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


@pytest.mark.parametrize(
    "system, reaches", [("lc-agents", False), ("starweaver", True), ("ours", False)]
)
def test_who_gets_the_note_of_an_approval_is_what_their_own_form_has(tmp_path, system, reaches):
    if system == "ours":
        shown = asked(tmp_path / "bot" / "1")
    elif system == "starweaver":
        document = json.dumps(starweaver_document(waiting_state())).encode()
        shown = show_foreign(badinputs.put(tmp_path / "run.checkpoint.json", document))[0]
    else:
        shown = show_foreign(badinputs.put(tmp_path / "pending.json"))[0]
    assert note_reaches(shown) is reaches
    assert not note_reaches(None)


def test_a_note_is_told_as_it_goes():
    made = offers.offer(a_row(1))
    kept, given = offers.noted(made, "seen"), offers.noted(made, "seen", reaches=True)
    assert kept.sentence.endswith(" Your note is kept, not sent: “seen”.")
    assert given.sentence.endswith(" The agent gets your note: “seen”.")
