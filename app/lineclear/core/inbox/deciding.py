"""The one path of every decision: key, click, assistive press, notification, batch, command line."""

from __future__ import annotations

from enum import StrEnum

from lineclear.core.inbox.rows import Detail, Row
from lineclear.core.inbox.settings import Settings
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Decision, Outcome, Person


class Origin(StrEnum):
    """Through what a decision came."""

    KEY = "key"
    CLICK = "click"
    ASSISTIVE = "assistive"
    NOTIFICATION = "notification"
    BATCH = "batch"
    CLI = "cli"


def operator(settings: Settings) -> Person:
    """Who decides here: uid and host are facts, the name is the settings' or the login's."""
    raise NotImplementedError


def may_decide(
    row: Row, origin: Origin, verdict: str, *, despite: frozenset[str] = frozenset()
) -> None:
    """Raise Refusal (code and sentence) if this verdict may not be given for this row this way.

    Blocked rows never; Stop warnings need their code in DESPITE for approve and modify; a notification never
    approves; a state that is not open raises its own code; a CLI below the agent's lock: `self_approval`.
    """
    raise NotImplementedError


def decide(
    detail: Detail,
    verdict: Verdict,
    origin: Origin,
    settings: Settings,
    *,
    despite: frozenset[str] = frozenset(),
) -> Decision:
    """`may_decide`, then the ledger's decision on exactly the bytes in DETAIL; durable on return."""
    raise NotImplementedError


def take_back(detail: Detail, settings: Settings) -> None:
    """Take an approval back that nobody picked up."""
    raise NotImplementedError


def resolve(detail: Detail, resolution: str, note: str | None, settings: Settings) -> Outcome:
    """Settle a call that may have run: `ran`, `not_run`, `ask_again`."""
    raise NotImplementedError
