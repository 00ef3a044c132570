"""The one path of every decision: key, click, assistive press, notification, batch, CLI."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.warnings import Level, argument_warnings, level_of
from lineclear.core.errors import AlreadyDecided, MayHaveRun, NothingPending, Refusal
from lineclear.core.inbox.comparing.changed_arguments import refuse_unfit
from lineclear.core.inbox.deciding import answers
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows import warning_words
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.runs import answered
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger import decide as ledger
from lineclear.core.ledger import handover, standing_words
from lineclear.core.ledger.ancestors import ancestors
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import LAPSING, Decision, Outcome, Person
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Shown, Store
from lineclear.core.sentences import joined, with_values, worded
from lineclear.core.typed_commands import on_call

_GIVEN = frozenset({"approve", "deny", "modify", "result"})
"""Verdicts that a person gives; the others are facts."""
_BROKEN = frozenset({State.UNREADABLE, State.DAMAGED, State.STRAY})


class Origin(StrEnum):
    """Through what a decision came."""

    KEY = "key"
    CLICK = "click"
    ASSISTIVE = "assistive"
    NOTIFICATION = "notification"
    BATCH = "batch"
    STANDING = "standing"
    """An operator's word on what a run goes on to ask; it only denies."""
    CLI = "cli"


_NEVER_APPROVES = {
    Origin.NOTIFICATION: worded("A notification never approves; open the call."),
    Origin.STANDING: worded("A standing word only denies; open the call."),
}


def operator(settings: Settings) -> Person:
    """Who decides here: uid and host are facts, the name is the settings' or the login's."""
    return this_person(settings.operator or None)


def may_decide(
    row: Row, origin: Origin, verdict: str, *, despite: frozenset[str] = frozenset()
) -> None:
    """Pass, or say why this verdict may not be given for this row this way.

    Raises AlreadyDecided (a decision stands, which it names), MayHaveRun, and Refusal: for what
    cannot be read its reason code, for an ended call its state, `expired`, `no_operator` (who is
    none of its store), `self_approval` (a CLI below the agent's process), `origin` (a notification
    never approves), for a Blocked warning and for a Stop warning not named in DESPITE (in a batch:
    for any) that warning. Those warnings keep nobody from denying.
    """
    if verdict not in _GIVEN:
        raise Refusal(
            worded("{verdict} is no verdict that a person gives.", verdict=verdict), code="verdict"
        )
    _refuse_unless_pending(row)
    if not row.may_answer:
        raise Refusal(warning_words.unheard(row), code="no_operator")
    if row.kind == "deferred" and verdict != "result":
        raise Refusal(
            worded(
                "{call} takes an answer, not an approval: `{command}`.",
                call=_name(row),
                command=on_call("answer", row.id, "--response JSON", folders=(row.store,)),
            ),
            code="unsupported",
        )
    if row.takes is not None and verdict not in row.takes:
        raise Refusal(
            worded(
                "{call} takes only yes or no: its agent runs it as it was asked, or not at all.",
                call=_name(row),
            ),
            code="unsupported",
        )
    if origin is Origin.CLI and row.process is Process.ALIVE and row.pid in ancestors():
        raise Refusal(
            worded(
                "This command runs below the agent that asked, so the agent itself may"
                " have started it; answer in the window, or in a terminal that the agent"
                " did not open."
            ),
            code="self_approval",
        )
    if verdict not in LAPSING:
        return
    if origin in _NEVER_APPROVES:
        raise Refusal(_NEVER_APPROVES[origin], code="origin")
    for code in row.warnings:
        level = level_of(code)
        if level is Level.BLOCKED:
            raise Refusal(worded("It cannot be approved: {told}", told=_told(code, row)), code=code)
        if level is Level.STOP and origin is Origin.BATCH:
            raise Refusal(
                worded("It is never part of a batch: {told}", told=_told(code, row)), code=code
            )
        if level is Level.STOP and code not in despite:
            raise Refusal(
                worded("Look again before you approve: {told}", told=_told(code, row)), code=code
            )


