"""What whoever may write in a shared source puts there first: it is never believed, nor run.

Each test has the users of a real machine: an agent, two operators, and one who is in the group for
the kernel and in no list of its members.
"""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from lineclear.core.ledger.layout import OWN_CLAIMED
from tests.cli.program import wait_for
from tests.cli.test_several_users import CHECKPOINT, gated, row, saves, says
from tests.several_users import AGENT, ALICE, BOB, ROOT, UNLISTED

MAKE = "import os, sys; os.mkdir(sys.argv[1]); os.chmod(sys.argv[1], 0o3770)"
WRITE = "import os, sys; open(sys.argv[1], 'w').write(sys.argv[2]); os.chmod(sys.argv[1], 0o640)"
WIRE = json.dumps({
    "tool_name": "wire", "arguments": {"n": 5}, "tool_id": "", "inputs": {}, "steps": [],
    "iteration": 1, "tool_calls_consumed": 2, "tokens_consumed": None, "trace_id": None,
})  # fmt: skip
BEGIN = """
import sys
from pathlib import Path
from lineclear.core.ledger.store import Store
with Store.open(Path(sys.argv[1])) as store:
    store.begin_foreign_ledger()
"""
PROGRAM = """
import json, os, sys
from pathlib import Path
store = Path(sys.argv[1])
call = json.loads((store / "pending.json").read_text())
files = [os.environ.get("LINECLEAR_DECISION"), os.environ.get("LINECLEAR_RESULTS")]
seen = {
    "arguments": call["arguments"],
    "store": str(store),
    "owners": [one.lstat().st_uid for one in (store / "pending.json", store, store.parent)],
    "files": [[os.stat(one).st_uid, oct(os.stat(one).st_mode & 0o777)] for one in files if one],
}
Path(sys.argv[2]).write_text(json.dumps(seen))
"""


def resumes_by(town, program):
    """Let the agent's user start a program for the calls of h1; where that writes to."""
    script, out = town.own(AGENT) / "program.py", town.own(AGENT) / "out"
    script.write_text(program)
    script.chmod(0o644)
    words = ("config", "set-launch", "--agent", "h1", "--cwd", "/", "--", sys.executable, script)
    done = town.lineclear(AGENT, *words, "{store}", out)
    assert done.returncode == 0, done.stderr
    return out


def approved(town):
    saves(town, {"n": 1})
    call = row(town, ALICE, "pending")["id"]
    done = says(town, ALICE, "approve", call)
    assert done.returncode == 0, done.stderr
    return call


# --- What a command loads ----------------------------------------------------------------------


@pytest.mark.parametrize("who", [UNLISTED, BOB], ids=lambda who: who.name)
def test_no_command_loads_from_a_folder_that_a_member_made(town, who):
    call = approved(town)
    ledger = town.source / "h1" / ".approvals"
    assert town.python(who, MAKE, ledger / "claimed") == ""
    out = resumes_by(town, PROGRAM)
    started = says(town, AGENT, "relaunch", call)
    assert (started.returncode, started.stderr) == (0, "")
    seen = json.loads(wait_for(lambda: out.exists() and out.read_text()))
    assert seen["arguments"] == {"n": 1}
    # The ledger is that of who decided first, who could exchange what stands in it.
    assert Path(seen["store"]) == town.source / "h1" / OWN_CLAIMED / call
    assert seen["owners"] == [AGENT.uid] * 3
    assert seen["files"] == [[AGENT.uid, "0o600"]]
    assert list((ledger / "claimed").iterdir()) == []


@pytest.mark.parametrize("planted", ["claimed", "claimed/{call}", "workers"])
def test_a_start_by_way_of_a_members_folder_is_refused_and_names_it(town, planted):
    saves(town, {"n": 1})
    assert town.python(AGENT, BEGIN, town.source / "h1") == ""
    call = row(town, ALICE, "pending")["id"]
    assert says(town, ALICE, "approve", call).returncode == 0
    place = town.source / "h1" / ".approvals" / planted.format(call=call)
    if place.parent.name == "claimed":
        assert town.python(AGENT, MAKE, place.parent) == ""
    assert town.python(UNLISTED, MAKE, place) == ""
    out = resumes_by(town, PROGRAM)
    refused = says(town, AGENT, "relaunch", call)
    assert (refused.returncode, "[owner]" in refused.stderr) == (4, True)
    assert f"{place} belongs to user {UNLISTED.uid}" in refused.stderr
    assert f"as the owner of {place.parent} or as root" in refused.stderr
    assert not out.exists()
    row(town, ALICE, "approved")
    assert town.python(AGENT, "import os, sys; os.rmdir(sys.argv[1])", place) == ""
    assert says(town, AGENT, "relaunch", call).returncode == 0
    assert json.loads(wait_for(lambda: out.exists() and out.read_text()))["arguments"] == {"n": 1}


