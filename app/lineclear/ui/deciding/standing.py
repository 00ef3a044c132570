"""Where a call stands, in one sentence; and what became of it while somebody was reading."""

from __future__ import annotations

from datetime import datetime

from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.inbox.rows.gone_calls import ASKED_ANEW, GONE
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import masked_text
from lineclear.core.ledger.ended_as import UNTOUCHED
from lineclear.core.ledger.fit import CLOCK
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.core.ledger.takeovers import TAKEN_OVER
from lineclear.language import _, translated
from lineclear.ui import words

NOT_PICKED_UP_S = 5.0
"""A live agent that has not started an approved call for this long is said not to answer."""


_DECIDED = {
    "approve": _("Approved by {who} {time}"),
    "modify": _("Approved with changes by {who} {time}"),
    "deny": _("Denied by {who} {time}"),
    "result": _("Answered by {who} {time}"),
    "expired": _("Let expire by {who} {time}"),
    "withdrawn": _("Withdrawn by {who} {time}"),
}


_NOT_RUN = {
    "unconfirmed": _("Not run: its start could not be recorded, so its agent ran nothing."),
    "not_begun": _("Not run: its agent was stopped before it began."),
    "ambiguous": _("Not run: two requests had the same tool id."),
}


def standing(row: Row, now: datetime, me: Person | None = None) -> str:
    """One sentence on where a call stands."""
    if row.resumed_as is not None:
        return _resumed(row, now, me, row.resumed_as)
    teller = _STANDINGS.get(row.state)
    return teller(row, now, me) if teller is not None else words.STATE_WORDS[row.state] + "."


def _pending(row: Row, now: datetime, _me: Person | None) -> str:
    text = _("Waits for your answer.") if row.kind == "deferred" else _("Waits for your word.")
    if row.expires_at is not None:
        left = (row.expires_at - now).total_seconds()
        if left > 0:
            text += " " + _("Expires in {length}.").format(length=words.duration(left))
        else:
            text += " " + _("Its time is over.")
    return _and_reason(text, row)


def _decided(row: Row, now: datetime, me: Person | None) -> str:
    decision = row.decision
    if decision is None:
        return words.STATE_WORDS[row.state] + "."
    who = words.person(decision.by, me)
    at = words.clock(decision.at, now, seconds=True)
    return _DECIDED[decision.verdict].format(who=who, time=at)


def _approved(row: Row, now: datetime, me: Person | None) -> str:
    agent = words.name(row.agent)
    text = _decided(row, now, me)
    if row.decision is None:
        return text
    since = (now - row.decision.at).total_seconds()
    if not row.waited_for:
        return _(
            "{text}. {agent} was started again since it asked this; it runs it if it asks again."
        ).format(text=text, agent=agent)
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        if since > NOT_PICKED_UP_S:
            return _(
                "{text}. Not picked up for {length}: the process lives but does not answer."
            ).format(text=text, length=words.duration(since))
        return _("{text}, waiting for {agent}.").format(text=text, agent=agent)
    text = _("{text}. Nothing runs until {agent} is resumed").format(text=text, agent=agent)
    if row.lapses_at is not None:
        return _("{text}; it lapses at {time}.").format(
            text=text, time=words.clock(row.lapses_at, now)
        )
    return f"{text}."


def _denied(row: Row, now: datetime, me: Person | None) -> str:
    reason = None if row.decision is None else row.decision.reason
    text = f"{_decided(row, now, me)}{words.quoted(reason)}"
    text = words.ended(text)
    if row.closed:
        return _and_reason(text, row) if row.reason_code == ASKED_ANEW else text
    if row.process is Process.DEAD or row.system != "lineclear":
        return _("{text} {agent} reads it when it is resumed.").format(
            text=text, agent=words.name(row.agent)
        )
    return _("{text} {agent} has not read it yet.").format(text=text, agent=words.name(row.agent))


def _resumed(row: Row, now: datetime, me: Person | None, pid: int) -> str:
    runs = _("{agent} was resumed and runs as pid {pid}").format(
        agent=words.name(row.agent), pid=pid
    )
    if row.state is State.LAPSED:
        return _("The approval lapsed. {runs}; it asks again.").format(runs=runs)
    if row.decision is None:
        return f"{runs}."
    if row.state is State.DENIED:
        denied = words.ended(f"{_decided(row, now, me)}{words.quoted(row.decision.reason)}")
        return f"{denied} {runs}."
    return f"{_decided(row, now, me)}. {runs}."


