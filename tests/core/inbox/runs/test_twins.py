"""The same call elsewhere: which one is told of, what became of it, and what an approval does."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import Origin, may_decide
from lineclear.core.inbox.rows.cautions import TWIN
from lineclear.core.inbox.rows.row import Row, Twin, row_json
from lineclear.core.inbox.rows.warning_words import about, twin
from lineclear.core.inbox.runs.twins import Twins
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.ask import withdraw
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests.core.inbox.agents import asked, call
from tests.core.inbox.watching.test_scan import rows_of, say
from tests.core.ledger.steps import start_of_a_dead_process

AT = datetime.now().astimezone().replace(hour=9, minute=4, second=0, microsecond=0)
SECOND = "Approving this one can run it a second time."
BOTH = "Approving both can run it twice."


def other(state: State, at: datetime | None = AT, agent: str = "refund-bot") -> Twin:
    return Twin("3f" * 16, Path("/srv/b"), agent, state, at)


@pytest.mark.parametrize(
    "state, told",
    [
        (State.UNCERTAIN, f"may have run at 09:04. {SECOND}"),
        (State.RUNNING, f"runs since 09:04. {SECOND}"),
        (State.APPROVED, f"was approved at 09:04 and has yet to run. {SECOND}"),
        (State.HELD, f"was approved at 09:04 and is held for now. {SECOND}"),
        (State.LAPSED, f"was approved at 09:04, which has lapsed. {BOTH}"),
        (State.PENDING, f"also waits, asked at 09:04. {BOTH}"),
    ],
)
def test_it_is_said_what_became_of_the_same_call(state, told):
    assert twin(other(state)) == f"The same call of refund-bot {told}"


def test_a_time_that_nobody_knows_is_not_made_up():
    for state in State:
        assert " at " not in twin(other(state, at=None))
    assert (
        twin(other(State.UNCERTAIN, None)) == f"The same call of refund-bot may have run. {SECOND}"
    )


def test_another_day_is_named():
    before = AT - timedelta(days=40)
    assert f"may have run at {before:%Y-%m-%d} 09:04." in twin(other(State.UNCERTAIN, before))


def test_the_agents_name_is_shown_not_obeyed():
    told = twin(other(State.RUNNING, agent="a\u202eb<b>\n" + "x" * 99))
    assert told.isprintable()
    assert "\u202e" not in told
    assert told.startswith("The same call of a⟦U+202E⟧b<b>")
    assert len(told) < 160


# --- In a source -------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "agents"


def waiting(source: Path, agent: str) -> Row:
    return next(row for row in rows_of(source) if row.agent == agent)


def test_two_that_wait_name_each_other(source):
    asked(source / "a" / "1", call(agent="a"))
    asked(source / "b" / "1", call(agent="b"))
    mine, theirs = waiting(source, "a"), waiting(source, "b")
    assert mine.twin is not None
    assert (mine.twin.id, mine.twin.agent, mine.twin.state) == (theirs.id, "b", State.PENDING)
    assert mine.twin.at == theirs.asked_at
    assert theirs.twin is not None
    assert theirs.twin.id == mine.id


def test_what_may_have_run_is_told_before_what_waits(source):
    shown = asked(source / "a" / "1", call(agent="a"))
    with Store.open(shown.store) as store:
        start_of_a_dead_process(store, shown)
    asked(source / "b" / "1", call(agent="b"))
    asked(source / "c" / "1", call(agent="c"))
    row = waiting(source, "c")
    ran = waiting(source, "a")
    assert ran.state is State.UNCERTAIN
    assert row.twin is not None
    assert (row.twin.state, row.twin.agent, row.twin.at) == (State.UNCERTAIN, "a", ran.started_at)
    assert ran.started_at is not None
    at = local_time(ran.started_at)
    sentence = f"The same call of a may have run at {at}. {SECOND}"
    assert about(row, TWIN) == sentence
    assert about(read_detail(row).row, TWIN) == sentence
    with pytest.raises(Refusal) as refused:
        may_decide(row, Origin.CLI, "approve")
    assert sentence in refused.value.sentence
    said = json.loads(json.dumps(row_json(row), default=str))["twin"]
    assert (said["state"], said["agent"], said["id"]) == ("uncertain", "a", ran.id)


def test_a_denied_or_answered_call_is_no_twin(source):
    say(asked(source / "a" / "1", call(agent="a")), "deny", reason="no")
    say(asked(source / "c" / "1", call(agent="c")), "result", result="done already")
    asked(source / "b" / "1", call(agent="b"))
    assert waiting(source, "b").twin is None
    assert TWIN not in waiting(source, "b").warnings


def test_a_call_approved_with_changes_is_the_twin_of_what_it_runs(source):
    shown = asked(source / "a" / "1", call(agent="a"))
    say(shown, "modify", arguments={"customer": "C-1"})
    asked(source / "b" / "1", call(agent="b"))
    asked(source / "c" / "1", call(agent="c", arguments={"customer": "C-1"}))
    assert waiting(source, "b").twin is None
    found = waiting(source, "c").twin
    assert found is not None
    assert (found.agent, found.state) == ("a", State.APPROVED)


def test_a_twin_that_ends_is_told_no_more(source):
    shown = asked(source / "a" / "1", call(agent="a"))
    asked(source / "b" / "1", call(agent="b"))
    assert waiting(source, "b").twin is not None
    with Store.open(shown.store) as store:
        assert withdraw(store, shown)
    assert waiting(source, "b").twin is None


# --- Many ----------------------------------------------------------------------------------------


def a_row(number: int, state: State = State.PENDING) -> Row:
    return Row(
        id=f"{number:032x}", system="lineclear", state=state, source=Path("/srv"),
        store=Path("/srv") / str(number), agent="bot", run="r", same="x",
        asked_at=AT + timedelta(seconds=number), started_at=AT + timedelta(seconds=number),
    )  # fmt: skip


def test_of_thousands_of_equal_calls_one_more_or_less_touches_few():
    twins = Twins()
    rows = [a_row(number) for number in range(2000)]
    twins.update((row.id, row) for row in rows)
    assert twins.update([(a_row(2000).id, a_row(2000))]) == set()
    assert twins.update([(rows[1500].id, None)]) == set()
    assert twins.update([(rows[1].id, None)]) == {rows[0].id}
    assert len(twins.update([(rows[9].id, a_row(9, State.RUNNING))])) == 1999
    told = twins.of(rows[5])
    assert told is not None
    assert (told.id, told.state) == (rows[9].id, State.RUNNING)
