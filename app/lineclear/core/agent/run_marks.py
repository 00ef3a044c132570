"""What an agent notes of its runs beside the ledger, for its own next process.

Of the run that ended last, `run-end.json` tells; of a round's calls that began without a request,
`run-begun.json`; of which runs a checkpoint was left, and of which kind, `run-kept.json`. Each is
one JSON object with `v` and a nonce, replaced whole and durable.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, get_args

from lineclear.core.agent.errors import ResumeSerializeError
from lineclear.core.agent.pending_file import newest_call
from lineclear.core.agent.request_record import ordinal_of, pending_in
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.commit import replace
from lineclear.core.ledger.folders import file_mode, owners_in
from lineclear.core.ledger.records import format_instant, new_nonce, parse_instant
from lineclear.core.ledger.store import CallRecords, Store

_log = logging.getLogger(__name__)
RUN_END: Final = "run-end.json"
"""Names the run that ended last, and the last call of one that did."""
RUN_BEGUN: Final = "run-begun.json"
"""Names the calls of a round that began without a request of their own, by ordinal."""
RUN_KEPT: Final = "run-kept.json"
"""Names the runs that left a checkpoint here, those that began last."""
_MOST: Final = 64
_LONGEST_NAME: Final = 4_096
"""No file could be called so, and the note has to be read back."""

Kind = Literal["loop", "execution"]
"""Of its last completed round, or of its last boundary: that one came at least as far."""
Places = Mapping[Kind, str]
"""The kinds of checkpoints that a run left, and the folder of each; "" is the store's own."""


Outcome = Literal["ok", "error"]


@dataclass(frozen=True, slots=True)
class End:
    """That a run came to its end."""

    run_id: str
    ended_at: datetime
    outcome: Outcome | None
    """How; None where an earlier version noted it."""


# --- the end of a run -----------------------------------------------------------------------------


def note_end(store: Store, run_id: str | None, *, ok: bool) -> None:
    """Note that a run came to its end; raises NotConfirmed, ResumeError."""
    records = newest_call(store)
    if records is None and run_id is None:
        return
    end: dict[str, Json] = {
        "v": 1,
        "nonce": new_nonce(),
        "ended_at": format_instant(datetime.now(UTC)),
        "outcome": "ok" if ok else "error",
    }
    if records is not None and _is_over(store, records, run_id):
        end |= {"seq": records.seq, "aid": records.aid}
    if run_id is not None:
        end["run_id"] = run_id
    _write(store, RUN_END, end)


def _is_over(store: Store, records: CallRecords, run_id: str | None) -> bool:
    """Tell whether the newest call is of the run that ended, or of one that had ended before."""
    if run_id is None or records.request is None:
        return True
    its_run = pending_in(records.request).trace_id
    return its_run in (run_id, None) or ended_call(store.path) == records.aid


def ended_call(folder: Path) -> str | None:
    """Give the id of the last call of a run that ended; raises ResumeError."""
    aid = _read(folder, RUN_END).get("aid")
    return aid if isinstance(aid, str) else None


def last_end(folder: Path) -> End | None:
    """Give the run that ended last, where that is known; raises ResumeError."""
    noted = _read(folder, RUN_END)
    run_id, at, outcome = noted.get("run_id"), noted.get("ended_at"), noted.get("outcome")
    if not isinstance(run_id, str) or not isinstance(at, str):
        return None
    try:
        ended_at = parse_instant(at)
    except ValueError:
        return None
    if not isinstance(ended_at, datetime):
        return None
    known: Outcome | None = None
    if outcome in ("ok", "error"):
        known = "ok" if outcome == "ok" else "error"
    return End(run_id, ended_at, known)


# --- calls that no request fences -----------------------------------------------------------------


def note_begun(store: Store, run_id: str, calls: Collection[int]) -> None:
    """Note which calls of a round began without a request; raises NotConfirmed, ResumeError."""
    begun: dict[str, Json] = {"v": 1, "nonce": new_nonce(), "run_id": run_id}
    begun["calls"] = sorted(calls)
    # A run that begins afresh begins its first calls again, and not the ones after those.
    begun["last"] = max([*calls, last_noted(store.path, run_id)], default=0)
    _write(store, RUN_BEGUN, begun)


def begun_calls(folder: Path, run_id: str) -> set[int]:
    """Give what was noted last of a run; raises ResumeError."""
    return _calls_in(_begun(folder, run_id))


