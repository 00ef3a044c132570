"""Records of starts that nobody made, under numbers of real ones: what runs, and what is told.

The users of a real machine, as in `test_planted`.
"""

import base64
import json

import pytest

from tests.cli.charging_agent import LOOP
from tests.cli.program import wait_for
from tests.cli.test_planted import BEGIN, resumes_by
from tests.cli.test_several_users import says
from tests.several_users import AGENT, ALICE, BOB, UNLISTED

PROGRAM = """
import sys
with open(sys.argv[2], "a") as out:
    out.write("ran ")
"""
PUT = """
import os, sys
path, content = sys.argv[1:]
for depth in (3, 2, 1):
    folder = path.rsplit("/", depth)[0]
    if not os.path.isdir(folder):
        os.mkdir(folder)
        os.chmod(folder, 0o3770)
if content == "link":
    os.symlink("/nowhere", path)
elif content == "folder":
    os.mkdir(path)
else:
    open(path, "w").write(content)
    os.chmod(path, 0o600 if content == "" else 0o640)
"""
BOUND = """
import json, sys
from pathlib import Path
from lineclear.core.ledger.store import Store
with Store.open(Path(sys.argv[1])) as store:
    print(json.dumps(store.bound(sys.argv[2])))
"""
WORD = ("--despite", "may_be_running")


@pytest.fixture
def run(town):
    """A run that another program of the agent's user left; its id."""
    raw = LOOP.read_text()
    name = base64.urlsafe_b64encode(json.loads(raw)["run_id"].encode()).decode().rstrip("=")
    place = town.source / "h1" / "v1" / "loop_checkpoints" / f"id_{name}.json"
    assert town.python(AGENT, PUT, place, raw) == ""
    assert town.python(AGENT, BEGIN, town.source / "h1") == ""
    (row,) = town.listed(ALICE)
    assert row["state"] == "resumable"
    return row["id"]


def put(town, user, run, name, content):
    place = town.source / "h1" / ".approvals" / f"{run}.launch-{name}"
    assert town.python(user, PUT, place, content) == ""
    return place


def a_launch(town, user, run, number):
    bound = json.loads(town.python(AGENT, BOUND, town.source / "h1", run))
    by = {"uid": user.uid, "name": user.name, "host": "h"}
    return json.dumps({
        "v": 1, "nonce": "a" * 32, **bound, "n": number, "by": by, "at": "2026-11-30T09:00:00Z",
        "argv": ["x"], "cwd": "/", "log": f"{run}.launch-{number}.log", "despite": [WORD[1]],
    })  # fmt: skip


@pytest.mark.parametrize(
    "who, name, content",
    [
        (UNLISTED, "1.log", ""),
        (UNLISTED, "1.json", "{}"),
        (UNLISTED, "1.json", "link"),
        (BOB, "1.json", ""),
        (BOB, "1.json", "folder"),
        (BOB, "999999.json", "valid"),
    ],
)
def test_what_others_put_under_a_number_hinders_no_start(town, run, who, name, content):
    if content == "valid":
        content = a_launch(town, who, run, 999_999)
    put(town, who, run, name, content)
    out = resumes_by(town, PROGRAM)
    done = says(town, AGENT, "relaunch", run, *WORD)
    assert (done.returncode, done.stderr) == (0, "")
    wait_for(out.exists)
    (row,) = town.listed(ALICE)
    assert ("stray_record" in row["warnings"]) is name.endswith(".json")
    assert "damaged_launch" not in row["warnings"]


@pytest.mark.parametrize(
    "content, why",
    [
        ("{}", "The launch record cannot be read: "),
        ("link", "is a symbolic link, which is never followed."),
        (7, "says that it is start 7."),
    ],
)
def test_a_record_of_its_own_user_that_cannot_be_used_is_named(town, run, content, why):
    text = a_launch(town, AGENT, run, content) if content == 7 else content
    planted = put(town, AGENT, run, "1.json", text)
    out = resumes_by(town, PROGRAM)
    (row,) = town.listed(ALICE)
    assert row["warnings"] == [WORD[1], "damaged_launch"]
    shown = " ".join(says(town, ALICE, "show", run).stdout.split())
    refused = says(town, AGENT, "relaunch", run, *WORD)
    assert refused.returncode == 4
    for told in (refused.stderr, shown):
        assert f"{planted} cannot be used: " in told
        assert why in told
        assert "look whether anything of that still runs, then move the file away." in told
    assert not out.exists()
    planted.unlink()
    assert says(town, AGENT, "relaunch", run, *WORD).returncode == 0
    wait_for(out.exists)


def test_that_there_is_no_number_left_is_told(town, run):
    planted = put(town, AGENT, run, "999999.json", a_launch(town, AGENT, run, 999_999))
    out = resumes_by(town, PROGRAM)
    refused = says(town, AGENT, "relaunch", run, *WORD)
    assert (refused.returncode, "[no_number]" in refused.stderr) == (4, True)
    assert f"{planted} leaves no number for one more start." in refused.stderr
    assert not out.exists()
    planted.unlink()
    assert says(town, AGENT, "relaunch", run, *WORD).returncode == 0
    wait_for(out.exists)


@pytest.mark.parametrize("content", ["{}", "", "folder", "link"])
def test_what_a_member_put_in_the_place_of_the_start_is_named(town, run, content):
    place = town.source / "h1" / ".approvals" / f"{run}.start.json"
    assert town.python(UNLISTED, PUT, place, content) == ""
    out = resumes_by(town, PROGRAM)
    for _ in range(2):
        refused = says(town, AGENT, "relaunch", run, *WORD)
        assert (refused.returncode, "[start_taken]" in refused.stderr) == (4, True)
        assert f"{place.name} belongs to user {UNLISTED.uid}" in refused.stderr
    assert not out.exists()
    take_away = (
        "import os, sys; (os.rmdir if os.path.isdir(sys.argv[1]) else os.unlink)(sys.argv[1])"
    )
    assert town.python(UNLISTED, take_away, place) == ""
    assert says(town, AGENT, "relaunch", run, *WORD).returncode == 0
    wait_for(out.exists)
