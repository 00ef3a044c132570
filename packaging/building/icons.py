"""Draws the icons of every system from the two SVG files in `resources/icons`.

python packaging/building/icons.py FOLDER
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

from lineclear.ui.frame import tray_icon

SOURCES = Path(__file__).resolve().parents[2] / "resources" / "icons"
SIDES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Pixels of the icons in hicolor, the theme that every desktop falls back on."""
TRAY_SIDES = (16, 22, 24, 32, 48)
SYMBOLIC_INK = "#1F2C3F"
ICO_SIDES = (16, 24, 32, 48, 64, 128, 256)
ICNS_KINDS = {
    b"ic11": 32,
    b"ic12": 64,
    b"ic07": 128,
    b"ic13": 256,
    b"ic08": 256,
    b"ic14": 512,
    b"ic09": 512,
    b"ic10": 1024,
}
"""Pixels of the entries that hold a PNG; `ic11` to `ic14` are of doubled resolution."""


def drawn(svg: bytes, side: int) -> QImage:
    """A square picture of SIDE pixels."""
    picture = QImage(side, side, QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(svg)).render(painter)
    painter.end()
    return picture


def png(picture: QImage) -> bytes:
    """The picture as a PNG file."""
    kept = QByteArray()
    buffer = QBuffer(kept)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not QImageWriter(buffer, QByteArray(b"png")).write(picture):
        raise SystemExit("Qt cannot write PNG files here.")
    return bytes(kept.data())


def _bitmap(picture: QImage) -> bytes:
    """The picture as an icon's bitmap: rows from the bottom, then an empty mask of one bit each."""
    side = picture.width()
    header = struct.pack("<IiiHHIIiiII", 40, side, 2 * side, 1, 32, 0, 0, 0, 0, 0, 0)
    pixels = bytes(picture.constBits())
    rows = [pixels[y * side * 4 : (y + 1) * side * 4] for y in reversed(range(side))]
    mask = bytes((side + 31) // 32 * 4) * side
    return header + b"".join(rows) + mask


def ico(svg: bytes) -> bytes:
    """An icon file of Windows; all but the largest as bitmaps, which every tool there reads."""
    images = [
        png(drawn(svg, side)) if side == 256 else _bitmap(drawn(svg, side)) for side in ICO_SIDES
    ]
    head = struct.pack("<HHH", 0, 1, len(images))
    at = len(head) + 16 * len(images)
    for side, image in zip(ICO_SIDES, images, strict=True):
        # 256 does not fit into a byte and is written as 0.
        head += struct.pack("<BBBBHHII", side % 256, side % 256, 0, 0, 1, 32, len(image), at)
        at += len(image)
    return head + b"".join(images)


def icns(svg: bytes) -> bytes:
    """An icon file of macOS."""
    entries = b""
    for kind, side in ICNS_KINDS.items():
        image = png(drawn(svg, side))
        entries += kind + struct.pack(">I", len(image) + 8) + image
    return b"icns" + struct.pack(">I", len(entries) + 8) + entries


def make(folder: Path) -> None:
    """Write `lineclear.ico`, `lineclear.icns` and the tree `hicolor` into FOLDER."""
    application = QGuiApplication.instance() or QGuiApplication(["icons"])
    program = (SOURCES / "lineclear.svg").read_bytes()
    tray = (SOURCES / "tray.svg").read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lineclear.ico").write_bytes(ico(program))
    (folder / "lineclear.icns").write_bytes(icns(program))
    theme = folder / "hicolor"
    for side in SIDES:
        _write(theme / f"{side}x{side}" / "apps" / "lineclear.png", png(drawn(program, side)))
    _write(theme / "scalable" / "apps" / "lineclear.svg", program)
    for panel in tray_icon.PANELS:
        inked = tray_icon.variant(panel)
        for side in TRAY_SIDES:
            place = theme / f"{side}x{side}" / "status" / f"lineclear-tray-{panel}.png"
            _write(place, png(drawn(inked, side)))
        _write(theme / "scalable" / "status" / f"lineclear-tray-{panel}.svg", inked)
    # A desktop that gives symbolic icons its own colour replaces every colour in them.
    symbolic = tray.replace(b"currentColor", SYMBOLIC_INK.encode())
    _write(theme / "symbolic" / "apps" / "lineclear-symbolic.svg", symbolic)
    del application


def _write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
