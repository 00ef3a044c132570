"""Makes closed calls older, as the records' own times tell it."""

import json
from datetime import datetime, timedelta
from pathlib import Path

from lineclear.core.ledger.records import format_instant


def age(lane: Path, *, days: int) -> None:
    """Let every outcome of a lane have ended DAYS earlier."""
    for path in (lane / ".approvals").glob("*.outcome.json"):
        outcome = json.loads(path.read_text())
        ended = datetime.fromisoformat(outcome["ended_at"]) - timedelta(days=days)
        outcome["ended_at"] = format_instant(ended)
        path.write_text(json.dumps(outcome))
