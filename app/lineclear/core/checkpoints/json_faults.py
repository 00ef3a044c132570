"""What makes a text no JSON, in whole words: the decoder's own messages end where its place begins.

The messages are those of `json` in Python 3.11 to 3.13.
"""

from __future__ import annotations

from json import JSONDecodeError
from typing import Final

from lineclear.core.sentences import worded

_FAULTS: Final = (
    ("Unterminated string", worded("the text that begins there has no end")),
    ("Expecting value", worded("a value is missing there")),
    ("Expecting ','", worded("a comma or a closing bracket is missing there")),
    ("Expecting ':'", worded("a colon is missing there")),
    ("Expecting property name", worded("a key in double quotes is missing there")),
    ("Illegal trailing comma", worded("there is a comma with nothing behind it")),
    ("Extra data", worded("something follows there, after its end")),
    ("Invalid control character", worded("there is a control character within a text")),
    ("Invalid \\u", worded("there is a \\u without four hexadecimal digits behind it")),
    (
        "Invalid \\",
        worded("there is a backslash with something behind it that JSON does not know"),
    ),
)
_ENDS: Final = worded("it ends there, unfinished")
_UNKNOWN: Final = worded("what stands there cannot be read")


def fault_in(why: JSONDecodeError) -> str:
    """Say what is wrong at the place that WHY names, as the rest of a sentence, without a stop."""
    if why.pos >= len(why.doc.rstrip(" \t\r\n")):
        return _ENDS
    return next((told for begins, told in _FAULTS if why.msg.startswith(begins)), _UNKNOWN)
