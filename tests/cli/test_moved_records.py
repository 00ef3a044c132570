"""Real words of an operator, moved to a call that they were not said of: they count for nothing.

Who owns a folder may rename what others wrote out of it, and a shared ledger takes what any member
puts there. So one who is in the group for the kernel, and in no list of its members, has an agent
of their own that operators answer, and moves the answers.
"""

import contextlib
import json
import os
import shutil
import sys

import pytest

from tests.cli.program import AGENT as GATED
from tests.cli.program import lineclear, listed, wait_for
from tests.cli.test_planted import LASTS, resumes_by
from tests.cli.test_several_users import saves, says
from tests.several_users import AGENT, ALICE, BOB, GROUP, UNLISTED

MOVE = "import os, sys; os.rename(sys.argv[1], sys.argv[2])"
TWIN = """
import json, os, sys
from pathlib import Path
real, twin = map(Path, sys.argv[1:])
for folder in (twin, twin / "1", twin / "1" / ".approvals"):
    os.mkdir(folder)
    os.chmod(folder, 0o3770)
ledger = real / "1" / ".approvals"
made = os.stat(twin / "1")
mark = json.loads((ledger / "FORMAT").read_text()) | {"dev": made.st_dev, "ino": made.st_ino}
request = (ledger / "000001.request.json").read_bytes()
for name, content in (
    (".approvals/FORMAT", json.dumps(mark).encode()),
    (".approvals/000001.request.json", request),
    ("pending.json", request),
):
    (twin / "1" / name).write_bytes(content)
    (twin / "1" / name).chmod(0o640)
"""
SLOW = GATED.replace(
    'if "die" in', 'if "slow" in sys.argv: await asyncio.to_thread(sys.stdin.readline)\n'
    '            if "die" in',
)  # fmt: skip


@contextlib.contextmanager
def agent(town, user, name, *more):
    """An agent of that user in the shared source; `slow` waits for a line while its tool runs."""
    ran = town.own(user) / f"{name}.ran"
    code = SLOW.replace("Gate(sys.argv[1])", f"Gate(sys.argv[1], {str(town.source)!r})")
    said = json.dumps({"to": name, "amount": 10})
    with town.start(user, sys.executable, "-c", code, name, ran, "send", said, *more) as one:
        try:
            yield one
        finally:
            one.kill()


def seen(town, name, state):
    """Wait until the call of that agent is in that state."""

    def look():
        rows = [one for one in town.listed(ALICE) if one["agent"] == name]
        return next((one for one in rows if one["state"] == state), None)

    return wait_for(look, f"{name} is {state}")


def runs(town, name, user=AGENT):
    ran = town.own(user) / f"{name}.ran"
    return len(ran.read_text().splitlines()) if ran.exists() else 0


def done(town, user, *words):
    said = says(town, user, *words)
    assert (said.returncode, said.stderr) == (0, "")


def words_of_alice(town, kind):
    """What she said of a call of the unlisted user's agent, as that user may move it."""
    with agent(town, UNLISTED, "evil", "die" if kind != "revoked" else "live") as one:
        call = seen(town, "evil", "pending")["id"]
        if kind == "revoked":
            one.kill()
            one.wait()
        done(town, ALICE, "approve", call)
        if kind == "revoked":
            done(town, ALICE, "take-back", call)
        else:
            one.wait(30)
            seen(town, "evil", "uncertain")
            said = ("--ran", "--note", "all good") if kind == "ran" else ("--ask-again",)
            done(town, ALICE, "resolve", call, *said)
    slot = "start" if kind == "revoked" else "outcome"
    (path,) = town.source.glob(f"evil/1/.approvals/*.{slot}.json")
    assert path.stat().st_uid == ALICE.uid
    return path


def move(town, path, name, call):
    """Move a record to the same kind's name of another call; the sentence that tells of it."""
    slot = path.name.rpartition(f".{path.name.split('.')[1]}.")[1] + "json"
    own = [town.source / name / "1" / ".approvals", town.source / name / ".approvals"]
    native = own[0].exists()
    target = own[0] / f"000001-{call}{slot}" if native else own[1] / f"{call}{slot}"
    assert town.python(UNLISTED, MOVE, path, target) == ""
    other = path.name.split("-")[1][:8]
    return f"{target.name} was written for call {other}, so it does not count for this one"


# --- An agent of ours --------------------------------------------------------------------------