STARWEAVER = ROOT / "tests" / "data" / "fixtures" / "starweaver" / "v041_waiting_one_approval.json"
RESULTS = """
import json, os, sys
from pathlib import Path
results = os.environ["LINECLEAR_RESULTS"]
status, around = os.stat(results), os.stat(os.path.dirname(results))
modes = [[one.st_uid, oct(one.st_mode & 0o777)] for one in (status, around)]
Path(sys.argv[2]).write_text(json.dumps([json.load(open(results)), modes]))
"""
NAMED = """
import sys
from pathlib import Path
from lineclear.core.ledger.foreign import show_foreign
from lineclear.core.ledger.layout import APPROVALS, results_name
path = Path(sys.argv[1])
print(path.parent / APPROVALS / results_name(show_foreign(path)[0].sha256))
"""


@pytest.mark.parametrize("who", [BOB, AGENT, UNLISTED], ids=lambda who: who.name)
def test_results_that_a_member_wrote_first_are_not_what_a_command_reads(town, who):
    text = STARWEAVER.read_text()
    saved = CHECKPOINT.replace('"pending.json', '"run.checkpoint.json')
    folder = town.source / "h1"
    assert town.python(AGENT, saved, folder, text) == ""
    assert town.python(ALICE, BEGIN, folder) == ""
    results = town.python(ALICE, NAMED, folder / "run.checkpoint.json")
    # It is filled with what was decided, and later with something else.
    assert town.python(who, WRITE, results, "") == ""
    call = row(town, ALICE, "pending")["id"]
    denied = says(town, ALICE, "deny", call, "--reason", "never")
    assert denied.returncode == 0
    assert f"{results} does not say what was decided, and belongs to user {who.uid}" in (
        denied.stdout
    )
    out = resumes_by(town, RESULTS)
    refused = says(town, AGENT, "relaunch", call)
    assert refused.returncode != 0
    assert not out.exists()
    verdict = {"decision": "denied", "decided_by": "lc-alice", "reason": "never"}
    said = json.dumps({"approvals": {"call_1": verdict}})
    standing = f"""
import sys
from pathlib import Path
from lineclear.core.checkpoints import jsontext
Path(sys.argv[1]).write_bytes(jsontext.pretty(jsontext.parse({said.encode()!r})))
"""
    assert town.python(who, standing, results) == ""
    started = says(town, AGENT, "relaunch", call)
    if who is UNLISTED:
        assert f"belongs to user {UNLISTED.uid}" in started.stderr
        assert not out.exists()
        return
    assert (started.returncode, started.stderr) == (0, "")
    told, modes = json.loads(wait_for(lambda: out.exists() and out.read_text()))
    assert told == json.loads(said)
    assert modes == [[AGENT.uid, "0o600"], [AGENT.uid, "0o700"]]


NEXT = """
import json, os, sys
from pathlib import Path
path = Path(sys.argv[1]) / "pending.json"
call = json.loads(path.read_text())
call["arguments"] = {"n": 2}
path.unlink()
path.write_text(json.dumps(call))
path.chmod(0o640)
Path(sys.argv[2]).write_text("saved")
"""


def test_the_next_call_of_an_agent_that_was_resumed_is_shown_and_can_be_resumed(town):
    call = approved(town)
    out = resumes_by(town, NEXT)
    assert says(town, AGENT, "relaunch", call).returncode == 0

    def second():
        return [one for one in town.listed(BOB) if one["state"] == "pending"]

    (found,) = wait_for(second)
    assert found["agent"] == "h1"
    assert says(town, BOB, "approve", found["id"]).returncode == 0
    out.unlink()
    again = resumes_by(town, PROGRAM)
    started = says(town, AGENT, "relaunch", found["id"])
    assert (started.returncode, started.stderr) == (0, "")
    seen = json.loads(wait_for(lambda: again.exists() and again.read_text()))
    assert (seen["arguments"], seen["owners"]) == ({"n": 2}, [AGENT.uid] * 3)


EQUAL = """
import os, sys
from lineclear.core.ledger.commit import commit
fd = os.open(sys.argv[1], os.O_RDONLY)
print(commit(fd, "record", b"same bytes").value)
"""


