"""Scenes of calls that are decided together."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Person
from lineclear.ui.deciding.arming import Act
from pictures.set import Scene, Set, until


async def several(on: Set) -> None:
    """Many calls of one tool are selected."""
    await until(lambda: on.window.model.rowCount() >= 60)
    await on.choose("0")
    on.window.table.selectAll()
    await asyncio.sleep(0.6)


async def burst(on: Set) -> None:
    """Calls of one tool side by side."""
    await several(on)
    on.do("together")
    await until(lambda: on.window.together.flow)
    await asyncio.sleep(0.9)


async def burst_armed(on: Set) -> None:
    """The last row was seen, the letter was pressed."""
    await burst(on)
    flow = on.window.together.flow
    assert flow is not None
    flow.window.table.scrollToBottom()
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready)
    flow.hands.letter(Act.APPROVE)
    await asyncio.sleep(0.1)


async def burst_deny(on: Set) -> None:
    """The one reason of all denials."""
    await burst(on)
    flow = on.window.together.flow
    assert flow is not None
    flow.deny()
    flow.window.editor.text.setPlainText("Yesterday's price list. Ask again with today's.")
    await asyncio.sleep(0.3)


async def burst_held(on: Set) -> None:
    """Denials that are not written yet."""
    settings = on.window._bridge.settings  # noqa: SLF001
    on.window._bridge.settings = settings.model_copy(update={"hold_s": 60})  # noqa: SLF001
    await burst_deny(on)
    flow = on.window.together.flow
    assert flow is not None
    await until(lambda: flow.arming.readiness(Act.DENY).ready)
    flow.submit()
    await until(lambda: flow.run.holding)
    await asyncio.sleep(0.3)


async def burst_done(on: Set) -> None:
    """What became of each: two were decided elsewhere meanwhile."""
    await burst(on)
    flow = on.window.together.flow
    assert flow is not None
    bob = Person(uid=on.stage.by.uid, name="bob", host=on.stage.by.host)
    on.stage.decide(on.calls["7"], Verdict("deny", reason="A second refund of C-1207."), bob)
    on.stage.decide(on.calls["8"], Verdict("deny", reason="A second refund of C-1208."), bob)
    await until(flow.window.model.endings)
    flow.window.table.scrollToBottom()
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready)
    QTest.mouseClick(flow.window.approve, Qt.MouseButton.LeftButton)
    await until(lambda: flow.run.total and not flow.run.going)
    flow.window.table.scrollToTop()
    await asyncio.sleep(0.3)


BURSTS: dict[str, Scene] = {
    "several": several,
    "burst": burst,
    "burst-armed": burst_armed,
    "burst-deny": burst_deny,
    "burst-held": burst_held,
    "burst-done": burst_done,
    "burst-hostile": burst,
    "burst-letter": burst,
}
