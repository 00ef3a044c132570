"""Scenes of the settings: each page, a command that is tried, one that a run proposes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from lineclear.core.inbox.operator.settings import LaunchSetting, settings_path
from lineclear.ui.settings import desk, following
from lineclear.ui.settings.commands import CommandsPage
from lineclear.ui.settings.folders import FoldersPage
from lineclear.ui.settings.form import put

SHOWN = ("proposalWindow", "settings")
"""Windows of which a picture is taken in the place of the main one."""
RESUME = LaunchSetting(
    agent="mailer",
    argv=(sys.executable, "-m", "mailer.resume", "{store}"),
    env={"MAILER_MODE": "prod"},
)


def _page(name: str) -> Callable[[Any], Awaitable[None]]:
    async def scene(on: Any) -> None:
        """One page."""
        await _opened(on)
        on.window.desk.open_at(name)
        await asyncio.sleep(0.6)

    return scene


async def _opened(on: Any) -> None:
    await on.choose("mail")
    # The pictures' settings become the file's, which every change starts from.
    now = on.window._bridge.settings  # noqa: SLF001
    values = {"sources": now.sources, "launch": (RESUME, *now.launch[:1]), "operator": "ann"}
    await on.window._bridge.change_settings(put(**values))  # noqa: SLF001
    await asyncio.sleep(0.5)


async def removal(on: Any) -> None:
    """What it means to remove a folder."""
    await _page(desk.FOLDERS)(on)
    page = on.window.desk.window.pages[desk.FOLDERS]
    assert isinstance(page, FoldersPage)
    next(iter(page.cards.values())).ask_removal(on=True)
    await asyncio.sleep(0.3)


def _commands(on: Any) -> CommandsPage:
    page = on.window.desk.window.pages[desk.COMMANDS]
    assert isinstance(page, CommandsPage)
    return page


async def tried(on: Any) -> None:
    """What a command would run for a call."""
    await _page(desk.COMMANDS)(on)
    _commands(on).try_out(RESUME)
    await asyncio.sleep(0.5)


async def edited(on: Any) -> None:
    """A command while it is written."""
    await _page(desk.COMMANDS)(on)
    _commands(on).edit(RESUME)
    await asyncio.sleep(0.3)


async def proposes(on: Any) -> None:
    """A call whose run proposes a command."""
    toml = f'argv = ["{sys.executable}", "-m", "refunds", "--store", "{{store}}"]\n'
    store = on.stage.calls[on.calls["hidden"]].store
    (store.parent / "resume.toml").write_text(toml + 'cwd = "/tmp"\n[env]\nMODE = "prod"\n')
    await on.choose("hidden")
    await asyncio.sleep(0.5)


async def proposal(on: Any) -> None:
    """That command, before it is trusted."""
    await proposes(on)
    on.window.desk.proposals.open()
    await asyncio.sleep(1.5)


async def damaged(on: Any) -> None:
    """The settings file was written by hand, and cannot be understood."""
    await _opened(on)
    now = on.window._bridge.settings  # noqa: SLF001
    on.window.desk.begin("", following.mark())
    settings_path().write_text(f'{{"operator": "{now.operator}", "row_height": 29}}')
    await asyncio.sleep(2.5)


SETTINGS: dict[str, Callable[[Any], Awaitable[None]]] = {
    "settings-general": _page(desk.GENERAL),
    "settings-folders": _page(desk.FOLDERS),
    "settings-removal": removal,
    "settings-commands": _page(desk.COMMANDS),
    "settings-try": tried,
    "settings-edit": edited,
    "settings-keys": _page(desk.KEYS),
    "settings-look": _page(desk.LOOK),
    "settings-history": _page(desk.HISTORY),
    "settings-damaged": damaged,
    "proposes": proposes,
    "proposal": proposal,
}
