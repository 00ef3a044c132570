"""The licences that a Debian package's copyright file names (machine-readable, format 1.0)."""

from __future__ import annotations

import re
from typing import Final

_FORMAT: Final = re.compile(r"Format(-Specification)?:.*(copyright-format|dep-?5)", re.IGNORECASE)
_FIELD: Final = re.compile(r"^([A-Za-z-]+):[ \t]*(.*)", re.MULTILINE)
_JOINED: Final = re.compile(r"\s+(?:and|or)\s+|\s*,\s*(?:and|or)?\s*", re.IGNORECASE)
_GNU: Final = re.compile(r"(A?GPL|LGPL|GFDL)-(\d(?:\.\d)?)(\+?)", re.IGNORECASE)
_SPDX: Final = {
    "apache-2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd-4-clause": "BSD-4-Clause",
    "cc0-1.0": "CC0-1.0",
    "expat": "MIT",
    "isc": "ISC",
    "mit": "MIT",
    "zlib": "Zlib",
}
"""Debian's short names that mean one licence of the SPDX list, in small letters."""


def named(text: str) -> list[str]:
    """Give the licences of all files but Debian's own, sorted: SPDX's names, else Debian's.

    They are those of the source package, of which a library may be a part. Empty where the file is
    not in the format, which only people can read then.
    """
    if not _FORMAT.match(text):
        return []
    found: set[str] = set()
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = {name.lower(): value for name, value in _FIELD.findall(paragraph)}
        files = _listed(paragraph)
        if files and not all(each.startswith("debian/") for each in files):
            found |= {_spdx(each) for each in _JOINED.split(fields.get("license", "")) if each}
    return sorted(found - {"none"})


def _listed(paragraph: str) -> list[str]:
    told = re.search(r"^Files:((?:.*\n?)(?:[ \t].*\n?)*)", paragraph, re.MULTILINE | re.IGNORECASE)
    return told[1].split() if told else []


def _spdx(name: str) -> str:
    gnu = _GNU.fullmatch(name.strip())
    if gnu:
        number = gnu[2] if "." in gnu[2] else f"{gnu[2]}.0"
        return f"{gnu[1].upper()}-{number}-{'or-later' if gnu[3] else 'only'}"
    return _SPDX.get(name.strip().lower(), name.strip())
