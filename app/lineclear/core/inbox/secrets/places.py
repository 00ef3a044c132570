"""Secrets told by where they stand: in an address, after an option, in a query, within base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final

from lineclear.core.inbox.secrets.names import Kind, key_kind
from lineclear.core.inbox.secrets.readable import (
    looks_random,
    names_a_place,
    random_in_text,
    runs_something,
)

Span = tuple[int, int]

# Every repetition is bounded: a hostile text costs no more than a plain one.
_ALONE_IN_URL: Final = re.compile(r"://([A-Za-z0-9_-]{16,200})(?::[\w-]{0,40})?@")
_HOOK: Final = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/\w{6,16}/\w{6,16}/(\w{10,80})"
    r"|discord(?:app)?\.com/api/webhooks/\d{10,24}/([\w-]{20,120})"
    r"|/bot\d{6,14}:([\w-]{24,60})",
    re.IGNORECASE,
)
_VALUED: Final = re.compile(
    r"(?<![\w.-])([\w.-]{1,60})=[\"']?([A-Za-z0-9%+/=_.~-]{16,2000})(?![^\s\"'&;,#)}\]])"
)
"""A name with what it is set to, as in queries and cookies."""
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SQL: Final = re.compile(
    r"\b(?:identified[ \t]{1,8}by(?:[ \t]{1,8}password)?|password)[ \t]{1,8}"
    r"(?:'([^'\\\n]{1,400})'|\"([^\"\\\n]{1,400})\")",
    re.IGNORECASE,
)
_AFTER: Final = (
    (
        ("-u", "--user", "--proxy-user"),
        re.compile(
            r"(?:(?<![\w-])-u|--(?:proxy-)?user)(?:[ \t]{1,8}|=)?[\"']?[\w.@+%-]{1,80}:"
            r"([^\s\"'|;&<>()`$:@/]{3,200})(?![:@/\w])"
        ),
    ),
    (
        ("sshpass",),
        re.compile(
            r"sshpass[ \t]{1,8}-p[ \t]{0,8}[\"']?([^\s\"'|;&<>()`$-][^\s\"'|;&<>()`$]{1,200})"
        ),
    ),
    (
        ("mysql", "mariadb"),
        re.compile(
            r"(?:mysql|mariadb)\w{0,12}[ \t][^|;&\n]{0,200}?(?<=[ \t])-p([^\s\"'|;&<>()`$-]{3,100})"
        ),
    ),
    (
        ("login",),
        re.compile(r"\blogin[ \t\n]{1,8}\S{1,80}[ \t\n]{1,8}password[ \t\n]{1,8}(\S{3,200})"),
    ),
    (
        ("configure", "config"),
        re.compile(
            r"\bconfig(?:ure)?[ \t]{1,8}set[ \t]{1,8}(?:--?[\w-]{1,40}[ \t]{1,8})?"
            r"[\"']?[\w.:-]{0,60}"
            r"(?:secret|token|passw(?:or)?d|access_?key|api_?key|credential)[\w-]{0,20}"
            r"[\"']?[ \t=]{1,8}[\"']?([^\s\"'|;&<>()`$-][^\s\"'|;&<>()`$]{2,400})",
            re.IGNORECASE,
        ),
    ),
    (
        ("pass", "pw"),
        re.compile(
            r"(?:(?<![A-Za-z0-9])|(?<=_))(?:pass|pw)[ \t]{0,4}=[ \t]{0,4}[\"']?"
            r"([^\s\"'|;&<>()`$]{4,200})",
            re.IGNORECASE,
        ),
    ),
)
"""What stands after an option or a word; looked for where one of the words is there at all."""
_QUOTED: Final = re.compile(
    r"[:=][ \t]{0,4}(?:\"((?:[^\"\\\n]|\\.){1,2000})\"|'((?:[^'\\\n]|\\.){1,2000})')"
)
_NAME_BEFORE: Final = re.compile(r"[\w.-]{1,60}\Z")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,4000}={0,2}(?![\w+/=-])")
_USER_AND_WORD: Final = re.compile(r"[\w.@+-]{1,64}:[!-~]{4,200}")
_CREDENTIALS: Final = (Kind.SECRET, Kind.PASSWORD, Kind.AUTHORIZATION, Kind.COOKIE)


_NUMBER: Final = re.compile(r"[\w-][\"'][ \t]{0,4}:[ \t]{0,4}(-?\d[\d.]{0,40})(?![\w.])")
"""A number after a key in quotes, as JSON has it."""


def placed(text: str, low: str, within: Callable[[str], bool], *, widely: bool) -> Iterator[Span]:
    """Give where secrets stand by their place in TEXT, which is LOW in lower case.

    WITHIN tells whether a text that stands there in base64 holds any. WIDELY: see `spans`.
    """
    if "://" in text:
        yield from _in_addresses(text, low)
    if "=" in text:
        yield from _set_to(text)
    if "password" in low or "identified" in low:
        for found in _SQL.finditer(text):
            span = found.span(found.lastindex or 0)
            if widely or not _is_more(text[slice(*span)]):
                yield span
    yield from _after_options(text, low, widely=widely)
    if widely:
        yield from _quoted(text)
        yield from _numbers(text)
    for found in _BASE64.finditer(text):
        if _hides(found.group(), within):
            yield found.span()


def _in_addresses(text: str, low: str) -> Iterator[Span]:
    for found in _ALONE_IN_URL.finditer(text):
        if looks_random(found[1]):
            yield found.span(1)
    if any(place in low for place in ("hooks.slack.com", "/api/webhooks/", "/bot")):
        for found in _HOOK.finditer(text):
            yield found.span(found.lastindex or 0)


def _set_to(text: str) -> Iterator[Span]:
    for found in _VALUED.finditer(text):
        if key_kind(found[1]) is not Kind.NONE and looks_random(_ESCAPED.sub("x9", found[2])):
            yield found.span(2)


def _after_options(text: str, low: str, *, widely: bool) -> Iterator[Span]:
    for words, pattern in _AFTER:
        if any(word in low for word in words):
            for found in pattern.finditer(text):
                if random_in_text(found[1]) or (widely and _is_word(found[1])):
                    yield found.span(1)


def _quoted(text: str) -> Iterator[Span]:
    """Give all that stands in quotes after a credential's name."""
    for found in _QUOTED.finditer(text):
        before = text[max(0, found.start() - 66) : found.start()].rstrip(" \t").rstrip("\"'")
        name = _NAME_BEFORE.search(before)
        if name is not None and key_kind(name.group()) in _CREDENTIALS:
            yield found.span(found.lastindex or 0)


def _numbers(text: str) -> Iterator[Span]:
    """Give the numbers that JSON sets a credential's name to."""
    for found in _NUMBER.finditer(text):
        name = _NAME_BEFORE.search(text, max(0, found.start() - 60), found.start() + 1)
        if name is not None and key_kind(name.group()) in _CREDENTIALS:
            yield found.span(1)


def _is_more(text: str) -> bool:
    """Tell whether a text does more than to be a word."""
    return names_a_place(text) or runs_something(text)


def _is_word(text: str) -> bool:
    return not text.isdigit() and not _is_more(text)


def _hides(text: str, within: Callable[[str], bool]) -> bool:
    """Tell whether base64 is of a text that holds a secret, or of a user and a password."""
    bare = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) % 4 == 1 or bare.isdigit() or bare.isalpha():
        return False
    try:
        raw = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        plain = raw.decode("ascii")
    except (binascii.Error, ValueError):
        return False
    if not plain.replace("\n", "").replace("\r", "").replace("\t", "").isprintable():
        return False
    return _USER_AND_WORD.fullmatch(plain) is not None or within(plain)
