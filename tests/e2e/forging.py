"""Decision files as an attacker, a crash or a confused program could leave them."""

import hashlib
import json
import os
import secrets
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any


def request_path(store: Path, seq: int = 1) -> Path:
    return store / ".approvals" / f"{seq:06d}.request.json"


def decision_path(store: Path, aid: str, seq: int = 1) -> Path:
    return store / ".approvals" / f"{seq:06d}-{aid}.decision.json"


def approval(store: Path, seq: int = 1, *, age_s: float = 0.0) -> dict[str, Any]:
    """An approval of the request as it stands: every field right, given AGE_S ago."""
    raw = request_path(store, seq).read_bytes()
    request = json.loads(raw)["lineclear"]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    at = datetime.now(UTC) - timedelta(seconds=age_s)
    return {
        "v": 1,
        "nonce": secrets.token_hex(16),
        "store_id": request["store_id"],
        "seq": seq,
        "aid": request["aid"],
        "folder": store.stat().st_ino,
        "request_sha256": hashlib.sha256(raw).hexdigest(),
        "verdict": "approve",
        "by": {"uid": os.geteuid(), "name": "mallory", "host": os.uname().nodename},
        "at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "boot_id": boot,
        "boottime_ns": time.clock_gettime_ns(time.CLOCK_BOOTTIME) - int(age_s * 1e9),
        "valid_for_s": 900.0,
        "shown": {},
    }


def put(path: Path, content: bytes | dict[str, Any], mode: int = 0o600) -> None:
    """Let a file appear whole under its name, as a writer that knows the rules does."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    draft = path.with_name(f".tmp.{secrets.token_hex(16)}")
    draft.write_bytes(raw)
    draft.chmod(mode)
    os.link(draft, path)
    draft.unlink()
