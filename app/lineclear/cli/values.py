"""Values and texts of a call as lines to print: escaped, and without secrets unless wanted."""

from __future__ import annotations

import re
import secrets as randomness
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible, visible_line, visible_sentence
from lineclear.core.checkpoints.model import Json
from lineclear.core.inbox.secrets.masking import Masked, Secret, mask, mask_for_record, mask_text

_DEEPEST: Final = 256


class Values:
    """Gives lines, and counts the secrets that they leave out."""

    def __init__(self, *, openly: bool = False) -> None:
        self._openly = openly
        self.masked = 0
        """How many secrets were left out so far."""

    def decided(self, value: Json) -> list[str]:
        """Give what a person decides on: masked as in the window before anything is shown."""
        return list(self._members(value if self._openly else mask(value)))

    def recorded(self, value: Json) -> list[str]:
        """Give what happened or surrounds the call: masked as records are."""
        return list(self._members(value if self._openly else mask_for_record(value)))

    def text(self, text: str) -> list[str]:
        """Give a text as the lines that it holds."""
        return self._text_lines(text if self._openly else mask_text(text, widely=True))

    def line(self, text: str) -> str:
        """Give a text on one line."""
        return self._escaped(text if self._openly else mask_text(text, widely=True), visible_line)

    def sentence(self, text: str) -> str:
        """Give a sentence of core on one line."""
        shown = text if self._openly else mask_text(text, widely=True)
        return self._escaped(shown, visible_sentence)

    def on_one_line(self, value: Json) -> str:
        """Give a value as JSON on one line."""
        return self._json_lines(value if self._openly else mask_for_record(value), flat=True)[0]

    def command(self, argv: Sequence[str]) -> str:
        """Give a command on one line; the value of an option may be a secret."""
        words = list(argv) if self._openly else mask_for_record(list(argv))
        assert isinstance(words, list)
        return " ".join(self._escaped(word, visible_line) for word in words)

    def _members(self, value: Json) -> Iterator[str]:
        """Give a value as indented JSON, but its long texts as the lines that they hold."""
        if not isinstance(value, dict):
            yield from self._json_lines(value)
            return
        for key, inner in value.items():
            name = visible_line(key)
            if isinstance(inner, str) and "\n" in inner:
                yield f"{name}:"
                yield from (f"  │ {line}" for line in self._text_lines(inner))
                continue
            first, *rest = self._json_lines(inner)
            yield f"{name}: {first}"
            yield from rest

    def _text_lines(self, text: str) -> list[str]:
        return self._escaped(text, lambda piece: visible(piece).text).split("\n")

    def _escaped(self, text: Json, escape: Callable[[str], str]) -> str:
        """Give a text with marks for its secrets, and the rest of it escaped."""
        pieces = text.pieces if isinstance(text, Masked) else (str(text),)
        return "".join(
            self._mark(piece) if isinstance(piece, Secret) else escape(piece) for piece in pieces
        )

    def _json_lines(self, value: Json, *, flat: bool = False) -> list[str]:
        marks: dict[str, str] = {}
        named = self._with_names(value, randomness.token_hex(16), marks)
        write = jsontext.compact if flat else jsontext.pretty
        written = write(named, max_depth=_DEEPEST).decode("utf-8")
        lines = [visible_line(line) for line in written.split("\n")]
        if not marks:
            return lines
        names = re.compile("|".join(marks))
        return [names.sub(lambda found: marks[found.group()], line) for line in lines]

    def _with_names(self, value: Json, nonce: str, marks: dict[str, str]) -> Json:
        """Give VALUE with a name, which MARKS resolves, in the place of each secret."""
        if isinstance(value, dict):
            return {key: self._with_names(below, nonce, marks) for key, below in value.items()}
        if isinstance(value, list):
            return [self._with_names(below, nonce, marks) for below in value]
        if not isinstance(value, Masked):
            return value
        instead = ""
        for piece in value.pieces:
            if isinstance(piece, Secret):
                name = f"{nonce}{len(marks):06}"
                marks[f'"{name}"' if value.whole else name] = self._mark(piece)
                instead += name
            else:
                instead += piece
        return instead

    def _mark(self, secret: Secret) -> str:
        self.masked += 1
        return secret.mark()
