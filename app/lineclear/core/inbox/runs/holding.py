"""Whether the decisions on the calls of one checkpoint still wait for each other."""

from __future__ import annotations

from dataclasses import dataclass

from lineclear.core.errors import LineclearError
from lineclear.core.ledger import handover
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.store import Store


@dataclass(frozen=True, slots=True)
class Held:
    """Why decisions are not handed over: one is missing, or what is said here."""

    code: str | None = None
    sentence: str = ""


def held_of(store: Store, shown: Shown) -> Held | None:
    """Tell whether decisions on the calls of a checkpoint wait for each other.

    When none is missing they are put together, if whoever gave the last one did not.
    """
    if not handover.takes_together(shown):
        return None
    try:
        return Held() if handover.hand_over(store, shown) is None else None
    except LineclearError as why:
        return Held(why.code, why.sentence)
