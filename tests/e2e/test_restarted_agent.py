"""A waiting agent dies by kill -9; it is started again, and goes on with what it left."""

from pathlib import Path

import pytest

from tests.e2e.desktop import wait_for
from tests.e2e.processes import (
    agent,
    effects,
    lane,
    lineclear,
    listed,
    pending_aid,
    records,
    row_of,
    waiting,
)

STORE = "refund-bot"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


def killed_while_waiting(done: Path, log: Path, *refunds: str) -> str:
    with agent("refunds", done, *refunds, log=log) as bot:
        aid = waiting(lane(STORE))
        bot.kill()
    return aid


def test_a_call_decided_while_its_agent_was_dead_runs_once_when_it_is_asked_again(
    done: Path, tmp_path: Path
):
    aid = killed_while_waiting(done, tmp_path / "log", "bob=10")
    assert row_of(aid)["process"] == "dead"
    lineclear("approve", aid, expect=0)
    row = row_of(aid)
    assert (row["state"], effects(done)) == ("approved", [])
    # A week, because nobody waits: it is picked up when somebody starts the agent again.
    assert row["decision"]["valid_for_s"] == 7 * 86400

    with agent("refunds", done, "bob=10", log=tmp_path / "again") as bot:
        assert bot.finishes().said() == [{"result": "refund of 10 to bob sent"}]
    assert effects(done) == ["bob 10"]
    assert len(records(lane(STORE), "request")) == 1, "it was adopted, not asked anew"
    assert row_of(aid)["outcome"] == "ok"


def test_a_restarted_agent_that_asks_the_same_waits_on_in_the_same_request(
    done: Path, tmp_path: Path
):
    aid = killed_while_waiting(done, tmp_path / "log", "bob=10")
    with agent("refunds", done, "bob=10", log=tmp_path / "again") as bot:
        assert waiting(lane(STORE)) == aid
        lineclear("deny", aid, "--reason", "no", expect=0)
        assert bot.finishes().said() == [{"denied": "no"}]
    assert effects(done) == []


def test_a_restarted_agent_that_asks_another_call_never_runs_the_approved_old_one(
    done: Path, tmp_path: Path
):
    old = killed_while_waiting(done, tmp_path / "log", "bob=10")
    lineclear("approve", old, expect=0)
    with agent("refunds", done, "carol=999", log=tmp_path / "again") as bot:
        new = waiting(lane(STORE), after=old)
        assert effects(done) == []
        gone, open_row = row_of(old), row_of(new)
        assert (gone["state"], gone["outcome"]) == ("done", "withdrawn")
        assert open_row["state"] == "pending"
        assert open_row["arguments"] == {"customer": "carol", "amount": 999}
        assert open_row["decision"] is None
        lineclear("approve", new, expect=0)
        bot.finishes()
    assert effects(done) == ["carol 999"]
    # The old one's place to start was taken away; only the new one started.
    old_start, new_start = records(lane(STORE), "start")
    assert "revoked" in old_start
    assert new_start["decision"]["aid"] == new


def test_a_restarted_agent_that_asks_another_call_closes_the_undecided_one(
    done: Path, tmp_path: Path
):
    old = killed_while_waiting(done, tmp_path / "log", "bob=10")
    with agent("refunds", done, "carol=999", log=tmp_path / "again") as bot:
        new = waiting(lane(STORE), after=old)
        assert [row["id"] for row in listed() if row["state"] == "pending"] == [new]
        late = lineclear("approve", old)
        assert late.code in (3, 4), late
        lineclear("deny", new, "--reason", "no", expect=0)
        bot.finishes()
    assert effects(done) == []


def test_eight_calls_of_a_dead_agent_find_their_answers_again(done: Path, tmp_path: Path):
    calls = [f"C-{n}={n}" for n in range(1, 9)]
    with agent("refunds", done, *calls, "--at-once", log=tmp_path / "log") as bot:
        for number in range(1, 9):
            waiting(lane(STORE, number))
        bot.kill()
    for row in listed():
        lineclear("approve", row["id"], expect=0)
    backwards = list(reversed(calls))
    with agent("refunds", done, *backwards, "--at-once", log=tmp_path / "again") as bot:
        said = bot.finishes().said()
    assert said == [{"result": f"refund of {n} to C-{n} sent"} for n in range(8, 0, -1)]
    assert sorted(effects(done)) == [f"C-{n} {n}" for n in range(1, 9)]


