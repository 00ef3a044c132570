"""An agent waits with its process alive; an operator answers on the command line."""

import hashlib
import json
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e import forging
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
    settings,
    waiting,
)

STORE = "refund-bot"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """The file in which each execution of a tool leaves a line."""
    return tmp_path / "effects"


def test_an_approved_call_runs_once_and_its_outcome_is_recorded(done: Path, tmp_path: Path):
    store = lane(STORE)
    with agent("refunds", done, "C-1204=120", log=tmp_path / "log") as bot:
        aid = waiting(store)
        (row,) = listed()
        assert (row["id"], row["state"], row["process"]) == (aid, "pending", "alive")
        assert (row["system"], row["agent"], row["tool"]) == (
            "lineclear",
            "refund-bot",
            "send_refund",
        )
        assert row["arguments"] == {"customer": "C-1204", "amount": 120}
        assert effects(done) == []

        lineclear("approve", aid, "--note", "as agreed", expect=0)

        assert bot.finishes().said() == [{"result": "refund of 120 to C-1204 sent"}]
    assert effects(done) == ["C-1204 120"]
    assert not (store / "pending.json").exists()
    (request,) = (store / ".approvals").glob("*.request.json")
    (decision,) = records(store, "decision")
    (start,) = records(store, "start")
    (outcome,) = records(store, "outcome")
    assert decision["request_sha256"] == hashlib.sha256(request.read_bytes()).hexdigest()
    assert (decision["verdict"], decision["note"]) == ("approve", "as agreed")
    assert start["owner"]["pid"] == bot.pid
    assert start["decision"] == decision
    assert (outcome["outcome"], outcome["result"]) == ("ok", "refund of 120 to C-1204 sent")
    row = row_of(aid)
    assert (row["state"], row["outcome"], row["process"]) == ("done", "ok", "dead")


