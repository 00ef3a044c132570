"""Answers: what a person gives an agent as a call's result; the tool does not run."""

from __future__ import annotations

from typing import Final

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.checkpoints.warnings import SENTENCES
from lineclear.core.errors import Refusal
from lineclear.core.inbox.comparing.changed_arguments import stop_codes
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.store import Shown
from lineclear.core.sentences import worded

COMPLETED: Final = "completed"
"""How a call that runs elsewhere ends, unless it failed or was cancelled."""
_OURS: Final = "lineclear"


def takes_answer(row: Row) -> bool:
    """Tell whether a call takes an answer: one that runs elsewhere, and any of our own agents'."""
    if row.takes is not None and "result" not in row.takes:
        return False
    return row.kind == "deferred" or row.system == _OURS


def has_status(row: Row) -> bool:
    """Tell whether its answer says how the call ended; else it is the tool's result alone."""
    return row.kind == "deferred"


def verdict_of(row: Row, status: str, response: Json, *, note: str | None = None) -> Verdict:
    """Give the verdict that is this answer; RESPONSE may be MISSING where there is a status.

    Raises Refusal: `unsupported`.
    """
    name = masked_line(row.tool, 80) if row.tool else worded("The call")
    if not takes_answer(row):
        raise Refusal(worded("{name} takes no answer.", name=name), code="unsupported")
    if has_status(row):
        said = (
            {"status": status} if response is MISSING else {"status": status, "response": response}
        )
        return Verdict("result", result=said, note=note)
    if status != COMPLETED or response is MISSING:
        raise Refusal(
            worded(
                "{name} takes a result in place of its run, or a denial with the reason.", name=name
            ),
            code="unsupported",
        )
    return Verdict("result", result=response, note=note)


def given(shown: Shown, verdict: Verdict) -> Json:
    """Give exactly what the agent gets by such a verdict on the call SHOWN.

    Raises Refusal: `unsupported` (its system takes no such answer).
    """
    call = shown.call
    if shown.block is not None or call is None:
        return verdict.result
    try:
        return FORMATS[shown.checkpoint.system].native_decision(
            call, verdict.verdict, arguments=verdict.result, text=verdict.note or ""
        )
    except ValueError as why:
        raise Refusal(str(why), code="unsupported") from why


def refuse_hidden(result: Json, despite: frozenset[str]) -> None:
    """Raise Refusal (a warning's code) for a Stop that RESULT raises and DESPITE does not name."""
    for code in sorted(stop_codes(result) - despite):
        raise Refusal(
            worded("Look again at the answer: {why}", why=SENTENCES.get(code, code)), code=code
        )