def decide(
    detail: Detail,
    verdict: Verdict,
    origin: Origin,
    settings: Settings,
    *,
    despite: frozenset[str] = frozenset(),
) -> Decision:
    """`may_decide`, then the ledger's decision on the bytes in DETAIL; durable on return.

    Everything is read again first: Refusal `changed` when other bytes stand there now. Raises
    further what `may_decide` and the ledger raise: AlreadyDecided, NotConfirmed, Unreadable.
    """
    may_decide(detail.row, origin, verdict.verdict, despite=despite)
    shown = _shown(detail)
    fresh = read_detail(detail.row)
    if fresh.shown is None or fresh.shown.sha256 != shown.sha256 or fresh.shown.aid != shown.aid:
        raise Refusal(
            worded("The call changed since it was shown; nothing was decided. Look at it again."),
            code="changed",
        )
    may_decide(fresh.row, origin, verdict.verdict, despite=despite)
    if verdict.verdict == "modify" and verdict.arguments is MISSING:
        raise Refusal(worded("A modified call needs its arguments."), code="verdict")
    if verdict.arguments is not MISSING:
        refuse_unfit(fresh.shown, verdict.arguments, despite)
    if verdict.result is not MISSING:
        answers.refuse_hidden(verdict.result, despite)
    alive = fresh.row.process in (Process.ALIVE, Process.ELSEWHERE)
    seen = {*fresh.row.warnings}
    for typed in (verdict.arguments, verdict.result):
        if typed is not MISSING:
            seen.update(argument_warnings(typed))
    told: dict[str, object] = {
        "origin": origin.value,
        "warnings": list(fresh.row.warnings),
        "despite": sorted(despite & seen),
        "process": fresh.row.process.value,
    }
    with Store.open(shown.store) as store:
        return ledger.decide(
            store,
            shown,
            _with_shown(verdict, told),
            operator(settings),
            valid_for_s=settings.valid_live_s if alive else settings.valid_dead_s,
        )


def answer(
    detail: Detail,
    status: str,
    response: Json,
    origin: Origin,
    settings: Settings,
    *,
    note: str | None = None,
    despite: frozenset[str] = frozenset(),
) -> Decision:
    """Give the result of a call, so that its tool does not run; RESPONSE may be MISSING.

    STATUS is `completed`, `failed` or `cancelled`; a call that would run here, not elsewhere,
    takes a completed one with its response alone. Raises Refusal (`unsupported`: it takes no
    answer, or not this one), and what `decide` raises.
    """
    verdict = answers.verdict_of(detail.row, status, response, note=note)
    return decide(detail, verdict, origin, settings, despite=despite)


def take_back(detail: Detail, settings: Settings) -> int:
    """Take an approval back that nobody picked up.

    Gives how many decisions on other calls of its run are void with it, where they count only
    together. Raises Refusal (`picked_up`, `not_approved`), NotConfirmed.
    """
    shown = _shown(detail)
    with Store.open(shown.store) as store:
        others = handover.decided_beside(store, shown)
        ledger.take_back(store, shown, operator(settings))
    return others


def resolve(detail: Detail, resolution: str, note: str | None, settings: Settings) -> Outcome:
    """Settle a call that may have run: `ran`, `not_run`, `ask_again`.

    Raises Refusal (`not_uncertain`), AlreadyDecided, NotConfirmed.
    """
    shown = _shown(detail)
    if resolution not in ("ran", "not_run", "ask_again"):
        raise Refusal(
            worded("{resolution} is no way to settle a call.", resolution=resolution),
            code="resolution",
        )
    with Store.open(shown.store) as store:
        return ledger.resolve(store, shown, resolution, operator(settings), note=note)  # type: ignore[arg-type]  # narrowed above


