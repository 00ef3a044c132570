"""What makes a text no JSON, in whole words: the decoder's own messages end where its place begins.

The messages are those of `json` in Python 3.11 to 3.13.
"""

from __future__ import annotations

from json import JSONDecodeError
from typing import Final

_FAULTS: Final = (
    ("Unterminated string", "the text that begins there has no end"),
    ("Expecting value", "a value is missing there"),
    ("Expecting ','", "a comma or a closing bracket is missing there"),
    ("Expecting ':'", "a colon is missing there"),
    ("Expecting property name", "a key in double quotes is missing there"),
    ("Illegal trailing comma", "there is a comma with nothing behind it"),
    ("Extra data", "something follows there, after its end"),
    ("Invalid control character", "there is a control character within a text"),
    ("Invalid \\u", "there is a \\u without four hexadecimal digits behind it"),
    ("Invalid \\", "there is a backslash with something behind it that JSON does not know"),
)
_ENDS: Final = "it ends there, unfinished"
_UNKNOWN: Final = "what stands there cannot be read"


def fault_in(why: JSONDecodeError) -> str:
    """Say what is wrong at the place that WHY names, as the rest of a sentence, without a stop."""
    if why.pos >= len(why.doc.rstrip(" \t\r\n")):
        return _ENDS
    return next((told for begins, told in _FAULTS if why.msg.startswith(begins)), _UNKNOWN)
