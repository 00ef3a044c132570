"""Scenes of what goes wrong around the calls: a folder that is away, sections folded away."""

from __future__ import annotations

import asyncio

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


TROUBLES: dict[str, Scene] = {"missing": missing, "folded": folded, "wide": wide}
