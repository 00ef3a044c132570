"""What the window says of a call: pure functions of the row, the time and who reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Usage
from lineclear.core.checkpoints.warnings import sentence_of
from lineclear.core.inbox.rows import warning_words
from lineclear.core.inbox.rows.cautions import (
    RECORDED_ODDLY,
    REPEATS,
    RESUMED_BEFORE,
    TWIN,
)
from lineclear.core.inbox.rows.row import Answered, Resumed, Row
from lineclear.core.inbox.secrets.masking import mask_for_record, masked_line, masked_text
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, marked_pair, translated

NAME_LIMIT = 40
"""Names are agent text: shown escaped and cut here."""

STATE_WORDS = {
    State.PENDING: _("Waiting"),
    State.HELD: _("Held"),
    State.APPROVED: _("Handed over"),
    State.LAPSED: _("Lapsed"),
    State.DENIED: _("Denied"),
    State.EXPIRED: _("Expired"),
    State.WITHDRAWN: _("Withdrawn"),
    State.RUNNING: _("Running"),
    State.UNCERTAIN: _("May have run"),
    State.DONE: _("Finished"),
    State.STRAY: _("Stray records"),
    State.DAMAGED: _("Damaged"),
    State.UNREADABLE: _("Unreadable"),
    State.RESUMABLE: _("To resume"),
}
OUTCOME_WORDS = {
    "ok": _("Finished"),
    "untouched": _("Untouched"),
    "taken_over": _("Taken over"),
    "error": _("Failed"),
    "not_run": _("Not run"),
    "denied": _("Denied"),
    "expired": _("Expired"),
    "withdrawn": _("Withdrawn"),
    "refused": _("Refused"),
    "resolved": _("Settled"),
}
PROCESS_WORDS = {
    Process.ALIVE: _("alive"),
    Process.DEAD: _("dead"),
    Process.ELSEWHERE: _("on another machine"),
    Process.UNKNOWN: _("unknown"),
}

MONTHS = (
    _("Jan"),
    _("Feb"),
    _("Mar"),
    _("Apr"),
    _("May"),
    _("Jun"),
    _("Jul"),
    _("Aug"),
    _("Sep"),
    _("Oct"),
    _("Nov"),
    _("Dec"),
)
THE_AGENT = _("The agent")

# --- Times, numbers, names ------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """A length of time in one unit: `12 s`, `3 min`, `2 h`, `5 d`."""
    whole = max(0, int(seconds))
    for size, told in ((86_400, _("{n} d")), (3600, _("{n} h")), (60, _("{n} min"))):
        if whole >= size:
            return told.format(n=whole // size)
    return _("{n} s").format(n=whole)


def took(milliseconds: int) -> str:
    """How long a tool ran: `40 ms`, `1.2 s`, `3 min`."""
    if milliseconds < 100:
        return _("{n} ms").format(n=milliseconds)
    if milliseconds < 60_000:
        return _("{n:.1f} s").format(n=milliseconds / 1000)
    return duration(milliseconds / 1000)


def waiting_since(row: Row, now: datetime) -> str:
    """How long a call has waited, by its own clock or its file's; odd clocks are named."""
    since = row.asked_at or row.file_time
    if since is None or _is_no_time(since):
        return PROCESS_WORDS[Process.UNKNOWN]
    seconds = (now - since).total_seconds()
    return _("in the future") if seconds < -120 else duration(seconds)


def _is_no_time(at: datetime) -> bool:
    return at.timestamp() < 86_400


def _asked(at: datetime, now: datetime) -> str:
    if _is_no_time(at):
        return _("asked at an unknown time")
    seconds = (now - at).total_seconds()
    if seconds < -120:
        return _("asked at a time in the future")
    return _("asked {age} ago").format(age=duration(seconds))


