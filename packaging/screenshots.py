#!/usr/bin/env python3
"""Make pictures of the real window on real stores.

    screenshots.py                            the README's two, into resources/screenshots
    screenshots.py --all DIR                  every scene, light and dark, into DIR
    screenshots.py --all DIR --scene NAME     only that scene (repeatable)

Runs offscreen. Every scene is the program itself, driven as an operator would drive it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

from pictures.bursts import BURSTS
from pictures.crowd import crowd
from pictures.history import HISTORY, past
from pictures.hostile import HOSTILE, past_of_such
from pictures.reading import READING
from pictures.set import Scene, Set
from pictures.settings import SETTINGS
from pictures.settings import SHOWN as SETTINGS_SHOWN
from pictures.small import SMALL
from pictures.stage import Stage, day, nothing
from pictures.told_apart import TOLD_APART
from pictures.troubles import TROUBLES
from pictures.working_day import README_SCENE, WORKING_DAY
from PySide6.QtCore import QSize
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting
from lineclear.ui.bridge import Bridge
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow

README_PICTURES = Path(__file__).resolve().parent.parent / "resources" / "screenshots"
RESUMED = """\
import time
print("Resuming archiver ...")
for table in ("orders", "invoices", "shipments"):
    print(f"archived {table} of 2024", flush=True)
time.sleep(20)
"""
"""What the resume command of the pictures runs."""

SCENES: dict[str, Scene] = {
    **WORKING_DAY,
    **READING,
    **SETTINGS,
    **HISTORY,
    **BURSTS,
    **TROUBLES,
    **TOLD_APART,
    **HOSTILE,
    **SMALL,
}
STAGES: dict[str, Callable[[Stage], dict[str, str]]] = {
    "empty": nothing,
    "demo": nothing,
    "all-paused": nothing,
    "hidden-by-link": nothing,
    "several": crowd,
    "burst": crowd,
    "burst-armed": crowd,
    "burst-deny": crowd,
    "burst-held": crowd,
    "burst-done": crowd,
    "burst-hostile": lambda stage: crowd(stage, hostile=True),
    "burst-letter": lambda stage: crowd(stage, letter=True),
    **dict.fromkeys(HISTORY, past),
    "hostile-history": past_of_such,
}
"""Scenes on another source than a working day's."""


async def picture(
    app: QApplication, target: Path, name: str, *, dark: bool, size: QSize, high: bool = False
) -> None:
    """Make one picture; HIGH: in high contrast."""
    async with staged(app, name, dark=dark, size=size, high=high) as (shown, _stage):
        shown.grab().save(str(target))
        print(target)


@asynccontextmanager
async def staged(
    app: QApplication, name: str, *, dark: bool, size: QSize, high: bool = False
) -> AsyncIterator[tuple[QWidget, Stage]]:
    """Play a scene; give the window that it is of and what it looks at. HIGH: high contrast."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINECLEAR_HOME"] = os.environ["HOME"] = folder
        stage = Stage(Path(folder))
        calls = STAGES.get(name, day)(stage)
        tasks = Tasks(asyncio.get_running_loop())
        script = Path(folder) / "resume.py"
        script.write_text(RESUMED, encoding="utf-8")
        argv = (sys.executable, str(script), "{store}")
        launches = tuple(LaunchSetting(agent=agent, argv=argv) for agent in ("archiver", "mailer"))
        settings = Settings(sources=(SourceSetting(path=stage.source),), launch=launches)
        bridge = Bridge(settings)
        look = Theme(app, dark=dark)
        look.follow_desktop(high=high)
        window = MainWindow(bridge, look, tasks, app, demo=name == "demo")
        window.resize(size)
        window.show()
        window.activateWindow()
        bridge.start()
        try:
            await SCENES[name](Set(window, stage, calls))
            shown = (
                window.findChild(QWidget, "keyList") or window.findChild(QWidget, "burst") or window
            )
            names = (*SETTINGS_SHOWN, "exportHistory", "totalsCard")
            own = (window.findChild(QWidget, each) for each in names)
            shown = next((each for each in own if each is not None and each.isVisible()), shown)
            if shown.objectName() == "burst":
                shown.resize(size)
                await asyncio.sleep(0.2)
            yield shown, stage
        finally:
            window.quit()
            window.hide()
            await tasks.close()
            await bridge.stop()
            look.stop()
            window.deleteLater()
            # The next look begins where a new process would.
            app.setStyleSheet("")
            app.setPalette(QPalette())
            stage.close()


async def pictures(app: QApplication, options: argparse.Namespace) -> None:
    """Make all that were asked for, light and dark."""
    out = README_PICTURES if options.all is None else Path(options.all)
    out.mkdir(parents=True, exist_ok=True)
    names = [README_SCENE] if options.all is None else options.scene or list(SCENES)
    width, height = (int(part) for part in options.size.split("x"))
    for name in names:
        for look in ("light", "dark"):
            kind = f"high-{look}" if options.high else look
            target = out / f"{name}-{kind}.png"
            size, dark = QSize(width, height), look == "dark"
            await picture(app, target, name, dark=dark, size=size, high=options.high)


def _on_a_screen(size: str, ratio: float, folder: str) -> None:
    """Have Qt pretend a screen of SIZE: its own is so small that dialogs would shrink to fit."""
    width, height = (round(int(part) * ratio) for part in size.split("x"))
    told = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height, "dpr": 1}
    screen = {**told, "logicalDpi": 96, "logicalBaseDpi": 96}
    config = Path(folder) / "screens.json"
    config.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={config}"


def main() -> int:
    """Make the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", metavar="DIR", help="every scene, light and dark, into DIR")
    parser.add_argument("--scene", action="append", choices=list(SCENES), help="with --all")
    parser.add_argument("--high", action="store_true", help="in high contrast")
    parser.add_argument("--size", default="1280x680", metavar="WIDTHxHEIGHT")
    parser.add_argument("--ratio", default="2", help="device pixels per pixel (default: 2)")
    parser.add_argument("--type", default="1", help="times the usual size of type")
    parser.add_argument("--screen", default="1920x1080", metavar="WIDTHxHEIGHT")
    options = parser.parse_args()
    os.environ["QT_SCALE_FACTOR"] = options.ratio
    with tempfile.TemporaryDirectory() as folder:
        if os.environ["QT_QPA_PLATFORM"] == "offscreen":
            _on_a_screen(options.screen, float(options.ratio), folder)
        app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    font = app.font()
    font.setPointSizeF(font.pointSizeF() * float(options.type))
    app.setFont(font)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(pictures(app, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
