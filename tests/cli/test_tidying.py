"""`lineclear tidy`: off by default, shown first, removed on a word."""

import json

import pytest

from tests.cli.program import lineclear
from tests.core.inbox.agents import call
from tests.core.inbox.history.ledgers import ran
from tests.core.ledger.aging import age


@pytest.fixture
def lane(home):
    lane = home / "lineclear" / "agents" / "bot" / "1"
    for number in range(3):
        ran(lane, said=call(arguments={"n": number}, agent="bot"))
    age(lane, days=100)
    return lane


def requests(lane):
    return sorted(path.name for path in (lane / ".approvals").glob("*.request.json"))


def test_nothing_is_old_unless_somebody_says_from_when_on(lane):
    done = lineclear("tidy")
    assert done.returncode == 2
    assert "kept for ever" in done.stderr
    assert len(requests(lane)) == 3


def test_it_shows_what_would_go_and_removes_it_on_a_word(lane):
    assert lineclear("config", "set", "ledger_days", "90").returncode == 0
    shown = lineclear("tidy")
    assert shown.returncode == 0, shown.stderr
    assert f"  000001  send_refund  {lane}" in shown.stdout
    assert "2 calls that ended more than 90 days ago" in shown.stdout
    assert "Nothing was removed: --yes removes it." in shown.stdout
    assert len(requests(lane)) == 3
    assert [one["seq"] for one in json.loads(lineclear("tidy", "--json").stdout)] == [1, 2]
    done = lineclear("tidy", "--yes")
    assert done.returncode == 0, done.stderr
    assert "2 removed." in done.stdout
    assert requests(lane) == ["000003.request.json"]
    kept = json.loads(lineclear("history", "list", "--json").stdout)
    assert len(kept) == 3, "the history keeps what the store forgot"
    assert "No call ended more than 90 days ago" in lineclear("tidy").stdout
