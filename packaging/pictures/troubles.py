"""Scenes of what goes wrong around the calls: a folder that is away, sections folded away."""

from __future__ import annotations

import asyncio
import errno

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lineclear.core.ledger.platform import oserrors
from lineclear.core.sentences import worded
from lineclear.language import translated
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from lineclear.ui.settings.form import put
from pictures.set import Scene, Set, until


async def missing(on: Set) -> None:
    """The watched folder is away; its calls are shown as last seen."""
    await on.choose("refund")
    on.stage.source.rename(on.stage.source.with_name("away"))
    await until(on.window.status.trouble.isVisible)
    await asyncio.sleep(1.2)


async def paused(on: Set) -> None:
    """The folder is paused while a call of it is read."""
    await on.choose("refund")
    await _pause_all(on)
    await asyncio.sleep(2.5)


async def all_paused(on: Set) -> None:
    """Nothing is watched, and how to change that."""
    await _pause_all(on)
    await asyncio.sleep(2.0)


async def _pause_all(on: Set) -> None:
    bridge = on.window._bridge  # noqa: SLF001
    rests = tuple(one.model_copy(update={"paused": True}) for one in bridge.settings.sources)
    await bridge.change_settings(put(sources=rests))


async def hidden(on: Set) -> None:
    """An agent's folder was moved away, and a link to it put in its place."""
    away = on.stage.source.with_name("moved away")
    on.stage.source.joinpath("bot", "1").mkdir(parents=True)
    on.stage.source.joinpath("bot", "run.json").write_text("{}", encoding="utf-8")
    on.stage.source.joinpath("bot").rename(away)
    on.stage.source.joinpath("bot").symlink_to(away)
    await until(on.window.status.trouble.isVisible)
    await asyncio.sleep(1.0)


async def removed(on: Set) -> None:
    """The folder was taken off the list while a call of it is read."""
    await on.choose("refund")
    bridge = on.window._bridge  # noqa: SLF001
    await bridge.change_settings(put(sources=()))
    await asyncio.sleep(2.5)


async def led_elsewhere(on: Set) -> None:
    """The folder became a link, which then leads nowhere."""
    await on.choose("refund")
    source, elsewhere = on.stage.source, on.stage.source.with_name("moved away")
    source.rename(elsewhere)
    source.symlink_to(elsewhere)
    await asyncio.sleep(2.5)
    other = source.with_name("other")
    other.mkdir()
    source.unlink()
    source.symlink_to(other)
    await asyncio.sleep(3.5)


async def linked_store(on: Set) -> None:
    """A store below it is a link, which is never followed."""
    run = on.stage.calls[on.calls["refund"]].store.parent
    (on.stage.source / "shortcut").symlink_to(run / "2")
    await on.section(Section.UNREADABLE)
    await until(lambda: on.choose_agent("shortcut"))
    await asyncio.sleep(1.0)


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


async def not_denied(on: Set) -> None:
    """A standing denial that cannot be written, while no call is in view."""
    standing = on.window.flow.standing
    await on.choose("refund")
    on.do("deny")
    editor = on.window.pane.editor
    editor.text.setPlainText("Wrong customer.")
    editor.lasting.setChecked(True)
    on.do("submit")
    await until(standing.listed)
    row = on.window.model.row(on.window.flow.view.id)
    ((word, _told),) = standing.listed()
    assert row is not None
    full = OSError(errno.ENOSPC, "")
    why = worded(
        "Not confirmed: {reason} at {folder}, writing {name}; {cure} and try again.",
        reason=oserrors.reason(full),
        folder=str(row.store),
        name="1.decision.json",
        cure=oserrors.cure(full),
    )
    # Twice: once may be chance.
    for _ in range(2):
        standing._miss(row, word, translated(why))  # noqa: SLF001
    on.window.flow.view.show("")
    standing.changed.emit()
    await until(on.window.open_words.strip.isVisible)
    await asyncio.sleep(0.3)


TROUBLES: dict[str, Scene] = {
    "not-denied": not_denied,
    "missing": missing,
    "paused": paused,
    "all-paused": all_paused,
    "hidden-by-link": hidden,
    "removed": removed,
    "led-elsewhere": led_elsewhere,
    "linked-store": linked_store,
    "folded": folded,
    "wide": wide,
    "leaving": leaving,
}
