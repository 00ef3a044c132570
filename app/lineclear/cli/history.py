"""`lineclear history`: what was decided and how it ended; lists, adds up, exports, verifies."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lineclear.cli import recording, wording
from lineclear.cli.exits import Exit, UsageError
from lineclear.cli.listing import short_ids
from lineclear.cli.selection import rows_of, settings_for
from lineclear.cli.table import layout
from lineclear.cli.terminal import Styled, Terminal
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history import chain, exporting
from lineclear.core.inbox.history.database import history_path
from lineclear.core.inbox.history.entry import Entry, Kind, person_text
from lineclear.core.inbox.history.query import Query, parse_query, ways_of
from lineclear.core.inbox.history.recorder import places_of
from lineclear.core.inbox.history.search import Pivot, Search
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.places import path_text

_HEADER = ("TIME", "ID", "VERDICT", "BY", "AGENT", "TOOL", "ARGUMENTS", "ENDED", "SEEN")
_ELASTIC = _HEADER.index("ARGUMENTS")
_TOTALS = (
    "",
    "CALLS",
    "APPROVED",
    "ANSWERED",
    "DENIED",
    "FAILED",
    "MAY HAVE RUN",
    "END NOT SEEN",
    "FOUND",
)
_VERDICTS = {
    "approve": "approved",
    "deny": "denied",
    "modify": "modified",
    "result": "answered",
}
_ENDED = {
    **wording.OUTCOMES,
    "taken_back": "taken back",
    "uncertain": "may have run",
    "resolved_ran": "settled: it ran",
    "resolved_not_run": "settled: it did not run",
    "resolved_ask_again": "settled: ask again",
}
_STYLES = {
    "error": "stop",
    "uncertain": "stop",
    "ok": "ok",
    "refused": "care",
    "not_run": "care",
    "untouched": "care",
}


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one action on the history."""
    match options.action:
        case "list":
            return _list(options, terminal)
        case "totals":
            return _add_up(options, terminal)
        case "export":
            return _export(options, terminal)
        case "verify":
            return _verify(options, terminal)
        case "merge":
            return _merge(options, terminal)
        case _:
            path = path_text(history_path())
            if options.json:
                terminal.json(path)
            else:
                terminal.say(visible_line(path))
            return Exit.DONE


# --- Looking ------------------------------------------------------------------------------------


def _list(options: argparse.Namespace, terminal: Terminal) -> int:
    query = _query(options, gaps=options.gaps)
    with _searched(options, terminal) as search:
        if options.limit:
            page = search.page(query, limit=options.limit)
            entries, more = list(page.entries), page.following is not None
        else:
            entries, more = list(search.every(query)), False
        if not entries:
            _doubt(query, terminal)
        if options.json:
            terminal.json([exporting.record(entry, arguments=True) for entry in entries])
            return Exit.DONE
        if not entries:
            terminal.say("No call matches." if query else "Nothing was decided yet.")
            return Exit.DONE
        count = search.count(query) if more else len(entries)
    now = wording.utc_now()
    lengths = short_ids(entry.fact.call for entry in entries if entry.fact.call)
    rows = [_cells(entry, lengths, now) for entry in entries]
    for pieces in layout(_HEADER, rows, width=terminal.width, elastic=_ELASTIC):
        terminal.say(*pieces)
    if more:
        terminal.say()
        terminal.say(f"{len(entries):,} of {count:,}; --limit shows more.")
    return Exit.DONE


def _cells(entry: Entry, lengths: dict[str, str], now: datetime) -> Sequence[Styled]:
    fact = entry.fact
    if not fact.stage:
        return _gap_cells(entry, now)
    ended = _ENDED.get(fact.ended or "", visible_line(fact.ended or "", 24))
    return (
        Styled(wording.clock(entry.at, now), "dim"),
        Styled(lengths.get(fact.call or "", "")),
        Styled(_VERDICTS.get(fact.verdict or "", visible_line(fact.verdict or "", 20))),
        Styled(_by(entry)),
        Styled(masked_line(fact.agent or "", 40)),
        Styled(masked_line(fact.tool or "", 40)),
        Styled(visible_line(fact.decided_arguments or "", 400)),
        Styled(ended, _STYLES.get(fact.ended or "", "")),
        Styled(*_seen(entry)),
    )


