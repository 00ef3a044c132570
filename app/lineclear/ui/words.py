"""What the window says of a call: pure functions of the row, the time and who reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.checkpoints.warnings import LEVELS, SENTENCES, Level
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State
from lineclear.ui.arming import Act, Need, Readiness

NOT_PICKED_UP_S = 5.0
"""A live agent that has not started an approved call for this long is said not to answer."""
_NO_MARKUP = {ord(mark): f"\u27e6U+{ord(mark):04X}\u27e7" for mark in "<>&"}
"""Some desktops render notifications as markup, others show escapes: neither sees any here."""
NAME_LIMIT = 40
"""Names are agent text: shown escaped and cut here."""

STATE_WORDS = {
    State.PENDING: "Waiting",
    State.HELD: "Held",
    State.APPROVED: "Handed over",
    State.LAPSED: "Lapsed",
    State.DENIED: "Denied",
    State.EXPIRED: "Expired",
    State.WITHDRAWN: "Withdrawn",
    State.RUNNING: "Running",
    State.UNCERTAIN: "May have run",
    State.DONE: "Finished",
    State.STRAY: "Stray records",
    State.DAMAGED: "Damaged",
    State.UNREADABLE: "Unreadable",
    State.RESUMABLE: "To resume",
}
_OUTCOME_WORDS = {
    "ok": "Finished",
    "error": "Failed",
    "denied": "Denied",
    "expired": "Expired",
    "withdrawn": "Withdrawn",
    "refused": "Refused",
    "resolved": "Settled",
}
PROCESS_WORDS = {
    Process.ALIVE: "alive",
    Process.DEAD: "dead",
    Process.ELSEWHERE: "on another machine",
    Process.UNKNOWN: "unknown",
}


# --- Times, numbers, names ----------------------------------------------------------------------


def duration(seconds: float) -> str:
    """A length of time in one unit: `12 s`, `3 min`, `2 h`, `5 d`."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def took(milliseconds: int) -> str:
    """How long a tool ran: `40 ms`, `1.2 s`, `3 min`."""
    if milliseconds < 100:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    return duration(milliseconds / 1000)


def waiting_since(row: Row, now: datetime) -> str:
    """How long a call has waited, by its own clock or its file's; odd clocks are named."""
    since = row.asked_at or row.file_time
    if since is None or since.timestamp() < 86_400:
        return "unknown"
    seconds = (now - since).total_seconds()
    return "in the future" if seconds < -120 else duration(seconds)


def clock(at: datetime, now: datetime, *, seconds: bool = False) -> str:
    """A time of day as the operator's clock shows it, with the date when it is not today."""
    local = at.astimezone()
    text = local.strftime("%H:%M:%S" if seconds else "%H:%M")
    if local.date() != now.astimezone().date():
        text = f"{local.day} {local.strftime('%b')} {text}"
    return text


def amount(number: int) -> str:
    """A count for reading: `950`, `12 k`, `3.1 M`."""
    if number < 10_000:
        return str(number)
    if number < 1_000_000:
        return f"{number // 1000} k"
    return f"{number / 1_000_000:.1f} M"


def size(count: int) -> str:
    """A size in bytes for reading: `317 bytes`, `12 KB`, `3.4 MB`."""
    if count < 2000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{count / 1000:.0f} KB"
    return f"{count / 1_000_000:.1f} MB"


def count(number: int, noun: str, many: str = "") -> str:
    """A number with its noun: `1 call`, `3 calls`."""
    return f"{number} {noun if number == 1 else many or noun + 's'}"


def name(text: str | None, missing: str = "The agent") -> str:
    """A name from an agent: escaped, on one line, cut."""
    return visible_line(text, NAME_LIMIT) if text else missing


def person(by: Person | None, me: Person | None) -> str:
    """Who it was: `you`, or that person's name, escaped."""
    if by is None:
        return "somebody"
    if me is not None and (by.uid, by.host) == (me.uid, me.host):
        return "you"
    return visible_line(by.name or f"uid {by.uid}", NAME_LIMIT)


