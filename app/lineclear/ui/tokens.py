"""The colours in use, from the desktop's palette or our own; each text can be read."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

from lineclear.ui.contrast import (
    LEAST,
    LEAST_EDGE,
    LEAST_HIGH,
    blend,
    contrast,
    ink_on,
    readable,
)

INK = "#101214"
_ROLE = QPalette.ColorRole
_OWN = {
    "stop": ("#A1190F", "#FF9C91"),
    "stop_back": ("#FBE9E7", "#3A1D1B"),
    "care": ("#7A4A00", "#F0B84A"),
    "care_back": ("#FFF3D6", "#352910"),
    "ok": ("#1A6B3A", "#7FD3A1"),
}
_HIGH = {
    "stop": ("#8A0F06", "#FFB3AA"),
    "stop_back": ("#FFFFFF", "#000000"),
    "care": ("#5C3600", "#FFCB66"),
    "care_back": ("#FFFFFF", "#000000"),
    "ok": ("#0B4F26", "#93E6B4"),
}
"""By name: in light, in dark."""
_HIGH_PALETTE = 18.0
"""How well text and background of a desktop's own palette of high contrast are told apart."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours in use, as `#rrggbb`; own ones only for stop, care and ok."""

    dark: bool
    high: bool
    """In high contrast, where chips and banners have an edge."""
    window: str
    base: str
    text: str
    muted: str
    line: str
    hover: str
    accent: str
    on_accent: str
    link: str
    """The accent as text."""
    focus: str
    """The edge of what has the focus."""
    selected: str
    selected_idle: str
    """A selection in a list that has not the focus."""
    stop: str
    stop_back: str
    care: str
    care_back: str
    ok: str
    note_back: str


def tokens_of(palette: QPalette, *, high: bool = False) -> Tokens:
    """Choose every colour from PALETTE and its lightness; HIGH: in high contrast.

    Whatever palette the desktop gives: text of each colour can be read on each background that it
    is drawn on.
    """
    base = palette.color(QPalette.ColorRole.Base)
    text = palette.color(QPalette.ColorRole.Text)
    window = palette.color(QPalette.ColorRole.Window)
    accent = palette.color(QPalette.ColorRole.Accent)
    dark = base.lightness() < text.lightness()
    high = high or _is_high(palette)
    least = LEAST_HIGH if high else LEAST
    own = _HIGH if high else _OWN
    if high:
        accent = readable(accent, (base, window), text, least)
    selected = _chosen(accent, base, text, 0.30 if dark else 0.16, least)
    idle = _chosen(accent, base, text, 0.16 if dark else 0.08, least)
    hover = _written(blend(text, base, 0.05))
    note_back = _written(blend(text, base, 0.08 if dark else 0.05))
    pages = (base, window)
    backs = (*pages, selected, idle, hover, note_back)

    def ink(name: str) -> str:
        return readable(QColor(own[name][dark]), backs, text, least).name()

    # A button of the desktop's accent is read by its own ink; text of that colour is not.
    on_accent = ink_on(accent) if high else QColor("#ffffff" if accent.lightness() < 140 else INK)
    if contrast(on_accent, accent) < least:
        on_accent = ink_on(accent)
    return Tokens(
        dark=dark,
        high=high,
        window=window.name(),
        base=base.name(),
        text=text.name(),
        muted=readable(blend(text, base, 0.66), backs, text, least).name(),
        line=readable(
            blend(text, base, 0.14 if dark else 0.11), pages, text, LEAST_EDGE if high else 1
        ).name(),
        hover=hover.name(),
        accent=accent.name(),
        on_accent=on_accent.name(),
        link=readable(accent, backs, text, least).name(),
        focus=readable(accent, backs, text, LEAST_EDGE).name(),
        selected=selected.name(),
        selected_idle=idle.name(),
        stop=ink("stop"),
        stop_back=own["stop_back"][dark],
        care=ink("care"),
        care_back=own["care_back"][dark],
        ok=ink("ok"),
        note_back=note_back.name(),
    )


def _written(colour: QColor) -> QColor:
    """A colour as `#rrggbb` says it."""
    return QColor(colour.name())


