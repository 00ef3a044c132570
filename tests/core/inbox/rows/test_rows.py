"""A row as JSON: the names and nulls that scripts rely on."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lineclear.core.checkpoints.model import MISSING, Counters, Usage
from lineclear.core.inbox.rows.row import Row, row_json
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text

AT = datetime(2026, 11, 29, 9, 2, 11, 120000, tzinfo=UTC)


def row(**changes):
    values: dict[str, Any] = {
        "id": "3f" * 16,
        "system": "lineclear",
        "state": State.PENDING,
        "source": Path("/srv"),
        "store": Path("/srv/bot/1"),
        "agent": "bot",
        "run": "/srv/bot",
    }
    return Row(**(values | changes))


def test_every_contracted_name_is_there_and_unknown_is_null():
    assert row_json(row()) == {
        "id": "3f" * 16,
        "system": "lineclear",
        "state": "pending",
        "outcome": None,
        "store": "/srv/bot/1",
        "agent": "bot",
        "run": "/srv/bot",
        "run_folder": "/srv/bot/1",
        "tool": None,
        "kind": "approval",
        "arguments": None,
        "iteration": None,
        "tool_calls": None,
        "tokens": None,
        "limits": {"iteration": None, "tool_calls": None, "tokens": None},
        "usage": None,
        "partly_read": False,
        "process": "unknown",
        "user": None,
        "may_answer": True,
        "died_at": None,
        "suspended": None,
        "resumed_as": None,
        "waited_for": True,
        "reason_code": None,
        "warnings": [],
        "asked_at": None,
        "file_time": None,
        "expires_at": None,
        "decision": None,
        "taken_back_by": None,
        "taken_back_by_uid": None,
        "answered_before": None,
        "twin": None,
        "repeats": None,
        "resumed_before": None,
    }


def test_values_stand_under_the_contracted_names():
    decision = Decision(
        v=1,
        nonce="0" * 32,
        aid="3f" * 16,
        folder=2,
        store_id="5" * 32,
        seq=1,
        request_sha256="a" * 64,
        verdict="deny",
        reason="no",
        by=Person(uid=1000, name="ann", host="desk"),
        at=AT,
        boot_id="b",
        boottime_ns=1,
        valid_for_s=900.0,
    )
    out = row_json(
        row(
            state=State.DENIED,
            tool="pay",
            arguments={"to": "bob"},
            counters=Counters(iteration=3, tool_calls=None, tokens=12),
            limits=Counters(iteration=10),
            usage=Usage(tokens_in=7, tokens_out=5),
            asked_at=AT,
            warnings=("twin", "first_time"),
            decision=decision,
        )
    )
    assert (out["iteration"], out["tool_calls"], out["tokens"]) == (3, None, 12)
    assert out["limits"]["iteration"] == 10
    assert out["usage"] == {"in": 7, "out": 5, "cache": None}
    assert out["asked_at"] == "2026-11-29T09:02:11.120000Z"
    assert out["warnings"] == ["twin", "first_time"]
    assert out["decision"]["verdict"] == "deny"
    assert out["decision"]["by"] == {"uid": 1000, "name": "ann", "host": "desk"}
    assert out["decision"]["at"] == "2026-11-29T09:02:11.120000Z"
    assert "arguments" not in out["decision"]


def test_a_path_that_is_no_utf8_is_escaped():
    assert path_text(os.fsdecode(b"/srv/\xff\xfe/1")) == "/srv/\\xff\\xfe/1"


def test_null_arguments_and_no_arguments_are_both_null():
    assert row_json(row(arguments=None))["arguments"] is None
    assert row_json(row(arguments=MISSING))["arguments"] is None
