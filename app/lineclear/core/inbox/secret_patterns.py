"""How a secret is told: names of keys, and shapes of tokens, keys and passwords in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise
from typing import Final

from lineclear.core.inbox.readable import (
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


class Kind(Enum):
    """What the name of a key says of its value."""

    NONE = auto()
    SECRET = auto()
    PASSWORD = auto()
    """May be a number."""
    AUTHORIZATION = auto()
    """A credential after the word for its scheme: `Bearer ...`."""
    COOKIE = auto()
    MAYBE = auto()
    """A secret if it looks like one: `key`, `session`."""
    HOLDER = auto()
    """Holds secrets under names of their own: `credentials`."""
    HELD = auto()
    """A value within such a holder."""


# --- By the name of the key ---------------------------------------------------------------------

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TAILS: Final = frozenset(
    {"value", "plain", "plaintext", "b64", "base64", "hex", "raw", "string", "old", "new"}
)
_PASSWORDS: Final = frozenset(
    {"password", "passwd", "pwd", "passphrase", "passcode", "pin", "otp", "cvv", "cvc"}
)
_SECRETS: Final = frozenset(
    {
        "secret",
        "token",
        "apikey",
        "bearer",
        "credential",
        "accesskey",
        "secretkey",
        "privatekey",
        "authtoken",
        "accesstoken",
        "refreshtoken",
        "sessiontoken",
        "idtoken",
        "clientsecret",
    }
)
_ENDINGS: Final = ("password", "passwd", "passphrase", "secret", "token", "apikey")
"""Also of a word that is run together with another: `PGPASSWORD`."""
_KEYS_OF: Final = frozenset(
    {
        "api",
        "access",
        "account",
        "private",
        "secret",
        "signing",
        "encryption",
        "decryption",
        "master",
        "shared",
        "service",
        "ssh",
        "subscription",
        "license",
        "hmac",
    }
)
_HOLDERS: Final = frozenset({"secrets", "credentials", "passwords", "apikeys", "tokens"})
_NO_TOKENS: Final = frozenset(
    {"page", "next", "continuation", "eos", "bos", "pad", "unk", "stop", "start", "sync", "cancel"}
)
_PLAIN: Final = frozenset(
    {
        *("password", "passwd", "pwd", "passphrase", "passcode", "pin", "otp"),
        *("token", "accesstoken", "authtoken", "refreshtoken", "sessiontoken", "idtoken"),
        *("apitoken", "bearertoken", "apikey", "xapikey", "apisecret", "secret", "clientsecret"),
        *("secretkey", "accesskey", "secretaccesskey", "awssecretaccesskey", "privatekey"),
        *("authorization", "bearer", "credential", "dbpassword", "pgpassword"),
    }
)
"""Names, without the signs between their words, that say of a value nothing but that it admits."""
_MAYBE: Final = frozenset({"key", "auth", "session", "sid", "signature", "sig", "jwt", "sas"})


@lru_cache(maxsize=4096)
def key_kind(key: str) -> Kind:
    """Tell what a key's name says of its value."""
    if len(key) > 120:
        return Kind.NONE
    words = [word.lower() for word in _WORDS.findall(key)]
    while len(words) > 1 and (words[-1] in _TAILS or words[-1].isdigit()):
        words.pop()
    if not words:
        return Kind.NONE
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(_ENDINGS):
        last = next(ending for ending in _ENDINGS if last.endswith(ending))
    if last == "token" and before in _NO_TOKENS:
        return Kind.NONE
    for names, kind in (
        (_PASSWORDS, Kind.PASSWORD),
        (_SECRETS, Kind.SECRET),
        (frozenset({"authorization"}), Kind.AUTHORIZATION),
        (frozenset({"cookie", "cookies"}), Kind.COOKIE),
        (_HOLDERS, Kind.HOLDER),
        (_MAYBE, Kind.MAYBE),
    ):
        if last in names:
            return Kind.SECRET if last == "key" and before in _KEYS_OF else kind
    return Kind.NONE


def is_plain_credential(key: str) -> bool:
    """Tell whether a key names a credential and nothing else: `api_key`, but not `token_of_bob`."""
    return re.sub(r"[\s_.-]", "", key).lower() in _PLAIN


# --- By the value -------------------------------------------------------------------------------

_PLACEHOLDER: Final = re.compile(
    r"\$\{?\w+\}?|\$?\{\{[^{}]*\}\}|<[\w .-]+>|%\(?\w+\)?s?|\*+|x{3,}|\.{3}|env:\w+"
    r"|null|none|true|false|undefined|redacted",
    re.IGNORECASE,
)
_COOKIE: Final = re.compile(r"\s?[\w!#%*+.^~-]{1,200}=([\w!#%*+./:=?@^~,-]{0,4000})\s?")
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|apikey)\s+", re.IGNORECASE)


def looks_like_credential(text: str, kind: Kind) -> bool:
    """Tell whether a value under a secret's name can be one: no command, place, text, reference.

    What a shell or a database would read as more than a word is shown, and so is what names a file,
    a person or a host, so that nothing that a call does hides behind a name.
    """
    if not text or len(text) > LONGEST or _PLACEHOLDER.fullmatch(text):
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
_SHAPES: Final = re.compile(
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,255}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,255}"
    r"|\bglpat-[A-Za-z0-9_-]{16,255}"
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,255}"
    r"|\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}"
    r"|\bsk-[A-Za-z0-9_-]{16,255}"
    r"|\bAIza[0-9A-Za-z_-]{35}"
    r"|\bya29\.[0-9A-Za-z_-]{20,500}"
    r"|\bnpm_[A-Za-z0-9]{36}"
    r"|\beyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{0,900}"
)
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
    yield from _private_keys(text)
    start = 0
    while True:
        end = min(len(text), start + _WINDOW)
        piece = text[start:end]
        for first, last in _in_piece(piece, widely=widely):
            yield start + first, start + last
        if end == len(text):
            return
        start = end - _OVERLAP


def _in_piece(text: str, *, widely: bool) -> Iterator[tuple[int, int]]:
    low = text.lower()
    if not any(needle in low for needle in _NEEDLES):
        return
    for found in _SHAPES.finditer(text):
        words = made_of_words(found.group().partition("-")[2])
        if not words and not names_a_place(found.group()):
            yield found.span()
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