def _by(entry: Entry) -> str:
    fact = entry.fact
    if fact.verdict is None:
        # A run without a call, that somebody's word resumed.
        return "" if fact.by_name is None else person_text(fact.by_name, fact.by_uid)
    if fact.verdict not in _VERDICTS:
        return ""
    # What ends by itself was no person's word: the uid is only whose program noted it.
    by_itself = fact.verdict in ("expired", "withdrawn")
    return person_text(fact.by_name, None if by_itself else fact.by_uid)


def _seen(entry: Entry) -> tuple[str, str]:
    """Tell what was seen of a call when it was decided: "4 s", "end not seen", "found"."""
    fact = entry.fact
    if fact.verdict not in _VERDICTS:
        return "", ""
    said = [] if fact.shown_ms is None else [wording.span(fact.shown_ms / 1000)]
    if fact.end_seen == 0:
        said.append("end not seen")
    if fact.found:
        said.append("found")
    return ", ".join(said), "care" if fact.end_seen == 0 else "dim"


def _gap_cells(entry: Entry, now: datetime) -> Sequence[Styled]:
    told = {
        Kind.BEGUN.value: "history begun",
        Kind.WATCHING.value: "watching began",
        Kind.STOPPED.value: "watching ended",
        Kind.MISSING.value: "folder missing",
        Kind.BACK.value: "folder is back",
        Kind.PRUNED.value: "old rows removed",
        Kind.MERGED.value: "another history merged",
        Kind.SET_ASIDE.value: "history kept aside",
    }.get(entry.fact.kind, visible_line(entry.fact.kind, 24))
    details = entry.details
    said = [str(details[name]) for name in ("source", "file", "host") if name in details]
    if details.get("killed"):
        said.append("it was killed")
    if "rows" in details:
        said.append(f"{details['rows']} rows")
    empty = Styled("")
    clock = Styled(wording.clock(entry.at, now), "dim")
    detail = Styled(visible_line(", ".join(said), 400), "dim")
    return (clock, empty, Styled(told, "dim"), empty, empty, empty, detail, empty, empty)


def _add_up(options: argparse.Namespace, terminal: Terminal) -> int:
    query = _query(options)
    with _searched(options, terminal) as search:
        buckets = search.pivot(query, Pivot(options.by))
    if options.json:
        terminal.json(
            [
                {
                    options.by: bucket.label,
                    "calls": bucket.calls,
                    "approved": bucket.approved,
                    "answered": bucket.answered,
                    "denied": bucket.denied,
                    "failed": bucket.failed,
                    "uncertain": bucket.uncertain,
                    "end_unseen": bucket.end_unseen,
                    "found": bucket.found,
                    "shown_ms": bucket.shown_ms,
                    "took_ms": bucket.took_ms,
                }
                for bucket in buckets
            ]
        )
        return Exit.DONE
    if not buckets:
        terminal.say("No call matches." if query else "Nothing was decided yet.")
        _doubt(query, terminal)
        return Exit.DONE
    rows = [
        [
            Styled(visible_line(bucket.label, 80)),
            *(
                Styled(f"{number:,}")
                for number in (
                    bucket.calls,
                    bucket.approved,
                    bucket.answered,
                    bucket.denied,
                    bucket.failed,
                    bucket.uncertain,
                    bucket.end_unseen,
                    bucket.found,
                )
            ),
        ]
        for bucket in buckets
    ]
    header = (options.by.upper(), *_TOTALS[1:])
    for pieces in layout(header, rows, width=terminal.width, elastic=0):
        terminal.say(*pieces)
    return Exit.DONE


def _query(options: argparse.Namespace, *, gaps: bool = False) -> Query:
    line = " ".join(_requoted(word) for word in options.filter)
    query = parse_query(line, gaps=gaps)
    if query.wrong:
        ways = ways_of(query.wrong[0])
        raise UsageError(
            f"Not understood: {', '.join(query.wrong)}. Write {' or '.join(ways)};"
            " `lineclear history -h` shows the fields."
        )
    return query


