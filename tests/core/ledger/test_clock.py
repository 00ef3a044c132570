"""When a decision holds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lineclear.core.ledger import clock, liveness
from lineclear.core.ledger.clock import Now, holds
from lineclear.core.ledger.records import Decision, Person

AT = datetime(2026, 11, 29, 16, 0, tzinfo=UTC)
BOOT = "e1deb8b5-7b5a-41ef-becd-6b7005d7db83"
OTHER_BOOT = "00000000-0000-4000-8000-000000000000"
SECOND = 1_000_000_000


def decision(verdict="approve", valid_for_s=900.0, boottime_ns=100 * SECOND):
    needed: dict[str, Any] = {"modify": {"arguments": {}}, "result": {"result": "done"}}
    return Decision(
        v=1,
        nonce="0" * 32,
        store_id="1" * 32,
        seq=1,
        aid="2" * 32,
        folder=2,
        request_sha256="3" * 64,
        verdict=verdict,
        by=Person(uid=1000, name="alice", host="desk"),
        at=AT,
        boot_id=BOOT,
        boottime_ns=boottime_ns,
        valid_for_s=valid_for_s,
        **needed.get(verdict, {}),
    )


def now(wall_s, *, boot=BOOT, boot_s=None):
    """WALL_S seconds after the decision by the wall clock, BOOT_S by the boot clock."""
    since_boot = wall_s if boot_s is None else boot_s
    return Now(AT + timedelta(seconds=wall_s), boot, int((100 + since_boot) * SECOND))


@pytest.mark.parametrize(
    "wall_s, valid",
    [(-120.1, False), (-120, True), (0, True), (899.9, True), (900, False), (1e7, False)],
)
@pytest.mark.parametrize("verdict", ["approve", "modify", "result"])
def test_the_wall_clock_bounds_an_approval_on_any_boot(verdict, wall_s, valid):
    assert holds(decision(verdict), now(wall_s, boot=OTHER_BOOT)) is valid


@pytest.mark.parametrize("boot_s, valid", [(-50, True), (0, True), (899.9, True), (900, False)])
def test_a_wall_clock_set_back_does_not_prolong_an_approval(boot_s, valid):
    assert holds(decision(), now(10, boot_s=boot_s)) is valid


def test_the_boot_clock_of_another_boot_says_nothing():
    assert holds(decision(), now(10, boot=OTHER_BOOT, boot_s=5_000))
    assert holds(decision(), now(10, boot="", boot_s=5_000))


@pytest.mark.parametrize("verdict", ["deny", "expired", "withdrawn"])
def test_a_denial_never_lapses(verdict):
    assert holds(decision(verdict), now(10 * 365 * 86_400))
    assert holds(decision(verdict), now(-86_400))


def test_a_window_without_length_never_approves():
    assert not holds(decision(valid_for_s=0.0), now(0))


def test_an_endless_window_is_no_error():
    assert holds(decision(valid_for_s=1e308), now(1e9))


def test_a_clock_below_the_records_is_noticed():
    assert not clock.set_back(now(-120), [AT, AT - timedelta(days=3)])
    assert clock.set_back(now(-120.001), [AT, AT - timedelta(days=3)])
    assert not clock.set_back(now(0), [])


def test_both_clocks_of_this_machine_are_read():
    before = datetime.now(UTC)
    first, second = clock.read_now(), clock.read_now()
    assert before <= first.wall <= second.wall <= datetime.now(UTC)
    assert first.boot_id == second.boot_id == liveness.boot_id() != ""
    assert 0 < first.boottime_ns <= second.boottime_ns
