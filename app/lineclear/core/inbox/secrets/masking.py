"""Secrets taken out of what is shown: by the name of their key, and by what they look like.

Only what is shown is masked. A decision is bound to the exact bytes, and whoever reads may look at
each value. What cannot be a credential (a command, a path, an address, several lines, a long text)
is masked only under the very name of one, and what hides within a secret is told beside its mask.
What could be read as anything else than a secret has to be shown before a call is approved: see
`Masked.may_stay`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Self

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters import scripts
from lineclear.core.checkpoints.characters.text import token, visible_line
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.secrets.names import Kind, is_plain_credential, key_kind
from lineclear.core.inbox.secrets.patterns import is_reference, looks_like_credential, spans
from lineclear.core.inbox.secrets.readable import LONGEST, looks_random

DOTS: Final = "\u2022\u2022\u2022\u2022"
_MOST_ODD: Final = 8
_LINE_AT_MOST: Final = 20_000
"""Characters of a line that are searched; far more than are shown of it."""
_TOKEN: Final = re.compile("\u27e6U\\+[0-9A-F]+\u27e7")
_NAME_KEYS: Final = frozenset({"name", "key", "header", "field", "variable"})
_VALUE_KEYS: Final = frozenset({"value", "val", "content", "data"})
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

    def mark(self) -> str:
        """Give what stands for it in an escaped text, and tokens of what hides in it.

        No text can imitate it: there these brackets are tokens themselves.
        """
        return f"\u27e6{replace(self, odd=()).text()}\u27e7{''.join(self.odd)}"


_NO_BRACKETS: Final = {0x27E6: "", 0x27E7: ""}


class Masked(str):
    """A text, or a number, without its secrets; as a text it may be shown to anybody."""

    __slots__ = ("may_stay", "pieces")

    pieces: tuple[str | Secret, ...]
    """The text in its order, with what stands for each secret."""
    may_stay: bool
    """A call may be approved without this being shown: a whole value under a plain credential's
    name that looks random, or that the last approved call had too."""

    def __new__(cls, pieces: Iterable[str | Secret], *, may_stay: bool = False) -> Self:
        """Put PIECES together."""
        parts = tuple(pieces)
        made = super().__new__(
            cls,
            "".join(part if isinstance(part, str) else part.text(tokens=False) for part in parts),
        )
        made.pieces = parts
        made.may_stay = may_stay and made.whole
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
    return _Masking(shown, widely=False).mask(arguments, last, _NOTHING, ())


def mask_for_record(arguments: Json) -> Json:
    """Give ARGUMENTS as `mask` does, for records and lists: nobody decides on what they show.

    So what may be any password, `PGPASSWORD=hunter2` in a command, is masked there too, all that
    stands under a credential's name, and what is a secret within a key.
    """
    if arguments is MISSING:
        return arguments
    return _Masking(frozenset(), widely=True).mask(arguments, MISSING, _NOTHING, ())


def mask_text(text: str, known: Iterable[str] = (), *, widely: bool = False) -> str:
    """Give TEXT, `Masked` where it holds secrets by their look, or one that is KNOWN."""
    found = list(spans(text, widely=widely))
    for secret in known:
        start = text.find(secret) if secret else -1
        while start >= 0:
            found.append((start, start + len(secret)))
            start = text.find(secret, start + len(secret))
    return _cut(text, found)


def masked_text(text: str) -> str:
    """Give TEXT as a record may hold it, as a plain text."""
    return str(mask_text(text, widely=True))


@lru_cache(maxsize=4096)
def masked_line(text: str, limit: int = 0) -> str:
    """Give a name or what somebody said on one line as `visible_line` does, without its secrets.

    Of a very long one no more is looked through than its two ends.
    """
    if limit > 0 and len(text) > _LINE_AT_MOST:
        text = f"{text[: _LINE_AT_MOST // 2]}\u2026{text[-_LINE_AT_MOST // 2 :]}"
    return visible_line(masked_text(text), limit)


def masked_json(arguments: Json) -> str:
    """Give ARGUMENTS without their secrets as compact JSON, for records and exports."""
    deepest = jsontext.MAX_DEPTH_IN
    return jsontext.compact(mask_for_record(arguments), max_depth=deepest).decode("utf-8")


def places(masked: Json) -> Iterator[tuple[Path, Masked]]:
    """Give the place of each masked text in what `mask` gave."""
    stack: list[tuple[Path, Json]] = [((), masked)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, Masked):
            yield path, value
        elif isinstance(value, dict):
            stack.extend(
                ((*path, key), below)
                for key, below in reversed(value.items())
                if isinstance(below, _MAY_HOLD)
            )
        elif isinstance(value, list):
            stack.extend(
                ((*path, n), value[n])
                for n in range(len(value) - 1, -1, -1)
                if isinstance(value[n], _MAY_HOLD)
            )


def waiting(masked: Json) -> list[Path]:
    """Give the places in what `mask` gave that must be shown before an approval."""
    return [path for path, text in places(masked) if not text.may_stay]


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


_MAY_HOLD: Final = (Masked, dict, list)


# --- Walking ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Named:
    """What its key says of a value."""

    kind: Kind
    plain: bool = False
    """It is a plain credential's name."""
    exact: bool = False
    """It is the key's own name, and such a one."""


_NOTHING: Final = _Named(Kind.NONE)