def _quoted(text: str | None) -> str:
    return f": \u201c{visible_line(text, 200)}\u201d" if text else ""


# --- States -------------------------------------------------------------------------------------


def state_word(row: Row) -> str:
    """The state in a word or two, as the table's first column shows it."""
    if row.state is State.DONE and row.outcome:
        return _OUTCOME_WORDS.get(row.outcome, "Finished")
    return STATE_WORDS[row.state]


def verdict_word(decision: Decision) -> str:
    """A decision as a past participle."""
    return {
        "approve": "approved",
        "modify": "approved with changes",
        "deny": "denied",
        "result": "answered",
        "expired": "let expire",
        "withdrawn": "withdrew",
    }[decision.verdict]


def standing(row: Row, now: datetime, me: Person | None = None) -> str:
    """One sentence on where a call stands."""
    teller = _STANDINGS.get(row.state)
    return teller(row, now, me) if teller is not None else STATE_WORDS[row.state] + "."


def _pending(row: Row, now: datetime, _me: Person | None) -> str:
    text = "Waits for your word."
    if row.expires_at is not None:
        left = (row.expires_at - now).total_seconds()
        text += f" Expires in {duration(left)}." if left > 0 else " Its time is over."
    return text


def _decided(row: Row, now: datetime, me: Person | None) -> str:
    decision = row.decision
    if decision is None:
        return STATE_WORDS[row.state] + "."
    who = person(decision.by, me)
    at = clock(decision.at, now, seconds=True)
    what = verdict_word(decision)
    return f"{what[0].upper()}{what[1:]} by {who} {at}"


def _approved(row: Row, now: datetime, me: Person | None) -> str:
    agent = name(row.agent)
    text = _decided(row, now, me)
    if row.decision is None:
        return text
    since = (now - row.decision.at).total_seconds()
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        if since > NOT_PICKED_UP_S:
            return (
                f"{text}. Not picked up for {duration(since)}: the process lives "
                "but does not answer."
            )
        return f"{text}, waiting for {agent}."
    text = f"{text}. Nothing runs until {agent} is resumed"
    if row.lapses_at is not None:
        return f"{text}; it lapses at {clock(row.lapses_at, now)}."
    return f"{text}."


def _denied(row: Row, now: datetime, me: Person | None) -> str:
    reason = None if row.decision is None else row.decision.reason
    text = f"{_decided(row, now, me)}{_quoted(reason)}"
    if row.closed:
        return f"{text}."
    if row.process is Process.DEAD:
        return f"{text}. {name(row.agent)} reads it when it is resumed."
    return f"{text}, not read by {name(row.agent)} yet."


def _lapsed(row: Row, now: datetime, me: Person | None) -> str:
    if row.decision is None:
        return "The approval lapsed; nobody picked it up."
    who = person(row.decision.by, me)
    whose = "Your" if who == "you" else f"{who}'s"
    lapsed = f" at {clock(row.lapses_at, now)}" if row.lapses_at is not None else ""
    return (
        f"{whose} approval of {clock(row.decision.at, now)} lapsed{lapsed}; nobody picked it up. "
        "Resume lets the agent ask again."
    )


def _running(row: Row, now: datetime, _me: Person | None) -> str:
    if row.started_at is None:
        return "Running."
    seconds = (now - row.started_at).total_seconds()
    text = f"Running for {duration(seconds)}, since {clock(row.started_at, now, seconds=True)}."
    if row.process is Process.UNKNOWN:
        text += " Whether its process still lives cannot be told from here."
    return text


def _uncertain(row: Row, now: datetime, _me: Person | None) -> str:
    agent = name(row.agent)
    started = "" if row.started_at is None else f" at {clock(row.started_at, now, seconds=True)}"
    return (
        f"{agent} started this{started} and died before it said how it ended. Nobody knows "
        f"whether it took effect. Look in the target system for key {row.id[:12]}\u2026"
    )


