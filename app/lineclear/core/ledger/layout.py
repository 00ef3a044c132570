"""Names on disk: what a record's file is called, and nothing from the data ever in a name."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

APPROVALS = ".approvals"
PENDING = "pending.json"
LOCK = "agent.lock"
RUN_INFO = "run.json"
FORMAT = "FORMAT"
CLAIMED = "claimed"
OWN_CLAIMED = ".claimed"
"""In the store itself, where another user owns the ledger and could exchange what stands in it."""
WORKERS = "workers"
RUN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(@[a-z0-9][a-z0-9._-]{0,63})?")
LANE_NAME = re.compile(r"[1-9][0-9]{0,5}")
RESULTS_NAME = re.compile(r"[0-9a-f]{32}\.results(-[1-9][0-9]{0,5})?\.json")
TEMPORARY_NAME = re.compile(r"\.tmp\.[0-9a-f]{32}")
"""A file that is private to its writer until it is linked; one that stays was left by a kill."""

RecordKind = Literal["request", "decision", "start", "outcome", "launch", "result", "outcome-late"]
MAX_SEQ = 999_999
_AID = re.compile(r"[0-9a-f]{32}")
_TAKEN_OVER = re.compile(r"resumed-[0-9a-f]{8}")
_NUMBERED: frozenset[str] = frozenset({"launch", "outcome-late"})
_NAME = re.compile(
    r"(?:(?P<seq>[0-9]{6})(?:-(?P<aid>[0-9a-f]{32}))?|(?P<foreign>[0-9a-f]{32}))"
    r"\.(?P<kind>request|decision|start|outcome-late|outcome|launch|result)(?:-(?P<n>[0-9]{1,6}))?"
    r"(?:\.json)?"
)


@dataclass(frozen=True, slots=True)
class RecordName:
    """A parsed record name; `seq` None means a foreign call's record."""

    kind: RecordKind
    seq: int | None
    aid: str | None
    n: int | None = None


def record_name(kind: RecordKind, *, seq: int | None, aid: str | None, n: int | None = None) -> str:
    """Give the file name of a record, for example `000007-<aid>.decision.json`.

    A native request is named by its number alone, a foreign call's record by its aid alone.
    `launch` and `outcome-late` need `n` (1 or more), no other kind takes it; `result` is plain
    text and has no extension. Raises ValueError for what no record can be called.
    """
    call = _call_prefix(kind, seq, aid)
    if kind in _NUMBERED:
        if n is None or not 1 <= n <= MAX_SEQ:
            raise ValueError(f"a {kind} record needs a number from 1 to {MAX_SEQ}, not {n}")
        return f"{call}.{kind}-{n}.json"
    if n is not None:
        raise ValueError(f"a {kind} record has no number")
    return f"{call}.result" if kind == "result" else f"{call}.{kind}.json"


def launch_log_name(*, seq: int | None, aid: str, n: int) -> str:
    """Give the name of the output of relaunch attempt `n`, beside its record."""
    return record_name("launch", seq=seq, aid=aid, n=n).removesuffix(".json") + ".log"


def taken_over_folder(store: Path, first_aid: str) -> Path:
    """Give the folder in which an agent of ours goes on with a run that STORE's program left.

    It is the same for each attempt; FIRST_AID is the first's.
    """
    return store / f"resumed-{first_aid[:8]}"


def left_in(folder: Path) -> Path | None:
    """Give the store that a run was left in which goes on in FOLDER.

    None: by its name none, or the folder is another user's than the store.
    """
    if not _TAKEN_OVER.fullmatch(folder.name):
        return None
    try:
        return folder.parent if folder.lstat().st_uid == folder.parent.lstat().st_uid else None
    except OSError:
        # Not there, or not any more: then its name is all there is.
        return folder.parent


def results_name(sha256: str, attempt: int = 1) -> str:
    """Name the results of a checkpoint that holds several calls, by the digest of its bytes.

    Those of a later attempt to hand them over are others, and have a name of their own.
    """
    again = "" if attempt == 1 else f"-{attempt}"
    return f"{sha256[:32]}.results{again}.json"


def parse_name(name: str) -> RecordName | None:
    """Parse a file name of `.approvals`; None for what is no record name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    seq, number = match["seq"], match["n"]
    parsed = RecordName(
        kind=cast("RecordKind", match["kind"]),
        seq=None if seq is None else int(seq),
        aid=match["aid"] or match["foreign"],
        n=None if number is None else int(number),
    )
    try:
        again = record_name(parsed.kind, seq=parsed.seq, aid=parsed.aid, n=parsed.n)
    except ValueError:
        return None
    # One record has one name: leading zeros or a wrong extension would be a second one.
    return parsed if again == name else None


def temporary_name() -> str:
    """Give a fresh name for a file that is private until it is linked or renamed."""
    return f".tmp.{secrets.token_hex(16)}"


def _call_prefix(kind: RecordKind, seq: int | None, aid: str | None) -> str:
    if seq is not None and not 1 <= seq <= MAX_SEQ:
        raise ValueError(f"a call's number is 1 to {MAX_SEQ}, not {seq}")
    if aid is not None and _AID.fullmatch(aid) is None:
        raise ValueError("an aid is 32 hex digits")
    if seq is None:
        if aid is None:
            raise ValueError(f"a {kind} record needs a call")
        return aid
    if kind == "request":
        # The aid of a native request stands inside; by number alone, publishing has one winner.
        return f"{seq:06d}"
    if aid is None:
        raise ValueError(f"a {kind} record needs an aid")
    return f"{seq:06d}-{aid}"
