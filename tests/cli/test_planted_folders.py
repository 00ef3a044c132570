"""Links and folders that somebody puts where others make theirs: none leads anybody astray.

The users of a real machine, as in `test_planted`.
"""

import json
import os
import sys

import pytest

from tests.cli.test_planted import MAKE
from tests.cli.test_several_users import CHECKPOINT, row, saves, says
from tests.several_users import AGENT, ALICE, BOB, GROUP, UNLISTED

LINK = "import os, sys; os.symlink(sys.argv[1], sys.argv[2])"
MODE = "import os, sys; print(oct(os.stat(sys.argv[1]).st_mode & 0o7777))"
OPENS = {
    "gate": """
import sys
from pathlib import Path
from lineclear import Gate
place = Path(sys.argv[1])
Gate(place.name, source=place.parent).close()
print("opened")
""",
    "executor": """
import asyncio, sys
from lineclear import FileResumeStore
async def hold():
    async with FileResumeStore(sys.argv[1]) as store:
        await store.hold()
asyncio.run(hold())
print("opened")
""",
}


@pytest.fixture(params=list(OPENS))
def opens(request, town):
    """Open a folder as an agent does; what came of it."""
    return lambda folder: town.python(AGENT, OPENS[request.param], folder)


# --- In the place of a run folder ---------------------------------------------------------------


def test_an_agent_follows_no_link_that_a_member_put_in_its_folders_place(town, opens):
    private = town.own(AGENT) / "stuff"
    assert town.python(AGENT, "import os, sys; os.mkdir(sys.argv[1], 0o700)", private) == ""
    place = town.source / "refund-bot"
    assert town.python(UNLISTED, LINK, private, place) == ""
    told = opens(place)
    assert f"{place} is a symbolic link of user {UNLISTED.uid}, in a folder in which others" in told
    assert f"removed, by its owner, the owner of {town.source} or root." in told
    assert list(private.iterdir()) == []
    place.unlink()
    assert opens(place) == "opened"
    assert place.stat().st_uid == AGENT.uid


def test_an_agent_does_not_work_in_another_ones_folder_by_way_of_a_link(town, opens):
    theirs, place = town.source / "pay-bot", town.source / "ship-bot"
    assert opens(theirs) == "opened"
    before = {one.name for one in theirs.rglob("*")}
    assert town.python(UNLISTED, LINK, theirs, place) == ""
    assert f"{place} is a symbolic link of user {UNLISTED.uid}" in opens(place)
    assert {one.name for one in theirs.rglob("*")} == before


@pytest.mark.parametrize("who", [UNLISTED, BOB], ids=lambda who: who.name)
def test_an_agent_does_not_work_in_a_folder_that_a_member_made(town, opens, who):
    place = town.source / "refund-bot"
    assert town.python(who, MAKE, place) == ""
    told = opens(place)
    assert f"{place} belongs to user {who.uid}, but this agent runs as user {AGENT.uid}" in told
    assert f"by its owner, the owner of {town.source} or root." in told
    assert list(place.iterdir()) == []


def test_an_agents_own_link_is_followed_where_nobody_else_makes_any(town):
    private, real = town.own(AGENT) / "agents", town.own(AGENT) / "disk"
    for folder in (private, real):
        assert town.python(AGENT, "import os, sys; os.mkdir(sys.argv[1], 0o700)", folder) == ""
    assert town.python(AGENT, LINK, real, private / "bot") == ""
    assert town.python(AGENT, OPENS["gate"], private / "bot") == "opened"
    assert (real / "run.json").exists()
    assert town.python(AGENT, LINK, real, town.source / "bot") == ""
    assert "is a symbolic link of user" in town.python(AGENT, OPENS["gate"], town.source / "bot")


@pytest.mark.parametrize("mode", [0o711, 0o1733], ids=oct)
def test_an_agent_works_in_its_folder_below_one_that_it_cannot_list(town, opens, mode):
    place = town.source / "below" / "bot"
    place.mkdir(parents=True)
    os.chown(place, AGENT.uid, AGENT.uid)
    place.chmod(0o700)
    place.parent.chmod(mode)
    town.source.chmod(0o711)
    assert opens(place) == "opened"
    assert (place / "agent.lock").exists()


@pytest.mark.parametrize("who, follows", [(ALICE, True), (UNLISTED, False)])
def test_a_source_may_be_a_link_of_an_operator_and_of_nobody_unlisted(town, opens, who, follows):
    real, link = town.source / "real", town.source / "now"
    assert town.python(ALICE, MAKE, real) == ""
    assert town.python(who, LINK, real, link) == ""
    told = opens(link / "bot")
    assert (told == "opened") is follows
    if not follows:
        assert f"{link} is a symbolic link of user {who.uid}" in told
    assert (real / "bot").exists() is follows


CLEARS = """
import asyncio, sys
from lineclear import FileResumeStore
async def clear():
    async with FileResumeStore(sys.argv[1]) as store:
        await store.clear_pending()
asyncio.run(clear())
"""


def test_an_agent_clears_no_call_where_a_members_link_leads(town):
    saves(town, {"n": 1})
    waits, place = town.source / "h1" / "pending.json", town.source / "mine"
    assert town.python(UNLISTED, LINK, town.source / "h1", place) == ""
    assert f"{place} is a symbolic link" in town.python(AGENT, CLEARS, place)
    assert waits.exists()


# --- In the place of a folder that is just being made --------------------------------------------

DENIES = """
import os, sys
from lineclear.cli.main import main
real = os.mkdir
def mkdir(name, *rest, **more):
    real(name, *rest, **more)
    if name == sys.argv[1]:
        print("made", flush=True)
        sys.stdin.readline()
os.mkdir = mkdir
sys.exit(main(sys.argv[2:]))
"""
EXCHANGE = """
import os, sys
folder, name, target = sys.argv[1:]
os.rename(f"{folder}/{name}", f"{folder}/.aside")
os.symlink(target, f"{folder}/{name}")
"""


def test_who_owns_the_folder_around_a_new_one_makes_no_file_of_an_operators_writable(town):
    saves(town, {"n": 1})
    call = row(town, ALICE, "pending")["id"]
    assert says(town, ALICE, "deny", call, "--reason", "never").returncode == 0
    (decision,) = (town.source / "h1").rglob("*.decision.json")
    trap = town.source / "trap"
    wire = json.loads((town.source / "h1" / "pending.json").read_text()) | {"tool_name": "wire"}
    assert town.python(UNLISTED, CHECKPOINT, trap, json.dumps(wire)) == ""
    (planted,) = (one["id"] for one in town.listed(ALICE) if one["tool"] == "wire")
    words = ("deny", planted, "--reason", "no", "--source", town.source)
    before = town.python(ALICE, MODE, decision)
    with town.start(ALICE, sys.executable, "-c", DENIES, ".approvals", *words) as denies:
        assert denies.stdout.readline() == "made\n"
        assert town.python(UNLISTED, EXCHANGE, trap, ".approvals", decision) == ""
        denies.stdin.write("go\n")
        denies.stdin.flush()
        assert denies.wait(30) == 4
    assert before == "0o640"
    assert town.python(ALICE, MODE, decision) == before
    assert decision.stat().st_gid == GROUP
