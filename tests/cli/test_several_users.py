"""Three users and one shared folder, through the command line: who sees, decides, starts what."""

import contextlib
import json
import os
import signal
import sys

import pytest

from tests.cli.program import AGENT as GATED
from tests.cli.program import wait_for
from tests.several_users import (
    AGENT,
    ALICE,
    BOB,
    GROUP,
    STRANGER,
    UNLISTED,
)

ARGUMENTS = json.dumps({"to": "bob", "amount": 10})


@contextlib.contextmanager
def gated(town, *more, name="pay"):
    """An agent of its own user that asks through a gate in the shared source."""
    ran = town.own(AGENT) / f"{name}.ran"
    code = GATED.replace("Gate(sys.argv[1])", f"Gate(sys.argv[1], {str(town.source)!r})")
    words = (sys.executable, "-c", code, name, ran, "send", ARGUMENTS, *more)
    with town.start(AGENT, *words) as process:
        try:
            yield process
        finally:
            process.kill()


def row(town, user, state):
    """Wait until that user sees one call, in that state."""

    def look():
        rows = town.listed(user)
        return rows[0] if len(rows) == 1 and rows[0]["state"] == state else None

    return wait_for(look, f"{user.name} sees {state}: {town.listed(user)}")


def says(town, user, *words):
    return town.lineclear(user, *words, "--source", town.source)


def modes(folder):
    """What of FOLDER is not as the group needs it."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        wanted = 0o3770 if path.is_dir() else 0o640
        if (status.st_mode & 0o7777, status.st_gid) != (wanted, GROUP):
            found[str(path.relative_to(folder))] = (oct(status.st_mode & 0o7777), status.st_gid)
    return found


# --- An agent of ours --------------------------------------------------------------------------


def test_one_approves_the_other_is_told_and_the_call_runs_once(town):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        assert row(town, BOB, "pending")["id"] == call
        done = says(town, ALICE, "approve", call)
        assert (done.returncode, done.stderr) == (0, "")
        assert agent.wait(30) == 0
    late = says(town, BOB, "approve", call)
    assert late.returncode == 3
    assert f") was approved by lc-alice (uid {ALICE.uid}) at " in late.stderr
    assert late.stderr.endswith(" and ran already.\n")
    assert row(town, BOB, "done")["outcome"] == "ok"
    assert len((town.own(AGENT) / "pay.ran").read_text().splitlines()) == 1
    assert modes(town.source / "pay") == {}
    shown = says(town, BOB, "show", call).stdout
    assert f"lc-alice (uid {ALICE.uid})" in shown


def test_nobody_but_the_operators_answers(town):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        own = says(town, AGENT, "approve", call)
        assert (own.returncode, "[no_operator]" in own.stderr) == (4, True)
        assert "You own this agent, so your word does not count here" in own.stderr
        shown = says(town, AGENT, "show", call).stdout
        assert "Your word  You own this agent, so your word does not count here" in shown
        assert "lineclear approve" not in shown
        assert "could forge decisions" not in shown
        assert "lineclear approve" in says(town, BOB, "show", call).stdout
        seen = {user: town.listed(user)[0]["may_answer"] for user in (AGENT, ALICE, UNLISTED)}
        assert seen == {AGENT: False, ALICE: True, UNLISTED: False}
        assert says(town, STRANGER, "approve", call).returncode not in (0, 3)
        assert row(town, BOB, "pending")["id"] == call
        agent.kill()


def test_a_member_cannot_touch_what_another_said(town):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        agent.kill()
    assert says(town, ALICE, "deny", call, "--reason", "wrong customer").returncode == 0
    (denial,) = town.source.glob("pay/1/.approvals/*.decision.json")
    attack = """
import os, sys
name = sys.argv[1]
forged = os.path.join(os.path.dirname(name), "forged")
open(forged, "w").write(open(name).read().replace('"deny"', '"approve"'))
for act in (
    lambda: os.unlink(name),
    lambda: os.replace(forged, name),
    lambda: os.rename(name, name + ".away"),
    lambda: os.link(forged, name),
    lambda: open(name, "r+"),
    lambda: os.rename(os.path.dirname(name), os.path.dirname(name) + ".away"),
):
    try:
        print("done", act())
    except OSError as why:
        print(type(why).__name__, end=" ")
