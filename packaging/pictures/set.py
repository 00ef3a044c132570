"""The window of a picture and what it looks at, driven as an operator would drive it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lineclear.language import _
from lineclear.ui.queue.sections import Section
from lineclear.ui.window import MainWindow
from pictures.stage import Stage


@dataclass(frozen=True)
class Set:
    """The window and what it looks at."""

    window: MainWindow
    stage: Stage
    calls: dict[str, str]
    """Ids by name."""

    async def choose(self, name: str) -> None:
        """Select a call, wait until it is read, and as long as makes it ready."""
        aid = self.calls[name]
        flow = self.window.flow
        await until(lambda: self.window.table.choose(aid))
        self.window.table.setFocus()
        await until(lambda: flow.current == aid and flow.view.prepared is not None)
        await asyncio.sleep(0.9)

    async def section(self, section: Section) -> None:
        """Go to a section once it has rows."""
        await until(lambda: self.window.model.counts()[section])
        self.window.sidebar.choose_section(section)

    def choose_agent(self, agent: str) -> bool:
        """Select the row of an agent that is not of this day, once it is there."""
        rows = [row for section in Section for row in self.window.model.rows_in(section)]
        return any(row.agent == agent and self.window.table.choose(row.id) for row in rows)

    def tab(self, name: str) -> bool:
        """Bring a tab of the reading pane to the front, once it is there."""
        tabs = self.window.pane.tabs
        for place in range(tabs.count()):
            if tabs.isTabVisible(place) and tabs.tabText(place) == _(name):
                tabs.setCurrentIndex(place)
                return True
        return False

    def do(self, action: str) -> None:
        """Do what a key does."""
        self.window.actions_table[action].trigger()


Scene = Callable[[Set], Awaitable[None]]


async def until(fact: Callable[[], object], seconds: float = 60) -> None:
    """Wait for a fact."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.02)
