"""`approve`, `deny`, `modify`, `take-back`, `resolve`: durable before it is told."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from lineclear.cli import advice, recording, settled_elsewhere
from lineclear.cli.exits import Exit, UsageError
from lineclear.cli.selection import detail_of, rows_of
from lineclear.cli.terminal import Terminal
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.parsed import held
from lineclear.core.checkpoints.warnings import LEVELS
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.inbox.deciding import answers, settling
from lineclear.core.inbox.deciding import path as deciding
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.building import NATIVE_SYSTEM
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Record

_LONGEST_TEXT: Final = 20_000
"""Characters of a reason or note, as a decision holds them."""
_LONGEST_FILE: Final = 16 << 20
"""Bytes of arguments or an answer: what a decision can hold; a device has no end."""


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Find the call and give the verdict."""
    # Wrong arguments are told before anything is scanned.
    arguments = MISSING
    if options.command == "modify":
        arguments = _json_of("arguments", options.arguments, options.arguments_file)
    elif options.command == "answer":
        arguments = _answer_of(options)
    _check_words(options)
    # Its bytes are read, and compared, at each look; they are parsed once.
    with held():
        _give(options, terminal, arguments)
    return Exit.DONE


def _give(options: argparse.Namespace, terminal: Terminal, arguments: Json) -> None:
    settings, detail = detail_of(options)
    match options.command:
        case "take-back":
            with recording.decided(settings, detail.row, None, terminal):
                void = deciding.take_back(detail, settings)
            told = f"Taken back: nothing runs. {_what_follows(detail.row, void)}"
            _tell(options, terminal, detail, told, {"taken_back": True, "also_void": void})
        case "answer":
            _answer(options, terminal, settings, detail, arguments)
        case "resolve":
            _resolve(options, terminal, settings, detail)
        case _:
            _decide(options, terminal, settings, detail, arguments)


def _what_follows(row: Row, others: int) -> str:
    """Tell what comes of a taking back, and of OTHERS, decisions that ended with it."""
    if not others:
        ours = row.system == NATIVE_SYSTEM
        return "The agent has to ask again." if ours else "It is asked anew."
    what = "decision on another call" if others == 1 else f"decisions on {others} other calls"
    is_void = "is" if others == 1 else "are"
    return f"The {what} of its run {is_void} void too: all its calls are asked anew."


def _answer_of(options: argparse.Namespace) -> Json:
    """Give the answer that was typed; one that nobody typed is none, and would be for good."""
    if options.text is not None:
        _refuse_no_utf8("--text", options.text)
        return options.text
    if (options.response, options.response_file) != (None, None):
        return _json_of("response", options.response, options.response_file)
    if options.status is None and not options.empty:
        raise UsageError(
            "`answer` needs what the agent gets: `--response JSON`, `--text TEXT` or"
            " `--response-file FILE`; `--empty` for a call that gave nothing, or `--status failed`"
            " or `cancelled`."
        )
    return MISSING


def _check_words(options: argparse.Namespace) -> None:
    """Refuse words that no record could hold, and words that are missing, before anything else."""
    for name in ("note", "reason"):
        text = getattr(options, name, None)
        if text is not None:
            _check_text(f"--{name}", text)
    if options.command == "resolve" and options.resolution != "ask_again" and not options.note:
        flag = "--ran" if options.resolution == "ran" else "--not-run"
        raise UsageError(f"`{flag}` needs `--note`: what you found.")
    for code in getattr(options, "despite", ()):
        if code not in LEVELS:
            raise UsageError(f"There is no warning {code}; `lineclear show ID` names a call's own.")


def _check_text(flag: str, text: str) -> None:
    if not text.strip():
        raise UsageError(f"`{flag}` is empty.")
    if len(text) > _LONGEST_TEXT:
        raise UsageError(f"`{flag}` takes at most {_LONGEST_TEXT:,} characters.")
    _refuse_no_utf8(flag, text)