"""
    before = denial.read_bytes()
    for user in (BOB, UNLISTED):
        refused = town.python(user, attack, denial)
        assert refused == (
            "PermissionError PermissionError PermissionError FileExistsError PermissionError"
            " PermissionError"
        )
        (denial.parent / "forged").unlink()
    assert town.python(STRANGER, attack, denial).startswith("PermissionError")
    assert denial.read_bytes() == before
    assert row(town, BOB, "denied")["id"] == call


def test_a_colleague_takes_back_and_starts_nothing_of_another_user(town):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        agent.kill()
    assert says(town, ALICE, "approve", call).returncode == 0
    words = ("config", "set-launch", "--agent", "pay", "--cwd", town.own(BOB), "--", "/bin/true")
    assert town.lineclear(BOB, *words).returncode == 0
    started = says(town, BOB, "relaunch", call)
    assert (started.returncode, "[owner]" in started.stderr) == (4, True)
    assert f"belongs to user {AGENT.uid}: only that user's inbox can start" in started.stderr
    done = says(town, BOB, "take-back", call)
    assert (done.returncode, done.stderr) == (0, "")
    again = says(town, ALICE, "take-back", call)
    assert again.returncode != 0
    ended = row(town, ALICE, "done")
    assert ended["outcome"] == "withdrawn"
    assert (ended["taken_back_by"], ended["taken_back_by_uid"]) == ("lc-bob", BOB.uid)
    ended = f"Ended      taken back by lc-bob (uid {BOB.uid}) at "
    assert ended in says(town, ALICE, "show", call).stdout


def test_what_may_have_run_is_settled_by_one_and_told_to_the_other(town):
    with gated(town, "die") as agent:
        call = row(town, ALICE, "pending")["id"]
        assert says(town, ALICE, "approve", call).returncode == 0
        agent.wait(30)
    row(town, BOB, "uncertain")
    for user in (AGENT, UNLISTED):
        refused = says(town, user, "resolve", call, "--ran", "--note", "x")
        assert (refused.returncode, "[no_operator]" in refused.stderr) == (4, True), refused.stderr
    row(town, BOB, "uncertain")
    done = says(town, BOB, "resolve", call, "--ran", "--note", "it is in the bank")
    assert (done.returncode, done.stderr) == (0, "")
    late = says(town, ALICE, "resolve", call, "--not-run", "--note", "no")
    assert late.returncode == 3
    assert f"already resolved by lc-bob (uid {BOB.uid}) at " in late.stderr


# --- Another program's -------------------------------------------------------------------------

CHECKPOINT = """
import os, sys
from pathlib import Path
folder, text = Path(sys.argv[1]), sys.argv[2]
if not folder.exists():
    folder.mkdir()
    os.chmod(folder, 0o3770)
draft = folder / "pending.json.tmp"
draft.write_text(text)
draft.chmod(0o640)
draft.rename(folder / "pending.json")
"""


def saves(town, arguments):
    """The other program's own way: a temporary file, renamed over."""
    text = json.dumps({
        "tool_name": "send", "arguments": arguments, "tool_id": "", "inputs": {"input": "pay"},
        "steps": [], "iteration": 1, "tool_calls_consumed": 2, "tokens_consumed": None,
        "trace_id": None,
    })  # fmt: skip
    assert town.python(AGENT, CHECKPOINT, town.source / "h1", text) == ""


def test_in_a_foreign_store_the_second_operator_goes_on_where_the_first_one_was(town):
    saves(town, {"n": 1})
    call = row(town, ALICE, "pending")["id"]
    assert row(town, BOB, "pending")["id"] == call
    assert says(town, ALICE, "approve", call).returncode == 0
    assert row(town, BOB, "approved")["id"] == call
    late = says(town, BOB, "deny", call, "--reason", "no")
    assert late.returncode == 3
    assert f"was already approved by lc-alice (uid {ALICE.uid}) at " in late.stderr
    assert modes(town.source / "h1" / ".approvals") == {}

    # Another user's agent is started again by that user alone, on the word of an operator.
    words = ("config", "set-launch", "--agent", "h1", "--cwd", "/", "--", "/bin/echo", "went on")
    for user in (BOB, AGENT):
        assert town.lineclear(user, *words).returncode == 0
    refused = says(town, BOB, "relaunch", call)
    assert (refused.returncode, "[owner]" in refused.stderr) == (4, True)
    started = says(town, AGENT, "relaunch", call)
    assert (started.returncode, started.stderr) == (0, "")
    assert row(town, BOB, "done")["outcome"] == "untouched"
    assert row(town, ALICE, "done")["outcome"] == "untouched"

    saves(town, {"n": 2})

    def second():
        return [one["id"] for one in town.listed(BOB) if one["state"] == "pending"]

    (second_call,) = wait_for(second)
    assert says(town, BOB, "deny", second_call, "--reason", "too much").returncode == 0
    late = says(town, ALICE, "approve", second_call)
    assert late.returncode == 3
    assert f"already denied by lc-bob (uid {BOB.uid}) at " in late.stderr
    assert "too much" in late.stderr


FORGE = """
import sys
from pathlib import Path
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.endings import bound_decision, this_person
from lineclear.core.ledger.foreign import show_foreign
from lineclear.core.ledger.records import new_nonce
from lineclear.core.ledger.store import Store
path = Path(sys.argv[1]) / "pending.json"
(shown,) = show_foreign(path)
with Store.open(path.parent) as store:
    store.begin_foreign_ledger()
    store.commit("request", None, shown.aid, shown.raw)
    decision = bound_decision(
        store, shown, "approve", this_person(sys.argv[2]),
        now=read_now(), valid_for_s=900, nonce=new_nonce(),
        native={"decision": "allow"},
    )
    print(store.commit("decision", None, shown.aid, decision.encode()).value)
"""


