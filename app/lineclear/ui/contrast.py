"""How well two colours are told apart, as WCAG 2 counts it, and colours that can be read."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QColor

LEAST = 4.5
"""For text of any size: WCAG 2, 1.4.3."""
LEAST_HIGH = 7.0
"""The same in high contrast: WCAG 2, 1.4.6."""
LEAST_EDGE = 3.0
"""For what is no text and has to be seen, such as the edge of what has the focus: 1.4.11."""


def blend(over: QColor, under: QColor, share: float) -> QColor:
    """Mix two colours: SHARE (0 to 1) of OVER on UNDER."""
    return QColor.fromRgbF(
        over.redF() * share + under.redF() * (1 - share),
        over.greenF() * share + under.greenF() * (1 - share),
        over.blueF() * share + under.blueF() * (1 - share),
    )


def luminance(colour: QColor) -> float:
    """Relative luminance, 0 to 1."""

    def linear(share: float) -> float:
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    parts = linear(colour.redF()), linear(colour.greenF()), linear(colour.blueF())
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, other: QColor) -> float:
    """How well two colours are told apart: 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def readable(colour: QColor, on: Iterable[QColor], text: QColor, least: float = LEAST) -> QColor:
    """COLOUR, moved towards that of the TEXT until it can be read ON each background."""
    backs = tuple(on)
    for twentieth in range(20):
        # As it will be written: `#rrggbb`.
        mixed = QColor(blend(text, colour, twentieth / 20).name())
        if all(contrast(mixed, back) >= least for back in backs):
            return mixed
    return text


def ink_on(back: QColor) -> QColor:
    """Black or white, whichever can be read better on a filled background."""
    inks = (QColor("#ffffff"), QColor("#000000"))
    return max(inks, key=lambda ink: contrast(ink, back))