def last_noted(folder: Path, run_id: str) -> int:
    """Give the highest ordinal that was ever noted of a run; raises ResumeError."""
    noted = _begun(folder, run_id)
    last = noted.get("last")
    return max([*_calls_in(noted), last if type(last) is int else 0])


def _begun(folder: Path, run_id: str) -> dict[str, Json]:
    """Give the note if it is of that run, or else an empty one."""
    noted = _read(folder, RUN_BEGUN)
    return noted if noted.get("run_id") == run_id else {}


def _calls_in(noted: Mapping[str, Json]) -> set[int]:
    calls = noted.get("calls")
    return {call for call in calls if type(call) is int} if isinstance(calls, list) else set()


def last_begun(store: Store, run_id: str) -> int:
    """Give the highest ordinal of a run's calls that were asked for or noted; 0: there is none.

    Raises ResumeError.
    """
    ordinals = {last_noted(store.path, run_id)}
    for seq, aid in store.calls(named=store.own_names()):
        shown = None if seq is None else store.records(seq, aid).request
        block = None if shown is None else shown.block
        key = "" if block is None else block.key or ""
        ordinal = ordinal_of(key)
        if key.rpartition(":")[0] == run_id and ordinal is not None:
            ordinals.add(ordinal)
    return max(ordinals)


# --- checkpoints that were left -------------------------------------------------------------------


def note_kept(store: Store, run_id: str, places: Places) -> None:
    """Note that a run leaves checkpoints, and where; raises NotConfirmed, ResumeError."""
    noted = _kept(store.path)
    if noted.get(run_id) == places or len(run_id) > _LONGEST_NAME:
        return
    noted.pop(run_id, None)
    latest = [*noted.items(), (run_id, places)][-_MOST:]
    runs: list[Json] = [_run_kept(one, kept) for one, kept in latest]
    _write(store, RUN_KEPT, {"v": 1, "nonce": new_nonce(), "runs": runs})


def _run_kept(run_id: str, places: Places) -> dict[str, Json]:
    run: dict[str, Json] = {"run_id": run_id, "kept": sorted(places)}
    # The store may be moved; another folder is known by its whole path only.
    elsewhere: dict[str, Json] = {kind: place for kind, place in places.items() if place}
    return {**run, "folders": elsewhere} if elsewhere else run


def kept_as(folder: Path, run_id: str) -> Places:
    """Give the checkpoints that a run is known to have left, and where; raises ResumeError."""
    return _kept(folder).get(run_id, {})


def _kept(folder: Path) -> dict[str, Places]:
    runs = _read(folder, RUN_KEPT).get("runs")
    kept: dict[str, Places] = {}
    for one in runs if isinstance(runs, list) else []:
        if not isinstance(one, dict):
            continue
        run_id, kinds, folders = one.get("run_id"), one.get("kept"), one.get("folders")
        if isinstance(run_id, str) and isinstance(kinds, list):
            known = folders if isinstance(folders, dict) else {}
            kept[run_id] = {
                kind: place if isinstance(place := known.get(kind), str) else ""
                for kind in get_args(Kind)
                if kind in kinds
            }
    return kept


# --- files ----------------------------------------------------------------------------------------


def _write(store: Store, name: str, note: dict[str, Json]) -> None:
    replace(store.root_fd, name, jsontext.compact(note), mode=file_mode(store.root_fd))


def _read(folder: Path, name: str) -> dict[str, Json]:
    path = folder / name
    try:
        return jsontext.parse(read_file(os.fspath(path), owners=owners_in(folder)).raw)
    except Unreadable as why:
        if why.code == "absent":
            return {}
        if why.code == "owner":
            # Nobody else can put anything in the place of a note of ours: there is none.
            _log.warning("It is ignored: %s", why.sentence)
            return {}
        raise ResumeSerializeError(
            f"resume store serialization error: parse {visible_line(str(path))}: {why.sentence}"
            f" {_CURES[name]}"
        ) from why


_CURES: Final = {
    RUN_END: "Put a whole copy back, or remove it: then a run that ended may be resumed once more.",
    RUN_BEGUN: "Put a whole copy back, or remove it: then calls that nobody was asked about may be"
    " made again.",
    RUN_KEPT: "Put a whole copy back, or remove it: then nobody knows any more that a checkpoint"
    " which is gone was ever there.",
}