def test_equal_bytes_of_another_user_are_not_ours(town):
    folder = town.source / "h1"
    town.python(AGENT, MAKE, folder)
    assert town.python(UNLISTED, WRITE, folder / "record", "same bytes") == ""
    assert town.python(AGENT, EQUAL, folder) == "lost"
    assert town.python(UNLISTED, EQUAL, folder) == "won"


# --- Who lives ---------------------------------------------------------------------------------

LASTS = """
import os, sys, time
open(sys.argv[2], "w").write(str(os.getpid()))
time.sleep(60)
"""
HIDE = """
import os, sys
os.rename(sys.argv[1], sys.argv[1] + ".away")
"""
READ_LOCK = """
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", fcntl.F_RDLCK, 0, 0, 1, 0))
print("locked", flush=True)
sys.stdin.read()
"""


def running(town):
    """A command that lives while its worker was killed."""
    call = approved(town)
    out = resumes_by(town, LASTS)
    assert says(town, AGENT, "relaunch", call).returncode == 0
    pid = int(wait_for(lambda: out.exists() and out.read_text()))
    (start,) = town.source.glob("h1/.approvals/*.start.json")
    os.kill(json.loads(start.read_text())["owner"]["pid"], signal.SIGKILL)
    return call, pid


def test_whoever_hides_a_workers_lock_makes_nobody_dead(town):
    call, pid = running(town)
    try:
        row(town, BOB, "running")
        # The ledger is hers, as she decided first.
        workers = town.source / "h1" / ".approvals" / "workers"
        assert town.python(UNLISTED, HIDE, workers).startswith("PermissionError")
        assert town.python(ALICE, HIDE, workers) == ""
        assert row(town, BOB, "running")["process"] == "unknown"
        refused = says(town, BOB, "resolve", call, "--ask-again", "--note", "look")
        assert (refused.returncode, "[not_uncertain]" in refused.stderr) == (4, True)
        assert "is gone or is another user's; put the lock's folder back" in refused.stderr
        town.python(ALICE, MAKE, workers)
        assert row(town, BOB, "running")["process"] == "unknown"
        workers.rmdir()
        Path(f"{workers}.away").rename(workers)
        assert row(town, BOB, "running")["process"] == "alive"
    finally:
        os.kill(pid, signal.SIGKILL)
    row(town, BOB, "uncertain")


def test_a_lock_for_reading_makes_nobody_alive(town):
    call, pid = running(town)
    os.kill(pid, signal.SIGKILL)
    row(town, BOB, "uncertain")
    (lock,) = town.source.glob("h1/.approvals/workers/*/agent.lock")
    with town.start(UNLISTED, sys.executable, "-c", READ_LOCK, lock) as reader:
        assert reader.stdout.readline() == "locked\n"
        row(town, BOB, "uncertain")
        done = says(town, BOB, "resolve", call, "--not-run", "--note", "looked")
        assert (done.returncode, done.stderr) == (0, "")
        reader.kill()


def test_an_agent_that_is_kept_out_by_a_lock_for_reading_is_told_so(town):
    with gated(town) as agent:
        row(town, ALICE, "pending")
        agent.kill()
    lock = town.source / "pay" / "agent.lock"
    with town.start(UNLISTED, sys.executable, "-c", READ_LOCK, lock) as reader:
        assert reader.stdout.readline() == "locked\n"
        assert row(town, ALICE, "pending")["process"] == "dead"
        code = "import sys; from lineclear import Gate; Gate('pay', sys.argv[1])"
        told = town.python(AGENT, code, town.source)
        assert f"{lock} is locked by a program that only reads it" in told
        assert "or move the file away" in told
        town.python(AGENT, HIDE, lock)
        assert town.python(AGENT, code, town.source) == ""
        reader.kill()


# --- Who reads ---------------------------------------------------------------------------------

PRESENT = """
import os, sys
from pathlib import Path
from lineclear.core.ledger.presence import announce
here = announce(Path(sys.argv[1]))
here.tell("lc-bob", "3f" * 16)
for number in range(int(sys.argv[2])):
    os.mkdir(f"{sys.argv[1]}/.watched/{os.getuid():08x}{number:024x}")
print("told", flush=True)
sys.stdin.read()
"""
SEEN = """
import json, sys
from pathlib import Path
from lineclear.core.ledger.presence import readers, watched
source = Path(sys.argv[1])
seen = [[one.uid, one.name, one.shared] for one in readers(source)]
print(json.dumps([watched(source), watched(source, ours=True), seen]))
"""