def clock(at: datetime, now: datetime, *, seconds: bool = False) -> str:
    """A time of day as the operator's clock shows it, with the date when it is not today."""
    local = at.astimezone()
    text = local.strftime("%H:%M:%S" if seconds else "%H:%M")
    if local.date() != now.astimezone().date():
        month = MONTHS[local.month - 1]
        return _("{day} {month} {time}").format(day=local.day, month=month, time=text)
    return text


_ABSURD = 10**15
"""No counter comes so far."""


def amount(number: int) -> str:
    """A count in short, for the table and totals: `950`, `12 k`, `3.1 M`; an absurd one `1.8e+19`.

    What is read of one call has `exact` counts.
    """
    if number < 10_000:
        return f"{number:,}"
    if number < 1_000_000:
        return _("{n} k").format(n=number // 1000)
    if number < 10_000_000_000:
        return _("{n:.1f} M").format(n=number / 1_000_000)
    return f"{number:.1e}"


def exact(number: int) -> str:
    """A count for reading: `950`, `31,200`; an absurd one as `1.8e+19`."""
    return f"{number:,}" if number < _ABSURD else f"{number:.1e}"


def size(count: int) -> str:
    """A size in bytes for reading: `317 bytes`, `12 KB`, `3.4 MB`."""
    if count < 2000:
        return counted("{n} byte", "{n} bytes", count)
    if count < 1_000_000:
        return _("{n:.0f} KB").format(n=count / 1000)
    return _("{n:.1f} MB").format(n=count / 1_000_000)


def name(text: str | None, missing: str = THE_AGENT, cut: int = NAME_LIMIT) -> str:
    """A name from an agent: escaped, on one line, without secrets, cut."""
    return masked_line(text, cut) if text else missing


def person(by: Person | None, me: Person | None) -> str:
    """Who it was: `you`, or that person's name, escaped; of another user with the uid, a fact."""
    if by is None:
        return _("somebody")
    if is_me(by, me):
        return _("you")
    called = masked_line(by.name, NAME_LIMIT)
    if called and me is not None and by.uid != me.uid:
        return _("{name} (uid {uid})").format(name=called, uid=by.uid)
    return called or _("uid {uid}").format(uid=by.uid)


def is_me(by: Person | None, me: Person | None) -> bool:
    """Tell whether it was who sits before this window."""
    return warning_words.is_same_person(by, me)


def ended(text: str) -> str:
    """TEXT as a whole sentence: with a full stop, unless what it quotes brings one."""
    return text if text.rstrip("\u201d")[-1:] in (".", "!", "?", "\u2026") else f"{text}."


def place(path: Path) -> str:
    """A folder as its owner writes it, escaped: `~/agents/refund-bot`."""
    full, own = str(path), str(Path.home())
    return visible_line("~" + full[len(own) :] if full.startswith(own + "/") else full)


def quoted(text: str | None) -> str:
    """What somebody said, after a colon, without secrets; "" for nothing."""
    return f": \u201c{masked_line(text, 200)}\u201d" if text else ""


# --- States ---------------------------------------------------------------------------------------


def state_word(row: Row) -> str:
    """The state in a word or two, as the table's first column shows it."""
    if row.taken_back_by is not None:
        return _("Taken back")
    if row.state is State.DONE and row.outcome:
        return OUTCOME_WORDS.get(row.outcome, STATE_WORDS[State.DONE])
    if row.state is State.APPROVED and row.decision and row.decision.verdict == "result":
        return _("Answered")
    return STATE_WORDS[row.state]


def verdict_word(decision: Decision) -> str:
    """A decision as a past participle."""
    return {
        "approve": _("approved"),
        "modify": _("approved with changes"),
        "deny": _("denied"),
        "result": _("answered"),
        "expired": _("let expire"),
        "withdrawn": _("withdrew"),
    }[decision.verdict]


# --- Warnings, budgets, header --------------------------------------------------------------------


def warning(code: str, *, run: bool = False) -> str:
    """A warning's sentence for a person; RUN: of a run without a call."""
    known = sentence_of(code, run=run)
    return _(known) if known else _("Warning: {code}.").format(code=code.replace("_", " "))


_TOLD_BY_CORE = frozenset({TWIN, REPEATS}) | RECORDED_ODDLY


def warning_about(row: Row, code: str, me: Person | None = None) -> str:
    """A warning's sentence, with what is known of the call elsewhere that it is about."""
    if code in _TOLD_BY_CORE and (told := warning_words.about(row, code, me)) is not None:
        return translated(told)
    if code == RESUMED_BEFORE and row.resumed is not None:
        return f"{warning(code)} {resumed_before(row.resumed)}"
    before = row.answered
    if before is None or before.code != code:
        return warning(code, run=row.tool is None)
    return f"{warning(code, run=row.tool is None)} {answered_before(before)}"


def answered_before(before: Answered) -> str:
    """Where the same call was answered, by whom and when."""
    return _("Answered before in {folder}: {verdict} by {who} at {time}.").format(
        folder=place(before.store),
        verdict=verdict_word(before.decision),
        who=translated(warning_words.person(before.decision.by)),
        time=local_time(before.decision.at),
    )


def resumed_before(before: Resumed) -> str:
    """Where and when a run was resumed."""
    return _("Resumed before in {folder} at {time}.").format(
        folder=place(before.store), time=local_time(before.at)
    )


def when_died(row: Row, now: datetime) -> str:
    """When an agent died, to follow that verb: ` at 02:14`, or after what is known; else ""."""
    if row.died_at is not None:
        return _(" at {time}").format(time=clock(row.died_at, now))
    known = (row.started_at, row.asked_at or row.file_time)
    last = max((at for at in known if at is not None), default=None)
    if last is None or _is_no_time(last) or last > now:
        return ""
    return _(" after {time}").format(time=clock(last, now))


def process_word(row: Row) -> str:
    """What is known of the process of a call, in a word or two."""
    if not row.waited_for:
        return _("started again")
    if row.resumed_as is not None:
        return _("resumed")
    return PROCESS_WORDS[row.process] if row.suspended is None else _("suspended")


def header_facts(row: Row, now: datetime, argv: tuple[str, ...] = ()) -> str:
    """The line under the title: agent, when it asked, its process and command."""
    facts = [name(row.agent, _("unknown agent"))]
    if row.asked_at is not None:
        facts.append(_asked(row.asked_at, now))
    elif row.file_time is not None:
        facts.append(_("file from {time}").format(time=clock(row.file_time, now)))
    if row.system != "lineclear":
        facts.append(_("foreign") if row.system else _("unknown system"))
    if not row.waited_for:
        facts.append(_("asked before its agent was started again"))
    elif row.resumed_as is not None:
        facts.append(_("resumed as pid {pid}").format(pid=row.resumed_as))
    elif row.suspended is not None:
        facts.append(_("suspended until this is decided"))
    elif row.pid is not None:
        facts.append(_("pid {pid} {state}").format(pid=row.pid, state=PROCESS_WORDS[row.process]))
    elif not row.closed:
        facts.append(_("process {state}").format(state=PROCESS_WORDS[row.process]))
    if argv and row.waited_for and row.resumed_as is None and not (row.closed and row.pid is None):
        program = argv[0].replace("\\", "/").rsplit("/", 1)[-1]
        shown = " ".join(map(str, mask_for_record([program, *argv[1:]])))
        facts.append(visible_line(masked_text(shown), 60))
    if row.user is not None:
        mine = warning_words.runs_as_you(row)
        facts.append(_("you") if mine else _("user {name}").format(name=user_name(row.user)))
    return " \u00b7 ".join(facts)


def run_place(number: int, total: int) -> str:
    """Which it is of the calls that its run asks at once."""
    return _("Call {number} of {total} of its run").format(number=number, total=total)


@lru_cache(maxsize=64)
def user_name(uid: int) -> str:
    """Name a user of this machine; one that it does not know, by the number."""
    try:
        import pwd  # noqa: PLC0415 - not there on Windows

        return visible_line(pwd.getpwuid(uid).pw_name, NAME_LIMIT)
    except (ImportError, KeyError, OverflowError):
        return str(uid)


@dataclass(frozen=True, slots=True)
class _Unit:
    """What a budget counts, in words."""

    alone: tuple[str, str]
    of: str
    silent: str


_UNITS = {
    "iterations": _Unit(
        marked_pair("{amount} iteration", "{amount} iterations"),
        _("{used} of {limit} iterations"),
        _("iterations not reported"),
    ),
    "turns": _Unit(
        marked_pair("{amount} turn", "{amount} turns"),
        _("{used} of {limit} turns"),
        _("turns not reported"),
    ),
    "steps": _Unit(
        marked_pair("{amount} step", "{amount} steps"),
        _("{used} of {limit} steps"),
        _("steps not reported"),
    ),
    _("tool calls"): _Unit(
        marked_pair("{amount} tool call", "{amount} tool calls"),
        _("{used} of {limit} tool calls"),
        _("tool calls not reported"),
    ),
    "tokens": _Unit(
        marked_pair("{amount} token", "{amount} tokens"),
        _("{used} of {limit} tokens"),
        _("tokens not reported"),
    ),
}
"""By what a system says that it counts."""


def _unit(plural: str) -> _Unit:
    alone = (f"{{amount}} {plural.removesuffix('s')}", f"{{amount}} {plural}")
    own = _Unit(
        alone,
        _("{{used}} of {{limit}} {plural}").format(plural=plural),
        _("{plural} not reported").format(plural=plural),
    )
    return _UNITS.get(plural, own)


def amount_of(number: int, plural: str, told: Callable[[int], str] = amount) -> str:
    """A count TOLD with its noun, which is given in the plural: `1 turn`, `12 k tokens`."""
    return counted(*_unit(plural).alone, number=number, amount=told(number))


def budget(
    used: int | None, limit: int | None, noun: str, told: Callable[[int], str] = exact
) -> str:
    """One budget in words: `3 of 10 iterations`, `4 tool calls`, `tokens not reported`."""
    if used is None:
        return _unit(noun).silent
    if limit is None:
        return amount_of(used, noun, told)
    return _unit(noun).of.format(used=told(used), limit=told(limit))


def usage(used: Usage | None) -> str:
    """Tokens by kind, `tokens: 29,000 in \u00b7 2,200 out ...`; "" where none is told."""
    if used is None or (used.tokens_in, used.tokens_out, used.cache) == (None, None, None):
        return ""
    kinds = (
        (used.tokens_in, _("{amount} in"), _("in not reported")),
        (used.tokens_out, _("{amount} out"), _("out not reported")),
        (used.cache, _("{amount} cache"), _("cache not reported")),
    )
    parts = (silent if n is None else told.format(amount=exact(n)) for n, told, silent in kinds)
    return _("tokens: {kinds}").format(kinds=" \u00b7 ".join(parts))


# --- Empty ----------------------------------------------------------------------------------------


def nothing_waits(running: int, folders: int, paused: int = 0) -> str:
    """The empty table of a quiet inbox; no agent is known before it asked once.

    PAUSED: so many folders more are not looked into, so of them nothing is said.
    """
    if not running:
        told = counted(
            "Nothing waits. Watching {n} folder.", "Nothing waits. Watching {n} folders.", folders
        )
    else:
        told = counted(
            "Nothing waits. {agents} running, watching {n} folder.",
            "Nothing waits. {agents} running, watching {n} folders.",
            folders,
            agents=counted("{n} agent", "{n} agents", running),
        )
    if not paused:
        return told
    rest = counted(
        "{n} more is paused: what waits there is not shown.",
        "{n} more are paused: what waits there is not shown.",
        paused,
    )
    return f"{told} {rest}"


def nothing_matches(hidden: int) -> str:
    """The empty table behind a filter."""
    return counted(
        "No call matches. {n} is hidden by the filter.",
        "No call matches. {n} are hidden by the filter.",
        hidden,
    )
