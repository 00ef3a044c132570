"""Texts that differ and look the same: letters of other alphabets, composed and decomposed accents.

The letters are those of Unicode's confusables (UTS #39) that are drawn as Latin ones are.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_DRAWN_AS: Final = str.maketrans(
    # Cyrillic
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0423"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u051b\u051d"
    # Greek
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03bf\u03bd\u03c1\u03b1\u03b9",
    "ABESIJKMHOPCTXYaeopcyxsijdhqwABEZHIKMNOPTYXovpai",
)


def skeleton(text: str) -> str:
    """Give the same text for all texts that nobody can tell apart by looking."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).translate(_DRAWN_AS))