def test_only_who_may_answer_is_seen_to_read_and_to_watch(town):
    def seen(user):
        return json.loads(town.python(user, SEEN, town.source))

    def present(user, empty=0):
        one = town.start(user, sys.executable, "-c", PRESENT, town.source, str(empty))
        assert one.stdout.readline() == "told\n"
        return one

    others = [present(UNLISTED, 80)]
    try:
        assert seen(ALICE) == [False, False, []]
        others.append(present(AGENT))
        # Who owns the store of a call is known where its row is; an agent knows its own user.
        assert seen(ALICE) == [True, True, [[AGENT.uid, "lc-bob", True]]]
        assert seen(AGENT)[:2] == [False, True]
        others.append(present(BOB, 80))
        assert [BOB.uid, "lc-bob", True] in seen(ALICE)[2]
        assert seen(AGENT)[0] is True
    finally:
        for one in others:
            one.kill()
            one.communicate()
    assert seen(ALICE) == [False, False, []]


# --- What an agent reads -----------------------------------------------------------------------

ASKS = """
import asyncio, sys
from lineclear import Gate
gate = Gate("race", sys.argv[1])
@gate.guard
async def send(n: int) -> str:
    return "sent"
async def main():
    print("began", flush=True)
    for n in range(3):
        print(n, await send(n), flush=True)
    sys.stdin.readline()
    print(await asyncio.gather(send(7), send(8)), flush=True)
asyncio.run(main())
"""
PLANT = """
import os, sys
for path in sys.argv[1:]:
    if path.endswith("/"):
        os.mkdir(path)
    else:
        open(path, "w").write("{}")
        os.chmod(path, 0o640)
"""


def pending(town, but=()):
    def look():
        rows = [one for one in town.listed(ALICE) if one["state"] == "pending"]
        fresh = [one["id"] for one in rows if one["agent"] == "race" and one["id"] not in but]
        return fresh[0] if fresh else None

    return wait_for(look)


def test_what_is_planted_in_an_agents_folders_stops_no_call_of_it(town):
    run = town.source / "race"
    town.python(AGENT, MAKE, run)
    assert town.python(UNLISTED, PLANT, run / "run.json", run / "1/") == ""
    with town.start(AGENT, sys.executable, "-c", ASKS, town.source) as agent:
        assert agent.stdout.readline() == "began\n"
        first = pending(town)
        ledger = run / "2" / ".approvals"
        planted = ("000002.request.json", f"999999-{'0' * 32}.decision.json", "999998.request.json")
        assert town.python(UNLISTED, PLANT, *(ledger / name for name in planted)) == ""
        assert town.python(UNLISTED, PLANT, f"{run}/3/", run / "2" / "runs.json") == ""
        answered = [first]
        for n in range(3):
            call = pending(town, answered[:-1] if n == 0 else answered)
            assert says(town, ALICE, "approve", call).returncode == 0
            assert agent.stdout.readline() == f"{n} sent\n"
            answered.append(call)
        assert (ledger / "000003.request.json").exists()
        agent.stdin.write("go\n")
        agent.stdin.flush()
        for _ in range(2):
            answered.append(pending(town, answered))
            assert says(town, ALICE, "approve", answered[-1]).returncode == 0
        assert agent.stdout.readline() == "['sent', 'sent']\n"
        agent.stdin.close()
    states = {one["reason_code"] for one in town.listed(ALICE) if one["state"] == "stray"}
    assert states == {"owner"}


def test_a_pending_file_in_another_users_lane_is_shown_in_nobody_elses_name(town):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        lane = town.source / "pay" / "7"
        assert town.python(UNLISTED, CHECKPOINT, lane, WIRE) == ""
        (planted,) = (one for one in town.listed(ALICE) if one["id"] != call)
        assert (planted["tool"], planted["agent"], planted["user"]) == ("wire", "7", UNLISTED.uid)
        assert planted["process"] == "unknown"
        agent.kill()


def test_an_agent_adopts_no_call_that_another_user_left_in_its_folder(town):
    folder = town.source / "mine"
    town.python(AGENT, MAKE, folder)
    assert town.python(UNLISTED, WRITE, folder / "pending.json", WIRE) == ""
    load = """
import asyncio, sys
from lineclear import FileResumeStore
print(asyncio.run(FileResumeStore(sys.argv[1]).load_pending()))
"""
    assert town.python(AGENT, load, folder) == "None"
    assert town.python(AGENT, WRITE, town.own(AGENT) / "pending.json", WIRE) == ""
    assert "wire" in town.python(AGENT, load, town.own(AGENT))
