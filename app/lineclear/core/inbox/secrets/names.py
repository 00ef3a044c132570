"""How a secret is told by the name of its key, in whatever way that is spelled."""

from __future__ import annotations

import re
import unicodedata
from enum import Enum, auto
from functools import lru_cache
from typing import Final

_LONGEST_KEY: Final = 120


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


_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TAILS: Final = frozenset(
    {"value", "plain", "plaintext", "b64", "base64", "hex", "raw", "string", "old", "new", "hash"}
)
_PASSWORDS: Final = frozenset(
    {
        *("password", "passwd", "pwd", "pswd", "passphrase", "passcode", "pin", "pincode"),
        *("otp", "totp", "cvv", "cvc", "passwort", "kennwort", "contrasena", "senha"),
        *("motdepasse", "wachtwoord", "haslo", "heslo", "lozinka", "parol", "sifre", "losenord"),
        *("\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u5bc6\u78bc"),
        *("\u30d1\u30b9\u30ef\u30fc\u30c9", "\ube44\ubc00\ubc88\ud638"),
    }
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
_ENDINGS: Final = (
    *("password", "passwd", "passwort", "kennwort", "passphrase", "secret", "token", "apikey"),
)
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
_HOLDERS: Final = frozenset({"secrets", "credentials", "creds", "passwords", "apikeys", "tokens"})
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
_MAYBE: Final = frozenset(
    {
        *("key", "auth", "oauth", "session", "sessionid", "sid", "signature", "sig", "jwt", "sas"),
        *("pat", "dsn", "salt", "refresh", "webhook"),
    }
)
_PASS_OF: Final = frozenset(
    {
        *("db", "user", "root", "admin", "smtp", "imap", "mail", "mysql", "pg", "redis", "ftp"),
        *("ssh", "login", "my", "sudo", "basic", "auth", "proxy", "key", "http", "rabbitmq"),
    }
)
"""Before `pass` and `pw`, which mean much else by themselves too."""
_ODD_DIGITS: Final = str.maketrans("01345@$", "oleasas")
_DIGIT_INSIDE: Final = re.compile(r"[a-z][013450@$]+[a-z]", re.IGNORECASE)
_LATIN: Final = str.maketrans(
    {
        **dict(
            zip(
                "\u0430\u0441\u0435\u0456\u0458\u043e\u0440\u0455\u0443\u0445",
                "aceijopsyx",
                strict=True,
            )
        ),
        **dict(zip("\u0501\u051d\u043a\u043c\u0442\u043d\u0432", "dwkmthb", strict=True)),
        **dict(
            zip("\u03bf\u03b1\u03c1\u03c5\u03ba\u03c4\u03bd\u0131\u0261", "oapyktvig", strict=True)
        ),
    }
)
"""Letters of other systems that are drawn as Latin ones."""
_FACTORS: Final = frozenset({"mfa", "otp", "totp", "verification", "recovery", "backup", "pin"})


def _plainly(key: str) -> str:
    """Spell a key as it is read: without accents and what hides, in Latin letters if it mixes."""
    if key.isascii():
        return key
    spelled = "".join(
        c
        for c in unicodedata.normalize("NFKD", key)
        if unicodedata.category(c) not in ("Mn", "Cf", "Me")
    )
    return spelled.translate(_LATIN) if re.search(r"[A-Za-z]", spelled) else spelled


def _words_of(key: str) -> list[str]:
    """Give the words of a key, as many of its last ones put together as name one thing."""
    key = _plainly(key)
    whole = re.sub(r"[\W_]", "", key).lower()
    if whole in _PASSWORDS:
        return [whole]
    if _DIGIT_INSIDE.search(key):
        spelled = re.sub(r"[^a-z]", "", key.lower().translate(_ODD_DIGITS))
        if spelled.endswith(_ENDINGS):
            return [spelled]
    words = [word.lower() for word in _WORDS.findall(key)]
    while len(words) > 1 and (words[-1] in _TAILS or words[-1].isdigit()):
        words.pop()
    if words[-2:] == ["session", "id"]:
        return [*words[:-2], "sessionid"]
    if len(words) > 1 and words[-1] == "code" and words[-2] in _FACTORS:
        return [*words[:-2], "otp"]
    return words


@lru_cache(maxsize=4096)
def key_kind(key: str) -> Kind:
    """Tell what a key's name says of its value."""
    words = _words_of(key) if len(key) <= _LONGEST_KEY else []
    if not words:
        return Kind.NONE
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("pass", "pw") and (not before or before in _PASS_OF):
        return Kind.SECRET
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
