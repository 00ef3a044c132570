"""Pictures of the history's page, over some days of three operators' decisions."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from PySide6.QtWidgets import QWidget

from lineclear.core.inbox.history import chain
from lineclear.core.inbox.history.entry import STAGES, Fact, Kind
from lineclear.core.inbox.history.search import Pivot
from lineclear.core.inbox.history.writing import History
from lineclear.core.ledger.records import format_instant
from lineclear.ui.queue.sections import Section
from pictures.set import Set, until
from pictures.stage import Stage, day

CALLS = (
    ("send_refund", "refund-bot", '{"customer":"C-1188","amount":35.0,"currency":"EUR"}'),
    ("bash", "ci", '{"command":"make release"}'),
    ("run_sql", "reports", '{"sql":"select count(*) from orders"}'),
    ("send_mail", "mailer", '{"to":"b@example.org","subject":"Invoice 2290"}'),
    ("deploy", "deployer", '{"service":"checkout","version":"2026.11.3","token":"\\u2022\\u2022"}'),
)
ENDS = ("ok", "ok", "ok", "error", "ok", "ok", "uncertain", "ok")


def fact(number: int, at: datetime) -> Fact:
    """Make up one decision."""
    tool, agent, arguments = CALLS[number * 7 % len(CALLS)]
    denied = number % 6 == 4
    hand = number % 5
    ended = "denied" if denied else ENDS[number * 3 % len(ENDS)]
    return Fact(
        kind=Kind.OUTCOME.value,
        at=format_instant(at),
        ident=f"{number:032x}:{number:032x}",
        fact="outcome",
        stage=STAGES[Kind.OUTCOME],
        found=int(number % 4 == 3),
        call=f"{number:032x}",
        tool=tool,
        agent=agent,
        system="lineclear",
        store=f"/srv/agents/{agent}/1",
        arguments=arguments,
        digest=f"{number * 2654435761:064x}"[-64:],
        verdict="deny" if denied else "modify" if number % 9 == 5 else "approve",
        by_name=("ann", "bob", "ann", "carol", "ann")[hand],
        by_uid=(1000, 1001, 1000, 1002, 1000)[hand],
        by_host="desk",
        reason="Wrong customer: the order belongs to C-1240." if denied else None,
        asked_at=format_instant(at - timedelta(seconds=40 + number * 13 % 300)),
        took_ms=(40 + number * 13 % 300) * 1000,
        through=("key", "click", "key", "cli", "batch")[hand],
        front_end="cli" if hand == 3 else "window",
        tab=None if hand == 3 else "batch" if hand == 4 else "call",
        end_seen=None if hand == 3 else int(not (denied and hand != 4)),
        shown_ms=None if hand == 3 else 1400 + number * 977 % 26000,
        warnings="first_time" if number % 11 == 2 else None,
        ended=ended,
        ended_at=format_instant(at + timedelta(seconds=2)),
        ran_ms=None if denied else 240 + number * 31 % 2000,
        preview={"ok": "Done.", "error": "TimeoutError: no answer in 30 s"}.get(ended),
    )


def keep(history: History, facts: list[Fact]) -> None:
    """Add facts as if they came in their time: nobody waits three days for a picture."""
    history._write(lambda connection: chain.append(connection, history.origin, facts))  # noqa: SLF001


def past(stage: Stage) -> dict[str, str]:
    """A working day, and what was decided before it."""
    now = datetime.now(UTC)
    with History.open() as history:
        history.note(Kind.WATCHING, now - timedelta(days=3), watcher="1")
        facts: list[Fact] = []
        for number in range(160):
            at = now - timedelta(days=2.5) + timedelta(minutes=19 * number + number * 7 % 11)
            if at > now - timedelta(hours=3):
                break
            facts.append(fact(number, at))
        keep(history, facts)
        history.note(Kind.STOPPED, now - timedelta(hours=2), watcher="1", killed=False)
    return day(stage)


async def _opened(on: Set) -> None:
    on.window.sidebar.choose_section(Section.HISTORY)
    page = on.window.history.page
    await until(lambda: page.model.rowCount() > 20 and page.count.text())


async def history(on: Set) -> None:
    """What was decided, and one row of it whole."""
    await _opened(on)
    page = on.window.history.page
    page.table.setFocus()
    await until(lambda: any(_stored(on)))
    page.table.choose(13)
    page.table.scrollToTop()
    await asyncio.sleep(0.6)


async def pivot(on: Set) -> None:
    """Added up by person."""
    await _opened(on)
    on.window.history.turn(Pivot.PERSON)
    await until(on.window.history.page.sums.rowCount)
    await asyncio.sleep(0.3)


async def mistyped(on: Set) -> None:
    """A field that is none, and a value that its field does not know."""
    await _opened(on)
    page = on.window.history.page
    page.search.setText("ended:fine")
    await until(page.empty.isVisible)
    await asyncio.sleep(0.3)


async def verify(on: Set) -> None:
    """Narrowed to what was decided without its end in view; the chain is intact."""
    await _opened(on)
    page = on.window.history.page
    on.window.history.turn(Pivot.END)
    await until(page.sums.rowCount)
    unseen = next(
        bucket
        for bucket in map(page.sums.bucket, range(page.sums.rowCount()))
        if bucket is not None and bucket.term.number == 0
    )
    whole = page.count.text()
    page.totals.narrowed.emit(unseen)
    await until(lambda: page.count.text() != whole)
    page.action_wanted.emit("verify")
    await until(lambda: page.verdict.property("tone") == "ok")
    page.table.choose(1)
    await asyncio.sleep(0.4)


async def export(on: Set) -> None:
    """What is written, and where."""
    await _opened(on)
    on.window.history.page.action_wanted.emit("export")
    await until(lambda: on.window.findChild(QWidget, "exportHistory"))
    await asyncio.sleep(0.3)


async def stored(on: Set) -> None:
    """A call that is still in its store is read as ever."""
    await _opened(on)
    page = on.window.history.page
    await until(lambda: any(_stored(on)))
    page.table.choose(next(place for place, here in enumerate(_stored(on)) if here))
    await asyncio.sleep(1.0)


def _stored(on: Set) -> list[bool]:
    model = on.window.history.page.model
    found = (model.entry(place) for place in range(model.rowCount()))
    return [each is not None and bool(on.window.model.row(each.fact.call or "")) for each in found]


HISTORY = {
    "history": history,
    "history-pivot": pivot,
    "history-mistyped": mistyped,
    "history-verify": verify,
    "history-export": export,
    "history-stored": stored,
}
