"""Decisions that no operator gave for this very call: refused, told, asked again, never run."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import forging
from tests.e2e.desktop import wait_for
from tests.e2e.processes import agent, effects, lane, lineclear, records, row_of, waiting

STORE = "refund-bot"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


def started(store: Path) -> list[dict[str, Any]]:
    """The start records that let something run; others only take the place."""
    return [each for each in records(store, "start") if "revoked" not in each]


def refused_and_asked_again(done: Path, first: str, code: str) -> str:
    """The first request was closed as refused without a start; the id of the second."""
    store = lane(STORE)
    second = waiting(store, after=first)
    (outcome,) = records(store, "outcome")
    assert outcome["outcome"] == "refused"
    assert outcome["code"] == code
    assert started(store) == []
    assert effects(done) == []
    assert records(store, "request")[1]["lineclear"]["again_of"] == first
    row = row_of(second)
    assert (row["state"], row["decision"]) == ("pending", None)
    return second


def test_the_forger_of_these_tests_can_write_a_decision_that_holds(done: Path, tmp_path: Path):
    # Else the refusals below would prove nothing.
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(store)
        forging.put(forging.decision_path(store, aid), forging.approval(store))
        bot.finishes()
    assert effects(done) == ["bob 10"]


def other_digest(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "request_sha256": "0" * 64}


def one_bit_of_the_digest(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    digest = decision["request_sha256"]
    return {**decision, "request_sha256": f"{int(digest, 16) ^ 1:064x}"}


def other_aid(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "aid": "f" * 32}


def other_number(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "seq": 2}


def other_store(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "store_id": "e" * 32}


def other_folder(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "folder": decision["folder"] + 1}


def unknown_verdict(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "verdict": "allow"}


def unknown_field(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "also_approve": "*"}


def newer_version(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "v": 2}


def no_digest(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in decision.items() if name != "request_sha256"}


def old(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return forging.approval(store, age_s=3600)


def for_ever(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "valid_for_s": 1e308}


def old_by_the_clock_of_the_machine(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    long_ago = decision["boottime_ns"] - 3600 * 10**9
    return {**decision, "boottime_ns": long_ago}


def from_the_future(store: Path, decision: dict[str, Any]) -> dict[str, Any]:
    return forging.approval(store, age_s=-3600)


def empty(store: Path, decision: dict[str, Any]) -> bytes:
    return b""


def torn(store: Path, decision: dict[str, Any]) -> bytes:
    return json.dumps(decision).encode()[:100]


def twice_the_verdict(store: Path, decision: dict[str, Any]) -> bytes:
    written = json.dumps(decision)
    return written.replace(
        '"verdict": "approve"', '"verdict": "deny", "verdict": "approve"'
    ).encode()


@pytest.mark.parametrize(
    "forge, code",
    [
        (other_digest, "request_changed"),
        (one_bit_of_the_digest, "request_changed"),
        (other_aid, "wrong_aid"),
        (other_number, "wrong_seq"),
        (other_store, "wrong_store"),
        (other_folder, "wrong_folder"),
        (unknown_verdict, "unknown_verdict"),
        (unknown_field, "damaged"),
        (newer_version, "unknown_version"),
        (no_digest, "damaged"),
        (old, "before_request"),
        (for_ever, "valid_too_long"),
        (old_by_the_clock_of_the_machine, "lapsed"),
        (from_the_future, "clock"),
        (empty, "empty"),
        (torn, "damaged"),
        (twice_the_verdict, "damaged"),
    ],
)
def test_a_decision_that_does_not_hold_is_refused_and_the_call_is_asked_again(
    done: Path,
    tmp_path: Path,
    forge: Callable[[Path, dict[str, Any]], dict[str, Any] | bytes],
    code: str,
):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        first = waiting(store)
        hostile = forge(store, forging.approval(store))
        forging.put(forging.decision_path(store, first), hostile)
        second = refused_and_asked_again(done, first, code)
        lineclear("approve", second, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def test_the_approval_of_an_older_identical_call_is_no_approval_of_the_next(
    done: Path, tmp_path: Path
):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", "bob=10", log=tmp_path / "log") as bot:
        first = waiting(store)
        lineclear("approve", first, expect=0)
        second = waiting(store, after=first)
        assert effects(done) == ["bob 10"]
        older = forging.decision_path(store, first).read_bytes()
        forging.put(forging.decision_path(store, second, 2), older)
        third = waiting(store, after=second)
        assert row_of(second)["outcome"] == "refused"
        # The same once more, now with this call's names on it, but the older digest.
        relabelled = json.loads(older)
        relabelled |= {"seq": 3, "aid": third}
        forging.put(forging.decision_path(store, third, 3), relabelled)
        fourth = waiting(store, after=third)
        assert records(store, "outcome")[2]["code"] == "request_changed"
        assert effects(done) == ["bob 10"]
        lineclear("deny", fourth, "--reason", "once is enough", expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def change_one_byte(path: Path) -> bytes:
    """Turn the amount 10 into 90, in place of the file."""
    raw = path.read_bytes()
    changed = raw.replace(b'"amount": 10', b'"amount": 90')
    assert sum(a != b for a, b in zip(raw, changed, strict=True)) == 1
    path.chmod(0o600)
    path.write_bytes(changed)
    return changed


def test_a_request_changed_by_one_byte_after_the_approval_never_runs(done: Path, tmp_path: Path):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        first = waiting(store)
        bot.kill()
    lineclear("approve", first, expect=0)
    change_one_byte(forging.request_path(store))
    with agent("refunds", done, "bob=10", log=tmp_path / "again") as bot:
        second = waiting(store, after=first)
        assert effects(done) == []
        assert started(store) == []
        assert row_of(second)["arguments"] == {"customer": "bob", "amount": 10}
        lineclear("approve", second, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def test_a_request_changed_by_one_byte_before_it_was_shown_never_runs(done: Path, tmp_path: Path):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        first = waiting(store)
        change_one_byte(forging.request_path(store))
        answer = lineclear("approve", first)
        if answer.code == 0:
            # The operator approved 90, which this agent never asked for.
            second = waiting(store, after=first)
            assert effects(done) == []
            lineclear("approve", second, expect=0)
            bot.finishes()
            assert effects(done) == ["bob 10"]
        else:
            assert answer.code in (3, 4), answer
            assert effects(done) == []


def test_a_request_changed_while_its_agent_was_dead_is_not_taken_for_its_own(
    done: Path, tmp_path: Path
):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        first = waiting(store)
        bot.kill()
    change_one_byte(forging.request_path(store))
    with agent("refunds", done, "bob=10", log=tmp_path / "again") as bot:
        second = waiting(store, after=first)
        assert row_of(second)["arguments"] == {"customer": "bob", "amount": 10}
        lineclear("approve", second, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def test_a_changed_projection_is_told_and_does_not_count(done: Path, tmp_path: Path):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(store)
        # Else the agent mends it at once.
        bot.process.send_signal(signal.SIGSTOP)
        change_one_byte(store / "pending.json")
        row = row_of(aid)
        assert row["arguments"] == {"customer": "bob", "amount": 10}
        assert "projection_differs" in row["warnings"]
        bot.process.send_signal(signal.SIGCONT)
        wait_for(
            "the projection mended",
            lambda: (
                (store / "pending.json").read_bytes() == forging.request_path(store).read_bytes()
            ),
        )
        lineclear("approve", aid, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def link_elsewhere(path: Path, decision: Path) -> None:
    path.symlink_to(decision)


def second_name(path: Path, decision: Path) -> None:
    decision.chmod(0o666)
    os.link(decision, path)


def of_another_user(path: Path, decision: Path) -> None:
    os.chown(decision, 65534, 65534)
    decision.rename(path)


def fifo(path: Path, decision: Path) -> None:
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    "place, code",
    [
        (link_elsewhere, "symlink"),
        (second_name, "writable_by_others"),
        (fifo, "not_regular"),
        pytest.param(
            of_another_user,
            "owner",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away"),
        ),
    ],
)
def test_a_file_that_no_operator_can_have_made_is_no_decision(
    done: Path, tmp_path: Path, place: Callable[[Path, Path], None], code: str
):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        first = waiting(store)
        decision = tmp_path / "decision"
        decision.write_text(json.dumps(forging.approval(store)))
        decision.chmod(0o600)
        place(forging.decision_path(store, first), decision)
        second = refused_and_asked_again(done, first, code)
        lineclear("approve", second, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def test_after_three_refusals_the_agent_gives_up_and_says_so(done: Path, tmp_path: Path):
    store = lane(STORE)
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = None
        for seq in range(1, 4):
            aid = waiting(store, after=aid)
            hostile = other_digest(store, forging.approval(store, seq))
            forging.put(forging.decision_path(store, aid, seq), hostile)
        (said,) = bot.finishes().said()
        assert said["error"] in ("decision_refused", "request_changed")
        assert "did not run" in said["sentence"]
    assert effects(done) == []
    assert [each["outcome"] for each in records(store, "outcome")] == ["refused"] * 3
    assert not (store / "pending.json").exists()