def test_a_unique_prefix_of_eight_names_a_call_and_a_shorter_one_does_not(
    done: Path, tmp_path: Path
):
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        lineclear("approve", aid[:7], expect=2)
        lineclear("approve", "0" * 8 if aid[:8] != "0" * 8 else "1" * 8, expect=5)
        lineclear("approve", aid[:8], expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def test_a_denial_reaches_the_agent_with_its_reason(done: Path, tmp_path: Path):
    with agent("refunds", done, "C-1=5", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        lineclear("deny", aid, "--reason", "wrong customer", expect=0)
        assert bot.finishes().said() == [{"denied": "wrong customer"}]
    assert effects(done) == []
    (outcome,) = records(lane(STORE), "outcome")
    assert outcome["outcome"] == "denied"
    assert outcome["result"] == "[DENIED by approval: wrong customer]"
    assert records(lane(STORE), "start") == []
    assert pending_aid(lane(STORE)) is None


def test_a_modified_call_runs_with_the_modified_arguments(done: Path, tmp_path: Path):
    with agent("refunds", done, "C-1=500", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        changed = '{"customer": "C-1", "amount": 50}'
        lineclear("modify", aid, "--arguments", changed, "--note", "half", expect=0)
        assert bot.finishes().said() == [{"result": "refund of 50 to C-1 sent"}]
    assert effects(done) == ["C-1 50"]
    (decision,) = records(lane(STORE), "decision")
    assert decision["verdict"] == "modify"
    assert decision["arguments"] == {"customer": "C-1", "amount": 50}


def test_modified_arguments_that_do_not_fit_are_refused_and_the_call_is_asked_again(
    done: Path, tmp_path: Path
):
    store = lane(STORE)
    with agent("refunds", done, "C-1=500", log=tmp_path / "log") as bot:
        first = waiting(store)
        unfit = '{"customer": "C-1"}'
        told = lineclear("modify", first, "--arguments", unfit, expect=4).err
        assert told.endswith("The argument 'amount' is missing. [invalid_arguments]\n")
        # As a program decides that does not look at the tool's schema.
        decision = forging.approval(store)
        decision |= {"verdict": "modify", "arguments": json.loads(unfit)}
        forging.put(forging.decision_path(store, first), decision)
        second = waiting(store, after=first)
        assert row_of(first)["outcome"] == "refused"
        assert effects(done) == []
        assert records(store, "request")[1]["lineclear"]["again_of"] == first
        lineclear("approve", second, expect=0)
        bot.finishes()
    assert effects(done) == ["C-1 500"]


def test_two_command_lines_at_once_have_one_winner_and_the_other_is_told_who(
    done: Path, tmp_path: Path
):
    with agent("refunds", done, "C-1=5", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        # Two people at one machine, by the names that their settings give them.
        homes = []
        for name in ("alice", "bob"):
            home = tmp_path / name
            home.mkdir()
            (home / "settings.json").write_text(json.dumps({"v": 1, "operator": name}))
            homes.append(home)
        source = lane(STORE).parent.parent

        def answer(home: Path):
            verdict = ["approve", aid] if home.name == "alice" else ["deny", aid, "--reason", "no"]
            return lineclear(*verdict, "--source", source, LINECLEAR_HOME=str(home))

        with ThreadPoolExecutor() as pool:
            alice, bob = pool.map(answer, homes)
        assert sorted((alice.code, bob.code)) == [0, 3]
        bot.finishes()
    (decision,) = records(lane(STORE), "decision")
    winner, loser = ("alice", bob) if alice.code == 0 else ("bob", alice)
    assert decision["by"]["name"] == winner
    assert winner in loser.err
    assert re.search(r"\d\d:\d\d", loser.err), "the time is told too"
    assert effects(done) == (["C-1 5"] if winner == "alice" else [])


def test_an_approval_that_is_not_picked_up_in_time_lapses_and_the_call_is_asked_again(
    done: Path, tmp_path: Path
):
    settings(valid_live_s=1.0)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        first = waiting(lane(STORE))
        bot.process.send_signal(signal.SIGSTOP)
        lineclear("approve", first, expect=0)
        wait_for("the approval lapsed", lambda: row_of(first)["state"] == "lapsed")
        bot.process.send_signal(signal.SIGCONT)
        second = waiting(lane(STORE), after=first)
        assert effects(done) == []
        (refused,) = records(lane(STORE), "outcome")
        assert (refused["outcome"], refused["code"]) == ("refused", "lapsed")
        settings()
        lineclear("approve", second, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def test_eight_coroutines_of_one_gate_wait_at_once_and_each_gets_its_own_answer(
    done: Path, tmp_path: Path
):
    calls = [f"C-{n}={n * 10}" for n in range(1, 9)]
    with agent("refunds", done, *calls, "--at-once", log=tmp_path / "log") as bot:
        wait_for("eight calls", lambda: len(listed()) == 8)
        rows = listed()
        assert {row["state"] for row in rows} == {"pending"}
        assert {Path(row["store"]).name for row in rows} == {str(n) for n in range(1, 9)}
        for row in rows:
            if row["arguments"]["amount"] == 30:
                lineclear("deny", row["id"], "--reason", "not this one", expect=0)
            else:
                lineclear("approve", row["id"], expect=0)
        said = bot.finishes().said()
    expected = [{"result": f"refund of {n * 10} to C-{n} sent"} for n in range(1, 9)]
    expected[2] = {"denied": "not this one"}
    assert said == expected
    assert sorted(effects(done)) == sorted(f"C-{n} {n * 10}" for n in range(1, 9) if n != 3)


def test_threads_of_one_gate_wait_at_once(done: Path, tmp_path: Path):
    with agent("refunds", done, "a=1", "b=2", "--threads", log=tmp_path / "log") as bot:
        wait_for("two calls", lambda: len(listed()) == 2)
        for row in listed():
            lineclear("approve", row["id"], expect=0)
        assert bot.finishes().said() == [
            {"result": "refund of 1 to a sent"},
            {"result": "refund of 2 to b sent"},
        ]
    assert sorted(effects(done)) == ["a 1", "b 2"]


def test_a_second_process_of_the_same_name_is_told_who_holds_it(done: Path, tmp_path: Path):
    with agent("refunds", done, "a=1", log=tmp_path / "log") as first:
        aid = waiting(lane(STORE))
        with agent("refunds", done, "a=1", log=tmp_path / "second") as second:
            assert second.ended() == 6
            (held,) = second.said()
            assert held["pid"] == first.pid
            assert "instance=" in held["held"]
        with agent("refunds", done, "b=2", "--instance", "two", log=tmp_path / "two") as other:
            another = waiting(lane("refund-bot@two"))
            lineclear("approve", another, expect=0)
            other.finishes()
        assert effects(done) == ["b 2"]
        lineclear("approve", aid, expect=0)
        first.finishes()
    assert effects(done) == ["b 2", "a 1"]


def test_after_two_seconds_the_agent_says_how_to_answer(done: Path, tmp_path: Path):
    with agent("refunds", done, "a=1", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        assert "WARNING" not in bot.text()
        wait_for("the notice", lambda: "waits for a person" in bot.text())
        (line,) = (line for line in bot.text().splitlines() if "waits for a person" in line)
        assert line.startswith("WARNING refund-bot waits for a person: send_refund.")
        assert "no window watches" in line
        named = re.search(r"lineclear (approve [0-9a-f]{8})", line)
        assert named is not None
        lineclear(*named[1].split(), expect=0)
        bot.finishes()
        assert pending_aid(lane(STORE)) != aid
    assert effects(done) == ["a 1"]


def test_an_interrupted_agent_withdraws_its_request(done: Path, tmp_path: Path):
    with agent("refunds", done, "a=1", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        subprocess.run(["kill", "-INT", str(bot.pid)], check=True)
        assert bot.ended() != 0
        assert pending_aid(lane(STORE)) is None
        row = row_of(aid)
        assert (row["state"], row["outcome"]) == ("done", "withdrawn")
        assert lineclear("approve", aid).code in (3, 4, 5)
    assert effects(done) == []


def test_an_agent_cannot_approve_its_own_call(done: Path, tmp_path: Path):
    with agent("self_approver", done, log=tmp_path / "log") as bot:
        said = bot.finishes().said()
        assert said == [{"exit": 4, "code": "self_approval"}]
    assert effects(done) == []
