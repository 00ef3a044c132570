"""What the window says of a call: pure functions of the row, the time and who reads."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from lineclear.core.checkpoints.model import Usage
from lineclear.core.checkpoints.text import visible_line
from lineclear.core.checkpoints.warnings import SENTENCES
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State

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
OUTCOME_WORDS = {
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

# --- Times, numbers, names ------------------------------------------------------------------------


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
    """A count for reading: `950`, `12 k`, `3.1 M`; an absurd one as `1.8e+19`."""
    if number < 10_000:
        return str(number)
    if number < 1_000_000:
        return f"{number // 1000} k"
    if number < 10_000_000_000:
        return f"{number / 1_000_000:.1f} M"
    return f"{number:.1e}"


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


def name(text: str | None, missing: str = "The agent", cut: int = NAME_LIMIT) -> str:
    """A name from an agent: escaped, on one line, cut."""
    return visible_line(text, cut) if text else missing


def person(by: Person | None, me: Person | None) -> str:
    """Who it was: `you`, or that person's name, escaped."""
    if by is None:
        return "somebody"
    if me is not None and (by.uid, by.host) == (me.uid, me.host):
        return "you"
    return visible_line(by.name or f"uid {by.uid}", NAME_LIMIT)


def ended(text: str) -> str:
    """TEXT as a whole sentence: with a full stop, unless what it quotes brings one."""
    return text if text.rstrip("\u201d")[-1:] in (".", "!", "?", "\u2026") else f"{text}."


def place(path: Path) -> str:
    """A folder as its owner writes it, escaped: `~/agents/refund-bot`."""
    full, own = str(path), str(Path.home())
    return visible_line("~" + full[len(own) :] if full.startswith(own + "/") else full)


def quoted(text: str | None) -> str:
    """What somebody said, after a colon; "" for nothing."""
    return f": \u201c{visible_line(text, 200)}\u201d" if text else ""


# --- States ---------------------------------------------------------------------------------------


def state_word(row: Row) -> str:
    """The state in a word or two, as the table's first column shows it."""
    if row.state is State.DONE and row.outcome:
        return OUTCOME_WORDS.get(row.outcome, "Finished")
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


# --- Warnings, budgets, header --------------------------------------------------------------------


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
    if not row.waited_for:
        facts.append("asked before its agent was started again")
    elif row.pid is not None:
        facts.append(f"pid {row.pid} {PROCESS_WORDS[row.process]}")
    elif not row.closed:
        facts.append(f"process {PROCESS_WORDS[row.process]}")
    if argv and row.waited_for and not (row.closed and row.pid is None):
        program = argv[0].replace("\\", "/").rsplit("/", 1)[-1]
        facts.append(visible_line(" ".join((program, *argv[1:])), 60))
    return " \u00b7 ".join(facts)


def amount_of(number: int, plural: str) -> str:
    """A count for reading with its noun, which is given in the plural: `1 turn`, `12 k tokens`."""
    return f"{amount(number)} {plural.removesuffix('s') if number == 1 else plural}"


def budget(used: int | None, limit: int | None, noun: str) -> str:
    """One budget in words: `3 of 10 iterations`, `4 tool calls`, `tokens not reported`."""
    if used is None:
        return f"{noun} not reported"
    if limit is None:
        return amount_of(used, noun)
    return f"{amount(used)} of {amount(limit)} {noun}"


def usage(used: Usage | None) -> str:
    """Tokens by kind, `tokens: 29 k in \u00b7 2200 out ...`; "" where none is told."""
    if used is None or (used.tokens_in, used.tokens_out, used.cache) == (None, None, None):
        return ""
    kinds = ((used.tokens_in, "in"), (used.tokens_out, "out"), (used.cache, "cache"))
    parts = (f"{kind} not reported" if n is None else f"{amount(n)} {kind}" for n, kind in kinds)
    return "tokens: " + " \u00b7 ".join(parts)


# --- Empty ----------------------------------------------------------------------------------------


def nothing_waits(running: int, folders: int) -> str:
    """The empty table of a watched, quiet inbox; no agent is known before it asked once."""
    if not running:
        return f"Nothing waits. Watching {count(folders, 'folder')}."
    return f"Nothing waits. {count(running, 'agent')} running, watching {count(folders, 'folder')}."


def nothing_matches(hidden: int) -> str:
    """The empty table behind a filter."""
    verb = "is" if hidden == 1 else "are"
    return f"No call matches. {hidden} {verb} hidden by the filter."
