"""Which of a column's values stand out from the others: rare ones, and ones that are far off."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

from lineclear.core.checkpoints.model import Json

USUAL_SHARE: Final = 0.75
"""The rest is usual, and a rare value stands out, where this much of a column repeats itself."""
RARE_SHARE: Final = 0.1
FENCE: Final = 1.5
"""Quartile ranges beyond the quartiles where a number stands out (Tukey's fences)."""
FAR: Final = 3.0
"""The same for the length of a text, which varies more."""
SAME: Final = 2.0
"""Medians beyond the quartiles where a number stands out of numbers that are mostly the same."""
LENGTH_LEAST: Final = 8
"""Characters that a text is longer or shorter than the usual ones at the least."""
AT_LEAST: Final = 5
"""Numbers, or texts, of which one can stand out by more than being rare."""


def rare(values: Sequence[Hashable]) -> set[int]:
    """Give the places of rare values in a column that repeats itself otherwise."""
    counts = Counter(values)
    most = max(1, RARE_SHARE * len(values))
    few = {place for place, value in enumerate(values) if counts[value] <= most}
    return few if len(values) - len(few) >= USUAL_SHARE * len(values) else set()


def far_off(values: Sequence[Json]) -> set[int]:
    """Give the places of values far from the others: as numbers, else by what texts are like.

    A text that is written as a number is one. Where its comma may be either a decimal one or one
    of thousands, it is far off if it is so read either way.
    """
    found: set[int] = set()
    numeric: set[int] = set()
    for decimal in ".,":
        numbers = [_number(value, decimal) for value in values]
        known = [number for number in numbers if number is not None]
        numeric.update(place for place, number in enumerate(numbers) if number is not None)
        if len(known) < max(AT_LEAST, USUAL_SHARE * len(values)):
            continue
        low, high = _fences(known, FENCE, least=SAME)
        # What is no number, or not given, is far from numbers.
        found.update(
            place
            for place, number in enumerate(numbers)
            if number is None or not low <= number <= high
        )
    for places, trait in ((numeric, _unit), (set(range(len(values))) - numeric, None)):
        texts = {place: text for place in sorted(places) if isinstance(text := values[place], str)}
        if len(texts) >= AT_LEAST:
            found.update(_unlike(texts, (trait,)) if trait else _strange(texts))
    return found


# --- Numbers --------------------------------------------------------------------------------------

_MONEY: Final = r"[$\u20ac\u00a3\u00a5\u20b9]"
_AMOUNT: Final = re.compile(
    rf"(?P<sign>[-+\u2212]?)(?P<before>(?:[A-Z]{{3}}|{_MONEY})?)[ \u00a0]?(?P<minus>[-+\u2212]?)"
    r"(?P<digits>[0-9.,][0-9.,'_ \u00a0\u202f]*(?:[eE][-+]?[0-9]{1,3})?)"
    rf"[ \u00a0]?(?P<after>(?:%|[A-Za-z]{{1,3}}|{_MONEY})?)"
)
_GROUPS: Final = "'_ \u00a0\u202f"


def _digits(decimal: str) -> re.Pattern[str]:
    thousands = "," if decimal == "." else "."
    point = re.escape(decimal)
    return re.compile(
        rf"[0-9]{{1,3}}([{re.escape(thousands)}{_GROUPS}])[0-9]{{3}}(?:\1[0-9]{{3}})*(?:{point}[0-9]+)?"
        rf"|(?:[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][-+]?[0-9]{{1,3}})?"
    )


_WRITTEN: Final = {decimal: _digits(decimal) for decimal in ".,"}


def _number(value: Json, decimal: str) -> float | None:
    """Read a number, whose decimal sign is DECIMAL unless it can only be the other one."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    amount = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    if amount is None:
        return None
    digits = amount["digits"].strip()
    for sign in (decimal, "," if decimal == "." else "."):
        if _WRITTEN[sign].fullmatch(digits):
            thousands = "," if sign == "." else "."
            plain = re.sub(rf"[{thousands}{_GROUPS}]", "", digits).replace(sign, ".")
            minus = {amount["sign"], amount["minus"]} & {"-", "\u2212"}
            return -float(plain) if minus else float(plain)
    return None


def _unit(text: str) -> Hashable:
    """In what an amount is: its currency or its measure."""
    amount = _AMOUNT.fullmatch(text.strip())
    return None if amount is None else (amount["before"], amount["after"])


def _fences(numbers: Sequence[float], reach: float, *, least: float) -> tuple[float, float]:
    """Give the least and the greatest number that is not far off.

    REACH: in quartile ranges; LEAST: in medians, where the quartiles are the same.
    """
    ordered = sorted(number for number in numbers if math.isfinite(number))
    if not ordered:
        return -math.inf, math.inf
    last = len(ordered) - 1
    first, median, third = (_between(ordered, last * share) for share in (0.25, 0.5, 0.75))
    away = reach * (third - first) or least * abs(median)
    return first - away, third + away


def _between(ordered: list[float], place: float) -> float:
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


# --- Texts ----------------------------------------------------------------------------------------

Trait = Callable[[str], Hashable]

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#\\\s]*@)?([^/?#:\\\s]+)")
_MAIL: Final = re.compile(r"[^\s@]+@([^\s@<>]+)>?")
_FOR_A_SHELL: Final = re.compile(r"[;|&<>$`]")


def _scheme(text: str) -> Hashable:
    found = _URL.match(text)
    return None if found is None else found[1].lower()


def _host(text: str) -> Hashable:
    found = _URL.match(text)
    if found is not None:
        return found[2].lower()
    mail = _MAIL.search(text)
    return None if mail is None else mail[1].lower()


def _site(text: str) -> Hashable:
    host = _host(text)
    return ".".join(host.split(".")[-2:]) if isinstance(host, str) else None


def _alphabets(text: str) -> Hashable:
    """In which alphabets its letters are."""
    if text.isascii():
        return frozenset(("LATIN",)) if any(map(str.isalpha, text)) else frozenset()
    return frozenset(
        unicodedata.name(one, "?").split(" ", 1)[0] for one in set(text) if one.isalpha()
    )


def _program(text: str) -> Hashable:
    """The first of several words: of a command its program."""
    words = text.split(None, 1)
    return words[0] if len(words) > 1 else None


def _shell(text: str) -> Hashable:
    """Whether it holds a character that a shell acts on."""
    return _FOR_A_SHELL.search(text) is not None


_TRAITS: Final[tuple[Trait, ...]] = (_scheme, _host, _site, _alphabets, _program, _shell)


def _strange(texts: dict[int, str]) -> set[int]:
    return _unlike(texts, _TRAITS) | _of_other_length(texts) | _outside(texts)


def _unlike(texts: dict[int, str], traits: Sequence[Trait]) -> set[int]:
    """Give the places of texts with a rare trait."""
    places = list(texts)
    return {places[one] for trait in traits for one in rare([trait(t) for t in texts.values()])}


def _of_other_length(texts: dict[int, str]) -> set[int]:
    lengths = [float(len(text)) for text in texts.values()]
    low, high = _fences(lengths, FAR, least=0.5)
    middle = _between(sorted(lengths), (len(lengths) - 1) / 2)
    return {
        place
        for place, length in zip(texts, lengths, strict=True)
        if not low <= length <= high and abs(length - middle) >= LENGTH_LEAST
    }


def _outside(texts: dict[int, str]) -> set[int]:
    """Give the places of paths outside the folder that the others are all in."""
    inside = {
        place: PurePosixPath(normpath(text.replace("\\", "/"))).parts
        for place, text in texts.items()
        if "://" not in text and ("/" in text or "\\" in text)
    }
    if len(inside) < max(AT_LEAST, USUAL_SHARE * len(texts)):
        return set()
    found: set[int] = set()
    depth = 0
    while len(inside) >= AT_LEAST:
        parts = [way[depth] if depth < len(way) - 1 else None for way in inside.values()]
        (usual, often), *_rest = Counter(parts).most_common(1)
        if usual is None or often < USUAL_SHARE * len(parts):
            break
        places = list(inside)
        found.update(places[one] for one in rare(parts))
        inside = {
            place: way
            for (place, way), part in zip(inside.items(), parts, strict=True)
            if part == usual
        }
        depth += 1
    return found
