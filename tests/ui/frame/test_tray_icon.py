"""The tray's icon: drawn once, in two inks, with a count that fits."""

import pytest
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from lineclear.ui import assets
from lineclear.ui.contrast import contrast
from lineclear.ui.frame.tray_icon import PANELS, SIDES, Panel, icon_with_count, panel_of, variant

PANEL_COLOURS = {"light": "#eff0f1", "dark": "#1b1e20"}
SCHEME = Qt.ColorScheme
FLAG = (0.45, 0.32)
BADGES_EDGE = (0.75, 0.53)


def picture(number: int, panel: Panel, side: int, *, high: bool = False) -> QImage:
    found = icon_with_count(number, panel, high=high).pixmap(side, side).toImage()
    assert (found.width(), found.height()) == (side, side)
    return found


def at(image: QImage, place: tuple[float, float]) -> QColor:
    return image.pixelColor(round(image.width() * place[0]), round(image.height() * place[1]))


@pytest.mark.parametrize(
    "scheme, desktop, panel",
    [
        (SCHEME.Light, "KDE", "light"),
        (SCHEME.Dark, "KDE", "dark"),
        (SCHEME.Unknown, "", "light"),
        (SCHEME.Dark, "", "dark"),
        (SCHEME.Light, "GNOME", "dark"),
        (SCHEME.Light, "ubuntu:GNOME", "dark"),
        (SCHEME.Light, "GNOME-Flashback:GNOME", "dark"),
        (SCHEME.Light, "X-Cinnamon", "light"),
    ],
)
def test_the_panel_is_the_desktops(scheme, desktop, panel):
    assert panel_of(scheme, desktop) == panel


def test_the_desktop_is_read_from_where_it_says_its_name(monkeypatch):
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "ubuntu:GNOME")
    assert panel_of(SCHEME.Light) == "dark"
    monkeypatch.delenv("XDG_CURRENT_DESKTOP")
    assert panel_of(SCHEME.Light) == "light"


@pytest.mark.parametrize("panel", PANELS)
def test_a_variant_is_the_one_drawing_in_its_ink(qapp, panel):
    drawing = assets.read("icons/tray.svg").decode()
    made = variant(panel).decode()
    assert QSvgRenderer(QByteArray(made.encode())).isValid()
    assert "currentColor" not in made
    (arm,) = {line.split('"')[1] for line in drawing.splitlines() if "M6 5.500" in line}
    assert made.count(arm) == 2, "with an edge behind it"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("panel", PANELS)
def test_it_is_seen_on_its_panel_and_told_from_the_other(qapp, panel, side):
    ink = at(picture(0, panel, side), FLAG)
    assert ink.alpha() == 255
    assert contrast(ink, QColor(PANEL_COLOURS[panel])) >= 7


@pytest.mark.parametrize("panel", PANELS)
def test_on_the_other_kind_of_panel_its_edge_is_seen(qapp, panel):
    other = QColor(PANEL_COLOURS["dark" if panel == "light" else "light"])
    ground = QImage(48, 48, QImage.Format.Format_ARGB32)
    ground.fill(other)
    painter = QPainter(ground)
    painter.drawImage(0, 0, picture(0, panel, 48))
    painter.end()
    row = [ground.pixelColor(x, 34) for x in range(48)]
    assert max(contrast(colour, other) for colour in row) >= 2


@pytest.mark.parametrize("high", [False, True])
@pytest.mark.parametrize("panel", PANELS)
def test_the_count_is_a_badge_that_stands_apart_from_the_arm(qapp, panel, high):
    plain, seven, many = (picture(number, panel, 32, high=high) for number in (0, 7, 1000))
    assert plain != seven != many
    back = QColor(PANEL_COLOURS[panel])
    inside = {
        seven.pixelColor(x, y).name()
        for x in range(18, 30)
        for y in range(18, 30)
        if seven.pixelColor(x, y).alpha() == 255
    }
    badge = at(seven, BADGES_EDGE)
    assert badge.alpha() == 255
    assert contrast(badge, back) >= 3
    assert max(contrast(QColor(name), badge) for name in inside) >= (7 if high else 4.5)


@pytest.mark.parametrize("number", [9, 99, 100, 5000])
@pytest.mark.parametrize("side", SIDES)
def test_no_count_is_cut_at_any_size(qapp, side, number):
    shown = picture(number, "light", side)
    # The badge is round at both ends, so ink at the outermost columns would be a digit's.
    for x in (0, side - 1):
        column = [shown.pixelColor(x, y) for y in range(side)]
        assert not any(each.name() == "#ffffff" and each.alpha() == 255 for each in column)