def _refuse_no_utf8(flag: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as why:
        raise UsageError(f"`{flag}` is not UTF-8 text.") from why


def _decide(
    options: argparse.Namespace,
    terminal: Terminal,
    settings: Settings,
    detail: Detail,
    arguments: Json,
) -> None:
    despite = frozenset(getattr(options, "despite", ()))
    verdict = _verdict(options, arguments)
    with recording.decided(settings, detail.row, verdict.nonce, terminal):
        decision = deciding.decide(detail, verdict, Origin.CLI, settings, despite=despite)
    row = _row_after(detail)
    sources = options.sources or ()
    if decision.verdict == "deny":
        told = f"Denied. {advice.after_denial(row, sources)}"
    elif decision.verdict == "modify":
        told = f"Approved with other arguments. {advice.after_approval(row, sources)}"
    else:
        told = f"Approved. {advice.after_approval(row, sources)}"
    _tell(options, terminal, detail, told, {"decision": _record_json(decision)})


def _row_after(detail: Detail) -> Row:
    """Give a decided call as it stands now: other calls of its run may keep it from its agent."""
    if detail.row.system == advice.NATIVE:
        return detail.row
    try:
        return read_detail(detail.row).row
    except LineclearError:
        # Its agent may have taken all of it away by now.
        return detail.row


def _verdict(options: argparse.Namespace, arguments: Json) -> Verdict:
    match options.command:
        case "approve":
            return Verdict("approve", note=options.note)
        case "deny":
            return Verdict("deny", reason=options.reason)
        case _:
            return Verdict("modify", arguments=arguments, note=options.note)


def _resolve(
    options: argparse.Namespace, terminal: Terminal, settings: Settings, detail: Detail
) -> None:
    with recording.decided(settings, detail.row, None, terminal):
        outcome = deciding.resolve(detail, options.resolution, options.note, settings)
    rows, sources = rows_of(settings), options.sources or ()
    if detail.row.system == advice.NATIVE:
        further = advice.after_resolution(detail.row, rows, sources)
        said = "it ran" if options.resolution == "ran" else "it did not run"
        who = settling.comes_of(detail.row, options.resolution)
        told = f"Settled: {said}. {who} {further}".rstrip()
    else:
        told = settled_elsewhere.told(detail.row, options.resolution, rows, sources, options.note)
    _tell(options, terminal, detail, told, {"outcome": _record_json(outcome)})


def _answer(
    options: argparse.Namespace,
    terminal: Terminal,
    settings: Settings,
    detail: Detail,
    response: Json,
) -> None:
    despite = frozenset(options.despite)
    status = options.status or answers.COMPLETED
    verdict = answers.verdict_of(detail.row, status, response, note=options.note)
    with recording.decided(settings, detail.row, verdict.nonce, terminal):
        decision = deciding.decide(detail, verdict, Origin.CLI, settings, despite=despite)
    sources = options.sources or ()
    told = f"Answered: {status}. {advice.after_answer(_row_after(detail), sources)}"
    _tell(options, terminal, detail, told, {"decision": _record_json(decision)})


def _json_of(flag: str, given: str | None, file: str | None) -> Json:
    if given is not None:
        text, name = given, f"--{flag}"
    else:
        assert file is not None
        text, name = _read_text(file, f"--{flag}-file"), f"--{flag}-file"
    if not text.strip():
        raise UsageError(f'`{name}` is empty, which is no JSON; an empty text is `""`. [empty]')
    try:
        return jsontext.parse_value(text)
    except Unreadable as why:
        raise UsageError(
            f"`{name}` is no JSON that can be given: {why.sentence} [{why.code}]"
        ) from why


def _read_text(name: str, flag: str) -> str:
    if name == "-":
        raw = sys.stdin.buffer.read(_LONGEST_FILE + 1)
    else:
        with Path(name).open("rb") as file:
            raw = file.read(_LONGEST_FILE + 1)
    if len(raw) > _LONGEST_FILE:
        raise UsageError(f"`{flag}` {name} holds more than {_LONGEST_FILE >> 20} MiB.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as why:
        raise UsageError(f"`{flag}` {name} is not UTF-8 text.") from why


def _record_json(record: Record) -> dict[str, Any]:
    return record.model_dump(mode="python", exclude_unset=True)


def _tell(
    options: argparse.Namespace,
    terminal: Terminal,
    detail: Detail,
    told: str,
    facts: dict[str, Any],
) -> None:
    """Say what is done; it stays done when nobody can be told any more."""
    row = detail.row
    try:
        if options.json:
            terminal.json({"id": row.id, **facts})
        else:
            tool = "" if row.tool is None else f"{masked_line(row.tool, 80)} "
            terminal.say(f"{tool}{row.id[:8]}: {told}")
        terminal.flush()
    except OSError as why:
        terminal.complain(f"It is done, but the output could not be written: {why.strerror}.")
        terminal.close_output()
