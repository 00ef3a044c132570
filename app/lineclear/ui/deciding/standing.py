"""Where a call stands, in one sentence; and what became of it while somebody was reading."""

from __future__ import annotations

from datetime import datetime

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.ui import words

NOT_PICKED_UP_S = 5.0
"""A live agent that has not started an approved call for this long is said not to answer."""


def standing(
    row: Row, now: datetime, me: Person | None = None, *, resumed: int | None = None
) -> str:
    """One sentence on where a call stands; RESUMED: the process of a resume that goes on."""
    if resumed is not None:
        return _resumed(row, now, me, resumed)
    teller = _STANDINGS.get(row.state)
    return teller(row, now, me) if teller is not None else words.STATE_WORDS[row.state] + "."


def _pending(row: Row, now: datetime, _me: Person | None) -> str:
    text = "Waits for your answer." if row.kind == "deferred" else "Waits for your word."
    if row.expires_at is not None:
        left = (row.expires_at - now).total_seconds()
        text += f" Expires in {words.duration(left)}." if left > 0 else " Its time is over."
    return _and_reason(text, row)


def _decided(row: Row, now: datetime, me: Person | None) -> str:
    decision = row.decision
    if decision is None:
        return words.STATE_WORDS[row.state] + "."
    who = words.person(decision.by, me)
    at = words.clock(decision.at, now, seconds=True)
    what = words.verdict_word(decision)
    return f"{what[0].upper()}{what[1:]} by {who} {at}"


def _approved(row: Row, now: datetime, me: Person | None) -> str:
    agent = words.name(row.agent)
    text = _decided(row, now, me)
    if row.decision is None:
        return text
    since = (now - row.decision.at).total_seconds()
    if not row.waited_for:
        return (
            f"{text}. {agent} was started again since it asked this; it runs it if it asks again."
        )
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        if since > NOT_PICKED_UP_S:
            return (
                f"{text}. Not picked up for {words.duration(since)}: the process lives "
                "but does not answer."
            )
        return f"{text}, waiting for {agent}."
    text = f"{text}. Nothing runs until {agent} is resumed"
    if row.lapses_at is not None:
        return f"{text}; it lapses at {words.clock(row.lapses_at, now)}."
    return f"{text}."


def _denied(row: Row, now: datetime, me: Person | None) -> str:
    reason = None if row.decision is None else row.decision.reason
    text = f"{_decided(row, now, me)}{words.quoted(reason)}"
    text = words.ended(text)
    if row.closed:
        return text
    if row.process is Process.DEAD or row.system != "lineclear":
        return f"{text} {words.name(row.agent)} reads it when it is resumed."
    return f"{text} {words.name(row.agent)} has not read it yet."


def _resumed(row: Row, now: datetime, me: Person | None, pid: int) -> str:
    runs = f"{words.name(row.agent)} was resumed and runs as pid {pid}"
    if row.state is State.LAPSED:
        return f"The approval lapsed. {runs}; it asks again."
    if row.decision is None:
        return f"{runs}."
    if row.state is State.DENIED:
        denied = words.ended(f"{_decided(row, now, me)}{words.quoted(row.decision.reason)}")
        return f"{denied} {runs}."
    return f"{_decided(row, now, me)}. {runs}."


def _lapsed(row: Row, now: datetime, me: Person | None) -> str:
    if row.decision is None:
        return "The approval lapsed; nobody picked it up."
    what = "answer" if row.decision.verdict == "result" else "approval"
    who = words.person(row.decision.by, me)
    whose = "Your" if who == "you" else f"{who}'s"
    lapsed = f" at {words.clock(row.lapses_at, now)}" if row.lapses_at is not None else ""
    ours = row.system == "lineclear"
    cure = "Resume lets the agent ask again." if ours else "Take it back to decide anew."
    return (
        f"{whose} {what} of {words.clock(row.decision.at, now)} lapsed{lapsed}; "
        f"nobody picked it up. {cure}"
    )


def _running(row: Row, now: datetime, _me: Person | None) -> str:
    if row.started_at is None:
        return "Running."
    seconds = (now - row.started_at).total_seconds()
    since = words.clock(row.started_at, now, seconds=True)
    text = f"Running for {words.duration(seconds)}, since {since}."
    if row.process is Process.UNKNOWN:
        text += " Whether its process still lives cannot be told from here."
    return text


