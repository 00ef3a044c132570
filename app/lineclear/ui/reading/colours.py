"""Colours of what is shown as a program's text, a difference or a hit; each can be read."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QColor, QFont, QTextCharFormat

from lineclear.ui.theme import Tokens, blend

Span = tuple[int, int, str]
"""Start and length in characters, and what it is: a name of `KINDS`."""
LEAST_CONTRAST = 4.5
_CODE = {
    "keyword": ("#6F2DA8", "#C9A6F5"),
    "string": ("#1B6A3C", "#8FD6A8"),
    "number": ("#8F4700", "#F0B070"),
    "name": ("#1F5FA8", "#8ABBF7"),
}
KINDS = frozenset(
    {*_CODE, "comment", "added", "removed", "heading", "quiet", "link", "hit", "here"}
)


def luminance(colour: QColor) -> float:
    """Relative luminance, 0 to 1, as WCAG 2 defines it."""

    def linear(share: float) -> float:
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    parts = linear(colour.redF()), linear(colour.greenF()), linear(colour.blueF())
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, other: QColor) -> float:
    """How well two colours are told apart: 1 to 21, as WCAG 2 defines it."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def readable(colour: QColor, on: QColor, text: QColor) -> QColor:
    """COLOUR, moved towards that of the text until it can be read ON a background."""
    for tenth in range(11):
        mixed = blend(text, colour, tenth / 10)
        if contrast(mixed, on) >= LEAST_CONTRAST:
            return mixed
    return text


@lru_cache(maxsize=64)
def style(kind: str, t: Tokens) -> QTextCharFormat:
    """How a span of a kind looks; colour and weight only."""
    base, text = QColor(t.base), QColor(t.text)
    made = QTextCharFormat()
    if kind in _CODE:
        made.setForeground(readable(QColor(_CODE[kind][t.dark]), base, text))
    elif kind in ("comment", "quiet"):
        made.setForeground(readable(QColor(t.muted), base, text))
    elif kind == "link":
        made.setForeground(readable(QColor(t.accent), base, text))
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
