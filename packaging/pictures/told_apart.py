"""Scenes of what a call has to do with others: the same elsewhere, the same before, changed."""

from __future__ import annotations

from lineclear.core.inbox.deciding.path import take_back as revoke
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.decide import Verdict
from lineclear.ui.queue.sections import Section
from pictures.set import Scene, Set
from pictures.stage import call

_LABEL = {"order": "O-7781", "carrier": "DHL"}


async def twin(on: Set) -> None:
    """The same call of another agent may have run."""
    waits = on.stage.ask("dispatch", call("create_label", _LABEL, "dispatch"), 1)
    await on.choose(_named(on, "twin", waits))


async def again(on: Set) -> None:
    """A colleague approved the same call before, and it ran."""
    arguments = {"table": "invoices"}
    bob = on.stage.by.model_copy(update={"name": "Bob"})
    on.stage.ask("warehouse", call("reindex", {"table": "orders"}, "warehouse"), 3)
    before = on.stage.ask("warehouse", call("reindex", arguments, "warehouse"), 50, lane=2)
    on.stage.finish(before, "ok", "3,201 rows in 0.8 s", by=bob)
    waits = on.stage.ask("warehouse", call("reindex", arguments, "warehouse"), 2, lane=2)
    await on.choose(_named(on, "again", waits))


async def changed(on: Set) -> None:
    """A call that ran with other arguments than it was asked with."""
    asked = call("send_refund", {"customer": "C-1190", "amount": 400.0}, "desk")
    done = on.stage.ask("desk", asked, 12)
    verdict = Verdict("modify", arguments={"customer": "C-1190", "amount": 40.0})
    on.stage.finish(done, "ok", "refund R-91 created", verdict=verdict)
    await on.section(Section.FINISHED)
    await on.choose(_named(on, "changed", done))


async def taken_back(on: Set) -> None:
    """An approval was taken back, and what comes of that."""
    await on.section(Section.HANDED_OVER)
    await on.choose("approved")
    row = on.window.model.row(on.calls["approved"])
    assert row is not None
    revoke(read_detail(row), Settings())
    await on.section(Section.FINISHED)
    await on.choose("approved")


def _named(on: Set, name: str, aid: str) -> str:
    on.calls[name] = aid
    return name


TOLD_APART: dict[str, Scene] = {
    "twin": twin,
    "again": again,
    "changed-arguments": changed,
    "taken-back": taken_back,
}
