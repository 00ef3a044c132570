"""Scenes of the smallest window: a reason is typed while warnings stand, or somebody was first."""

from __future__ import annotations

import asyncio

from lineclear.core.ledger.decide import Verdict
from pictures.set import Scene, Set, until

SIZE = (640, 420)
LONG_REASON = (
    "Wrong customer, see https://tickets.example.com/customers/C-1204/disputes/2026-11/"
    "refund-policy-for-enterprise-contracts#section-4-paragraph-2-exceptions"
)
ONE_WORD = "A" * 19_000


async def deny(on: Set) -> None:
    """A reason is typed for a call that is warned of."""
    on.window.resize(*SIZE)
    await on.choose("bash")
    on.do("deny")
    on.window.pane.editor.text.setPlainText("Not in this folder.")
    await asyncio.sleep(0.6)


async def deny_warned(on: Set) -> None:
    """The same for one with a red warning."""
    on.window.resize(*SIZE)
    await on.choose("hidden")
    on.do("deny")
    on.window.pane.editor.text.setPlainText("Hidden characters.")
    await asyncio.sleep(0.6)


async def _denied_elsewhere(on: Set, reason: str) -> None:
    await on.choose("refund")
    on.do("deny")
    on.window.pane.editor.text.setPlainText("my own draft")
    await asyncio.sleep(0.3)
    on.stage.decide(on.calls["refund"], Verdict("deny", reason=reason), on.stage.by)
    await until(lambda: on.window.flow.view.frozen)
    await asyncio.sleep(0.8)


async def denied_elsewhere(on: Set) -> None:
    """Somebody else denied it meanwhile, for a long reason."""
    on.window.resize(*SIZE)
    await _denied_elsewhere(on, LONG_REASON)


async def denied_in_one_word(on: Set) -> None:
    """The same in a large window; the reason is one long word."""
    await _denied_elsewhere(on, ONE_WORD)


SMALL: dict[str, Scene] = {
    "small-deny": deny,
    "small-deny-warned": deny_warned,
    "small-denied": denied_elsewhere,
    "denied-in-one-word": denied_in_one_word,
}