def _chosen(accent: QColor, base: QColor, text: QColor, share: float, least: float) -> QColor:
    """The background of what is chosen: less of the accent where text could not be read."""
    backs = [_written(blend(accent, base, share * weaker)) for weaker in (1.0, 0.75, 0.5, 0.25)]
    return next((back for back in backs if contrast(text, back) >= least), backs[-1])


def _is_high(palette: QPalette) -> bool:
    """Whether a desktop's palette is one of high contrast: everything black, or white."""
    roles = QPalette.ColorRole
    backs = {palette.color(which).name() for which in (roles.Base, roles.Window, roles.Button)}
    told_apart = contrast(palette.color(roles.Base), palette.color(roles.Text))
    return len(backs) == 1 and told_apart >= _HIGH_PALETTE


def own_palette(*, dark: bool, high: bool = False) -> QPalette:
    """Lineclear's neutral palette, for desktops that bring none of their own."""
    colours = _high_colours() if high else _colours()
    palette = QPalette()
    for which, (light, night) in colours.items():
        palette.setColor(which, QColor(night if dark else light))
    faded = QColor("#7C828A" if dark else "#8A9097")
    if high:
        faded = QColor("#A8A8A8" if dark else "#595959")
    for which in (_ROLE.WindowText, _ROLE.Text, _ROLE.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, faded)
    return palette


def _high_colours() -> dict[QPalette.ColorRole, tuple[str, str]]:
    ink, page, accent = ("#000000", "#FFFFFF"), ("#FFFFFF", "#000000"), ("#0A3A9C", "#9CC4FF")
    inks = (_ROLE.WindowText, _ROLE.Text, _ROLE.ButtonText, _ROLE.BrightText, _ROLE.Shadow)
    pages = (_ROLE.Window, _ROLE.Base, _ROLE.AlternateBase, _ROLE.Button, _ROLE.Light)
    accents = (_ROLE.Highlight, _ROLE.Accent, _ROLE.Link, _ROLE.LinkVisited)
    return {
        **dict.fromkeys(inks, ink),
        **dict.fromkeys(pages, page),
        **dict.fromkeys(accents, accent),
        _ROLE.HighlightedText: page,
        _ROLE.PlaceholderText: ("#4A4A4A", "#C4C4C4"),
        _ROLE.ToolTipBase: ink,
        _ROLE.ToolTipText: page,
        _ROLE.Mid: ("#767676", "#8A8A8A"),
        _ROLE.Dark: ("#595959", "#767676"),
        _ROLE.Midlight: ("#D0D0D0", "#3A3A3A"),
    }


def _colours() -> dict[QPalette.ColorRole, tuple[str, str]]:
    role = _ROLE
    return {
        role.Window: ("#F4F5F6", "#1B1D20"),
        role.WindowText: ("#1C1E21", "#E6E8EA"),
        role.Base: ("#FFFFFF", "#222529"),
        role.AlternateBase: ("#F8F9FA", "#262A2E"),
        role.Text: ("#1C1E21", "#E6E8EA"),
        role.PlaceholderText: ("#6B7076", "#969CA3"),
        role.Button: ("#F4F5F6", "#2A2E33"),
        role.ButtonText: ("#1C1E21", "#E6E8EA"),
        role.BrightText: ("#FFFFFF", "#FFFFFF"),
        role.Highlight: ("#2B5FC7", "#7FA8F5"),
        role.HighlightedText: ("#FFFFFF", "#101214"),
        role.Accent: ("#2B5FC7", "#7FA8F5"),
        role.Link: ("#2B5FC7", "#7FA8F5"),
        role.LinkVisited: ("#2B5FC7", "#7FA8F5"),
        role.ToolTipBase: ("#1C1E21", "#E6E8EA"),
        role.ToolTipText: ("#FFFFFF", "#1B1D20"),
        role.Mid: ("#C9CCD0", "#3A3F45"),
        role.Dark: ("#A9ADB2", "#15171A"),
        role.Light: ("#FFFFFF", "#33383E"),
        role.Midlight: ("#E6E8EA", "#2F343A"),
        role.Shadow: ("#6B7076", "#000000"),
    }