def _uncertain(row: Row, now: datetime, _me: Person | None) -> str:
    agent = words.name(row.agent)
    started = (
        "" if row.started_at is None else f" at {words.clock(row.started_at, now, seconds=True)}"
    )
    return (
        f"{agent} started this{started} and died before it said how it ended. Nobody knows "
        f"whether it took effect. Look in the target system for key {row.id[:12]}\u2026"
    )


def _done(row: Row, now: datetime, me: Person | None) -> str:
    lasted = ""
    if row.started_at is not None and row.ended_at is not None:
        lasted = words.took(max(0, int((row.ended_at - row.started_at).total_seconds() * 1000)))
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
        said = f": {visible_line(why, 200)}" if why else ""
        return words.ended(f"The agent refused the decision{said}")
    if row.outcome == "resolved":
        return f"Settled by hand: {preview}" if preview else "Settled by hand."
    ended = "" if row.ended_at is None else f" at {words.clock(row.ended_at, now)}"
    return f"{words.OUTCOME_WORDS.get(row.outcome or '', 'Finished')}{ended}."


def _withdrawn(row: Row, now: datetime, _me: Person | None) -> str:
    at = "" if row.ended_at is None else f" at {words.clock(row.ended_at, now)}"
    return f"Withdrawn{at}: the agent no longer asks for this."


def _expired(row: Row, now: datetime, _me: Person | None) -> str:
    at = "" if row.expires_at is None else f" at {words.clock(row.expires_at, now)}"
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


def _and_reason(text: str, row: Row) -> str:
    """TEXT, and how the last try ended, where that is known."""
    return f"{text} {words.ended(visible_line(row.reason, 200))}" if row.reason else text


def _resumable(row: Row, _now: datetime, _me: Person | None) -> str:
    return _and_reason(_stopped(row), row)


def _stopped(row: Row) -> str:
    agent, stood = words.name(row.agent), row.position
    dead = row.process is Process.DEAD
    after = "A resume goes on from here." if dead else "Whether it still runs, no file tells."
    if stood is not None and stood.suspended is not None:
        at = f" at {words.name(stood.node)}" if stood.node else ""
        return f"{words.ended(f'{agent} was suspended{at}{words.quoted(stood.suspended)}')} {after}"
    if stood is not None and stood.node:
        how = f" ({words.name(stood.status)})" if stood.status else ""
        died = "died; it " if dead else ""
        return f"{agent} {died}was last at {words.name(stood.node)}{how}. {after}"
    if dead:
        return f"{agent} died with nothing to approve. {after}"
    return f"{agent} left this with nothing to approve. {after}"


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


def changed_elsewhere(
    before: Row,
    after: Row | None,
    now: datetime,
    me: Person | None,
    *,
    typed: bool,
    replaced: bool = False,
) -> str:
    """Why the pane froze: the call changed, or somebody else settled it, while it was read."""
    unsent = " Your text was not sent." if typed else ""
    if replaced or (after is not None and after.sha256 != before.sha256):
        return f"This call changed at {words.clock(now, now)} while you were reading.{unsent}"
    if after is None:
        return f"This call is gone since {words.clock(now, now)}: its file was removed.{unsent}"
    if after.decision is not None and after.decision != before.decision:
        decision = after.decision
        if decision.verdict == "withdrawn" or after.state is State.WITHDRAWN:
            return f"The agent withdrew this call at {words.clock(decision.at, now)}.{unsent}"
        if decision.verdict == "expired":
            return f"This call expired at {words.clock(decision.at, now)}.{unsent}"
        who = words.person(decision.by, me)
        elsewhere = " elsewhere" if who == "you" else ""
        who = who[0].upper() + who[1:] if who == "you" else who
        told = (
            f"{who} {words.verdict_word(decision)} this{elsewhere} "
            f"at {words.clock(decision.at, now)}{words.quoted(decision.reason)}"
        )
        return f"{words.ended(told)}{unsent}"
    return f"{standing(after, now, me)}{unsent}"
