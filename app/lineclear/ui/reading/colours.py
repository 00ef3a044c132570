"""Colours of what is shown as a program's text, a difference or a hit; each can be read."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QColor, QFont, QTextCharFormat

from lineclear.ui.contrast import LEAST, LEAST_HIGH, blend, readable
from lineclear.ui.tokens import Tokens

Span = tuple[int, int, str]
"""Start and length in characters, and what it is: a name of `KINDS`."""
_CODE = {
    "keyword": ("#6F2DA8", "#C9A6F5"),
    "string": ("#1B6A3C", "#8FD6A8"),
    "number": ("#8F4700", "#F0B070"),
    "name": ("#1F5FA8", "#8ABBF7"),
}
KINDS = frozenset(
    {*_CODE, "comment", "added", "removed", "heading", "quiet", "link", "hit", "here"}
)


@lru_cache(maxsize=64)
def style(kind: str, t: Tokens) -> QTextCharFormat:
    """How a span of a kind looks; colour and weight only."""
    base, text = QColor(t.base), QColor(t.text)
    least = LEAST_HIGH if t.high else LEAST
    made = QTextCharFormat()
    if kind in _CODE:
        made.setForeground(readable(QColor(_CODE[kind][t.dark]), (base,), text, least))
    elif kind in ("comment", "quiet"):
        made.setForeground(readable(QColor(t.muted), (base,), text, least))
    elif kind == "link":
        made.setForeground(QColor(t.link))
    elif kind == "heading":
        made.setFontWeight(QFont.Weight.DemiBold)
    elif kind in ("added", "removed"):
        made.setBackground(difference_back(t, added=kind == "added"))
    elif kind == "hit":
        made.setBackground(blend(QColor(t.care), base, 0.28))
    elif kind == "here":
        made.setBackground(QColor(t.accent))
        made.setForeground(QColor(t.on_accent))
    return made


def difference_back(t: Tokens, *, added: bool, share: float = 0.24) -> QColor:
    """The background of what was added or removed; text on it can be read."""
    return blend(QColor(t.ok if added else t.stop), QColor(t.base), share)