def _done(row: Row, now: datetime, me: Person | None) -> str:
    lasted = ""
    if row.started_at is not None and row.ended_at is not None:
        lasted = took(max(0, int((row.ended_at - row.started_at).total_seconds() * 1000)))
    preview = visible_line(row.preview, 200)
    if row.outcome == "ok":
        text = f"Finished in {lasted}" if lasted else "Finished"
        return f"{text}: {preview}" if preview else f"{text}."
    if row.outcome == "error":
        text = f"Ran and failed after {lasted}" if lasted else "Ran and failed"
        return f"{text}: {preview}" if preview else f"{text}."
    if row.outcome == "denied":
        return f"{_denied(row, now, me)}" if row.decision else "Denied."
    if row.outcome == "refused":
        why = row.reason or (f"code {row.reason_code}" if row.reason_code else "")
        return f"The agent refused the decision{': ' + visible_line(why, 200) if why else ''}."
    if row.outcome == "resolved":
        return f"Settled by hand: {preview}" if preview else "Settled by hand."
    ended = "" if row.ended_at is None else f" at {clock(row.ended_at, now)}"
    return f"{_OUTCOME_WORDS.get(row.outcome or '', 'Finished')}{ended}."


def _withdrawn(row: Row, now: datetime, _me: Person | None) -> str:
    at = "" if row.ended_at is None else f" at {clock(row.ended_at, now)}"
    return f"Withdrawn{at}: the agent no longer asks for this."


def _expired(row: Row, now: datetime, _me: Person | None) -> str:
    at = "" if row.expires_at is None else f" at {clock(row.expires_at, now)}"
    return f"Expired{at} without an answer."


def _held(row: Row, now: datetime, me: Person | None) -> str:
    return f"{_decided(row, now, me)}. Held until every call of this run is decided."


def _unreadable(row: Row, _now: datetime, _me: Person | None) -> str:
    why = visible_line(row.reason or row.reason_code or "the reason is not known", 400)
    return f"Cannot be read: {why.rstrip('.')}. It cannot be approved."


def _damaged(row: Row, _now: datetime, _me: Person | None) -> str:
    why = visible_line(row.reason or row.reason_code or "the reason is not known", 400)
    return f"A record of this call is damaged: {why.rstrip('.')}. It cannot be approved."


def _stray(row: Row, _now: datetime, _me: Person | None) -> str:
    why = visible_line(row.reason or "records that belong to no call here", 400)
    return f"Stray records: {why.rstrip('.')}. They are ignored."


def _resumable(row: Row, _now: datetime, _me: Person | None) -> str:
    return f"{name(row.agent)} stopped with nothing to approve. A resume goes on from here."


_STANDINGS = {
    State.PENDING: _pending,
    State.HELD: _held,
    State.APPROVED: _approved,
    State.LAPSED: _lapsed,
    State.DENIED: _denied,
    State.EXPIRED: _expired,
    State.WITHDRAWN: _withdrawn,
    State.RUNNING: _running,
    State.UNCERTAIN: _uncertain,
    State.DONE: _done,
    State.STRAY: _stray,
    State.DAMAGED: _damaged,
    State.UNREADABLE: _unreadable,
    State.RESUMABLE: _resumable,
}


# --- The decision bar ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offer:
    """What the decision bar offers for a call, and what it says will happen."""

    sentence: str = ""
    approve: str = ""
    """Label of the approving button; "" when there is none."""
    resumes: bool = False
    """Approving also starts the resume command."""
    deny: bool = False
    modify: bool = False
    take_back: bool = False
    resume: str = ""
    """Label of the resume button; "" when there is none."""
    resolve: bool = False
    set_command: bool = False
    """Nothing can resume this agent yet: offer to set a command."""