def _lapsed(row: Row, now: datetime, me: Person | None) -> str:
    if row.decision is None:
        return _("The approval lapsed; nobody picked it up.")
    answered = row.decision.verdict == "result"
    if words.is_me(row.decision.by, me):
        mine = _("Your answer of {time} lapsed{at}; nobody picked it up.")
        told = mine if answered else _("Your approval of {time} lapsed{at}; nobody picked it up.")
    else:
        other = _("{who}'s answer of {time} lapsed{at}; nobody picked it up.")
        told = (
            other if answered else _("{who}'s approval of {time} lapsed{at}; nobody picked it up.")
        )
    if row.reason_code == CLOCK:
        mine = _("Your word of {time} does not count: the clock was set back to before it.")
        other = _("{who}'s word of {time} does not count: the clock was set back to before it.")
        told = mine if words.is_me(row.decision.by, me) else other
    said = told.format(
        who=words.person(row.decision.by, me),
        time=words.clock(row.decision.at, now),
        at=_at(row.lapses_at, now),
    )
    ours = row.system == "lineclear"
    cure = _("Resume lets the agent ask again.") if ours else _("Take it back to decide anew.")
    return f"{said} {cure}"


def _at(at: datetime | None, now: datetime, *, seconds: bool = False) -> str:
    """When it was, to follow a verb; "" where nothing tells."""
    if at is None:
        return ""
    return _(" at {time}").format(time=words.clock(at, now, seconds=seconds))


def _running(row: Row, now: datetime, _me: Person | None) -> str:
    if row.started_at is None:
        return _("Running.")
    seconds = (now - row.started_at).total_seconds()
    since = words.clock(row.started_at, now, seconds=True)
    text = _("Running for {length}, since {time}.").format(
        length=words.duration(seconds), time=since
    )
    if row.process is Process.UNKNOWN:
        text += " " + _("Whether its process still lives cannot be told from here.")
    return text


def _uncertain(row: Row, now: datetime, _me: Person | None) -> str:
    begun, died = row.started_at, row.died_at
    if begun is not None and died is not None and died >= begun:
        ended = _("died about {length} later").format(
            length=words.duration((died - begun).total_seconds())
        )
    else:
        ended = _("died before it said how it ended")
    return _(
        "{agent} started this{at} and {ended}. Nobody knows whether it took effect. "
        "Look in the target system for key {id}\u2026"
    ).format(
        agent=words.name(row.agent),
        at=_at(row.started_at, now, seconds=True),
        ended=ended,
        id=row.id[:12],
    )


def _done(row: Row, now: datetime, me: Person | None) -> str:
    lasted = ""
    if row.started_at is not None and row.ended_at is not None:
        lasted = words.took(max(0, int((row.ended_at - row.started_at).total_seconds() * 1000)))
    preview = visible_line(masked_text(row.preview), 200)
    if row.outcome in ("ok", "error"):
        return _ran(row, lasted, preview)
    if row.outcome in ("not_run", UNTOUCHED, TAKEN_OVER):
        return _not_run(row, preview)
    if row.outcome == "denied":
        return f"{_denied(row, now, me)}" if row.decision else _("Denied.")
    if row.outcome == "refused":
        why = row.reason or (
            _("code {code}").format(code=row.reason_code) if row.reason_code else ""
        )
        said = f": {visible_line(translated(why), 200)}" if why else ""
        return words.ended(_("The agent refused the decision{said}").format(said=said))
    if row.outcome == "resolved":
        return (
            _("Settled by hand: {preview}").format(preview=preview)
            if preview
            else _("Settled by hand.")
        )
    if row.taken_back_by is not None or (row.outcome == "withdrawn" and row.seq is None):
        # Only a taking back ends a call of another program so.
        return _taken_back(row, now, me)
    if row.outcome == "withdrawn":
        return _withdrawn(row, now, me)
    return f"{words.state_word(row)}{_at(row.ended_at, now)}."


def _ran(row: Row, lasted: str, preview: str) -> str:
    """Say how its tool ended, after how long, and the beginning of what it gave."""
    if row.outcome == "ok":
        text = _("Finished in {lasted}").format(lasted=lasted) if lasted else _("Finished")
    else:
        text = (
            _("Ran and failed after {lasted}").format(lasted=lasted)
            if lasted
            else _("Ran and failed")
        )
    return f"{text}: {preview}" if preview else f"{text}."


def _not_run(row: Row, preview: str) -> str:
    """Say why nothing ran here of what a person had decided, or shows that it did."""
    if row.outcome in (UNTOUCHED, TAKEN_OVER):
        return visible_sentence(translated(row.reason or ""), 400)
    known = _NOT_RUN.get(row.reason_code or "")
    if known is not None:
        return known
    return _("Not run: {preview}").format(preview=preview) if preview else _("Not run.")


def _taken_back(row: Row, now: datetime, me: Person | None) -> str:
    """Say who took an approval back, that nothing ran, and who has to do something now."""
    answered = row.decision is not None and row.decision.verdict == "result"
    if row.taken_back_by is None:
        told = _("It was taken back{at}; nothing ran.")
    elif words.is_me(row.taken_back_by, me):
        mine = _("You took the answer back{at}; nothing ran.")
        told = mine if answered else _("You took the approval back{at}; nothing ran.")
    else:
        other = _("{who} took the answer back{at}; nothing ran.")
        told = other if answered else _("{who} took the approval back{at}; nothing ran.")
    who = words.person(row.taken_back_by, me)
    said = told.format(who=who, at=_at(row.ended_at, now))
    if row.system == "lineclear":
        then = _("The agent has to ask again.")
    else:
        then = _("All calls of its run are asked anew.") if row.item else _("It is asked anew.")
    return f"{said} {then}"