def _doubt(query: Query, terminal: Terminal) -> None:
    """Say what a word may mean that nothing was found for."""
    for doubt in query.doubts:
        name = visible_line(doubt.word.lstrip("-").partition(":")[0], 40)
        said = f"{name}: is no field; {doubt.near}: is one. " if doubt.near else ""
        terminal.complain(f"{said}Write {' or '.join(ways_of(doubt.near or name))}.")


def _requoted(word: str) -> str:
    """Keep together what the shell handed over as one word."""
    if " " not in word or '"' in word:
        return word
    minus = "-" if word.startswith("-") else ""
    name, colon, rest = word[len(minus) :].partition(":")
    if colon and name.isalpha():
        # `tool:bash since:2d` in one pair of quotes is two conditions.
        return word if ":" in rest else f'{minus}{name}:"{rest}"'
    return word if ":" in word else f'{minus}"{word[len(minus) :]}"'


def _searched(options: argparse.Namespace, terminal: Terminal) -> Search:
    """Open the history to read, after a look at what the stores hold beyond it."""
    if not options.no_look:
        settings = settings_for(options)
        places = places_of(rows_of(settings)).values()
        recording.look(settings, places, terminal)
    return Search.open()


# --- Exporting, verifying, merging --------------------------------------------------------------


def _export(options: argparse.Namespace, terminal: Terminal) -> int:
    query = _query(options)
    to = _format(options)
    with _searched(options, terminal) as search:
        entries = search.every(query)
        if options.file == "-":
            _print(exporting.lines(entries, to, arguments=options.arguments), terminal)
            return Exit.DONE
        path = Path(options.file)
        try:
            count = exporting.export(
                entries, path, to, arguments=options.arguments, replace=options.replace
            )
        except LineclearError as why:
            if why.code == "exists":
                raise UsageError(f"{why.sentence} --replace replaces it.") from why
            raise
    rows = "row" if count == 1 else "rows"
    terminal.say(f"{count:,} {rows} written to {visible_line(options.file)}.")
    return Exit.DONE


def _print(lines: Iterator[str], terminal: Terminal) -> None:
    for line in lines:
        terminal.say(line.rstrip("\r\n"))


def _format(options: argparse.Namespace) -> exporting.Format:
    if options.format is not None:
        return exporting.Format(options.format)
    suffix = Path(options.file).suffix.lower()
    if suffix in (".jsonl", ".ndjson", ".json"):
        return exporting.Format.JSONL
    if suffix == ".csv" or options.file == "-":
        return exporting.Format.CSV
    raise UsageError("The file's name says no format: end it with .csv or .jsonl, or add --format.")


def _verify(options: argparse.Namespace, terminal: Terminal) -> int:
    if options.noted is not None and len(options.noted) < 8:
        raise UsageError("A noted hash needs at least 8 of its digits.")
    path = history_path() if options.file is None else Path(options.file)
    found = chain.verify(path, noted=options.noted)
    code = Exit.DONE if found.intact else Exit.BROKEN
    if options.json:
        terminal.json(_verified_json(found))
        return code
    terminal.say(Styled(found.sentence, "ok" if found.intact else "stop"))
    for origin, head in found.heads.items():
        terminal.say(f"  {origin[:8]} ends with {head}")
    return code


def _verified_json(found: chain.Verified) -> dict[str, Any]:
    broken = found.broken
    return {
        "intact": found.intact,
        "rows": found.rows,
        "decisions": found.decisions,
        "heads": found.heads,
        "noted_found": found.head_found,
        "broken": None
        if broken is None
        else {
            "origin": broken.origin,
            "seq": broken.seq,
            "recorded_at": broken.recorded_at,
            "why": broken.why,
        },
    }


def _merge(options: argparse.Namespace, terminal: Terminal) -> int:
    with recording.history(None, terminal) as history:
        merged = history.merge(Path(options.file))
    if options.json:
        terminal.json({"rows": merged.rows, "origins": list(merged.origins)})
        return Exit.DONE
    if not merged.rows:
        terminal.say("Nothing new: all its rows are here.")
        return Exit.DONE
    rows = "row" if merged.rows == 1 else "rows"
    whose = ", ".join(origin[:8] for origin in merged.origins)
    terminal.say(f"{merged.rows:,} {rows} of {whose} taken in; the chain was intact.")
    return Exit.DONE
