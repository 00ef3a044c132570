"""Records that somebody wrote who may not, or wrote anew, and calls that somebody copied.

They change nothing of what is done, and what is told of it is true.
"""

import contextlib
import hashlib
import json
import secrets
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.program import wait_for
from tests.cli.test_planted import LASTS, approved, resumes_by
from tests.cli.test_several_users import row, saves, says
from tests.several_users import AGENT, ALICE, BOB, UNLISTED

SENDS = """
import asyncio, sys
from lineclear import Gate
gate = Gate("pay", sys.argv[1])
@gate.guard(expires_after=float(sys.argv[2]) if sys.argv[2:] else None)
async def send(n: int) -> str:
    print("began", n, flush=True)
    sys.stdin.readline()
    return "sent"
print(asyncio.run(send(1)), flush=True)
"""
PUT = """
import os, sys
draft = sys.argv[1] + ".draft"
open(draft, "w").write(sys.argv[2])
os.chmod(draft, 0o640)
os.replace(draft, sys.argv[1])
"""


@contextlib.contextmanager
def sending(town, *expires_after):
    """An agent that asks whether it may send 1, and goes on with it when it gets a line."""
    with town.start(AGENT, sys.executable, "-c", SENDS, town.source, *expires_after) as process:
        try:
            yield process
        finally:
            process.kill()


def ends(agent):
    assert agent.communicate("\n", timeout=30)[0] == "sent\n"
    assert agent.returncode == 0


def puts(town, user, call, kind, **said):
    """Write a record of a call as that user, in the one folder that has it."""
    (ledger,) = {one.parent for one in town.source.rglob("*.request.json")}
    seq = "000001-" if (ledger / "FORMAT").exists() else ""
    record = {"v": 1, "nonce": secrets.token_hex(16), "aid": call}
    record["folder"] = ledger.parent.stat().st_ino
    if seq:
        record["store_id"] = json.loads((ledger / "FORMAT").read_text())["store_id"]
    path = ledger / f"{seq}{call}.{kind}.json"
    assert town.python(user, PUT, path, json.dumps({**record, **said})) == ""
    return path


