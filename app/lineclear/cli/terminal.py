"""Writing to the terminal: nothing unprintable gets through, whoever wrote it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Final, TextIO

_STYLES: Final = {
    "bold": "1",
    "dim": "2",
    "stop": "31",
    "care": "33",
    "ok": "32",
    "title": "1;4",
}
_DEEPEST_JSON: Final = 256
"""Arguments as deep as a checkpoint may nest (127), and the document around them."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of text with a style of `_STYLES`; plain where colours are off."""

    text: str
    style: str = ""


Piece = str | Styled


def printable(text: str) -> str:
    """Replace every character that a terminal could take for a command or that has no shape.

    The last line of defence, after `visible_line`: line feeds stay, because the command line
    itself writes them.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char == "\n" or char.isprintable() else f"⟦U+{ord(char):04X}⟧" for char in text
    )


class Terminal:
    """Standard output and standard error of one command."""

    def __init__(
        self,
        out: TextIO | None,
        err: TextIO | None,
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._out = out
        self._err = err
        for stream in (out, err):
            # A locale that lacks a character gets its number, not an exception.
            if stream is not None and hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        self.is_tty = _is_tty(out)
        self._colour = self.is_tty and _wants_colour(environ)

    @property
    def width(self) -> int:
        """Columns to fill: the terminal's, else 120."""
        if not self.is_tty:
            return 120
        return max(40, shutil.get_terminal_size((120, 24)).columns)

    def say(self, *pieces: Piece) -> None:
        """Write one line, or several where a piece holds line feeds, to standard output."""
        self._write(self._out, "".join(self._render(piece) for piece in pieces) + "\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Write plain lines."""
        for line in lines:
            self.say(line)

    def complain(self, text: str) -> None:
        """Write one sentence to standard error."""
        try:
            self._write(self._err, f"lineclear: {printable(text)}\n")
        except (OSError, ValueError):
            # There is nobody left to tell.
            self._err = None

    def json(self, value: object) -> None:
        """Write a value as one line of ASCII JSON, numbers with the text they were read from."""
        self._write(self._out, json_text(value) + "\n")

    def flush(self) -> None:
        """Hand everything to the operating system; raises what the writing raised."""
        if self._out is not None:
            self._out.flush()

    def close_output(self) -> None:
        """Give standard output up: what is left in its buffer goes nowhere, without a complaint."""
        if self._out is not None:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
        self._out = None

    def _render(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return printable(piece)
        text = printable(piece.text)
        if not self._colour or not piece.style or not text:
            return text
        return f"\x1b[{_STYLES[piece.style]}m{text}\x1b[0m"

    def _write(self, stream: IO[str] | None, text: str) -> None:
        if stream is not None:
            stream.write(text)


def json_text(value: object) -> str:
    """Write a value as compact JSON in ASCII: a terminal or a log finds nothing in it to obey.

    What JSON cannot hold, wherever it came from, is replaced where it stands by
    `{"unwritable": "<why>"}`: it must not hide what stands beside it.
    """
    # Costs a third of the start-up time, and most commands print no JSON.
    from lineclear.core.checkpoints import jsontext  # noqa: PLC0415

    def written(value: object) -> str:
        return jsontext.report(value, max_depth=_DEEPEST_JSON).replace("\x7f", "\\u007f")

    try:
        return written(value)
    except (ValueError, TypeError, RecursionError):
        return written(_writable(value, written))


def _writable(value: object, written: Callable[[object], str], level: int = 1) -> object:
    holds_others = isinstance(value, dict | list | tuple)
    if holds_others and level >= _DEEPEST_JSON:
        return {"unwritable": f"The value nests deeper than {_DEEPEST_JSON} levels."}
    if isinstance(value, dict):
        return {
            printable(str(key)): _writable(item, written, level + 1) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_writable(item, written, level + 1) for item in value]
    try:
        written(value)
    except (ValueError, TypeError) as why:
        return {"unwritable": str(why)}
    return value


def own_terminal() -> Terminal:
    """Give the terminal of this process; a windowed program or a closed descriptor has none."""
    return Terminal(sys.stdout, sys.stderr)


def _is_tty(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _wants_colour(environ: Mapping[str, str]) -> bool:
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
