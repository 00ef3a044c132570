"""The same faults in the store of another program, whose checkpoint must never be lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from lineclear.core.errors import AlreadyDecided, LineclearError, Refusal
from lineclear.core.ledger.decide import Verdict, decide, take_back
from lineclear.core.ledger.foreign import (
    Claimed,
    claim,
    claimed_checkpoints,
    put_back,
    show_foreign,
)
from lineclear.core.ledger.layout import PENDING
from lineclear.core.ledger.records import VerdictName
from lineclear.core.ledger.store import Shown, Store
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    waiting_state,
)
from tests.stress.acting import Place, person, raw_error
from tests.stress.steps import Step, expect, must

TOGETHER = "run.checkpoint.json"
CHECKPOINT = json.dumps(
    {
        "tool_name": "delete_file",
        "arguments": {"path": "/etc/hosts"},
        "tool_id": "3b2f0b9e-6a38-4a37-8a57-5f5f3b0c8f5d",
        "inputs": {"input": "clean up"},
        "steps": [],
        "iteration": 2,
        "tool_calls_consumed": 3,
        "tokens_consumed": 900,
        "trace_id": None,
    },
    indent=2,
).encode()


def foreign_steps() -> dict[str, Step]:
    def approve(place: Place) -> str:
        return decider(place, "approve", "alice")

    return {
        "foreign-approve": Step(waiting, approve, judge_decided, "recorded approve"),
        "claim": Step(decided, claimer, judge_claimed, "claimed"),
        "put-back": Step(claimed, giver_back, judge_claimed, "put back"),
        "take-one-back": Step(handed_over, taker_of_one, judge_together, "taken back"),
    }


def foreign_steps_by_bytes() -> dict[str, Step]:
    """The same where files are rebuilt: they are other files then, with the same bytes."""
    return {
        name: replace(step, judge=judge_kept)
        for name, step in foreign_steps().items()
        if name not in ("foreign-approve", "take-one-back")
    }


def waiting(place: Place) -> None:
    place.store.mkdir(mode=0o700)
    (place.store / PENDING).write_bytes(CHECKPOINT)
    (place.store / PENDING).chmod(0o600)


def decided(place: Place) -> None:
    waiting(place)
    must(decider(place, "approve", "alice"), "recorded approve")


def claimed(place: Place) -> None:
    decided(place)
    must(claimer(place), "claimed")


def handed_over(place: Place) -> None:
    """Two calls of one checkpoint, which count only together, both approved."""
    place.store.mkdir(mode=0o700)
    both = ("call_1", "call_2")
    state = waiting_state(*map(approval, both), batch=list(map(call, both)))
    document = starweaver_document(state)
    (place.store / TOGETHER).write_bytes(json.dumps(document).encode())
    (place.store / TOGETHER).chmod(0o600)
    with Store.open(place.store) as store:
        for shown in show_foreign(place.store / TOGETHER, store=store):
            decide(store, shown, Verdict("approve"), person("alice"), valid_for_s=900.0)
        assert len(store.results_names()) == 1


def taker_of_one(place: Place) -> str:
    try:
        with Store.open(place.store) as store:
            shown, _ = show_foreign(place.store / TOGETHER, store=store)
            take_back(store, shown, person("alice"))
            return "taken back"
    except LineclearError as why:
        return f"error {why.code}"
    except Exception as why:  # noqa: BLE001  # the fact to find out
        return raw_error(why)


def judge_together(place: Place, told: str | None) -> Iterator[str]:
    """After one look both calls stand alike: handed over still, or asked anew with no results."""
    starts = place.store.rglob("*.start.json")
    revoked = [path for path in starts if b"revoked" in path.read_bytes()]
    with Store.open(place.store) as store:
        calls = show_foreign(place.store / TOGETHER, store=store)
        attempts = {shown.attempt for shown in calls}
        results = store.results_names()
        if told == "taken back" or revoked:
            yield from expect((attempts, results), ({2}, []))
        else:
            yield from expect((attempts, len(results)), ({1}, 1))


def judge_decided(place: Place, told: str | None) -> Iterator[str]:
    """What was told stays true, and the other program's file is as it was."""
    yield from untouched(place, place.store / PENDING)
    second = decider(place, "deny", "bob")
    if told == "recorded approve":
        yield from expect(second, "already approve by alice")
    else:
        yield from expect(second, "already approve by alice", "recorded deny")
    yield from untouched(place, place.store / PENDING)


def judge_claimed(place: Place, told: str | None) -> Iterator[str]:
    """The checkpoint stands exactly once, can be claimed, and can be given back as it was."""
    copies = [path for path in place.store.rglob(PENDING) if path.read_bytes() == CHECKPOINT]
    yield from expect(len(copies), 1)
    if told in ("claimed", "put back"):
        home = place.store / PENDING
        yield from expect(copies[0] == home, told == "put back")
    yield from expect(claimer(place), "claimed")
    yield from expect((place.store / PENDING).exists(), False)
    yield from expect(giver_back(place), "put back")
    yield from untouched(place, place.store / PENDING)
    # A file put back is the same call: its decision counts.
    yield from expect(decider(place, "deny", "bob"), "already approve by alice")


def judge_kept(place: Place, told: str | None) -> Iterator[str]:
    copies = {path for path in place.store.rglob(PENDING) if path.read_bytes() == CHECKPOINT}
    if told is None:
        yield from expect(len(copies), 1)
    else:
        home = place.store / PENDING
        yield from expect((len(copies), home in copies), (1, told == "put back"))
    yield from expect(claimer(place), "claimed")


def untouched(place: Place, path: Path) -> Iterator[str]:
    if not path.exists():
        yield f"{path.name} is gone"
    elif path.read_bytes() != CHECKPOINT or path.stat().st_nlink != 1:
        yield f"{path.name} was changed"


def decider(place: Place, verdict: VerdictName, who: str) -> str:
    def act(store: Store, shown: Shown) -> str:
        said = Verdict(verdict, reason="no" if verdict == "deny" else None)
        made = decide(store, shown, said, person(who), valid_for_s=900.0)
        return f"recorded {made.verdict}"

    return _with_open_call(place, act)


def claimer(place: Place) -> str:
    def act(store: Store, shown: Shown) -> str:
        claim(store, shown)
        return "claimed"

    return _with_open_call(place, act)


def giver_back(place: Place) -> str:
    def act(store: Store, shown: Shown) -> str:
        if shown.path is None or shown.path.parent == store.path:
            return "put back"
        put_back(store, Claimed(shown.path.parent, shown.path, shown))
        return "put back"

    return _with_open_call(place, act)


def _with_open_call(place: Place, act: Callable[[Store, Shown], str]) -> str:
    try:
        with Store.open(place.store) as store:
            path = place.store / PENDING
            if not os.path.lexists(path):
                found = claimed_checkpoints(store)
                if not found:
                    return "nothing"
                path = found[0]
            return act(store, show_foreign(path, store=store)[0])
    except AlreadyDecided as why:
        standing = why.decision
        return f"already {standing.verdict} by {standing.by.name}" if standing else "already"
    except Refusal as why:
        return f"refused {why.code}"
    except LineclearError as why:
        return f"error {why.code}"
    except Exception as why:  # noqa: BLE001  # the fact to find out
        return raw_error(why)
