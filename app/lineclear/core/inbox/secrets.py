"""Secrets taken out of what is shown: by the name of their key, and by what they look like.

Only what is shown is masked. A decision is bound to the exact bytes, and whoever reads may look at
each value. What cannot be a credential (a command, several lines, a long text) is never masked, so
that nobody approves it unseen, and what hides within a secret is told beside its mask.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Self

from lineclear.core.checkpoints import jsontext, scripts
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import token, visible_line
from lineclear.core.inbox.secret_patterns import (
    Kind,
    key_kind,
    looks_like_credential,
    looks_random,
    spans,
)

DOTS: Final = "\u2022\u2022\u2022\u2022"
_MOST_ODD: Final = 8
_TOKEN: Final = re.compile("\u27e6U\\+[0-9A-F]+\u27e7")
_NAME_KEYS: Final = ("name", "key", "header")
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Secret:
    """What stands for one secret."""

    length: int
    odd: tuple[str, ...] = ()
    """Tokens of the characters in it that hide, reorder or look like others, each once."""
    unit: str = "character"
    same: bool = False
    """The last approved call of this tool by this agent had the same one here."""

    def text(self, *, tokens: bool = True) -> str:
        """Say what is masked: `•••• 40 characters, same as last approved`."""
        said = f"{DOTS} {self.length} {self.unit}{'' if self.length == 1 else 's'}"
        if self.same:
            said += ", same as last approved"
        if self.odd:
            odd = " ".join(self.odd)
            said += f", holds {odd if tokens else odd.translate(_NO_BRACKETS)}"
        return said


_NO_BRACKETS: Final = {0x27E6: "", 0x27E7: ""}


class Masked(str):
    """A text, or a number, without its secrets; as a text it may be shown to anybody."""

    __slots__ = ("pieces",)

    pieces: tuple[str | Secret, ...]
    """The text in its order, with what stands for each secret."""

    def __new__(cls, pieces: Iterable[str | Secret]) -> Self:
        """Put PIECES together."""
        parts = tuple(pieces)
        made = super().__new__(
            cls,
            "".join(part if isinstance(part, str) else part.text(tokens=False) for part in parts),
        )
        made.pieces = parts
        return made

    @property
    def whole(self) -> bool:
        """Whether nothing but a secret stood here."""
        return len(self.pieces) == 1 and isinstance(self.pieces[0], Secret)


def mask(arguments: Json, *, shown: frozenset[Path] = frozenset(), last: Json = MISSING) -> Json:
    """Give ARGUMENTS with `Masked` in the place of each text or number that holds a secret.

    Places in SHOWN stay as they are. LAST are the arguments approved last: of a value that equals
    the one there, `same` is said. What holds no secret is the same object as before.
    """
    if arguments is MISSING:
        return arguments
    return _mask(arguments, last, Kind.NONE, (), shown)


def mask_text(text: str, known: Iterable[str] = ()) -> str:
    """Give TEXT, `Masked` where it holds secrets by their look, or one that is KNOWN."""
    found = list(spans(text))
    for secret in known:
        start = text.find(secret) if secret else -1
        while start >= 0:
            found.append((start, start + len(secret)))
            start = text.find(secret, start + len(secret))
    return _cut(text, found)


def masked_text(text: str) -> str:
    """Give TEXT as it may be shown to anybody, as a plain text."""
    return str(mask_text(text))


def masked_json(arguments: Json) -> str:
    """Give ARGUMENTS without their secrets as compact JSON, for records and exports."""
    deepest = jsontext.MAX_DEPTH_IN
    return jsontext.compact(mask(arguments), max_depth=deepest).decode("utf-8")


def places(masked: Json) -> Iterator[tuple[Path, Masked]]:
    """Give the place of each masked text in what `mask` gave."""
    stack: list[tuple[Path, Json]] = [((), masked)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, Masked):
            yield path, value
        elif isinstance(value, dict):
            stack.extend(((*path, key), below) for key, below in reversed(value.items()))
        elif isinstance(value, list):
            stack.extend(((*path, n), value[n]) for n in range(len(value) - 1, -1, -1))


def at(arguments: Json, path: Path) -> Json:
    """Give what stands at PATH, MISSING where there is no such place."""
    for key in path:
        if isinstance(arguments, dict):
            arguments = arguments.get(key, MISSING)
        elif isinstance(arguments, list) and isinstance(key, int) and key < len(arguments):
            arguments = arguments[key]
        else:
            return MISSING
    return arguments


# --- Walking ------------------------------------------------------------------------------------


def _mask(value: Json, last: Json, kind: Kind, path: Path, shown: frozenset[Path]) -> Json:
    if isinstance(value, dict):
        kinds = _kinds(value, kind)
        masked_dict = {
            key: _mask(below, at(last, (key,)), kinds[key], (*path, key), shown)
            for key, below in value.items()
        }
        changed = any(masked_dict[key] is not below for key, below in value.items())
        return masked_dict if changed else value
    if isinstance(value, list):
        masked = [
            _mask(below, at(last, (n,)), _in_list(value, n, kind), (*path, n), shown)
            for n, below in enumerate(value)
        ]
        return masked if any(a is not b for a, b in zip(masked, value, strict=True)) else value
    if path in shown or value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _with_same(_masked_string(value, kind), value, last)
    if kind is Kind.PASSWORD:
        text = jsontext.compact(value).decode()
        return _with_same(Masked([Secret(len(text), unit="digit")]), value, last)
    return value


def _kinds(value: dict[str, Json], within: Kind) -> dict[str, Kind]:
    """Tell of each key what its value is, WITHIN something of a kind itself."""
    named = _named_kind(value)
    kinds = {key: key_kind(key) for key in value}
    if named is not Kind.NONE:
        kinds["value"] = named
    if within is Kind.HOLDER:
        kinds = {key: Kind.HELD if of is Kind.NONE else of for key, of in kinds.items()}
    return kinds


def _named_kind(value: dict[str, Json]) -> Kind:
    """Tell of `{"name": "API_KEY", "value": ...}`, as containers and headers are given."""
    if "value" not in value:
        return Kind.NONE
    names = (value.get(key) for key in _NAME_KEYS)
    kinds = (key_kind(name) for name in names if isinstance(name, str))
    return next((kind for kind in kinds if kind is not Kind.NONE), Kind.NONE)


def _in_list(value: list[Json], place: int, kind: Kind) -> Kind:
    """Tell of an item: what stands after `--password`, or the second of a pair."""
    before = value[place - 1] if place else None
    if isinstance(before, str) and len(before) < 80:
        option = before.startswith("-") and "=" not in before
        if option or (len(value) == 2 and place == 1):
            named = key_kind(before.lstrip("-"))
            if named is not Kind.NONE:
                return named
    return Kind.HELD if kind is Kind.HOLDER else kind


def _masked_string(text: str, kind: Kind) -> str:
    if (
        kind in (Kind.SECRET, Kind.PASSWORD, Kind.COOKIE) and looks_like_credential(text, kind)
    ) or (kind in (Kind.MAYBE, Kind.HELD, Kind.HOLDER) and looks_random(text)):
        return Masked([_secret(text)])
    return _cut(text, list(spans(text)))


def _with_same(masked: Json, value: Json, last: Json) -> Json:
    if not isinstance(masked, Masked) or last is MISSING or not _equal(value, last):
        return masked
    return Masked(
        replace(piece, same=True) if isinstance(piece, Secret) else piece for piece in masked.pieces
    )


def _equal(one: Json, other: Json) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, str):
        return _digest(one) == _digest(other)
    return bool(jsontext.compact(one) == jsontext.compact(other))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


# --- Cutting out --------------------------------------------------------------------------------


def _cut(text: str, found: list[tuple[int, int]]) -> str:
    if not found:
        return text
    pieces: list[str | Secret] = []
    done = 0
    for start, end in _joined(found):
        if start > done:
            pieces.append(text[done:start])
        pieces.append(_secret(text[start:end]))
        done = end
    if done < len(text):
        pieces.append(text[done:])
    return Masked(pieces)


def _joined(found: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    found.sort()
    start, end = found[0]
    for first, last in found[1:]:
        if first < end:
            end = max(end, last)
        else:
            yield start, end
            start, end = first, last
    yield start, end


def _secret(text: str) -> Secret:
    if text.isascii() and text.isprintable():
        return Secret(len(text))
    odd = dict.fromkeys(_TOKEN.findall(visible_line(text)))
    if scripts.mixes_in_word(text):
        odd |= dict.fromkeys(token(c) for c in text if not c.isascii() and c.isalpha())
    return Secret(len(text), tuple(odd)[:_MOST_ODD])
