"""A call that was approved and never ran is told as not run, in every place that names its end."""

from pathlib import Path
from typing import Any

import pytest

from lineclear.cli import wording
from lineclear.core.inbox.history.query import parse_query
from lineclear.core.inbox.rows.cautions import REPEATS
from lineclear.core.inbox.rows.row import Repeated
from lineclear.core.ledger.state import State
from lineclear.ui import words
from lineclear.ui.deciding import standing
from lineclear.ui.history import told
from lineclear.ui.queue import cells
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.row_delegate import colour_of, glyph_of
from lineclear.ui.tokens import own_palette, tokens_of
from tests.core.inbox.history.ledgers import fact
from tests.ui.sample import ME, NOW, a_decision, a_row

NOT_RUN = a_row(
    1,
    state=State.DONE,
    outcome="not_run",
    closed=True,
    reason_code="unconfirmed",
    preview="[Not run: its start could not be confirmed]",
    decision=a_decision(),
    ended_at=NOW,
)


def test_a_row_says_so_in_words_shape_and_colour():
    assert (words.state_word(NOT_RUN), wording.state_words(NOT_RUN)) == ("Not run", "not run")
    assert glyph_of(NOT_RUN) == "state-withdrawn"
    for dark in (False, True):
        tokens = tokens_of(own_palette(dark=dark))
        assert colour_of(NOT_RUN, tokens) == tokens.care


@pytest.mark.parametrize(
    "code, said",
    [
        ("unconfirmed", "Not run: its start could not be recorded, so its agent ran nothing."),
        ("not_begun", "Not run: its agent was stopped before it began."),
        (None, "Not run: the rack is on fire"),
    ],
)
def test_the_pane_says_why(code, said):
    row = a_row(
        1, state=State.DONE, outcome="not_run", reason_code=code, preview="the rack is on fire"
    )
    assert standing.standing(row, NOW, ME) == said


def test_the_history_says_so():
    row = fact(1, ended="not_run")
    assert (told.ENDED[row.ended or ""], told.glyph(row)) == ("Not run", "state-withdrawn")
    assert told.TONES["not_run"] == "care"
    (term,) = parse_query("ended:not_run", NOW).terms
    assert term.values == ("not_run", "resolved_not_run")


@pytest.mark.parametrize(
    "verdict, outcome, ran, chip, found",
    [
        ("approve", "ok", True, "ran before", True),
        ("approve", "not_run", False, "not run before", False),
        ("result", "ok", False, "answered before", False),
    ],
)
def test_only_what_ran_carries_the_mark_that_it_ran(verdict, outcome, ran, chip, found):
    given: dict[str, Any] = {"result": "by hand"} if verdict == "result" else {}
    before = Repeated("f" * 32, Path("/srv"), a_decision(verdict, **given), outcome, ran=ran)
    row = a_row(1, warnings=(REPEATS,), repeated=before)
    assert [text for text, _ in cells.chips(row)] == [chip]
    assert parse_filter("has:ran-before").matches(row, NOW) is found
    assert parse_filter("has:care").matches(row, NOW)