def stop_codes(row: Row) -> tuple[str, ...]:
    """The warnings that an approval must name."""
    return tuple(code for code in row.warnings if LEVELS.get(code, Level.CARE) is Level.STOP)


def blocked_codes(row: Row) -> tuple[str, ...]:
    """The warnings that leave no approval at all."""
    return tuple(code for code in row.warnings if LEVELS.get(code, Level.CARE) is Level.BLOCKED)


def offer(row: Row, decided: int = 0, together: int = 1) -> Offer:
    """Give what can be done with ROW in its state.

    TOGETHER is how many calls its checkpoint holds, of which DECIDED have their decision: the
    agent gets the answers to all of them at once.
    """
    agent = name(row.agent)
    if row.state is State.PENDING:
        offered = _offer_pending(row, agent)
        if together > 1 and offered.approve:
            held = f"Held until all {together} calls of this run are decided ({decided} done)."
            return replace(offered, sentence=held, resumes=False)
        return offered
    if row.state in (State.APPROVED, State.HELD):
        running = row.process in (Process.ALIVE, Process.ELSEWHERE)
        return Offer(
            take_back=True,
            resume="" if running or not row.resumable_by else "Resume",
            set_command=not running and not row.resumable_by,
        )
    if row.state in (State.LAPSED, State.RESUMABLE, State.DENIED, State.EXPIRED):
        if row.closed or row.process in (Process.ALIVE, Process.ELSEWHERE):
            return Offer()
        return Offer(resume="Resume" if row.resumable_by else "", set_command=not row.resumable_by)
    if row.state is State.UNCERTAIN:
        return Offer(
            sentence="No program tries this again. Say what you found, or leave it.",
            resolve=True,
        )
    return Offer()


def _offer_pending(row: Row, agent: str) -> Offer:
    if blocked_codes(row):
        return Offer(sentence="This call cannot be approved. It can be denied.", deny=True)
    approve = "Approve anyway" if stop_codes(row) else ""
    foreign = row.system != "lineclear"
    if row.process is Process.ALIVE and not foreign:
        return Offer(
            f"{agent} is waiting and runs it at once.", approve or "Approve", deny=True, modify=True
        )
    if row.process is Process.ELSEWHERE and not foreign:
        return Offer(
            f"{agent} waits on another machine and runs it when your answer gets there.",
            approve or "Approve",
            deny=True,
            modify=True,
        )
    if row.process is Process.DEAD and row.resumable_by:
        return Offer(
            "The agent died. This starts it again.",
            approve or "Approve and resume",
            resumes=True,
            deny=True,
            modify=True,
        )
    if row.process is Process.DEAD and not foreign:
        return Offer(
            f"The agent died. Nothing runs until someone resumes {agent}.",
            approve or "Approve",
            deny=True,
            modify=True,
            set_command=True,
        )
    told = (
        "This agent may not read Lineclear's answers. It takes effect when you resume it from here."
        if foreign
        else f"Whether {agent} still runs cannot be told. It takes effect when it asks again."
    )
    return Offer(
        told,
        approve or "Record approval",
        deny=True,
        modify=True,
        set_command=not row.resumable_by,
    )


def readiness(state: Readiness, lines_below: int = 0) -> str:
    """Why an act is not ready yet; "" when it is."""
    if state.need in (Need.READY, Need.NO_CALL):
        return ""
    if state.need is Need.OFF_SCREEN:
        return "Look at this window first."
    if state.need is Need.IDLE:
        return "Nobody touched this window for two minutes. Read it again."
    if state.need is Need.END:
        if lines_below > 0:
            return f"{count(lines_below, 'line')} below not seen \u00b7 End"
        return "Not all of it was seen \u00b7 End"
    if state.need is Need.FLAG:
        return "The flagged place was not seen yet."
    return "Ready in a moment\u2026"


def press_enter(act: Act) -> str:
    """What is said while the letter is armed."""
    doing = {Act.APPROVE: "approve", Act.RESUME: "resume", Act.DENY: "deny"}[act]
    return f"Press Enter to {doing} \u00b7 Esc to cancel"