def test_a_settlement_moved_to_a_call_that_waits_answers_nobody(town):
    said = words_of_alice(town, "ran")
    with agent(town, AGENT, "pay") as one:
        call = seen(town, "pay", "pending")["id"]
        told = move(town, said, "pay", call)
        seen(town, "pay", "pending")
        assert told in says(town, BOB, "show", call).stdout
        done(town, BOB, "approve", call)
        assert one.wait(30) == 0
    assert (runs(town, "pay"), seen(town, "pay", "done")["outcome"]) == (1, "ok")


def test_an_ask_again_moved_to_what_may_have_run_does_not_run_it_twice(town):
    said = words_of_alice(town, "ask_again")
    with agent(town, AGENT, "pay", "die") as one:
        call = seen(town, "pay", "pending")["id"]
        done(town, BOB, "approve", call)
        one.wait(30)
    seen(town, "pay", "uncertain")
    told = move(town, said, "pay", call)
    with agent(town, AGENT, "pay") as one:
        # It is told that the call may have run, and asks for nothing.
        assert one.wait(30) != 0
    assert seen(town, "pay", "uncertain")["id"] == call
    assert told in says(town, BOB, "show", call).stdout
    settled = says(town, BOB, "resolve", call, "--ran", "--note", "it is in the bank")
    assert settled.returncode == 0
    assert (runs(town, "pay"), seen(town, "pay", "done")["outcome"]) == (1, "resolved")


def test_a_settlement_moved_to_what_runs_says_nothing_of_it(town):
    said = words_of_alice(town, "ask_again")
    with agent(town, AGENT, "pay", "slow") as one:
        call = seen(town, "pay", "pending")["id"]
        done(town, ALICE, "approve", call)
        seen(town, "pay", "running")
        move(town, said, "pay", call)
        assert seen(town, "pay", "running")["outcome"] is None
        one.stdin.write("go\n")
        one.stdin.flush()
        assert one.wait(30) == 0
    ended = seen(town, "pay", "done")
    assert (ended["outcome"], runs(town, "pay")) == ("ok", 1)


def test_a_revocation_moved_to_an_approval_is_nobodys_taking_back(town):
    said = words_of_alice(town, "revoked")
    with agent(town, AGENT, "pay"):
        call = seen(town, "pay", "pending")["id"]
    done(town, BOB, "approve", call)
    told = move(town, said, "pay", call)
    damaged = seen(town, "pay", "damaged")
    assert (damaged["reason_code"], damaged["id"]) == ("start_taken", call)
    shown = says(town, BOB, "show", call).stdout
    assert told in shown
    assert "taken back" not in shown
    with agent(town, AGENT, "pay") as one:
        again = seen(town, "pay", "pending")["id"]
        assert again != call
        done(town, BOB, "approve", again)
        assert one.wait(30) == 0
    assert runs(town, "pay") == 1


@pytest.mark.parametrize("kind", ["ran", "revoked"])
def test_what_is_moved_to_a_denied_call_takes_no_denial_away(town, kind):
    said = words_of_alice(town, kind)
    with agent(town, AGENT, "pay"):
        call = seen(town, "pay", "pending")["id"]
    done(town, BOB, "deny", call, "--reason", "never")
    move(town, said, "pay", call)
    assert seen(town, "pay", "denied")["id"] == call
    with agent(town, AGENT, "pay") as one:
        assert one.communicate(timeout=30)[0] == "settled\n"
    mine = [one for one in town.listed(ALICE) if one["agent"] == "pay"]
    assert [(one["id"], one["outcome"]) for one in mine] == [(call, "denied")]
    assert runs(town, "pay") == 0


@pytest.mark.parametrize("verdict", ["approve", "deny"])
def test_a_decision_in_a_copied_folder_is_none_in_the_other(town, verdict):
    elsewhere = town.source.parent / "elsewhere"
    elsewhere.mkdir()
    os.chown(elsewhere, 0, GROUP)
    elsewhere.chmod(0o3770)
    with agent(town, AGENT, "pay") as one:
        call = seen(town, "pay", "pending")["id"]
        assert town.python(UNLISTED, TWIN, town.source / "pay", elsewhere / "pay") == ""
        words = (verdict, call) if verdict == "approve" else (verdict, call, "--reason", "no")
        given = town.lineclear(ALICE, *words, "--source", elsewhere)
        assert given.returncode == 0, given.stderr
        (path,) = elsewhere.glob("pay/1/.approvals/*.decision.json")
        ledger = town.source / "pay" / "1" / ".approvals"
        assert town.python(UNLISTED, MOVE, path, ledger / path.name) == ""

        def asked_anew():
            rows = [row for row in town.listed(BOB) if row["state"] == "pending"]
            return next((row["id"] for row in rows if row["id"] != call), None)

        again = wait_for(asked_anew)
        assert runs(town, "pay") == 0
        done(town, BOB, "approve", again)
        assert one.wait(30) == 0
    assert runs(town, "pay") == 1
    told = json.loads((ledger / f"000001-{call}.outcome.json").read_text())
    assert (told["outcome"], told["code"]) == ("refused", "wrong_folder")


