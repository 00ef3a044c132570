"""Looks at the windows beside the main one, and at the history, as small as may be and large.

usage: fitting_windows.py TYPE_SIZE SCENE..., where TYPE_SIZE multiplies the system's; with
QT_SCALE_FACTOR. Plays the scenes of packaging/screenshots.py and prints what is cut or overlaps.
"""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from qasync import QEventLoop

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))
sys.path.insert(0, str(Path(__file__).parents[2]))

import screenshots

from tests.ui.fitting import cut, overlapping, say, size

LARGE = QSize(1320, 820)
NARROW = 560
"""As narrow as a window of settings is made; only the pretended screen here is narrower."""
SCREEN = QSize(944, 500)
"""A screen of 1920x1080 at 200 %, without its panel and the window's frame."""


async def settle() -> None:
    """What is laid out anew asks for room anew, more than once."""
    for _ in range(12):
        await asyncio.sleep(0.02)


def sideways(window: QWidget) -> Iterator[str]:
    """The pages that are wider than what is seen of them."""
    if window.width() < NARROW:
        return
    for each in window.findChildren(QScrollArea):
        if each.isVisible() and (more := each.horizontalScrollBar().maximum()):
            yield f"{each.objectName()} {each.accessibleName()!r} is {more} px too wide"


async def look(window: QWidget, scene: str) -> None:
    least = window.minimumSize().expandedTo(window.minimumSizeHint())
    if float(sys.argv[1]) == 1 and (
        least.width() > SCREEN.width() or least.height() > SCREEN.height()
    ):
        say(f"{scene}: at least {least.width()}x{least.height()}, more than a small screen has")
    for wanted in (least, LARGE):
        window.resize(wanted)
        await settle()
        where = f"{scene} at {size(window)}"
        for found in sorted({*cut(window), *overlapping(window), *sideways(window)}):
            say(f"{where}: {found}")


async def main(app: QApplication, scenes: list[str]) -> None:
    for scene in scenes:
        async with screenshots.staged(app, scene, dark=False, size=QSize(1280, 680)) as (found, _):
            shown: Any = found
            await look(shown, scene)
            for page in shown.pages if scene == "settings-folders" else ():
                shown.turn_to(page)
                await look(shown, f"settings, {page}")


if __name__ == "__main__":
    running = QApplication([])
    running.setQuitOnLastWindowClosed(False)
    font = running.font()
    font.setPointSizeF(font.pointSizeF() * float(sys.argv[1]))
    running.setFont(font)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(running)) as runner:
        runner.run(main(running, sys.argv[2:]))
