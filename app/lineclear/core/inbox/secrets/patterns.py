"""How a secret is told by its value: shapes of tokens, keys and passwords in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from lineclear.core.inbox.secrets.names import Kind, key_kind
from lineclear.core.inbox.secrets.places import placed
from lineclear.core.inbox.secrets.readable import (
    LONGEST,
    looks_random,
    made_of_words,
    names_a_place,
    random_in_text,
    runs_something,
)

_WINDOW: Final = 1 << 16
"""Characters searched in one go: other threads run between two of them, but not during one."""
_OVERLAP: Final = 1 << 12
"""More than the longest thing that one pattern matches."""
_SHORT: Final = 200
"""Characters of a text that is kept with what was found: a conversation repeats such ones."""


# --- By the value -------------------------------------------------------------------------------

_PLACEHOLDER: Final = re.compile(
    r"\$\{?\w+\}?|\$?\{\{[^{}]*\}\}|<[\w .-]+>|%\(?\w+\)?s?|\*+|x{3,}|\.{3}|env:\w+"
    r"|null|none|true|false|undefined|redacted",
    re.IGNORECASE,
)
_COOKIE: Final = re.compile(r"\s?[\w!#%*+.^~-]{1,200}=([\w!#%*+./:=?@^~,-]{0,4000})\s?")
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|apikey)\s+", re.IGNORECASE)


def is_reference(text: str) -> bool:
    """Tell whether a text stands for a secret that is elsewhere: `$TOKEN`, `<your token>`."""
    return _PLACEHOLDER.fullmatch(text) is not None


def looks_like_credential(text: str, kind: Kind) -> bool:
    """Tell whether a value under a secret's name can be one: no command, place, text, reference.

    What a shell or a database would read as more than a word is shown, and so is what names a file,
    a person or a host, so that nothing that a call does hides behind a name.
    """
    if not text or len(text) > LONGEST or is_reference(text):
        return False
    if kind is Kind.COOKIE:
        parts = [_COOKIE.fullmatch(part) for part in text.split(";")]
        if all(part is not None and _can_be_one(part[1] or "-") for part in parts):
            return True
    scheme = _SCHEME.match(text)
    if scheme is not None:
        bare = text[scheme.end() :]
        # A word before it is a scheme in a header; elsewhere it is a word of a command.
        return _can_be_one(bare) and (kind is Kind.AUTHORIZATION or looks_random(bare))
    return _can_be_one(text)


def _can_be_one(text: str) -> bool:
    return not names_a_place(text) and not runs_something(text)


# --- In a text ----------------------------------------------------------------------------------

# Every repetition is bounded and no two of them can take the same characters in turn: a hostile
# text costs no more than a plain one.
_BEGINS: Final = "(?<![A-Za-z0-9])"
"""Also after `_`: names are put together with it."""
_SHAPES: Final = re.compile(
    rf"{_BEGINS}(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"
    r"|gh[pousr]_[A-Za-z0-9]{20,255}"
    r"|github_pat_[A-Za-z0-9_]{20,255}"
    r"|glpat-[A-Za-z0-9_-]{16,255}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,255}"
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}"
    r"|sk-[A-Za-z0-9_-]{16,255}"
    r"|AIza[0-9A-Za-z_-]{35}"
    r"|ya29\.[0-9A-Za-z_-]{20,500}"
    r"|npm_[A-Za-z0-9]{36}"
    r"|eyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{0,900}"
    r")"
)
_LATER_SHAPES: Final = re.compile(
    rf"{_BEGINS}(?:"
    r"hf_[A-Za-z0-9]{30,60}"
    r"|whsec_[A-Za-z0-9+/]{20,255}={0,2}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"
    r"|pypi-[A-Za-z0-9_-]{30,500}"
    r"|do[por]_v1_[0-9a-f]{40,80}"
    r"|hv[sbr]\.[A-Za-z0-9_-]{20,500}"
    r"|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
    r"|tskey-[a-z]{2,20}-[A-Za-z0-9-]{16,255}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{40,80}"
    r"|key-[0-9a-f]{32}\b"
    r"|dp\.[a-z]{2,6}\.[A-Za-z0-9]{30,80}"
    r"|lin_(?:api|oauth)_[A-Za-z0-9]{30,80}"
    r"|AT(?:ATT|CTT|BB)[A-Za-z0-9_=-]{24,400}"
    r"|glc_[A-Za-z0-9+/=]{30,255}"
    r")"
)
_LATER_NEEDLES: Final = (
    *(
        "hf_",
        "whsec_",
        "sg.",
        "pypi-",
        "_v1_",
        "hvs.",
        "hvb.",
        "hvr.",
        "shpat_",
        "shpca_",
        "shppa_",
    ),
    *("shpss_", "tskey-", "age-secret", "key-", "dp.", "lin_", "atatt", "atctt", "atbb", "glc_"),
)
_BARE_SHAPES: Final = re.compile(
    r"\b(?:AC|SK)[0-9a-f]{32}\b"
    r"|\b[A-Za-z0-9_-]{3}\dQ~[A-Za-z0-9_.~-]{31,40}"
    r"|\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"
)
"""Shapes without a word of their own."""
# Who is named before `@` ends, as all that reads a URL has it, at the first of `/`, `?` and `#`.
_IN_URL: Final = re.compile(r"://[^\s/?#:@\"'\\]{0,200}:([^\s/?#@\"'`|;&<>$(){}\[\]\\]{1,200})@")
_BEARER: Final = re.compile(
    r"[\w-]\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\?[\"']?"
    r"(?:bearer|basic)[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,2000})",
    re.IGNORECASE,
)
_ASSIGNED: Final = re.compile(
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|account[_-]?key|signing[_-]?key|authorization|credential)"
    r"[\w-]{0,20}"
    r"(\\?[\"']?[ \t]{0,4}(?::=|=>|=|:)[ \t]{0,4}|[ \t]{1,4})"
    r"\\?[\"']?(?:(?:bearer|basic|token|digest)[ \t]{1,4})?"
    r"([^\s\"'\\`$&;,|<>(){}\[\]]{4,2000})",
    re.IGNORECASE,
)
_SPELLED: Final = re.compile(r"\\u00([2-7][0-9A-Fa-f])")
_NAME_BEFORE: Final = re.compile(r"[\w-]{0,60}\Z")
_PEM: Final = "PRIVATE KEY-----"
_PEM_LINE: Final = re.compile(r"[A-Za-z0-9+/]{40,4000}={0,2}")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z_.]*")
_QUOTES: Final = "\"'\\"
_NEEDLES: Final = (
    *("akia", "asia", "abia", "acca", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "sk_", "rk_", "pk_", "sk-", "aiza", "ya29.", "npm_", "eyj"),
    *("://", "bearer", "basic", "pass", "pwd", "secret", "token", "key", "authoriz", "credential"),
)
"""One of these is in every text that any pattern matches."""


def spans(text: str, *, widely: bool = False) -> Iterator[tuple[int, int]]:
    """Give where a text holds secrets, in no order, perhaps one within another.

    What is assigned to a secret's name counts where it looks random; WIDELY, for records that
    nobody decides on, also where it could be any password.
    """
    if len(text) <= _SHORT:
        return iter(_in_short(text, widely))
    return _in_long(text, widely=widely)


@lru_cache(maxsize=8192)
def _in_short(text: str, widely: bool) -> tuple[tuple[int, int], ...]:
    return tuple(_in_long(text, widely=widely))


def _in_long(text: str, *, widely: bool) -> Iterator[tuple[int, int]]:
    yield from _private_keys(text)
    start = 0
    while True:
        end = min(len(text), start + _WINDOW)
        piece = text[start:end]
        for first, last in _in_piece(piece, widely=widely):
            yield start + first, start + last
        if _SPELLED.search(piece):
            for first, last in _in_spelled(piece, widely=widely):
                yield start + first, start + last
        if end == len(text):
            return
        start = end - _OVERLAP


def _in_spelled(text: str, *, widely: bool) -> Iterator[tuple[int, int]]:
    """Look behind ASCII letters that JSON spells by their numbers."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for found in _SPELLED.finditer(text):
        pieces += (text[done : found.start()], chr(int(found[1], 16)))
        places += [*range(done, found.start()), found.start()]
        done = found.end()
    plain = "".join(pieces) + text[done:]
    places += [*range(done, len(text) + 1)]
    for first, last in _in_piece(plain, widely=widely):
        yield places[first], places[last]