BEGIN = """
import sys
from pathlib import Path
from lineclear.core.ledger.store import Store
with Store.open(Path(sys.argv[1])) as store:
    store.begin_foreign_ledger()
"""


@pytest.mark.parametrize("forger", [AGENT, UNLISTED])
def test_a_decision_of_no_operator_counts_for_nobody(town, forger):
    saves(town, {"n": 1})
    call = row(town, ALICE, "pending")["id"]
    if forger is AGENT:
        own = says(town, forger, "approve", call)
        assert (own.returncode, "[no_operator]" in own.stderr) == (4, True)
        assert not (town.source / "h1" / ".approvals").exists()
    else:
        # The ledger itself is an operator's here; below it is not.
        assert town.python(ALICE, BEGIN, town.source / "h1") == ""
    assert town.python(forger, FORGE, town.source / "h1", "lc-alice") == "won"
    for user in (ALICE, BOB):
        rows = town.listed(user)
        assert "approved" not in [one["state"] for one in rows], rows
    refused = says(town, ALICE, "approve", call)
    assert refused.returncode in (3, 4)
    assert f"user {forger.uid}" in refused.stderr


def test_a_ledger_that_no_member_made_is_not_believed(town):
    saves(town, {"n": 1})
    row(town, ALICE, "pending")
    refused = town.python(UNLISTED, FORGE, town.source / "h1", "lc-alice")
    assert f"/.approvals belongs to user {UNLISTED.uid}, who is not listed" in refused
    (seen,) = town.listed(ALICE)
    assert (seen["state"], seen["reason_code"]) == ("unreadable", "owner")
    told = says(town, ALICE, "show", seen["id"]).stdout
    assert f"belongs to user {UNLISTED.uid}, who is not listed in the group lc-operators" in told


def test_a_stranger_sees_that_he_may_not_look(town):
    saves(town, {"n": 1})
    done = town.lineclear(STRANGER, "list", "--source", town.source)
    assert "send" not in done.stdout
    assert "ermission" in done.stdout + done.stderr or "may not" in done.stdout + done.stderr


def test_an_agent_outside_the_group_is_told_to_join_it(town):
    outside = town.own(STRANGER) / "agents"
    assert town.python(STRANGER, "import os,sys; os.mkdir(sys.argv[1])", outside) == ""
    os.chown(outside, STRANGER.uid, GROUP)
    outside.chmod(0o3770)
    told = town.python(
        STRANGER, "import sys; from lineclear import Gate; Gate('pay', sys.argv[1])", outside
    )
    assert f"cannot be shared with group {GROUP}, in which this user is not" in told
    assert not (outside / "pay").exists()


LAUNCH = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from lineclear.core.ledger.layout import launch_log_name
from lineclear.core.ledger.liveness import owner_of
from lineclear.core.ledger.records import Launch, Person, new_nonce
from lineclear.core.ledger.store import Store
aid = sys.argv[2]
with Store.open(Path(sys.argv[1])) as store:
    launch = Launch(
        v=1, nonce=new_nonce(), **store.bound(aid), n=1, at=datetime.now(UTC),
        by=Person(uid=os.getuid(), name="lc-alice", host="here"), argv=("/x",), cwd="/",
        log=launch_log_name(seq=1, aid=aid, n=1), owner=owner_of(1),
    )
    print(store.commit("launch", 1, aid, launch.encode(), 1).name)
"""


def test_only_the_agents_own_user_says_that_it_was_started_again(town):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        agent.kill()
        agent.wait(30)
    assert says(town, ALICE, "approve", call).returncode == 0
    words = ("config", "set-launch", "--agent", "pay", "--cwd", "/", "--", "/bin/sleep", "60")
    assert town.lineclear(AGENT, *words).returncode == 0
    (ledger,) = (town.source / "pay").rglob(".approvals")
    # Process 1 lives on every machine.
    assert town.python(BOB, LAUNCH, ledger.parent, call) == "WON"
    shown = says(town, AGENT, "show", call).stdout
    assert f".launch-1.json belongs to user {BOB.uid}, who cannot start the agent again" in shown
    started = says(town, AGENT, "relaunch", call)
    assert (started.returncode, started.stderr) == (0, "")
    (own,) = json.loads(says(town, AGENT, "show", call, "--json").stdout)["launches"]
    try:
        assert (own["n"], own["by"]["uid"]) == (2, AGENT.uid)
        again = says(town, AGENT, "relaunch", call)
        assert again.returncode == 6
        told = f"It was started already by {AGENT.name} (uid {AGENT.uid}), as process "
        assert told in again.stderr
    finally:
        os.killpg(own["owner"]["pid"], signal.SIGKILL)
