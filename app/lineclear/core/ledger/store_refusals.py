"""Why a folder cannot be a store, or was not changed: each refusal with its code."""

from __future__ import annotations

import os
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import NotConfirmed, StoreRefused, Unreadable
from lineclear.core.ledger.layout import APPROVALS, FORMAT, PENDING
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.sharing import group_name
from lineclear.core.sentences import worded


def _shown(path: Path) -> str:
    return visible_line(str(path))


def not_made(path: Path, why: OSError) -> NotConfirmed:
    """Refuse: a folder of a store could not be made."""
    return NotConfirmed(
        worded(
            "Not confirmed: {reason}, making {path}; {cure} and try again.",
            reason=oserrors.reason(why),
            path=_shown(path),
            cure=oserrors.cure(why),
        )
    )


def ledger_not_made(store: Path, why: OSError) -> NotConfirmed:
    """Refuse: the folder of the records could not be made."""
    return NotConfirmed(
        worded(
            "Not confirmed: {reason}, making {folder} in {store}; {cure} and try again.",
            reason=oserrors.reason(why),
            folder=APPROVALS,
            store=_shown(store),
            cure=oserrors.cure(why),
        )
    )


def results_not_removed(path: Path, why: OSError) -> NotConfirmed:
    """Refuse: results that nothing may run on any more still stand."""
    return NotConfirmed(
        worded(
            "Not confirmed: {reason}, so {path} still says what was approved; {cure} and remove"
            " it.",
            reason=oserrors.reason(why),
            path=_shown(path),
            cure=oserrors.cure(why),
        )
    )


def not_cleared(store: Path, why: OSError) -> NotConfirmed:
    """Refuse: the projection of a closed call still stands."""
    return NotConfirmed(
        worded(
            "Not confirmed: {reason}, so {file} of {store} still shows a closed call; {cure}.",
            reason=oserrors.reason(why),
            file=PENDING,
            store=_shown(store),
            cure=oserrors.cure(why),
        )
    )


def vanished(store: Path) -> NotConfirmed:
    """Refuse: the mark of a store was gone as soon as it was made."""
    return NotConfirmed(
        worded("Not confirmed: {file} of {store} vanished.", file=FORMAT, store=_shown(store))
    )


def no_ledger(store: Path) -> StoreRefused:
    """Refuse: nothing can be committed yet."""
    return StoreRefused(worded("{store} has no ledger yet.", store=_shown(store)), code="no_ledger")


def no_records(store: Path) -> Unreadable:
    """Refuse: there is nothing to read."""
    told = worded("{store} has no records.", store=_shown(store))
    return Unreadable("absent", told, store / APPROVALS)


def no_own_folder(why: Unreadable) -> StoreRefused:
    """Refuse: what stands where the records should be is no folder, or cannot be opened."""
    told = worded("{why} It must be a folder that Lineclear made.", why=why.sentence)
    return StoreRefused(told, code=why.code)


def untrusted(place: Path, why: Unreadable) -> StoreRefused:
    """Refuse: the mark of a store cannot be read."""
    told = worded("{path} cannot be trusted: {why}", path=_shown(place), why=why.sentence)
    return StoreRefused(told, code=why.code)


def moved(store: Path) -> StoreRefused:
    """Refuse: the mark is that of another folder."""
    return StoreRefused(
        worded(
            "{store} is a copy of another store, or its disk was exchanged, so what was decided"
            " there does not count here. To begin afresh, stop the agent and move {folder} away.",
            store=_shown(store),
            folder=APPROVALS,
        ),
        code="store_moved",
    )


def not_ours(folder: Path, uid: int, owner: int, group: int | None) -> StoreRefused:
    """Refuse: the folder of the records is that of user UID, of no operator where GROUP decides."""
    if group is None:
        said = worded(
            "{path} belongs to user {uid}, not to user {owner} who owns the store; look who made"
            " it, and remove it.",
            path=_shown(folder),
            uid=uid,
            owner=owner,
        )
    else:
        said = worded(
            "{path} belongs to user {uid}, who is not listed in the group {group} that the store is"
            " shared with. If that is a colleague, have them added to it; else look who made it,"
            " and remove it.",
            path=_shown(folder),
            uid=uid,
            group=visible_line(group_name(group), 40),
        )
    return StoreRefused(said, code="owner")


def foreign_owner(store: Path, owner: int) -> StoreRefused:
    """Refuse: an agent of another user asks."""
    return StoreRefused(
        worded(
            "{store} belongs to user {owner}, but this agent runs as user {uid}; give the agent a"
            " folder of its own.",
            store=_shown(store),
            owner=owner,
            uid=os.geteuid(),
        ),
        code="owner",
    )


def foreign_pending(store: Path) -> StoreRefused:
    """Refuse: another program's call waits there."""
    return StoreRefused(
        worded(
            "{store} holds {file} of another program, which would be overwritten; have that program"
            " go on with it first, or give this agent a folder of its own.",
            store=_shown(store),
            file=PENDING,
        ),
        code="foreign_pending",
    )