@dataclass(frozen=True, slots=True)
class _Masking:
    shown: frozenset[Path]
    widely: bool

    def mask(self, value: Json, last: Json, named: _Named, path: Path) -> Json:
        if isinstance(value, dict):
            names = _names(value, named.kind)
            masked_dict = {
                key: self.mask(below, at(last, (key,)), names[key], (*path, key))
                for key, below in value.items()
            }
            changed = any(masked_dict[key] is not below for key, below in value.items())
            if self.widely and any(next(spans(key), None) for key in value):
                return _with_masked_keys(masked_dict)
            return masked_dict if changed else value
        if isinstance(value, list):
            masked = [
                below
                if named.kind is Kind.NONE and _is_bare(value, n)
                else self.mask(below, at(last, (n,)), _in_list(value, n, named.kind), (*path, n))
                for n, below in enumerate(value)
            ]
            return masked if any(a is not b for a, b in zip(masked, value, strict=True)) else value
        if path in self.shown or value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _with_same(self._text(value, named), value, last, named)
        if named.kind is Kind.PASSWORD or (
            (self.widely or named.exact) and named.kind in _CREDENTIALS
        ):
            text = jsontext.compact(value).decode()
            return _with_same(Masked([Secret(len(text), unit="digit")]), value, last, named)
        return value

    def _text(self, text: str, named: _Named) -> str:
        if self.widely and named.kind in _CREDENTIALS and text and not is_reference(text):
            # Whatever it looks like: nobody decides on what a record shows.
            return Masked([_secret(text)])
        if (named.kind in _CREDENTIALS and looks_like_credential(text, named.kind)) or (
            named.kind in (Kind.MAYBE, Kind.HELD, Kind.HOLDER) and looks_random(text)
        ):
            bare = _SCHEME.sub("", text) if named.kind is Kind.AUTHORIZATION else text
            return Masked([_secret(text)], may_stay=named.plain and looks_random(bare))
        if named.exact and named.kind in _CREDENTIALS and _may_be_password(text):
            # A password may hold any sign; what else it could do is seen before it is approved.
            return Masked([_secret(text)])
        return _cut(text, list(spans(text, widely=self.widely)))


_CREDENTIALS: Final = (Kind.SECRET, Kind.PASSWORD, Kind.AUTHORIZATION, Kind.COOKIE)
_WITHIN: Final = {Kind.HOLDER: Kind.HELD, Kind.HELD: Kind.HELD}
_SCHEME: Final = re.compile(r"^(?:bearer|basic)\s+", re.IGNORECASE)


def _may_be_password(text: str) -> bool:
    """Tell whether a text can be a password at all, whatever signs are in it."""
    return (
        0 < len(text) <= LONGEST
        and "\n" not in text
        and "://" not in text
        and not is_reference(text)
    )


def _with_masked_keys(value: dict[str, Json]) -> dict[str, Json]:
    """Cut secrets out of keys too, as many and in the order as they are."""
    found: dict[str, Json] = {}
    for key, below in value.items():
        shown = str(mask_text(key))
        while shown in found:
            shown += "'"
        found[shown] = below
    return found


def _names(value: dict[str, Json], within: Kind) -> dict[str, _Named]:
    """Tell of each key what its value is, WITHIN something of a kind itself."""
    names = {key: _Named(key_kind(key), plain := is_plain_credential(key), plain) for key in value}
    beside = [key for key in value if key.lower() in _VALUE_KEYS]
    if beside and (named := _named_beside(value)).kind is not Kind.NONE:
        names |= dict.fromkeys(beside, named)
    inner = _WITHIN.get(within, within if within in _CREDENTIALS else Kind.NONE)
    if inner is not Kind.NONE:
        names = {key: _Named(inner) if of.kind is Kind.NONE else of for key, of in names.items()}
    return names


def _named_beside(value: dict[str, Json]) -> _Named:
    """Tell of `{"name": "API_KEY", "value": ...}`, as containers and headers are given."""
    for key, name in value.items():
        if key.lower() in _NAME_KEYS and isinstance(name, str):
            kind = key_kind(name)
            if kind is not Kind.NONE:
                return _Named(kind, is_plain_credential(name))
    return _NOTHING


def _is_bare(value: list[Json], place: int) -> bool:
    """Tell whether an item is a number, or less, that no text before it can name."""
    holds = (str, dict, list)
    return not (isinstance(value[place], holds) or (place and isinstance(value[place - 1], str)))


def _in_list(value: list[Json], place: int, kind: Kind) -> _Named:
    """Tell of an item: what stands after `--password`, or the second of a pair."""
    before = value[place - 1] if place else None
    if isinstance(before, str) and len(before) < 80:
        option = before.startswith("-") and "=" not in before
        if option or (len(value) == 2 and place == 1):
            named = key_kind(before.lstrip("-"))
            if named is not Kind.NONE:
                return _Named(named)
    return _Named(_WITHIN.get(kind, kind))


def _with_same(masked: Json, value: Json, last: Json, named: _Named) -> Json:
    if not isinstance(masked, Masked) or last is MISSING or not _equal(value, last):
        return masked
    pieces = [replace(one, same=True) if isinstance(one, Secret) else one for one in masked.pieces]
    return Masked(pieces, may_stay=masked.may_stay or named.plain)


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