def _refuse_unless_pending(row: Row) -> None:
    if row.state in _BROKEN:
        raise Refusal(
            row.reason or worded("It cannot be read, so it cannot be decided."),
            code=row.reason_code or row.state.value,
        )
    if row.state is State.UNCERTAIN:
        raise MayHaveRun(
            worded(
                "{call} may have run already; settle it with a resolution first.", call=_name(row)
            ),
            row.id,
        )
    if row.closed or row.state is State.DONE:
        raise AlreadyDecided(_ended(row), row.decision)
    if row.decision is not None:
        raise AlreadyDecided(_decided(row, row.decision), row.decision)
    if row.state is not State.PENDING:
        raise Refusal(
            worded("{call} does not wait for a decision.", call=_name(row)), code=row.state.value
        )
    if row.expires_at is not None and row.expires_at <= datetime.now(UTC):
        raise Refusal(worded("{call} has expired.", call=_name(row)), code="expired")


def _decided(row: Row, decision: Decision) -> str:
    if row.taken_back_by is not None:
        return _taken_back(row, decision, row.taken_back_by)
    if not decision.reason:
        return worded("{call} was already {told}.", call=_name(row), told=_word(decision))
    why = masked_line(decision.reason, 200)
    return worded(
        "{call} was already {told}: {why}.", call=_name(row), told=_word(decision), why=why
    )


_ENDINGS = {
    "ok": worded("ran already"),
    "error": worded("failed already"),
    "not_run": worded("did not run"),
    "taken_over": worded("was taken over already"),
    "untouched": worded("was resumed by a command that left it as it was"),
    "denied": worded("did not run"),
    "expired": worded("did not run"),
    "withdrawn": worded("was withdrawn and did not run"),
    "resolved": worded("was settled by hand already"),
}


def _ended(row: Row) -> str:
    """Say how a call ended that is closed already, and who had decided what."""
    decision = row.decision
    if row.ran_late is not None:
        how: str = worded("ran all the same")
    elif row.outcome == "refused":
        how = _refused(row)
    elif row.taken_back_by is not None and decision is not None:
        return _taken_back(row, decision, row.taken_back_by)
    elif row.outcome == "withdrawn" and decision is not None:
        if decision.verdict != "withdrawn":
            return worded(
                "{call} was {told}, then withdrawn, and did not run.",
                call=_name(row),
                told=_word(decision),
            )
        how = _ENDINGS["not_run"]
    else:
        how = _ENDINGS.get(row.outcome or "", worded("has ended already"))
    if decision is None:
        return worded("{call} {how}.", call=_name(row), how=how)
    return worded("{call} was {told} and {how}.", call=_name(row), told=_word(decision), how=how)


def _refused(row: Row) -> str:
    why = masked_line(row.preview or row.reason_code or "", 200).rstrip(".")
    who = masked_line(row.agent, 80)
    if not why:
        return worded("did not run: {who} refused the decision", who=who)
    return worded("did not run: {who} refused the decision: {why}", who=who, why=why)


def _taken_back(row: Row, decision: Decision, by: Person) -> str:
    return worded(
        "{call} was {told}, then taken back by {who}, and did not run.",
        call=_name(row),
        told=_word(decision),
        who=warning_words.person(by),
    )


def _word(decision: Decision) -> str:
    return with_values(standing_words.told(decision), masked_line)


def _name(row: Row) -> str:
    tool = masked_line(row.tool, 80) if row.tool else worded("The call")
    return worded("{tool} ({id})", tool=tool, id=row.id[:8])


def _told(code: str, row: Row) -> str:
    """Say what a warning is about; of one that another folder raises, which."""
    sentence = warning_words.about(row, code) or f"{code}."
    before = row.answered
    if before is None or before.code != code:
        return sentence
    return joined([sentence, answered.told(before, here=row.store)])


def _shown(detail: Detail) -> Shown:
    if detail.shown is None:
        raise NothingPending(
            detail.row.reason or worded("There is no call here that could be decided.")
        )
    return detail.shown


def _with_shown(verdict: Verdict, told: dict[str, object]) -> Verdict:
    """Add what the core knows to how the front end says that it was shown; the nonce stays."""
    return replace(verdict, shown={**verdict.shown, **told})