# --- Warnings, budgets, header ------------------------------------------------------------------


def warning(code: str) -> str:
    """A warning's sentence for a person."""
    return SENTENCES.get(code, f"Warning: {code.replace('_', ' ')}.")


def header_facts(row: Row, now: datetime, argv: tuple[str, ...] = ()) -> str:
    """The line under the title: agent, when it asked, its process and command."""
    facts = [name(row.agent, "unknown agent")]
    if row.asked_at is not None:
        facts.append(f"asked {waiting_since(row, now)} ago")
    elif row.file_time is not None:
        facts.append(f"file from {clock(row.file_time, now)}")
    if row.system != "lineclear":
        facts.append("foreign" if row.system else "unknown system")
    if row.pid is not None:
        facts.append(f"pid {row.pid} {PROCESS_WORDS[row.process]}")
    else:
        facts.append(f"process {PROCESS_WORDS[row.process]}")
    if argv:
        program = argv[0].replace("\\", "/").rsplit("/", 1)[-1]
        facts.append(visible_line(" ".join((program, *argv[1:])), 60))
    return " \u00b7 ".join(facts)


def budget(used: int | None, limit: int | None, noun: str) -> str:
    """One budget in words: `3 of 10 iterations`, `4 tool calls`, `tokens not reported`."""
    if used is None:
        return f"{noun} not reported"
    if limit is None:
        return f"{amount(used)} {noun}"
    return f"{amount(used)} of {amount(limit)} {noun}"


# --- What happened elsewhere --------------------------------------------------------------------


def changed_elsewhere(
    before: Row, after: Row | None, now: datetime, me: Person | None, *, typed: bool
) -> str:
    """Why the pane froze: the call changed, or somebody else settled it, while it was read."""
    unsent = " Your text was not sent." if typed else ""
    if after is None:
        return f"This call is gone since {clock(now, now)}: its file was removed.{unsent}"
    if after.sha256 != before.sha256:
        return f"This call changed at {clock(now, now)} while you were reading.{unsent}"
    if after.decision is not None and after.decision != before.decision:
        decision = after.decision
        if decision.verdict == "withdrawn" or after.state is State.WITHDRAWN:
            return f"The agent withdrew this call at {clock(decision.at, now)}.{unsent}"
        if decision.verdict == "expired":
            return f"This call expired at {clock(decision.at, now)}.{unsent}"
        who = person(decision.by, me)
        elsewhere = " elsewhere" if who == "you" else ""
        who = who[0].upper() + who[1:] if who == "you" else who
        return (
            f"{who} {verdict_word(decision)} this{elsewhere} at {clock(decision.at, now)}"
            f"{_quoted(decision.reason)}.{unsent}"
        )
    return f"{standing(after, now, me)}{unsent}"


# --- Empty ---------------------------------------------------------------------------------------


def nothing_waits(running: int, folders: int) -> str:
    """The empty table of a watched, quiet inbox."""
    return f"Nothing waits. {count(running, 'agent')} running, watching {count(folders, 'folder')}."


def nothing_matches(hidden: int) -> str:
    """The empty table behind a filter."""
    verb = "is" if hidden == 1 else "are"
    return f"No call matches. {hidden} {verb} hidden by the filter."


def burst(agents: dict[str, int], oldest_s: float) -> tuple[str, str]:
    """Title and body of the one notification for a burst of new calls: counts, never arguments."""
    total = sum(agents.values())
    title = f"{total} call waits" if total == 1 else f"{total} calls wait"
    most = sorted(agents.items(), key=lambda item: (-item[1], item[0]))[:3]
    parts = [f"{name(agent).translate(_NO_MARKUP)} {number}" for agent, number in most]
    if len(agents) > 3:
        parts.append(f"{len(agents) - 3} more")
    return title, f"{', '.join(parts)} \u00b7 oldest {duration(oldest_s)}"
