"""Writes what a search finds to a file: CSV for spreadsheets, JSON Lines for programs."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.entry import FACT_COLUMNS, Entry
from lineclear.core.inbox.secrets.masking import masked_text
from lineclear.core.ledger.layout import temporary_name
from lineclear.core.ledger.platform import oserrors
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

_SAID: Final = ("tool", "agent", "by_name", "reason", "note", "ended_by")
"""Names and what people said: secrets may stand in them, as in any text."""
CALL_TEXTS: Final = ("arguments", "given", "preview")
"""What a call was asked with, was given and gave: left out unless it is asked for."""
_UNSAID: Final = ("ident", "fact", "stage")
COLUMNS: Final = (
    "origin", "seq", "recorded_at", *(name for name in FACT_COLUMNS if name not in _UNSAID), "hash",
    "runs_with",
)  # fmt: skip
"""`arguments` are those that were asked; of a modified call `given` are those that it runs with,
of an answered one it is the answer. `runs_with` names the column that counts: `arguments`, `given`,
or nothing for a call that nobody let run."""
_RUNS_WITH: Final = {"approve": "arguments", "modify": "given"}
_WIDE: Final = ("\uff1d", "\uff0b", "\uff0d", "\uff20")
"""= + - @ in full width, which some spreadsheets take for the plain ones."""
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", *_WIDE)
"""What a spreadsheet takes for the beginning of a formula or of a command."""
_FORMULA_IN_PART: Final = re.compile(
    rf";(?=[\s\ufeff\"]*[{re.escape(''.join(_FORMULAS))}])",
)
"""Where the semicolon parts cells, a comma's quotes part nothing, and this begins a cell too."""


class Format(StrEnum):
    """How a file is written."""

    CSV = "csv"
    JSONL = "jsonl"


def record(entry: Entry, *, arguments: bool = False) -> dict[str, Any]:
    """Give a row as an object of texts and numbers without secrets; columns not set left out."""
    whole: dict[str, Any] = {
        "origin": entry.origin,
        "seq": entry.seq,
        "recorded_at": entry.recorded_at,
        **{name: getattr(entry.fact, name) for name in FACT_COLUMNS},
        "hash": entry.hash.hex(),
        "runs_with": _RUNS_WITH.get(entry.fact.verdict or ""),
    }
    for name in _SAID:
        if whole[name] is not None:
            whole[name] = masked_text(whole[name])
    left_out = () if arguments else CALL_TEXTS
    return {
        name: whole[name] for name in COLUMNS if name not in left_out and whole[name] is not None
    }


def lines(entries: Iterable[Entry], to: Format, *, arguments: bool = False) -> Iterator[str]:
    """Give the lines of an export, ends of lines included: CRLF in CSV, LF in JSON Lines.

    CSV: a header; every cell is quoted and shown text (hidden characters as tokens), and what a
    spreadsheet could take for a formula, also one whose cells are parted by semicolons, begins
    with an apostrophe. JSON Lines: one ASCII object per row, texts exact but for secrets.
    """
    if to is Format.JSONL:
        for entry in entries:
            yield json.dumps(record(entry, arguments=arguments)) + "\n"
        return
    names = [name for name in COLUMNS if arguments or name not in CALL_TEXTS]
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    for entry in entries:
        yield _taken(buffer)
        found = record(entry, arguments=arguments)
        writer.writerow([cell(found.get(name)) for name in names])
    yield _taken(buffer)


def cell(value: str | int | None) -> str:
    """Give a value as a cell that no spreadsheet computes."""
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    # Looked at raw as well: a tab is shown as an arrow, and must not hide that it was one.
    shown = visible_line(value)
    begins = value.lstrip(" \u00a0\ufeff").startswith(_FORMULAS) or shown.startswith(_FORMULAS)
    shown = _FORMULA_IN_PART.sub(";'", shown)
    return f"'{shown}" if begins else shown


def export(
    entries: Iterable[Entry],
    path: Path,
    to: Format,
    *,
    arguments: bool = False,
    replace: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Write an export to PATH, whole and durable or not at all; gives how many rows.

    REPLACE: a file that stands there is replaced; a pipe, a device or a folder never is. PROGRESS
    is told the number of lines now and then. Raises LineclearError (`exists`, `export_failed`).
    """
    path = Path(os.path.abspath(path))
    if not replace and os.path.lexists(path):
        raise LineclearError(
            worded("{path} is there already; nothing was written.", path=path_text(path)),
            code="exists",
        )
    if not _may_be_replaced(path):
        raise LineclearError(
            worded("{path} is no regular file; nothing was written.", path=path_text(path)),
            code="export_failed",
        )
    draft = path.with_name(temporary_name())
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            count = _write(file, lines(entries, to, arguments=arguments), progress)
            file.flush()
            os.fsync(file.fileno())
        _put(draft, path, replace=replace)
    except FileExistsError as why:
        raise LineclearError(
            worded("{path} is there already; nothing was written.", path=path_text(path)),
            code="exists",
        ) from why
    except OSError as why:
        raise LineclearError(
            worded(
                "{path} was not written: {reason}.",
                path=path_text(path),
                reason=oserrors.reason(why),
            ),
            code="export_failed",
        ) from why
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
    return count - (to is Format.CSV)


def _may_be_replaced(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        # Writing beside it tells what is wrong, if anything is.
        return True
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _write(file: IO[str], written: Iterable[str], progress: Callable[[int], None]) -> int:
    count = 0
    for line in written:
        file.write(line)
        count += 1
        if count % 1000 == 0:
            progress(count)
    return count


def _put(draft: Path, path: Path, *, replace: bool) -> None:
    if replace:
        os.replace(draft, path)
    else:
        try:
            os.link(draft, path)
        except FileExistsError:
            raise
        except OSError:
            # No hard links there: the file was not there a moment ago.
            os.rename(draft, path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