def now(ahead=0):
    """The time, or the one so many minutes AHEAD."""
    return (datetime.now(UTC) + timedelta(minutes=ahead)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def ended(outcome, user=None, **said):
    by = {} if user is None else {"by": {"uid": user.uid, "name": user.name, "host": "h"}}
    return {"outcome": outcome, "result": "", "ended_at": now(), **by, **said}


# --- A decision, once it was acted on ----------------------------------------------------------


def test_what_a_call_was_started_with_is_told_whatever_its_decision_says_by_now(town):
    with sending(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        assert says(town, BOB, "modify", call, "--arguments", '{"n": 9999}').returncode == 0
        assert agent.stdout.readline() == "began 9999\n"
        (path,) = town.source.rglob("*.decision.json")
        said = json.loads(path.read_text())
        denial = {key: value for key, value in said.items() if key not in ("arguments", "native")}
        denial |= {"verdict": "deny", "reason": "never"}
        assert town.python(BOB, PUT, path, json.dumps(denial)) == ""
        seen = row(town, ALICE, "running")
        assert (seen["decision"]["verdict"], seen["decision"]["arguments"]) == (
            "modify",
            {"n": 9999},
        )
        assert "rewritten" in seen["warnings"]
        ends(agent)
    seen = row(town, ALICE, "done")
    assert (seen["decision"]["verdict"], seen["warnings"]) == ("modify", ["rewritten"])
    shown = says(town, ALICE, "show", call).stdout
    assert f"Decision   approved with other arguments by lc-bob (uid {BOB.uid}) at " in shown
    assert f"{path.name}, a file of user {BOB.uid}, says something else by now" in shown
    assert f"It says now: denied by lc-bob (uid {BOB.uid}) at " in shown
    assert "changed, rewritten" in says(town, ALICE, "list", "--all").stdout
    assert " modified " in says(town, ALICE, "history").stdout
    late = says(town, ALICE, "deny", call, "--reason", "no")
    assert "approved with changes by lc-bob" in late.stderr

    assert town.python(BOB, "import os, sys; os.unlink(sys.argv[1])", path) == ""
    assert row(town, ALICE, "done")["decision"]["verdict"] == "modify"
    shown = says(town, ALICE, "show", call).stdout
    assert f"{path.name} was removed after the call was started." in shown


def test_a_decision_that_only_its_file_spells_otherwise_is_the_same(town):
    with sending(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        assert says(town, BOB, "modify", call, "--arguments", '{"n": 12}').returncode == 0
        assert agent.stdout.readline() == "began 12\n"
        (path,) = town.source.rglob("*.decision.json")
        spelled = json.dumps(json.loads(path.read_text()), indent=2)
        assert town.python(BOB, PUT, path, spelled) == ""
        assert row(town, ALICE, "running")["warnings"] == []
        ends(agent)


# --- Who ends a call ---------------------------------------------------------------------------

ENDINGS = [
    ended("withdrawn"),
    ended("withdrawn", BOB),
    ended("ok"),
    ended("error"),
    ended("refused"),
    ended("denied"),
    ended("expired"),
    ended("resolved", resolution="not_run"),
    {},
]
OF_OPEN_CALLS = [ended("resolved", BOB, resolution=one) for one in ("ran", "not_run", "ask_again")]


def test_how_a_call_ended_is_its_agents_to_say(town):
    with sending(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        for ending in (*ENDINGS, *OF_OPEN_CALLS):
            puts(town, BOB, call, "outcome", **ending)
            seen = row(town, ALICE, "pending")
            assert (ending, "stray_record" in seen["warnings"]) == (ending, True)
        shown = says(town, ALICE, "show", call).stdout
        assert f"000001-{call}.outcome.json belongs to user {BOB.uid}" in shown
        assert says(town, ALICE, "approve", call).returncode == 0
        assert agent.stdout.readline() == "began 1\n"
        for ending in (ended("withdrawn"), ended("error")):
            puts(town, BOB, call, "outcome", **ending)
            seen = row(town, ALICE, "running")
            assert (ending, seen["outcome"]) == (ending, None)
        late = says(town, BOB, "approve", call)
        assert f" was already approved by lc-alice (uid {ALICE.uid}) at " in late.stderr
        ends(agent)
    seen = row(town, ALICE, "done")
    assert (seen["outcome"], seen["warnings"]) == ("ok", ["stray_record"])
    assert "stray_record" in says(town, ALICE, "list", "--all").stdout


def test_a_call_that_ran_although_it_was_settled_as_not_run_is_told(town):
    with sending(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        assert says(town, ALICE, "approve", call).returncode == 0
        assert agent.stdout.readline() == "began 1\n"
        # As from a machine that took the agent for dead.
        puts(town, BOB, call, "outcome", **ended("resolved", BOB, resolution="not_run"))
        assert row(town, ALICE, "done")["outcome"] == "resolved"
        ends(agent)
    seen = row(town, ALICE, "done")
    assert (seen["outcome"], seen["warnings"]) == ("resolved", ["ran_late"])
    assert "Its tool ran all the same, and ended at " in says(town, ALICE, "show", call).stdout
    assert "ran_late" in says(town, ALICE, "list", "--all").stdout
    late = says(town, ALICE, "approve", call)
    assert late.stderr.endswith(" and ran all the same.\n")


def test_who_takes_an_approval_back_still_ends_the_call(town):
    with sending(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        agent.kill()
    assert says(town, ALICE, "approve", call).returncode == 0
    assert says(town, BOB, "take-back", call).returncode == 0
    seen = row(town, ALICE, "done")
    assert (seen["outcome"], seen["taken_back_by"], seen["warnings"]) == ("withdrawn", "lc-bob", [])


def test_in_a_foreign_store_who_started_a_call_ends_it(town):
    call = approved(town)
    out = resumes_by(town, LASTS)
    for outcome in ("ok", "error", "denied", "withdrawn"):
        puts(town, BOB, call, "outcome", **ended(outcome))
        seen = row(town, ALICE, "approved")
        assert (outcome, "stray_record" in seen["warnings"]) == (outcome, True)
    assert says(town, AGENT, "relaunch", call).returncode == 0
    wait_for(lambda: out.exists() and out.read_text())
    seen = row(town, ALICE, "running")
    assert (seen["id"], seen["warnings"]) == (call, ["stray_record"])


@pytest.mark.parametrize("kind", ["native", "foreign"])
def test_a_denial_is_not_settled_away(town, kind):
    if kind == "foreign":
        saves(town, {"n": 1})
        call = row(town, ALICE, "pending")["id"]
    else:
        with sending(town) as agent:
            call = row(town, ALICE, "pending")["id"]
            agent.kill()
    assert says(town, ALICE, "deny", call, "--reason", "never").returncode == 0
    for resolution in ("ask_again", "ran"):
        puts(town, BOB, call, "outcome", **ended("resolved", BOB, resolution=resolution))
        seen = row(town, ALICE, "denied")
        assert (seen["id"], seen["warnings"]) == (call, ["stray_record"])


# --- A time that has not come ------------------------------------------------------------------


@pytest.mark.parametrize("early", [None, 11], ids=["no time", "before its time"])
def test_a_call_does_not_run_out_of_another_time_than_it_names(town, early):
    """EARLY: minutes ahead that a decision says; the call names ten."""
    with sending(town, *([] if early is None else ["600"])) as agent:
        call = row(town, ALICE, "pending")["id"]
        (request,) = town.source.rglob("*.request.json")
        puts(
            town, BOB, call, "decision", seq=1, verdict="expired", at=now(early or 0),
            valid_for_s=0.0,
            request_sha256=hashlib.sha256(request.read_bytes()).hexdigest(),
            by={"uid": BOB.uid, "name": "the clock", "host": "h"}, boot_id="", boottime_ns=0,
        )  # fmt: skip

        def asked_anew():
            rows = {one["state"]: one for one in town.listed(ALICE)}
            return rows if "pending" in rows and rows["pending"]["id"] != call else None

        rows = wait_for(asked_anew)
        assert (rows["done"]["outcome"], rows["done"]["reason_code"]) == ("refused", "not_expired")
        shown = says(town, ALICE, "show", call).stdout
        told = "the request names no time." if early is None else "was written before that;"
        assert f"the call's time ran out, but {told}" in shown
        assert says(town, ALICE, "approve", rows["pending"]["id"]).returncode == 0
        assert agent.stdout.readline() == "began 1\n"
        ends(agent)


# --- A call that somebody copied ---------------------------------------------------------------

COPY = """
import json, os, sys
from pathlib import Path
real, copy = Path(sys.argv[1]), Path(sys.argv[2])
os.umask(0)
def make(path):
    path.mkdir()
    os.chmod(path, 0o3770)
def put(path, raw):
    path.write_bytes(raw)
    os.chmod(path, 0o640)
for path in (copy, copy / "1", copy / "1/.approvals"):
    make(path)
marks = json.loads((real / "1/.approvals/FORMAT").read_bytes())
status = (copy / "1").stat()
marks["dev"], marks["ino"] = status.st_dev, status.st_ino
put(copy / "1/.approvals/FORMAT", json.dumps(marks, separators=(",", ":")).encode())
asked = (real / "1/.approvals/000001.request.json").read_bytes()
put(copy / "1/.approvals/000001.request.json", asked)
put(copy / "1/pending.json", asked)
"""
REMOVE = "import shutil, sys; shutil.rmtree(sys.argv[1])"


@pytest.mark.parametrize("name", ["aa", "zz"])
def test_of_a_call_and_its_copy_none_is_decided_until_the_copy_is_gone(town, name):
    with sending(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        real, copy = town.source / "pay", town.source / name
        assert town.python(UNLISTED, COPY, real, copy) == ""
        both = town.listed(ALICE)
        assert [(one["state"], one["reason_code"]) for one in both] == [
            ("unreadable", "duplicate_id")
        ] * 2
        assert len({call[:8], *(one["id"][:8] for one in both)}) == 3
        for one, user, other, its in (
            (real, AGENT, copy, UNLISTED), (copy, UNLISTED, real, AGENT)
        ):  # fmt: skip
            (found,) = (each for each in both if each["store"] == str(one / "1"))
            shown = says(town, ALICE, "show", found["id"][:8])
            assert shown.returncode == 0, shown.stderr
            assert (
                f"A call with the same id, {call[:8]}, is in {one}/1 (of user {user.uid}) and in"
                f" {other}/1 (of user {its.uid}): one is a copy." in shown.stdout
            )
            assert "remove the copy, as its owner or as root" in shown.stdout
            assert "lineclear approve" not in shown.stdout
            for words in (("approve", found["id"]), ("deny", found["id"], "--reason", "no"),
                          ("take-back", found["id"]), ("relaunch", found["id"])):  # fmt: skip
                refused = says(town, ALICE, *words)
                assert refused.returncode not in (0, 1), (words, refused.stderr)
        refused = says(town, ALICE, "deny", call[:8], "--reason", "no")
        assert refused.returncode == 2
        assert all(one["id"][:8] in refused.stderr for one in both)
        assert list(town.source.rglob("*.decision.json")) == []

        assert town.python(UNLISTED, REMOVE, copy) == ""
        assert row(town, ALICE, "pending")["id"] == call
        assert says(town, ALICE, "approve", call).returncode == 0
        assert agent.stdout.readline() == "began 1\n"
        ends(agent)
