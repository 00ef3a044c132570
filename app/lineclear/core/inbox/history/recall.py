"""The call approved last as the history kept it: secrets masked, long arguments not whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.entry import Entry
from lineclear.core.inbox.history.query import Query, Term
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text

_LOOKED_THROUGH: Final = 20
_APPROVING: Final = ("approve", "modify")


def recall_approved(row: Row, path: Path | None = None) -> Row | None:
    """Give the call of ROW's tool by ROW's agent that was approved last, before it was asked.

    None where the history holds none, cannot be read, or did not keep all of its arguments.
    """
    if not row.tool:
        return None
    terms = (
        Term("tool", row.tool, whole=True),
        Term("agent", row.agent, whole=True),
        Term("verdict", values=_APPROVING),
    )
    try:
        with Search.open(path) as history:
            page = history.page(Query(terms, until=row.asked_at), limit=_LOOKED_THROUGH)
    except LineclearError:
        # A comparison is a help: what is wrong with the history is told where it is shown.
        return None
    here = (one for one in page.entries if _is_of_its_agent(one, row) and one.fact.call != row.id)
    entry = next(here, None)
    return None if entry is None else _row(entry, row)


def _is_of_its_agent(entry: Entry, row: Row) -> bool:
    """Tell whether a call stood in ROW's run folder: by its name an agent could be any other."""
    store = entry.fact.store
    if entry.fact.source != path_text(row.source) or store is None:
        return False
    if row.run_folder is None:
        return store == path_text(row.store)
    return path_text(Path(store).parent) == path_text(row.run_folder)


def _row(entry: Entry, like: Row) -> Row | None:
    fact = entry.fact
    arguments = _parsed(fact.decided_arguments)
    if arguments is MISSING or fact.by_uid is None or fact.call is None:
        return None
    known: dict[str, Any] = {
        "verdict": "approve",
        "by": Person(uid=fact.by_uid, name=fact.by_name or "", host=fact.by_host or ""),
        "at": entry.at,
        "reason": None,
        "note": None,
    }
    return Row(
        id=fact.call,
        system=like.system,
        state=State.DONE,
        source=like.source,
        store=Path(fact.store or ""),
        agent=like.agent,
        run="",
        tool=like.tool,
        arguments=arguments,
        # As far as it is told: a record that stood in a ledger, not one to be written.
        decision=Decision.model_construct(None, **known),
        closed=True,
    )


def _parsed(text: str | None) -> Json:
    try:
        return MISSING if text is None else jsontext.parse_value(text)
    except (LineclearError, ValueError):
        # Cut where it was too long.
        return MISSING
