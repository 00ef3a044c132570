"""Which records may go, and that whatever is left of a call by a kill is of no call."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.core.ledger import retention
from lineclear.core.ledger.store import Store
from tests.core.inbox.agents import asked, call
from tests.core.inbox.history.ledgers import decided, ran

LATER = timedelta(hours=1)


@pytest.fixture
def lane(tmp_path):
    """A lane with four closed calls: approved, denied, failed, approved."""
    lane = tmp_path / "agents" / "refund-bot" / "1"
    for number, (verdict, outcome) in enumerate(
        [("approve", "ok"), ("deny", "denied"), ("approve", "error"), ("approve", "ok")]
    ):
        ran(lane, verdict, call(arguments={"n": number}), outcome)
    return lane


def old(lane, before=None):
    with Store.open(lane) as store:
        return retention.old_calls(store, before or datetime.now(UTC) + LATER)


def remove(lane, one):
    with Store.open(lane) as store:
        retention.remove(store, one)


def names(lane):
    return sorted(path.name for path in (lane / ".approvals").iterdir())


def test_only_closed_calls_that_are_old_go_and_never_the_newest(lane):
    assert old(lane, datetime.now(UTC) - LATER) == []
    found = old(lane)
    assert [one.seq for one in found] == [1, 2, 3]
    assert {one.tool for one in found} == {"send_refund"}
    assert all(one.size > 500 for one in found)
    for one in found:
        remove(lane, one)
    assert [name for name in names(lane) if not name.startswith("000004")] == ["FORMAT"]
    assert old(lane) == []


def test_the_request_goes_first_and_the_outcome_last(lane):
    kinds = [name.removesuffix(".json").rpartition(".")[2] for name in old(lane)[0].names]
    assert kinds == ["request", "decision", "start", "outcome"]


def test_an_open_call_and_one_that_may_have_run_stay(lane):
    _, verdict = decided(lane, said=call(arguments={"n": 9}))
    assert verdict.verdict == "approve"
    asked(lane.parent / "2", call(arguments={"n": 10}))
    assert [one.seq for one in old(lane)] == [1, 2, 3, 4]
    assert old(lane.parent / "2") == []
    before = names(lane)
    outcome = next(name for name in before if name.startswith("000001-") and "outcome" in name)
    (lane / ".approvals" / outcome).unlink()
    assert [one.seq for one in old(lane)] == [2, 3, 4]


@pytest.mark.parametrize("reached", [1, 2, 3])
def test_what_a_kill_leaves_is_no_call_and_goes_the_next_time(lane, reached):
    first = old(lane)[0]
    for name in first.names[:reached]:
        (lane / ".approvals" / name).unlink()
    source = lane.parent.parent
    settings = Settings(sources=(SourceSetting(path=source),))
    rows = scan_once(settings, settings.sources)
    assert [row.state.value for row in rows] == ["done"]
    (again, *_) = old(lane)
    assert (again.seq, again.tool, again.names) == (1, "", first.names[reached:])
    remove(lane, again)
    assert not any(name.startswith("000001") for name in names(lane))


def test_damaged_records_and_those_with_a_second_id_stay(lane):
    ledger = lane / ".approvals"
    decision = next(ledger.glob("000001-*.decision.json"))
    shutil.copy(decision, ledger / f"000001-{'0' * 32}.decision.json")
    outcome = next(ledger.glob("000002-*.outcome.json"))
    outcome.write_text("{")
    assert [one.seq for one in old(lane)] == [3]


def test_the_next_call_has_the_next_number(lane):
    for one in old(lane):
        remove(lane, one)
    shown = asked(lane, call(arguments={"n": 5}))
    assert shown.seq == 5


def test_a_foreign_store_is_left_alone(tmp_path):
    (tmp_path / "pending.json").write_text("{}")
    assert old(tmp_path) == []
