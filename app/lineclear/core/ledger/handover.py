"""Decisions that a system takes only together: put together once all calls of a run have theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.errors import Refusal, Unreadable
from lineclear.core.ledger import attempts
from lineclear.core.ledger.attempts import attempt_aid
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.fit import misfit, out_of_time
from lineclear.core.ledger.folders import uid_of
from lineclear.core.ledger.foreign import foreign_aid
from lineclear.core.ledger.layout import APPROVALS, RecordKind, results_name
from lineclear.core.ledger.records import Decision, Launch, Revoked
from lineclear.core.ledger.store import Shown, Store
from lineclear.core.sentences import worded

_GIVEN = frozenset({"approve", "deny", "modify", "result"})
_MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Handover:
    """All decisions of one checkpoint, in the form that its system takes."""

    path: Path
    """The results file."""
    calls: tuple[Shown, ...]


def takes_together(shown: Shown) -> bool:
    """Tell whether a decision on this call waits for those on its siblings."""
    return shown.call is not None and FORMATS[shown.checkpoint.system].together


def siblings(shown: Shown) -> Iterator[Shown]:
    """Give all calls of the checkpoint file that was SHOWN, itself among them.

    One by one: of thousands the first few may tell.
    """
    file = shown.file
    if file is None:
        yield shown
        return
    for call in shown.checkpoint.calls:
        aid = attempt_aid(foreign_aid(file, call.item), shown.attempt)
        yield replace(shown, aid=aid, item=call.item)


def _recorded(store: Store, shown: Shown, kind: RecordKind) -> Iterator[Shown]:
    """Give those of which a record of this kind may stand: one listing tells, not a look each."""
    named = {name.aid for _, name in store.names() if name.kind == kind}
    return (call for call in siblings(shown) if call.aid in named) if named else iter(())


def launches_before(store: Store, shown: Shown) -> list[Launch]:
    """Give the launches of all attempts before that of SHOWN, oldest first."""
    if shown.file is None:
        return []
    items = {shown.item, *(call.item for call in shown.checkpoint.calls)}
    firsts = [foreign_aid(shown.file, item) for item in sorted(items)]
    return attempts.launches_before(store, firsts, shown.attempt)


def run_of_calls(shown: Shown) -> Shown:
    """Give what the records of the run as a whole are named by, at the attempt of this call."""
    if shown.file is None:
        return shown
    return replace(shown, aid=attempt_aid(foreign_aid(shown.file, ""), shown.attempt), item="")


def hand_over(store: Store, shown: Shown) -> Handover | None:
    """Put the results of a checkpoint together and commit them; None while a decision is missing.

    None, too, where an approval among them lapsed: results that say it are removed.

    Anyone may, at any time: what the file says follows from the decisions alone. Raises Refusal
    (`damaged`: other results stand there), NotConfirmed, what `Format.results` raises, and
    Unreadable where a look failed for a moment.
    """
    calls: list[Shown] = []
    if shown.file is None or store.ledger_fd is None:
        return None
    decided: dict[str, Any] = {}
    now = read_now()
    late = False
    name = results_name(shown.sha256, shown.attempt)
    for call in siblings(shown):
        calls.append(call)
        decision = _decision(store, call)
        if decision is None:
            if _taken_back(store, call):
                # Whoever took it back may have been killed before the results were gone.
                store.remove_results(name)
            return None
        late = late or out_of_time(decision, call, now) is not None
        decided[call.item] = decision.native
    if late:
        # None of them was started. Whoever takes a file from here must not take a lapsed approval.
        if name in store.results_names():
            store.remove_results(name)
        return None
    data = results_of(shown, decided)
    path = store.path / APPROVALS / name
    if _standing(store, path.name) != data:
        # Nobody may act on decisions that a power loss could take back.
        store.sync()
        won = store.commit_results(path.name, data) is Commit.WON
        # Another operator's, who came first, says the same.
        if not won and _standing(store, path.name) != data:
            raise Refusal(
                worded(
                    "{path} does not say what was decided, and belongs to user {uid}; look at it,"
                    " and remove it as that user, as the owner of its folder or as root: what was"
                    " decided is then put together anew.",
                    path=visible_line(str(path)),
                    uid=str(uid_of(path.name, path.parent, dir_fd=store.ledger_fd)),
                ),
                code="damaged",
            )
        if any(_taken_back(store, call) for call in calls):
            # Since it was looked at: who took it back may have looked for the results before.
            store.remove_results(name)
            return None
    return Handover(path, tuple(calls))


def results_of(shown: Shown, decided: Mapping[str, Any]) -> bytes:
    """Give the results of a checkpoint as its system takes them, of all its calls by their items.

    Raises what `Format.results` raises.
    """
    return jsontext.pretty(FORMATS[shown.checkpoint.system].results(shown.checkpoint, decided))


def decided_beside(store: Store, shown: Shown) -> int:
    """Count the other calls of a checkpoint whose decisions count only together with this one's."""
    if not takes_together(shown) or store.ledger_fd is None:
        return 0
    others = (one for one in _recorded(store, shown, "decision") if one.aid != shown.aid)
    return sum(_decision(store, call) is not None for call in others)


def is_asked_anew(store: Store, shown: Shown) -> bool:
    """Tell whether a call counts only together with others of which one was taken back."""
    if not takes_together(shown) or store.ledger_fd is None:
        return False
    return any(_taken_back(store, call) for call in _recorded(store, shown, "start"))


def void_results(store: Store, shown: Shown) -> None:
    """Take the results away that one of these calls is part of, after it was taken back.

    Whoever commits them looks afterwards whether a call was taken back, and takes them away too: so
    none stand once both have returned. Raises NotConfirmed.
    """
    if not takes_together(shown):
        return
    if shown.file is not None:
        store.remove_results(results_name(shown.sha256, shown.attempt))
        return
    # The checkpoint is gone, and with it which attempt it stood at.
    for name in store.results_names():
        if name.startswith(f"{shown.sha256[:32]}."):
            store.remove_results(name)


def _decision(store: Store, call: Shown) -> Decision | None:
    """Give a decision that stands and was not taken back."""
    try:
        decision, _ = store.reader.decision(None, call.aid)
    except Unreadable as why:
        why.raise_if_passing()
        return None
    if decision.verdict not in _GIVEN or misfit(decision, call) is not None:
        return None
    try:
        start = store.reader.start(None, call.aid)
    except Unreadable as why:
        why.raise_if_passing()
        return decision if why.code == "absent" else None
    return None if isinstance(start, Revoked) else decision


def _taken_back(store: Store, call: Shown) -> bool:
    try:
        return isinstance(store.reader.start(None, call.aid), Revoked)
    except Unreadable as why:
        why.raise_if_passing()
        return False


def _standing(store: Store, name: str) -> bytes | None:
    try:
        return read_file(
            name,
            dir_fd=store.ledger_fd,
            owners=store.operators | {store.owner_uid},
            max_bytes=_MAX_BYTES,
        ).raw
    except Unreadable as why:
        why.raise_if_passing()
        return None
