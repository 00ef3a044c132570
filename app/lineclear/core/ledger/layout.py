"""Names on disk: what a record's file is called, and nothing from the data ever in a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

APPROVALS = ".approvals"
PENDING = "pending.json"
LOCK = "agent.lock"
RUN_INFO = "run.json"
FORMAT = "FORMAT"
CLAIMED = "claimed"
RUN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(@[a-z0-9][a-z0-9._-]{0,63})?")
LANE_NAME = re.compile(r"[1-9][0-9]{0,5}")

RecordKind = Literal["request", "decision", "start", "outcome", "launch", "result", "outcome-late"]
_NAME = re.compile(
    r"(?:(?P<seq>[0-9]{6})(?:-(?P<aid>[0-9a-f]{32}))?|(?P<foreign>[0-9a-f]{32}))"
    r"\.(?P<kind>request|decision|start|outcome|launch|outcome-late|result)(?:-(?P<n>[0-9]{1,6}))?"
    r"(?P<ext>\.json)?"
)


@dataclass(frozen=True, slots=True)
class RecordName:
    """A parsed record name; `seq` None means a foreign call's record."""

    kind: RecordKind
    seq: int | None
    aid: str | None
    n: int | None = None


def record_name(kind: RecordKind, *, seq: int | None, aid: str | None, n: int | None = None) -> str:
    """Give the file name of a record, for example `000007-<aid>.decision.json`."""
    raise NotImplementedError


def parse_name(name: str) -> RecordName | None:
    """Parse a file name of `.approvals`; None for what is no record name."""
    raise NotImplementedError