def test_an_approval_can_be_taken_back_while_its_agent_is_dead(done: Path, tmp_path: Path):
    aid = killed_while_waiting(done, tmp_path / "log", "bob=10")
    lineclear("approve", aid, expect=0)
    lineclear("take-back", aid, expect=0)
    row = row_of(aid)
    assert (row["state"], row["outcome"]) == ("done", "withdrawn")
    lineclear("take-back", aid, expect=4)
    with agent("refunds", done, "bob=10", log=tmp_path / "again") as bot:
        again = waiting(lane(STORE), after=aid)
        assert effects(done) == []
        lineclear("approve", again, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


# --- Killed while the tool ran -----------------------------------------------------------------


def killed_while_running(done: Path, log: Path) -> str:
    options = ("bob=10", "--keyed")
    with agent("refunds", done, *options, "--hang", log=log) as bot:
        aid = waiting(lane(STORE))
        lineclear("approve", aid, expect=0)
        wait_for("the tool's effect", lambda: effects(done))
        assert row_of(aid)["state"] == "running"
        bot.kill()
    return aid


def test_a_call_whose_agent_died_in_it_may_have_run_and_nobody_runs_it_again(
    done: Path, tmp_path: Path
):
    aid = killed_while_running(done, tmp_path / "log")
    row = row_of(aid)
    assert (row["state"], row["process"], row["outcome"]) == ("uncertain", "dead", None)
    for verdict in (["approve", aid], ["deny", aid, "--reason", "no"]):
        assert lineclear(*verdict).code in (3, 7)
    lineclear("take-back", aid, expect=4)
    with agent("refunds", done, "bob=10", "--keyed", log=tmp_path / "again") as bot:
        (said,) = bot.finishes().said()
        assert said["error"] == "may_have_run"
        assert aid[:8] in said["sentence"]
    assert effects(done) == ["bob 10"]
    assert len(records(lane(STORE), "request")) == 1


@pytest.mark.parametrize(
    "how, note, said",
    [
        ("--ran", "R-88 is there", {"result": "R-88 is there"}),
        ("--not-run", "nothing arrived", {"error": "not_run"}),
    ],
)
def test_an_operator_settles_what_may_have_run(
    done: Path, tmp_path: Path, how: str, note: str, said: dict[str, str]
):
    aid = killed_while_running(done, tmp_path / "log")
    lineclear("resolve", aid, how, "--note", note, expect=0)
    row = row_of(aid)
    assert (row["state"], row["outcome"]) == ("done", "resolved")
    assert lineclear("resolve", aid, how, "--note", "again").code in (3, 4)
    with agent("refunds", done, "bob=10", "--keyed", log=tmp_path / "again") as bot:
        (got,) = bot.finishes().said()
        assert {name: got[name] for name in said} == said
    assert effects(done) == ["bob 10"], "it did not run a second time"
    assert pending_aid(lane(STORE)) is None


def test_a_call_that_may_have_run_is_asked_again_when_an_operator_says_so(
    done: Path, tmp_path: Path
):
    aid = killed_while_running(done, tmp_path / "log")
    lineclear("resolve", aid, "--ask-again", expect=0)
    with agent("refunds", done, "bob=10", "--keyed", log=tmp_path / "again") as bot:
        again = waiting(lane(STORE), after=aid)
        assert records(lane(STORE), "request")[1]["lineclear"]["again_of"] == aid
        assert effects(done) == ["bob 10"]
        lineclear("approve", again, expect=0)
        assert bot.finishes().said() == [{"result": "refund of 10 to bob sent"}]
    assert effects(done) == ["bob 10", "bob 10"]


def test_a_finished_call_of_the_same_key_gives_its_result_back_without_running(
    done: Path, tmp_path: Path
):
    with agent("refunds", done, "bob=10", "--keyed", log=tmp_path / "log") as bot:
        lineclear("approve", waiting(lane(STORE)), expect=0)
        first = bot.finishes().said()
    with agent("refunds", done, "bob=10", "--keyed", log=tmp_path / "again") as bot:
        assert bot.finishes().said() == first
    assert effects(done) == ["bob 10"]


def test_an_identical_call_without_a_key_is_asked_anew_with_a_warning(done: Path, tmp_path: Path):
    with agent("refunds", done, "bob=10", "bob=10", log=tmp_path / "log") as bot:
        first = waiting(lane(STORE))
        lineclear("approve", first, expect=0)
        second = waiting(lane(STORE), after=first)
        assert "repeats_finished_call" in row_of(second)["warnings"]
        assert "repeats_finished_call" not in row_of(first)["warnings"]
        lineclear("deny", second, "--reason", "once is enough", expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]
