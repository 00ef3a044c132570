"""Operator and agent with uids of their own: each counts only for what is theirs to say."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.core.ledger import two_users
from tests.core.ledger.two_users import AGENT, COLLEAGUE, OPERATOR, OPERATORS

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="needs root to act as several users"
)


@pytest.fixture(scope="module")
def told():
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o711)
        for agents in (folder / "agents", folder / "named" / "agents"):
            agents.mkdir(parents=True)
            os.chown(agents, AGENT, OPERATORS)
            agents.chmod(0o3770)
        ended = subprocess.run(
            [sys.executable, "-m", two_users.__name__, str(folder)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
            timeout=60,
        )
        yield json.loads(ended.stdout)
    finally:
        shutil.rmtree(folder)


def test_the_two_meet_on_files_that_both_can_read(told):
    assert told["asked"] == 1
    assert told["operator sees"] == "pending"
    assert told["approved"] == "approve"
    assert told["agent reads"] == "Verified"
    assert told["ran"] == "recorded"
    assert told["operator sees after"] == "done"


def test_modes_and_groups_whatever_the_umask(told):
    modes = told["modes"]
    assert modes["refund-bot"] == ["0o3770", AGENT, OPERATORS]
    assert modes[".approvals"] == ["0o3770", AGENT, OPERATORS]
    for name in ("FORMAT", "000001.request.json", "pending.json"):
        assert modes[name] == ["0o640", AGENT, OPERATORS]
    assert modes["decision.json"] == ["0o640", OPERATOR, OPERATORS]


def test_a_stranger_sees_nothing(told):
    assert told["stranger"] == "no_permission"


def test_the_operator_cannot_take_the_agents_files_away(told):
    assert told["operator removes request"] == "PermissionError"
    assert told["operator removes pending"] == "PermissionError"


def test_an_agent_cannot_approve_its_own_call(told):
    assert told["agent approves itself"] == "no_operator"
    assert told["agent forges an approval"] == "won"
    assert told["agent reads its own approval"] == "owner"
    assert told["operator sees its approval"] != "approved"


def test_taking_back_is_the_operators_to_say(told):
    assert told["taken back"] == "taken back"
    assert told["agent reads a taken back one"] == "withdrawn"


def test_withdrawing_is_the_agents_to_say(told):
    assert told["withdrawn"] is True
    assert told["operator sees withdrawn"] == "done"


def test_an_operator_cannot_say_that_a_call_ran(told):
    assert told["operator forges"] == ["won", "won"]
    assert told["agent reads forged start"] == "start_taken"
    assert told["operator sees forged"] == "approved"


def test_an_operator_cannot_ask_for_the_agent(told):
    assert told["operator forges request"] == "won"
    assert told["agent sees forged request"] == "owner"


def test_nobody_takes_back_in_a_colleagues_name(told):
    assert told["forged revocation"] == "won"
    forged = f"says that user {OPERATOR} took the approval back, but user {COLLEAGUE} wrote it."
    assert told["revocation as read"] == ["by_uid", forged]
    assert told["revocation as seen"] == "damaged"
    assert told["taking back over it"] == "by_uid"
    # Nothing started and nothing can: the agent asks anew.
    assert told["agent reads that revocation"] == "start_taken"
    assert told["call after that revocation"] == "done"
    assert told["own revocation"] == "taken back"
    assert told["revocation read by the agent"] == "Revoked"


def test_who_gave_up_is_told_by_the_uid_not_by_the_name(told):
    assert told["taken back in the agent's name"] == [False, "refund-bot (operator)"]
    assert told["written in the agent's name"] == [False, "refund-bot"]
    assert told["agent gives up as alice"] == "won"
    assert told["given up as seen"] == [True, "alice"]
    assert told["taking back what was given up"] == "not_approved"


def test_an_agent_may_tell_who_took_an_approval_back(told):
    assert told["agent tells who took it back"] == "withdrawn"
    assert told["outcome of that as read"] == "withdrawn"


def test_nobody_settles_in_a_colleagues_name(told):
    assert told["colleague forges a settlement"] == "won"
    forged = f"says that user {OPERATOR} ended the call, but user {COLLEAGUE} wrote it."
    assert told["colleague's settlement as read"] == ["owner", forged]
    assert told["agent after colleague's settlement"] == "Verified"


def test_an_agent_does_not_settle_its_own_call(told):
    assert told["agent forges a settlement"] == "won"
    foreign = f"belongs to user {AGENT}, no operator of this store."
    assert told["agent's settlement as read"] == ["owner", foreign]
    assert told["agent after agent's settlement"] == "Verified"
    assert told["agent takes back"] == "no_operator"
    assert told["agent settles"] == "no_operator"


def test_who_stands_in_no_list_is_refused_before_anything_is_written(told):
    assert told["unlisted"] == ["no_operator"] * 3
    assert told["unlisted settles"] == "no_operator"
    (start,) = told["written by those"]
    assert start.endswith(".start.json")


@pytest.mark.parametrize("who", ["colleague", "agent"])
def test_a_call_ends_where_its_slot_is_taken_by_what_does_not_count(told, who):
    assert told[f"runs after {who}'s settlement"] == "recorded"
    assert told[f"seen after {who}'s settlement"] == "done"
    assert told[f"settling after {who}'s settlement"] == "already_decided"


def test_it_is_settled_where_the_slot_is_taken_by_what_does_not_count(told):
    assert told["stray in the slot"] == "won"
    assert told["operator settles"] == "resolved"
    assert told["settled as read"] == "resolved"
    assert told["second settlement"] == "already_decided"
