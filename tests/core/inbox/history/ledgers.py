"""Real stores with decided calls, and facts made up where only the history is under test."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from lineclear.core.inbox.history import chain
from lineclear.core.inbox.history.entry import STAGES, Fact, Kind
from lineclear.core.inbox.history.ledgerread import Place
from lineclear.core.inbox.history.writing import History
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.store import Store
from tests.core.inbox.agents import asked, call

BOB = this_person("bob")


def decided(lane: Path, verdict="approve", said=None, **told) -> tuple[Any, Verdict]:
    """Ask in a lane and decide; the nonce of the verdict is the decision's."""
    shown = asked(lane, said or call())
    given = Verdict(verdict, **told)
    with Store.open(lane) as store:
        decide(store, shown, given, BOB, valid_for_s=900.0)
    return shown, given


def ran(lane: Path, verdict="approve", said=None, outcome="ok", result="done", **told) -> Any:
    """Ask, decide, run and end as an agent does."""
    shown, _ = decided(lane, verdict, said, **told)
    with Store.open(lane) as store:
        if verdict != "deny":
            verified = read_decision(store, shown)
            assert isinstance(verified, Verified)
            assert begin(store, shown, verified)
        finish(store, shown, "denied" if verdict == "deny" else outcome, result=result)
    return shown


def place(lane: Path, *uncertain: str) -> Place:
    return Place(lane, lane.parent.parent, frozenset(uncertain))


def fact(number: int, **said: Any) -> Fact:
    """A made-up decision, the later the higher its number."""
    at = f"2026-11-{1 + number // 86400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}"
    at += f":{number % 60:02}.000000Z"
    made = Fact(
        kind=Kind.DECISION.value,
        at=at,
        ident=f"{number:032x}:{number:032x}",
        fact="decision",
        stage=STAGES[Kind.DECISION],
        found=1,
        call=f"{number:032x}",
        tool="send_refund",
        agent="refund-bot",
        arguments='{"customer":"C-1204"}',
        verdict="approve",
        by_name="bob",
        by_uid=1000,
        by_host="here",
        store="/agents/refund-bot/1",
    )
    return replace(made, **said)


def add(history: History, *facts: Fact) -> None:
    history._write(lambda connection: chain.append(connection, history.origin, facts))
