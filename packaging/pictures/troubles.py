"""Scenes of what goes wrong around the calls: a folder that is away, sections folded away."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from pictures.set import Scene, Set, until


async def missing(on: Set) -> None:
    """The watched folder is away; its calls are shown as last seen."""
    await on.choose("refund")
    on.stage.source.rename(on.stage.source.with_name("away"))
    await until(on.window.status.trouble.isVisible)
    await asyncio.sleep(1.2)


async def folded(on: Set) -> None:
    """A small window: sections are folded away, and one call may have run."""
    await until(lambda: on.window.model.counts()[Section.MAY_HAVE_RUN])
    on.window.resize(800, 560)
    await on.choose("refund")


async def wide(on: Set) -> None:
    """A wide window: more columns by themselves."""
    on.window.resize(1680, 820)
    await on.choose("refund")


async def leaving(on: Set) -> None:
    """Quitting with a word that is not written yet, and a denial that rests meanwhile."""
    await on.choose("refund")
    on.do("deny")
    editor = on.window.pane.editor
    editor.text.setPlainText("Wrong customer.")
    editor.lasting.setChecked(True)
    on.do("submit")
    await until(on.window.flow.standing.listed)
    bridge = on.window._bridge  # noqa: SLF001
    bridge.settings = bridge.settings.model_copy(update={"hold_s": 60})
    await on.choose("bash")
    await until(lambda: on.window.flow.arming.readiness(Act.APPROVE).ready)
    QTest.mouseClick(on.window.pane.bar.approve, Qt.MouseButton.LeftButton)
    await until(on.window.flow.holding.open_words)
    on.window.quit()
    await asyncio.sleep(0.3)


TROUBLES: dict[str, Scene] = {
    "missing": missing,
    "folded": folded,
    "wide": wide,
    "leaving": leaving,
}