# --- Another program's -------------------------------------------------------------------------


def test_a_settlement_moved_to_another_programs_call_neither_ends_nor_offers_it(town):
    said = words_of_alice(town, "ask_again")
    saves(town, {"n": 1})
    call = seen(town, "h1", "pending")["id"]
    done(town, ALICE, "approve", call)
    out = resumes_by(town, LASTS)
    done(town, AGENT, "relaunch", call)
    wait_for(lambda: out.exists() and out.read_text())
    told = move(town, said, "h1", call)
    assert seen(town, "h1", "running")["id"] == call
    assert told in says(town, BOB, "show", call).stdout
    os.kill(int(out.read_text()), 9)
    ended = seen(town, "h1", "pending")
    # What it did is recorded beside, and it is offered anew since its command failed.
    assert "was ended by signal 9" in says(town, BOB, "show", ended["id"]).stdout


def test_a_revocation_moved_to_another_programs_call_takes_nothing_back(town):
    said = words_of_alice(town, "revoked")
    saves(town, {"n": 1})
    call = seen(town, "h1", "pending")["id"]
    done(town, BOB, "approve", call)
    told = move(town, said, "h1", call)
    damaged = seen(town, "h1", "damaged")
    assert (damaged["id"], damaged["reason_code"]) == (call, "start_taken")
    assert told in says(town, ALICE, "show", call).stdout
    out = resumes_by(town, LASTS)
    assert says(town, AGENT, "relaunch", call).returncode != 0
    assert not out.exists()
    (town.source / "h1" / ".approvals" / f"{call}.start.json").unlink()
    seen(town, "h1", "approved")
    done(town, AGENT, "relaunch", call)
    os.kill(int(wait_for(lambda: out.exists() and out.read_text())), 9)


def test_words_go_with_a_renamed_folder_and_not_with_a_copy(tmp_path):
    source = tmp_path / "source"
    folder = source / "h1"
    folder.mkdir(parents=True, mode=0o700)
    call = {
        "tool_name": "send", "arguments": {"n": 1}, "tool_id": "", "inputs": {}, "steps": [],
        "iteration": 1, "tool_calls_consumed": 2, "tokens_consumed": None, "trace_id": None,
    }  # fmt: skip
    for n in (1, 2):
        (folder / "pending.json").unlink(missing_ok=True)
        (folder / "pending.json").write_text(json.dumps(call | {"arguments": {"n": n}}))
        (waiting,) = [one for one in listed("--source", source) if one["state"] == "pending"]
        verdict = ["approve"] if n == 2 else ["deny", "--reason", "no"]
        said = lineclear(*verdict, waiting["id"], "--source", source)
        assert said.returncode == 0, said.stderr

    def states(name):
        rows = listed("--all", "--source", source)
        return sorted((one["arguments"]["n"], one["state"]) for one in rows if one["agent"] == name)

    moved = folder.rename(source / "h2")
    assert states("h2") == [(1, "denied"), (2, "approved")]
    shutil.copytree(moved, folder)
    folder.chmod(0o700)
    assert states("h1") == [(2, "pending")]
    assert states("h2") == [(1, "denied"), (2, "approved")]
    # Its files moved into another folder, as they are: nothing runs on what was said in the first.
    shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    for path in list(moved.iterdir()):
        path.rename(folder / path.name)
    assert states("h1") == [(2, "damaged")]
    (row,) = [one for one in listed("--source", source) if one["agent"] == "h1"]
    told = lineclear("show", row["id"], "--source", source).stdout
    assert f"{row['id']}.decision.json was written in another folder than {folder}" in told
    started = lineclear("relaunch", row["id"], "--source", source)
    assert started.returncode != 0
