"""Records that cannot be read, and what is to be done about each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Refusal
from lineclear.core.ledger.calls import CallRecords
from lineclear.core.ledger.layout import APPROVALS, parse_name
from lineclear.core.sentences import joined, worded


def refuse_damaged(records: CallRecords, store: Path) -> None:
    """Raise Refusal, with the record's code, where one cannot be read: nothing starts beside it."""
    for name, code, why in records.damaged:
        told = (_of_start if _is_launch(name) else _of_call)(store / APPROVALS / name, why)
        raise Refusal(told, code=code)


def damaged_launches(records: CallRecords, store: Path) -> Iterator[str]:
    """Tell of each record of an earlier start that cannot be read, and what to do."""
    for name, _, why in records.damaged:
        if _is_launch(name):
            yield _of_start(store / APPROVALS / name, why)


def _is_launch(name: str) -> bool:
    parsed = parse_name(name)
    return parsed is not None and parsed.kind == "launch"


def _of_start(path: Path, why: str) -> str:
    look = worded(
        "It may be the record of an earlier start: look whether anything of that still runs, then"
        " move the file away."
    )
    return joined((_unusable(path, why), look))


def _of_call(path: Path, why: str) -> str:
    look = worded("What it says may be that this was started or ended: look at it first.")
    return joined((_unusable(path, why), look))


def _unusable(path: Path, why: str) -> str:
    return worded("{path} cannot be used: {why}", path=visible_line(str(path)), why=why)
