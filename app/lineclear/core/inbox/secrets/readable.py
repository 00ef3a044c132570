"""What a value can be read as besides a credential: a path, an address, a command, plain words.

Whoever masks such a value hides what a call does. So nothing that names a place or runs something
is a credential, and what is made of words is none that may stay masked while a call is approved.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

LONGEST: Final = 4_096
"""Characters of a credential; what is longer is shown."""
_PATH: Final = re.compile(r"[/~.\\]|[A-Za-z]:[/\\]")
_UPWARDS: Final = re.compile(
    r"(?:^|[/\\:=])\.\.(?:[/\\]|$)|[/\\]\.(?:[/\\]|$)|\.\.%2f", re.IGNORECASE
)
_ADDRESS: Final = re.compile(
    r".*://.*"
    r"|[^\s@]{1,200}@[\w-]{1,63}(?:\.[\w-]{1,63})+(?:[:/?#].*)?"  # mail, or user@host
    r"|[\w.-]{1,253}:\d{1,5}(?:[/?#].*)?"  # host:port
    r"|(?:\d{1,3}\.){3}\d{1,3}(?:[:/?#].*)?"
    r"|(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,20}[a-z]{2,12}(?:[:/?#].*)?",  # a host's name
    re.IGNORECASE,
)
_RUNS: Final = ("\n", "\r", "$(", "${", "`", "%2f%2e", "/*")
"""In none of these is a credential: they make lines, run something, or comment a query."""
_SHELL: Final = frozenset("|;&<>$(){}[]\\\"'")
_VARIABLE: Final = re.compile(r"%\w+%")
_SQL: Final = re.compile(
    r"(?<![a-z])(?:select|union|insert|update|delete|drop|alter|truncate|grant|exec)(?![a-z])",
    re.IGNORECASE,
)
_RANDOM: Final = re.compile(r"[A-Za-z0-9+/=_.~-]+")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX: Final = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_UNBROKEN: Final = re.compile(r"[A-Za-z0-9]{10}")
"""Keys have such runs; a list of short words, `rm-rf-x1-y2`, has none."""
_WORD: Final = re.compile(r"[a-z]{4,}|[A-Z][a-z]{3,}|[A-Z]{4,}")
_LEAST_RANDOM: Final = 20
_LEAST_BITS: Final = 3.3
"""Bits per character: hexadecimal digits have up to 4, words and paths seldom 3.3 with digits."""
_LEAST_IN_TEXT: Final = 8
_LEAST_BITS_IN_TEXT: Final = 2.5
_MOST_WORDS: Final = 0.4
"""Of the characters: so many may stand in what could be words."""


def names_a_place(text: str) -> bool:
    """Tell whether a value can be a path or an address: of a file, a person, a host or a page."""
    return _UPWARDS.search(text) is not None or any(
        _PATH.match(part) or _ADDRESS.fullmatch(part) for part in (text, *text.split("=")[1:])
    )


def runs_something(text: str) -> bool:
    """Tell whether a shell or a database would read more than one plain word."""
    return (
        any(sign in text for sign in _RUNS)
        or not _SHELL.isdisjoint(text)
        or len(text.split()) != 1
        or text != text.strip()
        or _VARIABLE.search(text) is not None
        or _SQL.search(text) is not None
    )


def looks_random(text: str) -> bool:
    """Tell whether a value is long, without blanks, as irregular as keys are, and no place."""
    return (
        not _UUID.fullmatch(text)
        and _UNBROKEN.search(text) is not None
        and _is_random(text, _LEAST_RANDOM, _LEAST_BITS)
    )


def random_in_text(text: str) -> bool:
    """Tell whether what stands within a text is irregular enough to be a credential there."""
    return _is_random(text, _LEAST_IN_TEXT, _LEAST_BITS_IN_TEXT)


def _is_random(text: str, least: int, least_bits: float) -> bool:
    if not least <= len(text) <= LONGEST or not _RANDOM.fullmatch(text):
        return False
    if not any(c.isdigit() for c in text) or not any(c.isalpha() for c in text):
        return False
    if names_a_place(text) or runs_something(text) or made_of_words(text):
        return False
    count = Counter(text)
    bits = -sum(n / len(text) * math.log2(n / len(text)) for n in count.values())
    return bits >= least_bits


def made_of_words(text: str) -> bool:
    """Tell whether much of a value can be read as words, of any language."""
    if _HEX.fullmatch(text):
        return False
    words = [word for word in _WORD.findall(text) if not _HEX.fullmatch(word)]
    return sum(map(len, words)) > _MOST_WORDS * len(text)
