"""The steps of one call, as agent and operator take them, for tests of any of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.liveness import current_owner
from lineclear.core.ledger.records import Start, new_nonce
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.store import Shown, Store

BOB = this_person("bob")
EVE = this_person("eve")


def refund(customer="C-1204", **said) -> Call:
    return Call("send_refund", {"customer": customer, "amount": 120}, "refund-bot", **said)


def asked(store: Store, call: Call | None = None) -> Shown:
    answer = ask(store, call or refund())
    assert isinstance(answer, Asked)
    return answer.shown


def say(store: Store, shown: Shown, verdict: Any, /, by=BOB, valid_for_s=900.0, **said):
    return decide(store, shown, Verdict(verdict, **said), by, valid_for_s=valid_for_s)


def started(store: Store, shown: Shown) -> None:
    """Have the call approved and picked up by this process."""
    say(store, shown, "approve")
    assert begin(store, shown, verified(store, shown))


def start_of_a_dead_process(store: Store, shown: Shown) -> None:
    """Have the call approved and picked up by a process that ended without a word."""
    decision = say(store, shown, "approve")
    program = (
        "from lineclear.core.ledger.liveness import current_owner;"
        "print(current_owner().encode().decode())"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    owner = type(current_owner()).decode(told.stdout)
    start = Start(
        v=1,
        nonce=new_nonce(),
        **store.bound(shown.aid),
        owner=owner,
        at=decision.at,
        decision=json.loads(decision.encode()),
    )
    assert store.commit("start", shown.seq, shown.aid, start.encode()) is Commit.WON


def verified(store: Store, shown: Shown) -> Verified:
    found = read_decision(store, shown)
    assert isinstance(found, Verified), found
    return found


def record(store: Store, name: str) -> Path:
    return store.path / ".approvals" / name


def decision_file(store: Store, shown: Shown) -> Path:
    return record(store, f"{shown.seq:06d}-{shown.aid}.decision.json")


def put(path: Path, raw: bytes, mode=0o600) -> None:
    """Put a file there as somebody who keeps to no protocol would."""
    path.unlink(missing_ok=True)
    path.write_bytes(raw)
    path.chmod(mode)


def change(path: Path, **changes) -> None:
    """Change fields of a record on disk; None takes one away."""
    document = json.loads(path.read_bytes()) | changes
    put(path, json.dumps({k: v for k, v in document.items() if v is not None}).encode())


def names(store: Store) -> list[str]:
    return sorted(path.name for path in (store.path / ".approvals").iterdir())


def pending(store: Store) -> bytes | None:
    path = store.path / "pending.json"
    return path.read_bytes() if path.exists() else None
