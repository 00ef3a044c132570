"""Rows by hand and stores by the ledger, for tests of the window."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lineclear.core.checkpoints.model import Counters, Json
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
SOURCE = Path("/srv/agents")
ME = Person(uid=1000, name="ann", host="desk")
BOB = Person(uid=1001, name="bob", host="desk")


def row_id(number: int) -> str:
    return f"{number:032x}"


def a_row(number: int = 1, **more: Any) -> Row:
    """A waiting call of a live agent, asked NUMBER minutes before NOW."""
    known: dict[str, Any] = {
        "id": row_id(number),
        "system": "lineclear",
        "state": State.PENDING,
        "source": SOURCE,
        "store": SOURCE / f"agent-{number}" / "1",
        "agent": f"agent-{number}",
        "run": f"run-{number}",
        "tool": "send_refund",
        "arguments": {"customer": "C-1204", "amount": 80},
        "sha256": f"{number:064x}",
        "process": Process.ALIVE,
        "pid": 4121,
        "counters": Counters(3, 4, 31_000),
        "asked_at": NOW - timedelta(minutes=number),
    }
    return Row(**{**known, **more})


def a_decision(verdict: str = "approve", by: Person = ME, **more: Any) -> Decision:
    """A decision given at 09:00 by the clock of NOW."""
    known: dict[str, Any] = {
        "v": 1,
        "nonce": "0" * 32,
        "store_id": "1" * 32,
        "seq": 1,
        "aid": row_id(1),
        "folder": 2,
        "request_sha256": "0" * 64,
        "verdict": verdict,
        "by": by,
        "at": NOW - timedelta(minutes=30),
        "boot_id": "boot",
        "boottime_ns": 1,
        "valid_for_s": 900.0,
    }
    return Decision(**{**known, **more})


def ask_for(
    source: Path,
    agent: str = "refund-bot",
    tool: str = "send_refund",
    arguments: Json = None,
    **more: Any,
) -> Asked:
    """A request of an agent that is not alive, published in its first lane."""
    given = {"customer": "C-1204", "amount": 80} if arguments is None else arguments
    with Store.create(source / agent / "1") as store:
        asked = ask(store, Call(tool, given, agent, **more))
    assert isinstance(asked, Asked)
    return asked
