"""Every text can be read on every background that it is drawn on, in every look."""

import itertools

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from lineclear.ui.contrast import contrast, readable
from lineclear.ui.reading.colours import difference_back, style
from lineclear.ui.theme import HIGH_CONTRAST, Theme
from lineclear.ui.tokens import Tokens, own_palette, tokens_of

PAGES = ("base", "window", "hover", "note_back", "selected", "selected_idle")
PAIRS = [
    *itertools.product(("text", "muted", "link", "stop", "care", "ok"), PAGES),
    ("stop", "stop_back"),
    ("care", "care_back"),
    ("text", "stop_back"),
    ("text", "care_back"),
    ("on_accent", "accent"),
    # The number of what may have run, and a tooltip.
    ("base", "stop"),
    ("base", "text"),
]
EDGES = list(itertools.product(("focus",), ("base", "window")))


def palette_of(base: str, text: str, window: str, accent: str) -> QPalette:
    made = QPalette()
    for role, colour in {
        QPalette.ColorRole.Base: base,
        QPalette.ColorRole.Text: text,
        QPalette.ColorRole.Window: window,
        QPalette.ColorRole.Button: window,
        QPalette.ColorRole.Accent: accent,
    }.items():
        made.setColor(role, QColor(colour))
    return made


FOREIGN = {
    "breeze": palette_of("#ffffff", "#232629", "#eff0f1", "#3daee9"),
    "breeze-dark": palette_of("#1b1e20", "#fcfcfc", "#2a2e32", "#3daee9"),
    "adwaita-yellow": palette_of("#ffffff", "#2e3436", "#f6f5f4", "#e5a50a"),
    "nord": palette_of("#2e3440", "#d8dee9", "#3b4252", "#5e81ac"),
    "system-black": palette_of("#000000", "#ffffff", "#000000", "#1aebff"),
    "system-white": palette_of("#ffffff", "#000000", "#ffffff", "#37006e"),
}


def ratio(t: Tokens, ink: str, back: str) -> float:
    return contrast(QColor(getattr(t, ink)), QColor(getattr(t, back)))


def faint(t: Tokens, least: float) -> list[str]:
    found = [(ink, back, ratio(t, ink, back)) for ink, back in PAIRS]
    return [f"{ink} on {back}: {told:.2f}" for ink, back, told in found if told < least]


@pytest.mark.parametrize("high", [False, True], ids=["plain", "high"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_each_text_of_our_own_looks_can_be_read(dark: bool, high: bool):
    t = tokens_of(own_palette(dark=dark, high=high), high=high)
    assert (t.dark, t.high) == (dark, high)
    assert faint(t, 7 if high else 4.5) == []
    assert [pair for pair in EDGES if ratio(t, *pair) < 3] == []


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("high", [False, True], ids=["plain", "high"])
def test_each_text_can_be_read_on_a_desktops_palette(name: str, high: bool):
    t = tokens_of(FOREIGN[name], high=high)
    assert t.high is (high or name.startswith("system-"))
    text = ratio(t, "text", "window")
    # Nothing can be told apart better than the palette's own text.
    assert faint(t, min(7 if t.high else 4.5, text * 0.75)) == []


@pytest.mark.parametrize("high", [False, True], ids=["plain", "high"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_differences_and_hits_can_be_read(dark: bool, high: bool):
    t = tokens_of(own_palette(dark=dark, high=high), high=high)
    backs = [difference_back(t, added=added, share=0.24) for added in (True, False)]
    backs.append(style("hit", t).background().color())
    for back in backs:
        assert contrast(QColor(t.text), back) >= (7 if high else 4.5)
    here = style("here", t)
    assert contrast(here.foreground().color(), here.background().color()) >= (7 if high else 4.5)


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("high", [False, True])
def test_placeholders_can_be_read_as_they_are_drawn(qapp, qtbot, kind, dark, high):
    look = Theme(qapp, dark=dark)
    look.follow_desktop(high=high)
    field = kind()
    qtbot.addWidget(field)
    # Blocks, so that some pixels are all ink.
    field.setPlaceholderText("\u2588" * 8)
    field.resize(200, 60)
    drawn = field.grab().toImage()
    places = itertools.product(range(12, drawn.width() - 12), range(12, drawn.height() - 12))
    base = QColor(look.tokens.base)
    told = max(contrast(drawn.pixelColor(x, y), base) for x, y in places)
    look.stop()
    assert told >= (7 if high else 4.5)


def test_a_colour_that_cannot_be_read_moves_towards_the_text():
    white, black = QColor("#ffffff"), QColor("#000000")
    moved = readable(QColor("#ffff00"), (white,), black)
    assert contrast(moved, white) >= 4.5
    assert moved != black
    assert readable(QColor("#a1190f"), (white,), black).name() == "#a1190f"


def facts(look: Theme) -> tuple[bool, str, str]:
    return look.tokens.high, look.tokens.base, look.tokens.text


def test_high_contrast_is_a_choice_and_the_desktops_wish(qapp):
    look = Theme(qapp, dark=False)
    told: list[bool] = []
    look.changed.connect(lambda: told.append(look.tokens.high))
    try:
        look.choose(HIGH_CONTRAST)
        assert facts(look) == (True, "#ffffff", "#000000")
        look.choose("dark")
        assert facts(look) == (False, "#222529", "#e6e8ea")
        look.follow_desktop(high=True)
        assert facts(look) == (True, "#000000", "#ffffff")
        look.follow_desktop(high=False)
        look.choose("system")
        assert told == [True, False, True, False, False]
    finally:
        look.stop()


def test_nothing_moves_when_the_operator_or_the_desktop_wants_it(qapp):
    look = Theme(qapp, dark=False)
    try:
        found = [look.still]
        look.follow_desktop(still=True)
        look.keep_still(on=False)
        found.append(look.still)
        look.follow_desktop(still=False)
        found.append(look.still)
        look.keep_still(on=True)
        found.append(look.still)
        assert found == [False, True, False, True]
    finally:
        look.stop()
