"""The tray's icon: a variant for light panels and one for dark, with a badge that counts."""

from __future__ import annotations

import os
from typing import Literal

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from lineclear.ui import assets, theme, tokens

Panel = Literal["light", "dark"]
PANELS: tuple[Panel, ...] = ("light", "dark")
SIDES = (16, 22, 24, 32, 44, 48, 64)
"""Pixels; the larger ones are for panels of doubled resolution."""
MOST = 99
SMALLEST = 5
"""Pixels of the type in a badge."""

_INKS = {"light": ("#1F2C3F", "#F4F6F8"), "dark": ("#F4F6F8", "#1F2C3F")}
"""Ink and edge by panel."""
_EDGE = '<g stroke-width="4" opacity="0.45">{}</g>'
_ALWAYS_DARK = frozenset({"GNOME", "UNITY"})
"""Desktops whose panel is dark in a light scheme too."""


def panel_of(scheme: Qt.ColorScheme, desktop: str | None = None) -> Panel:
    """Tell which panel a desktop has.

    Args:
        scheme: The desktop's own, whatever the window's colours are.
        desktop: Its names, parted by colons, as `XDG_CURRENT_DESKTOP` tells them; None: it is read.
    """
    names = os.environ.get("XDG_CURRENT_DESKTOP", "") if desktop is None else desktop
    if _ALWAYS_DARK & set(names.upper().split(":")):
        return "dark"
    return "dark" if scheme == Qt.ColorScheme.Dark else "light"


def variant(panel: Panel) -> bytes:
    """The signal arm for a panel, as SVG, from the one drawing `tray.svg`.

    It has a faint edge of the other ink, which is seen only where a panel is not what its desktop
    says.
    """
    drawing = assets.read("icons/tray.svg").decode()
    ink, edge = _INKS[panel]
    head, end, rest = drawing.partition(">")
    body = rest.removesuffix("\n").removesuffix("</svg>")
    behind = _EDGE.replace("<g ", f'<g stroke="{edge}" ').format(body.replace("currentColor", edge))
    made = (head + end).replace("currentColor", ink) + behind + body.replace("currentColor", ink)
    return (made + "</svg>\n").encode()


def icon_with_count(number: int, panel: Panel, *, high: bool = False) -> QIcon:
    """The signal arm, with a badge that says how many calls wait; HIGH: in high contrast."""
    icon = QIcon()
    drawing = QSvgRenderer(QByteArray(variant(panel)))
    for side in SIDES:
        pixmap = QPixmap(side, side)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        drawing.render(painter)
        if number:
            _badge(painter, side, number, panel, high=high)
        painter.end()
        icon.addPixmap(pixmap)
    return icon


def _badge(painter: QPainter, side: int, number: int, panel: Panel, *, high: bool) -> None:
    colours = tokens.tokens_of(tokens.own_palette(dark=panel == "dark", high=high), high=high)
    text = str(number) if number <= MOST else f"{MOST}+"
    tall = max(9, round(side * 0.54))
    font, wide = _fitting(text, round(tall * 0.8), side - 2)
    wide = min(side, max(tall, round(wide + tall * 0.34)))
    box = QRectF(side - wide, side - tall, wide, tall)
    gap = max(1.0, side / 22)
    around = box.adjusted(-gap, -gap, gap, gap)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.GlobalColor.black)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
    painter.drawRoundedRect(around, tall / 2 + gap, tall / 2 + gap)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
    painter.setBrush(QColor(colours.accent))
    painter.drawRoundedRect(box, tall / 2, tall / 2)
    painter.setFont(font)
    painter.setPen(QColor(colours.on_accent))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)


def _fitting(text: str, tall: int, wide: int) -> tuple[QFont, float]:
    """The bold type of at most TALL pixels in which TEXT is at most WIDE, and how wide it is."""
    font = QFont(theme.body_font())
    font.setBold(True)
    pixels = max(8, tall)
    while True:
        font.setPixelSize(pixels)
        found = QFontMetricsF(font).horizontalAdvance(text)
        if found <= wide or pixels == SMALLEST:
            return font, found
        pixels -= 1
