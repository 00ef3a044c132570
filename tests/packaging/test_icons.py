"""Every icon is drawn from one of two SVG files, and each system's own file can be read again."""

import struct
from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QImageReader
from PySide6.QtSvg import QSvgRenderer

from tests.packaging.conftest import ROOT

SOURCES = ROOT / "resources" / "icons"
GROUND = "#1f2c3f"
LAMP = "#4cc38a"


def pictures(file: Path) -> list[QImage]:
    reader = QImageReader(str(file))
    found = []
    for number in range(reader.imageCount()):
        assert reader.jumpToImage(number)
        found.append(reader.read())
        assert not found[-1].isNull(), reader.errorString()
    return found


def shows_the_program(picture: QImage) -> bool:
    """Whether the ground, the lamp and the transparent corner are where the SVG has them."""
    side = picture.width()
    at = [picture.pixelColor(round(side * x / 256), round(side * y / 256)) for x, y in PLACES]
    return [at[0].name(), at[1].name(), picture.pixelColor(0, 0).alpha()] == [GROUND, LAMP, 0]


PLACES = ((128, 30), (158, 178))


def test_the_theme_has_the_program_in_every_size(qapp, drawn_icons):
    sizes = (16, 22, 24, 32, 48, 64, 128, 256, 512)
    for side in sizes:
        picture = QImage(str(drawn_icons / f"hicolor/{side}x{side}/apps/lineclear.png"))
        assert (picture.width(), picture.height()) == (side, side)
        assert side < 32 or shows_the_program(picture)
    scalable = drawn_icons / "hicolor/scalable/apps/lineclear.svg"
    assert scalable.read_bytes() == (SOURCES / "lineclear.svg").read_bytes()


def test_windows_icon_has_all_sizes_and_the_right_pixels(qapp, drawn_icons):
    found = pictures(drawn_icons / "lineclear.ico")
    assert [each.width() for each in found] == [16, 24, 32, 48, 64, 128, 256]
    assert all(shows_the_program(each) for each in found[2:])


def test_only_the_largest_windows_icon_is_a_png(drawn_icons):
    content = (drawn_icons / "lineclear.ico").read_bytes()
    _, kind, count = struct.unpack_from("<HHH", content)
    assert (kind, count) == (1, 7)
    entries = [struct.unpack_from("<BBBBHHII", content, 6 + 16 * n) for n in range(count)]
    heads = [content[at : at + 4] for *_, at in entries]
    assert heads == [*[struct.pack("<I", 40)] * 6, b"\x89PNG"]
    last = entries[-1]
    assert (last[0], last[-1] + last[-2]) == (0, len(content))


def test_macos_icon_has_all_sizes_and_the_right_pixels(qapp, drawn_icons):
    content = (drawn_icons / "lineclear.icns").read_bytes()
    assert content[:8] == b"icns" + struct.pack(">I", len(content))
    found = pictures(drawn_icons / "lineclear.icns")
    assert sorted(each.width() for each in found) == [32, 64, 128, 256, 256, 512, 512, 1024]
    assert all(shows_the_program(each) for each in found)


@pytest.mark.parametrize(
    "panel, ink", [pytest.param("light", "#1f2c3f"), pytest.param("dark", "#f4f6f8")]
)
def test_the_tray_icon_has_a_variant_for_each_panel(qapp, drawn_icons, panel, ink):
    for side in (16, 22, 24, 32, 48):
        place = drawn_icons / f"hicolor/{side}x{side}/status/lineclear-tray-{panel}.png"
        picture = QImage(str(place))
        assert picture.width() == side
        # Inside the flag.
        assert picture.pixelColor(round(side * 0.45), round(side * 0.32)).name() == ink
        assert picture.pixelColor(side - 1, side - 1).alpha() == 0


@pytest.mark.parametrize("panel", ["light", "dark"])
def test_the_window_shows_the_variants_that_are_installed(qapp, drawn_icons, panel):
    from lineclear.ui.frame import tray_icon

    place = drawn_icons / f"hicolor/scalable/status/lineclear-tray-{panel}.svg"
    assert place.read_bytes() == tray_icon.variant(panel)
    shown = tray_icon.icon_with_count(0, panel).pixmap(48, 48).toImage()
    drawn = QImage(str(drawn_icons / f"hicolor/48x48/status/lineclear-tray-{panel}.png"))
    assert shown.pixelColor(22, 15) == drawn.pixelColor(22, 15)


def test_no_variant_keeps_a_colour_that_nobody_defines(qapp, drawn_icons):
    drawings = sorted(drawn_icons.rglob("*.svg"))
    assert len(drawings) == 4
    for drawing in drawings:
        assert b"currentColor" not in drawing.read_bytes()
        assert QSvgRenderer(str(drawing)).isValid()
