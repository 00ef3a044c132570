"""A run of another program that waits for two approvals and for one result, for the pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RUN = "run_7f21"
USAGE = {
    "requests": 3,
    "input_tokens": 18_400,
    "cache_write_tokens": 0,
    "cache_read_tokens": 12_100,
    "output_tokens": 940,
    "total_tokens": 19_340,
    "tool_calls": 5,
}
CALLS = {
    "call_1": ("shell", {"command": "git push origin release/2026.11"}),
    "call_2": ("shell", {"command": "kubectl rollout restart deploy/checkout"}),
}
ISSUE = {
    "server": "tracker",
    "arguments": {
        "project": "OPS",
        "title": "Roll checkout back to 2026.11.3",
        "labels": ["release", "urgent"],
    },
}


def _waits(item: str, tool: str, flow: str, **asked: Any) -> dict[str, Any]:
    return {
        "tool_call_id": item,
        "name": tool,
        "content": {"kind": flow},
        "is_error": True,
        "metadata": {"control_flow": flow, **asked},
    }


def leave_waiting_run(source: Path) -> None:
    """Put the run's checkpoint into a store of its own below SOURCE."""
    batch = [
        {"id": item, "name": tool, "arguments": arguments}
        for item, (tool, arguments) in CALLS.items()
    ]
    batch.append({"id": "call_3", "name": "create_issue", "arguments": ISSUE["arguments"]})
    state = {
        "run_id": RUN,
        "conversation_id": "conv_12",
        "message_history": [],
        "usage": USAGE,
        "run_step": 3,
        "status": "waiting",
        "pending_tool_calls": batch,
        "pending_approval_tool_returns": [
            _waits(item, tool, "approval_required", approval={"arguments": arguments})
            for item, (tool, arguments) in CALLS.items()
        ],
        "deferred_tool_returns": [
            _waits("call_3", "create_issue", "call_deferred", deferred=ISSUE)
        ],
    }
    cursor = {"model_request_attempt": 1, "output_validation_attempt": 0}
    resume = {
        "node": "tool_return",
        "status": "waiting",
        "run_step": 3,
        "cursor": cursor,
        "usage": USAGE,
        "pending_approval_count": len(CALLS),
        "deferred_tool_count": 1,
    }
    document = {
        "checkpoint_id": "ckpt_31",
        "run_id": RUN,
        "conversation_id": "conv_12",
        "node": "tool_return",
        "run_step": 3,
        "resume": resume,
        "state": state,
    }
    store = source / "releaser"
    store.mkdir(mode=0o700, parents=True)
    path = store / "run.checkpoint.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    path.chmod(0o600)
