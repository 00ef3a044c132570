"""Which writing system a letter belongs to, where letters of another look like Latin ones."""

from __future__ import annotations

import re
from typing import Final

from lineclear.core.checkpoints.characters.pieces import pieces_of

LATIN: Final = "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02b8\u1d00-\u1d25\u1e00-\u1eff"
"""Latin letters, as the inside of a regular expression's character class."""

LOOKALIKE: Final = (
    "\u0370-\u0373\u0376-\u037d\u037f\u0386\u0388-\u03ff\u1f00-\u1ffe"  # Greek
    "\u0400-\u0482\u048a-\u052f\u1c80-\u1c8a\ua640-\ua66e\ua680-\ua69b"  # Cyrillic
    "\u0531-\u0588"  # Armenian
    "\u13a0-\u13fd\uab70-\uabbf"  # Cherokee
    "\u2c80-\u2ce4"  # Coptic
    "\ua4d0-\ua4f7"  # Lisu
    "\uff21-\uff3a\uff41-\uff5a"  # full-width Latin
    "\U0001d400-\U0001d7cb"  # mathematical letters
)
"""Letters outside Latin that are drawn like Latin ones."""

# Between two letters of one word: letters of other systems, digits and accents. An underscore
# or a dot ends a word, as in file names that people write in two languages.
_BETWEEN: Final = rf"(?:(?![{LATIN}{LOOKALIKE}])(?:[^\W_]|[\u0300-\u036f]))*+"
_MIXED_WORD: Final = re.compile(
    f"[{LATIN}]{_BETWEEN}[{LOOKALIKE}]|[{LOOKALIKE}]{_BETWEEN}[{LATIN}]"
)
_NEXT_IN_WORD: Final = re.compile(f"{_BETWEEN}(?:([{LATIN}])|([{LOOKALIKE}])|.)", re.DOTALL)
"""The next letter that counts, or what ends the word."""
_ANY_LATIN: Final = re.compile(f"[{LATIN}]")
_ANY_LOOKALIKE: Final = re.compile(f"[{LOOKALIKE}]")


def mixes_in_word(text: str) -> bool:
    """Tell whether one word holds Latin letters and others that look like them."""
    return not text.isascii() and has_lookalike(text) and _mixes_in_word(text)


def mixes(text: str) -> bool:
    """Tell whether the whole text holds both, also in different words (for host names)."""
    return not text.isascii() and has_lookalike(text) and _holds(_ANY_LATIN, text)


def has_lookalike(text: str) -> bool:
    """Tell whether any letter is drawn like a Latin one without being one."""
    return _holds(_ANY_LOOKALIKE, text)


def _holds(letter: re.Pattern[str], text: str) -> bool:
    return any(map(letter.search, pieces_of(text)))


def _mixes_in_word(text: str) -> bool:
    before = 0
    for piece in pieces_of(text):
        if _MIXED_WORD.search(piece):
            return True
        first = _NEXT_IN_WORD.match(piece)
        if first is None:
            # All of it stands between two letters of one word.
            continue
        if before and first.lastindex and first.lastindex != before:
            return True
        last = _NEXT_IN_WORD.match(piece[::-1])
        before = (last.lastindex or 0) if last is not None else 0
    return False