def _in_piece(text: str, *, widely: bool) -> Iterator[tuple[int, int]]:
    low = text.lower()
    if any(needle in low for needle in _LATER_NEEDLES):
        yield from _shaped(text, _LATER_SHAPES)
    yield from _shaped(text, _BARE_SHAPES)
    yield from placed(text, low, lambda inner: _holds_any(inner, widely=widely), widely=widely)
    if not any(needle in low for needle in _NEEDLES):
        return
    yield from _shaped(text, _SHAPES)
    if "://" in text:
        for found in _IN_URL.finditer(text):
            if not _PLACEHOLDER.fullmatch(found[1]) and _can_be_one(found[1]):
                yield found.span(1)
    for found in _BEARER.finditer(text):
        if random_in_text(found[1]):
            yield found.span(1)
    for found in _ASSIGNED.finditer(text):
        if _is_assigned(text, found) and (
            random_in_text(found[2]) or ((widely or _quoted(text, found)) and _can_be_one(found[2]))
        ):
            yield found.span(2)


def _shaped(text: str, shapes: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for found in shapes.finditer(text):
        words = made_of_words(found.group().partition("-")[2])
        if not words and not names_a_place(found.group()):
            yield found.span()


def _holds_any(text: str, *, widely: bool) -> bool:
    return next(_in_piece(text, widely=widely), None) is not None


def _is_assigned(text: str, found: re.Match[str]) -> bool:
    before = _NAME_BEFORE.search(text, max(0, found.start() - 60), found.start())
    name = (before.group() if before else "") + text[found.start() : found.start(1)]
    if not found[1].strip():
        # `--password hunter2`, but no prose.
        return name.startswith("--") and not found[2].startswith("-")
    if key_kind(name.lstrip("-")) is Kind.NONE or _PLACEHOLDER.fullmatch(found[2]):
        return False
    if found[1][-1:] not in _QUOTES and text[found.start(2) - 1] not in _QUOTES:
        # Program text names variables, types and calls; none of them is a secret.
        code = found[1] != "=" or text[found.end() : found.end() + 1] in ("(", "[")
        if code and _IDENTIFIER.fullmatch(found[2]):
            return False
    return "=" in found[1] or len(found[2]) >= 6


def _quoted(text: str, found: re.Match[str]) -> bool:
    """Tell `"password": "..."`, as JSON has it; no shell reads it as more than one word."""
    return (
        found[1].lstrip("\\")[:1] in _QUOTES
        and ":" in found[1]
        and text[found.start(2) - 1] in _QUOTES
        and text[found.end() : found.end() + 1] in _QUOTES
    )


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Give the long lines of private keys; what else stands between their ends is shown."""
    start = text.find(_PEM)
    while start >= 0:
        body = start + len(_PEM)
        end = text.find("-----END", body)
        if end < 0:
            return
        if text.rfind("-----BEGIN", max(0, start - 50), start) >= 0:
            found = [line.span() for line in _PEM_LINE.finditer(text, body, end)]
            between = "".join(text[a[1] : b[0]] for a, b in pairwise(found))
            if found and not between.strip().replace("\\n", "").replace("\\r", ""):
                yield found[0][0], found[-1][1]
        start = text.find(_PEM, end + 8)
