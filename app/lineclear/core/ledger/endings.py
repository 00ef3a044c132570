"""Verdicts that no operator gives: a request that its agent withdrew, or whose time ran out."""

from __future__ import annotations

import getpass
import os
import socket
from typing import Any

from lineclear.core.errors import Unreadable
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.clock import Now, read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.fit import misfit
from lineclear.core.ledger.platform.this import folders
from lineclear.core.ledger.records import Decision, Person, VerdictName, new_nonce
from lineclear.core.ledger.steady import SteadyClock
from lineclear.core.ledger.store import Store
from lineclear.core.sentences import worded

_steady = SteadyClock()


def this_person(name: str | None = None) -> Person:
    """Describe the user of this process; NAME is what they call themself, default the login."""
    if name is None:
        try:
            name = getpass.getuser()
        except (KeyError, OSError):
            name = str(os.geteuid())
    return Person(uid=os.geteuid(), name=name[:200], host=socket.gethostname())


def with_uid(name: str, by: Person) -> str:
    """Call a person by NAME, as it is shown; another user, who may go by any, by the uid too."""
    if not name:
        return worded("uid {uid}", uid=by.uid)
    if by.uid == folders.user_id():
        return name
    return worded("{name} (uid {uid})", name=name, uid=by.uid)


def bound_decision(
    store: Store,
    shown: Shown,
    verdict: VerdictName,
    by: Person,
    /,
    *,
    now: Now,
    valid_for_s: float,
    nonce: str,
    **said: Any,
) -> Decision:
    """Make a decision that names exactly the bytes SHOWN; raises pydantic's ValidationError."""
    bound: dict[str, Any] = (
        {"seq": shown.seq}
        if store.native
        else {"file_sha256": shown.sha256, **({"item": shown.item} if shown.item else {})}
    )
    return Decision(
        v=1,
        nonce=nonce,
        **store.bound(shown.aid),
        **bound,
        request_sha256=shown.sha256,
        verdict=verdict,
        by=by,
        at=now.wall,
        boot_id=now.boot_id,
        boottime_ns=now.boottime_ns,
        valid_for_s=valid_for_s,
        **said,
    )


def commit_ending(store: Store, shown: Shown, verdict: VerdictName, name: str) -> bool:
    """Commit `withdrawn` or `expired` in the decision slot.

    True when that verdict stands then, by us or by whoever was first; False when another
    verdict, or one that cannot be read, holds the slot. Raises NotConfirmed.
    """
    decision = bound_decision(
        store,
        shown,
        verdict,
        this_person(name),
        now=read_now(),
        valid_for_s=0.0,
        nonce=new_nonce(),
    )
    if store.commit("decision", shown.seq, shown.aid, decision.encode()) is Commit.WON:
        return True
    try:
        standing, _ = store.reader.decision(shown.seq, shown.aid)
    except Unreadable:
        return False
    return standing.verdict == verdict and misfit(standing, shown) is None


def expired(shown: Shown, now: Now) -> bool:
    """Tell whether the request named a time that has passed, by both clocks while we looked on."""
    block = shown.block
    if block is None or block.expires_at is None:
        return False
    return _steady.reached(shown.aid, block.expires_at, now)


def expire(store: Store, shown: Shown) -> bool:
    """Commit `expired` where the request's time has passed and nobody decided; anyone may.

    True when the request stands expired. Raises NotConfirmed.
    """
    return expired(shown, read_now()) and commit_ending(store, shown, "expired", "the clock")
