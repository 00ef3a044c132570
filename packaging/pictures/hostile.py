"""Scenes of text that means to deceive: markup, reordered, alike, endless, in every place."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime

from lineclear.core.inbox.history.writing import History
from lineclear.core.inbox.operator.settings import LaunchSetting
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Person
from lineclear.ui.queue.sections import Section
from lineclear.ui.settings import desk
from lineclear.ui.settings.form import put
from pictures.history import fact, keep, past
from pictures.set import Scene, Set, until
from pictures.stage import Stage, call

REORDERED = "invoice\u202efdp.exe\u202c"
ALIKE = "p\u0430ypal.com"
MARKUP = "<img src='x' onerror=alert(1)><b>approved</b> &amp; {0} %s"
ENDLESS = "W" * 300
LINES = "yes\n" * 60
TOOL = f"send_{REORDERED}<b>{'_very' * 12}_long</b>"
AGENT = f"bot<i>{ALIKE}</i>\u202e{'x' * 60}"
ARGUMENTS = {
    "<b>to</b>": ALIKE,
    REORDERED: 1,
    ENDLESS: ENDLESS,
    "markup": MARKUP,
    "line": "x" * 1_000_000,
    "lines": LINES,
    "tabs": "a\tb\u00a0c\u2028d\x07e\u200bf",
    "": "",
}
WHY = f"{MARKUP} {REORDERED} {ENDLESS}"
BAD_PERSON = f"<b>ann</b>{REORDERED}{'y' * 80}"


def _asked(on: Set, name: str, minutes: float = 1.5, folder: str = "hostile") -> None:
    on.calls[name] = on.stage.ask(folder, call(TOOL, ARGUMENTS, AGENT), minutes)


async def reads(on: Set) -> None:
    """A call that tries everything."""
    _asked(on, "hostile")
    await on.choose("hostile")


async def text(on: Set) -> None:
    """The same as text."""
    await reads(on)
    on.window.pane.call.switch.click()
    await asyncio.sleep(0.5)


async def file(on: Set) -> None:
    """Its file, and who decided."""
    await reads(on)
    on.window.pane.tabs.setCurrentWidget(on.window.pane.file)
    await asyncio.sleep(0.4)


async def froze(on: Set) -> None:
    """Somebody with such a name denied it, with such a reason, while a text was typed."""
    await reads(on)
    on.do("deny")
    on.window.pane.editor.text.setPlainText(WHY)
    await asyncio.sleep(0.3)
    bad = Person(uid=on.stage.by.uid, name=BAD_PERSON, host=on.stage.by.host)
    on.stage.decide(on.calls["hostile"], Verdict("deny", reason=WHY), bad)
    await until(lambda: on.window.flow.view.frozen)
    await asyncio.sleep(0.6)


async def twins(on: Set) -> None:
    """The same call waits twice, which is told with the agent's name."""
    _asked(on, "first", 4, "hostile-1")
    _asked(on, "hostile", 1.5, "hostile-2")
    await on.choose("hostile")


async def ended(on: Set) -> None:
    """What such a call gave, or failed with."""
    _asked(on, "hostile")
    on.stage.finish(on.calls["hostile"], "error", f"{WHY}\n{LINES}")
    await on.section(Section.FINISHED)
    await on.choose("hostile")


async def modify(on: Set) -> None:
    """Changed, and reviewed."""
    arguments = {name: value for name, value in ARGUMENTS.items() if name != "line"}
    on.calls["hostile"] = on.stage.ask("hostile", call(TOOL, arguments, AGENT), 1.5)
    await on.choose("hostile")
    on.do("modify")
    await asyncio.sleep(0.3)
    editor = on.window.pane.modify
    editor.yours.setPlainText(editor.draft().replace(": 1", ": 2"))
    await asyncio.sleep(0.3)
    on.do("submit")
    await asyncio.sleep(1.0)


async def folder(on: Set) -> None:
    """Watched folders with such names, which are missing."""
    await on.choose("refund")
    bridge = on.window._bridge  # noqa: SLF001
    odd = [
        on.stage.source.parent / f"agents {name}" for name in (MARKUP.replace("/", ""), REORDERED)
    ]
    known = bridge.settings.sources[0]
    sources = (known, *(known.model_copy(update={"path": path}) for path in odd))
    await bridge.change_settings(put(sources=sources))
    await until(on.window.status.trouble.isVisible)
    on.window.desk.open_at(desk.FOLDERS)
    await asyncio.sleep(1.0)


async def command(on: Set) -> None:
    """A command with such words, in the settings."""
    await on.choose("mail")
    argv = (sys.executable, "-c", MARKUP, REORDERED, ENDLESS, "{store}")
    odd = LaunchSetting(agent=AGENT[:60], argv=argv, env={"MODE": MARKUP})
    await on.window._bridge.change_settings(put(launch=(odd,), operator=BAD_PERSON[:60]))  # noqa: SLF001
    on.window.desk.open_at(desk.COMMANDS)
    await asyncio.sleep(0.8)


def past_of_such(stage: Stage) -> dict[str, str]:
    """What was decided on such calls."""
    known = past(stage)
    facts = [
        replace(
            fact(900 + number, datetime.now(UTC)),
            tool=TOOL,
            agent=AGENT,
            arguments='{"note":"' + "z" * 3000 + '"}',
            by_name=BAD_PERSON,
            by_host=REORDERED,
            reason=WHY,
            store=f"/srv/{MARKUP}/{ENDLESS}",
            preview=WHY,
            verdict="deny",
        )
        for number in range(3)
    ]
    with History.open() as history:
        keep(history, facts)
    return known


async def history(on: Set) -> None:
    """The history's rows of such calls."""
    on.window.sidebar.choose_section(Section.HISTORY)
    page = on.window.history.page
    await until(lambda: page.model.rowCount() > 20 and page.count.text())
    page.table.setFocus()
    page.search.setText("very_very")
    await until(lambda: 0 < page.model.rowCount() < 9)
    page.table.choose(0)
    await asyncio.sleep(0.6)


HOSTILE: dict[str, Scene] = {
    "hostile": reads,
    "hostile-text": text,
    "hostile-file": file,
    "hostile-frozen": froze,
    "hostile-twin": twins,
    "hostile-ended": ended,
    "hostile-review": modify,
    "hostile-folder": folder,
    "hostile-command": command,
    "hostile-history": history,
}
