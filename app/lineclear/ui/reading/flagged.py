"""Where shown text holds what a Stop warning speaks of: tokens, and words that mix alphabets."""

from __future__ import annotations

import re

from lineclear.core.checkpoints.characters import scripts

_TOKEN = re.compile("\u27e6U\\+[0-9A-F]+\u27e7")
_WORD = re.compile(r"\S+")


def places(shown: str) -> list[tuple[int, int]]:
    """Start and end of each such place, in characters; a place may lie within another one."""
    if shown.isascii():
        return []
    found = [match.span() for match in _TOKEN.finditer(shown)]
    found += [match.span() for match in _WORD.finditer(shown) if scripts.mixes(match.group())]
    return sorted(found)
