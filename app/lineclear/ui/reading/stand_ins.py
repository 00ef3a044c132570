"""What stands for secrets in a text that is edited: kept as it is, the secret itself is given."""

from __future__ import annotations

import re
import secrets as randomness
from collections.abc import Iterable
from dataclasses import replace

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import reveal, visible
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.secrets.masking import DOTS, Masked, Path, Secret, at, mask, places
from lineclear.language import _

_STAND_IN = re.compile(f"\u27e6{DOTS}[^\u27e7]*\u27e7")
_TOKEN = re.compile("\u27e6U\\+[0-9A-F]{4,6}\u27e7")


def editable(arguments: Json) -> str:
    """Arguments as text to edit: serde's own layout, odd characters as tokens."""
    text = jsontext.pretty(arguments, max_depth=jsontext.MAX_DEPTH_IN).decode("utf-8")
    return "\n".join(visible(line).text for line in text.split("\n"))


def parsed(text: str) -> Json:
    """Read edited text as strictly as a file; raises Unreadable or another LineclearError."""
    return jsontext.parse_value(reveal(text))


class StandIns:
    """The secrets of some arguments, each with a mark that no argument can imitate.

    A mark is `\u27e6`, dots, how long the secret is and its number; these brackets in a text of an
    agent are tokens themselves.
    """

    def __init__(self, arguments: Json) -> None:
        self._arguments = arguments
        self._masked = dict(places(mask(arguments)))
        self._marks: dict[Path, list[str]] = {}
        self._kept: dict[str, str] = {}
        """By mark: JSON of the secret, without the quotes of a text."""
        for path, text in self._masked.items():
            self._marks[path] = list(self._numbered(path, text))

    def _numbered(self, path: Path, text: Masked) -> Iterable[str]:
        value = at(self._arguments, path)
        start = 0
        for piece in text.pieces:
            if not isinstance(piece, Secret):
                start += len(piece)
                continue
            said = replace(piece, same=False).text(tokens=False)
            made = f"\u27e6{said} \u00b7 {len(self._kept) + 1}\u27e7"
            if isinstance(value, str):
                part = value[start : start + piece.length]
                self._kept[made] = _json(part)[1:-1]
                start += piece.length
            else:
                self._kept[made] = _json(value)
            yield made

    def __bool__(self) -> bool:
        return bool(self._masked)

    def places(self) -> list[tuple[Path, Masked]]:
        """Where something is masked, in its order."""
        return list(self._masked.items())

    def kept(self, value: Json) -> list[Path]:
        """Where VALUE has the same secrets as the arguments."""
        return [path for path in self._masked if _equal(at(value, path), at(self._arguments, path))]

    def text(self, value: Json, shown: frozenset[Path] = frozenset()) -> str:
        """Give VALUE as text to edit, marks for its secrets but for those at places SHOWN."""
        nonce = randomness.token_hex(16)
        made: dict[str, str] = {}
        for path in self.kept(value):
            if path in shown:
                continue
            before = at(value, path)
            marks = iter(self._marks[path])
            instead = ""
            for piece in self._masked[path].pieces:
                if isinstance(piece, Secret):
                    name = f"{nonce}{len(made):06}"
                    made[name if isinstance(before, str) else f'"{name}"'] = next(marks)
                    instead += name
                else:
                    instead += piece
            value = _with(value, path, instead)
        text = editable(value)
        if not made:
            return text
        names = re.compile("|".join(sorted(map(re.escape, made), key=len, reverse=True)))
        return names.sub(lambda found: made[found.group()], text)

    def marks(self, text: str) -> int:
        """Count the marks in a text."""
        return sum(text.count(mark) for mark in self._kept)

    def needed(self, value: Json) -> int:
        """Count the marks that VALUE as text would hold, without making it."""
        return sum(len(self._marks[path]) for path in self.kept(value))

    def opened(self, text: str, path: Path) -> str:
        """Give TEXT with the secrets of one place in the place of their marks."""
        for made in self._marks.get(path, ()):
            text = text.replace(made, visible(self._kept[made]).text)
        return text

    def value(self, text: str) -> Json:
        """Read edited text, secrets for their marks; raises what `parsed` does.

        Unreadable (`masked`): a mark was changed, so nobody knows what should stand there.
        """
        if not self._kept:
            return parsed(text)
        pieces: list[str] = []
        start = 0
        for found in _STAND_IN.finditer(text):
            kept = self._kept.get(found.group())
            if kept is None:
                raise _damaged()
            pieces += (_own(text[start : found.start()]), kept)
            start = found.end()
        pieces.append(_own(text[start:]))
        return jsontext.parse_value("".join(pieces))


def _own(text: str) -> str:
    """What the operator wrote between two marks."""
    bare = _TOKEN.sub("", text)
    if DOTS in bare and ("\u27e6" in bare or "\u27e7" in bare):
        raise _damaged()
    return reveal(text)


def _damaged() -> Unreadable:
    return Unreadable(
        "masked",
        _(
            "A mark that stands for a secret was changed. Undo that, show the value, or write"
            " another one in the place of the whole mark."
        ),
    )


def _json(value: Json) -> str:
    return jsontext.compact(value, max_depth=jsontext.MAX_DEPTH_IN).decode("utf-8")


def _equal(one: Json, other: Json) -> bool:
    if one is MISSING or other is MISSING or type(one) is not type(other):
        return False
    return _json(one) == _json(other)


def _with(value: Json, path: Path, instead: Json) -> Json:
    """Give VALUE with something else at one place; what is not on the way stays the same."""
    if not path:
        return instead
    key, *rest = path
    if isinstance(value, dict):
        return {k: _with(v, tuple(rest), instead) if k == key else v for k, v in value.items()}
    assert isinstance(value, list)
    return [_with(v, tuple(rest), instead) if n == key else v for n, v in enumerate(value)]