def _withdrawn(row: Row, now: datetime, me: Person | None) -> str:
    if row.reason_code in (GONE, ASKED_ANEW) and row.reason:
        return words.ended(visible_sentence(translated(row.reason), 200))
    if row.taken_back_by is not None:
        return _taken_back(row, now, me)
    at = _at(row.ended_at, now)
    return _("Withdrawn{at}: the agent no longer asks for this.").format(at=at)


def _expired(row: Row, now: datetime, _me: Person | None) -> str:
    at = _at(row.expires_at, now)
    return _("Expired{at} without an answer.").format(at=at)


def _held(row: Row, now: datetime, me: Person | None) -> str:
    return _("{decided}. Held until every call of this run is decided.").format(
        decided=_decided(row, now, me)
    )


def _unreadable(row: Row, _now: datetime, _me: Person | None) -> str:
    if row.call_id is not None:
        # It reads well; which of several it is nobody can tell.
        return visible_sentence(translated(row.reason or ""), 1000)
    return _("Cannot be read: {why}. It cannot be approved.").format(why=_why_not_shown(row))


def _damaged(row: Row, _now: datetime, _me: Person | None) -> str:
    return _("A record of this call is damaged: {why}. It cannot be approved.").format(
        why=_why_not_shown(row)
    )


def _why_not_shown(row: Row) -> str:
    why = translated(row.reason or row.reason_code or _("the reason is not known"))
    return visible_sentence(why, 400).rstrip(".")


def _stray(row: Row, _now: datetime, _me: Person | None) -> str:
    why = visible_sentence(translated(row.reason or _("records that belong to no call here")), 400)
    return _("Stray records: {why}. They are ignored.").format(why=why.rstrip("."))


def _and_reason(text: str, row: Row) -> str:
    """TEXT, and how the last try ended, where that is known."""
    return (
        f"{text} {words.ended(visible_sentence(translated(row.reason), 200))}"
        if row.reason
        else text
    )


def _resumable(row: Row, now: datetime, _me: Person | None) -> str:
    return _and_reason(_stopped(row, words.when_died(row, now)), row)


def _stopped(row: Row, when: str) -> str:
    agent, stood = words.name(row.agent), row.position
    dead = row.process is Process.DEAD
    after = _("A resume goes on from here.") if dead else _("Whether it still runs, no file tells.")
    if stood is not None and stood.suspended is not None:
        if stood.node:
            told = _("{agent} was suspended at {node}{reason}")
        else:
            told = _("{agent} was suspended{reason}")
        reason = words.quoted(stood.suspended)
        said = told.format(agent=agent, node=words.name(stood.node), reason=reason)
        return f"{words.ended(said)} {after}"
    if stood is not None and stood.node:
        how = f" ({words.name(stood.status)})" if stood.status else ""
        died = _("{agent} died{when}; it was last at {node}{status}. {after}")
        told = died if dead else _("{agent} was last at {node}{status}. {after}")
        return told.format(
            agent=agent, when=when, node=words.name(stood.node), status=how, after=after
        )
    if dead:
        return _("{agent} died{when} with nothing to approve. {after}").format(
            agent=agent, when=when, after=after
        )
    return _("{agent} left this with nothing to approve. {after}").format(agent=agent, after=after)


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
    unsent = " " + _("Your text was not sent.") if typed else ""
    if replaced or (after is not None and after.sha256 != before.sha256):
        return (
            _("This call changed at {time} while you were reading.").format(
                time=words.clock(now, now)
            )
            + unsent
        )
    if after is None:
        return (
            _("This call is gone since {time}: its file was removed.").format(
                time=words.clock(now, now)
            )
            + unsent
        )
    if after.taken_back_by is None and after.decision not in (None, before.decision):
        decision = after.decision
        assert decision is not None
        if decision.verdict == "withdrawn" or after.state is State.WITHDRAWN:
            return (
                _("The agent withdrew this call at {time}.").format(
                    time=words.clock(decision.at, now)
                )
                + unsent
            )
        if decision.verdict == "expired":
            return (
                _("This call expired at {time}.").format(time=words.clock(decision.at, now))
                + unsent
            )
        if words.is_me(decision.by, me):
            told = _("You {decided} this elsewhere at {time}{reason}")
        else:
            told = _("{who} {decided} this at {time}{reason}")
        told = told.format(
            who=words.person(decision.by, me),
            decided=words.verdict_word(decision),
            time=words.clock(decision.at, now),
            reason=words.quoted(decision.reason),
        )
        return f"{words.ended(told)}{unsent}"
    return f"{standing(after, now, me)}{unsent}"
