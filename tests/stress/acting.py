"""A small agent and a small operator on the real ledger, for faults and races to hit."""

from __future__ import annotations

import hashlib
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.errors import AlreadyDecided, LineclearError, MayHaveRun, Refusal
from lineclear.core.ledger.ask import Call, Finished, ask, open_request, withdraw
from lineclear.core.ledger.decide import Verdict, decide, resolve, take_back
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import Person, VerdictName
from lineclear.core.ledger.start import Observed, Unfit, Verified, Waiting, begin, read_decision
from lineclear.core.ledger.store import Shown, Store

_LOOKS = 20


Tool = Callable[["Place", Shown, Json], None]


@dataclass(frozen=True)
class Place:
    """A store, and the file in which each run of the tool leaves one line."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def effects(self) -> Path:
        return self.folder / "effects"

    def ran(self) -> list[str]:
        return self.effects.read_text().splitlines() if self.effects.exists() else []

    def temporaries(self) -> list[str]:
        return [str(path) for path in self.folder.rglob(".tmp.*")]


def payment(to: str = "bob", *, expires_at: datetime | None = None) -> Call:
    """A call with a key of its own, so that its outcome is found again."""
    return Call(
        tool="pay",
        arguments={"to": to, "amount": 10},
        agent="refund-bot",
        key=f"call for {to}",
        expires_at=expires_at,
    )


def agent(place: Place, call: Call, tool: Tool | None = None, result: str = "paid") -> str:
    """Take the lock, ask, and go as far as what was decided allows; tell how far that was."""
    try:
        with AgentLock.acquire(place.store), Store.create(place.store) as store:
            for _ in range(_LOOKS):
                asked = ask(store, call)
                if isinstance(asked, Finished):
                    return f"ended {asked.outcome.outcome}: {brief(asked.result or '')}"
                told = pick_up(place, store, asked.shown, tool or run_tool, result)
                if told is not None:
                    return told
            return "never settled"
    except MayHaveRun:
        return "uncertain"
    except LineclearError as why:
        return f"error {why.code}"
    except Exception as why:  # noqa: BLE001  # the fact to find out
        return raw_error(why)


def pick_up(
    place: Place, store: Store, shown: Shown, tool: Tool, result: str = "paid"
) -> str | None:
    """Act on the decision of an open request; None: look again."""
    found = read_decision(store, shown)
    match found:
        case Waiting():
            return "waiting"
        case Unfit(code=code):
            finish(store, shown, "refused", code=code)
            return f"unfit {code}"
        case Observed(outcome=None):
            return "observed"
        case Observed(outcome=outcome):
            return f"seen {outcome.outcome if outcome else None}"
        case Verified(decision=decision) if decision.verdict in ("approve", "modify"):
            if not begin(store, shown, found):
                return None
            ended: Literal["ok", "error"] = "ok"
            try:
                tool(place, shown, found.arguments)
            except OSError:
                ended = "error"
            finish(store, shown, ended, result=result)
            return f"ended {ended}: {brief(result)}"
        case Verified(decision=decision):
            if decision.verdict in ("deny", "expired", "withdrawn"):
                closing: dict[str, Literal["denied", "expired", "withdrawn"]] = {
                    "deny": "denied",
                    "expired": "expired",
                    "withdrawn": "withdrawn",
                }
                finish(store, shown, closing[decision.verdict], result="no")
                return f"ended {closing[decision.verdict]}: no"
    return f"unexpected {found}"


def run_tool(place: Place, shown: Shown, arguments: Json) -> None:
    """The tool: one line in a file outside the store, in one write."""
    assert isinstance(arguments, dict)
    fd = os.open(place.effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, f"{shown.aid} {arguments['to']}\n".encode())
    finally:
        os.close(fd)


def run_tool_and_die(place: Place, shown: Shown, arguments: Json) -> None:
    """The tool, after which its process has no time to say that it is done."""
    run_tool(place, shown, arguments)
    os._exit(0)


def brief(text: str) -> str:
    """Shorten a long text to its length and digest."""
    if len(text) <= 100:
        return text
    return f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def withdrawer(place: Place, call: Call) -> str:
    """Withdraw the open request of a call as its agent does, and tell whether that was in time."""
    try:
        with AgentLock.acquire(place.store), Store.create(place.store) as store:
            shown = open_request(store)
            if shown is None:
                return "nothing"
            return "withdrawn" if withdraw(store, shown) else "decided"
    except LineclearError as why:
        return f"error {why.code}"
    except Exception as why:  # noqa: BLE001  # the fact to find out
        return raw_error(why)


def operator(place: Place, verdict: VerdictName, who: str, shown: Shown | None = None) -> str:
    """Decide the open request, or SHOWN, and tell what the operator is told."""
    try:
        with Store.open(place.store) as store:
            shown = shown or open_request(store)
            if shown is None:
                return "nothing"
            said = Verdict(
                verdict,
                arguments={"to": "dave", "amount": 1} if verdict == "modify" else MISSING,
                reason="no" if verdict == "deny" else None,
            )
            decision = decide(store, shown, said, person(who), valid_for_s=900.0)
            return f"recorded {decision.verdict}"
    except AlreadyDecided as why:
        standing = why.decision
        return f"already {standing.verdict} by {standing.by.name}" if standing else "already"
    except LineclearError as why:
        return f"error {why.code}"
    except Exception as why:  # noqa: BLE001  # the fact to find out
        return raw_error(why)


def taker_back(place: Place, who: str, shown: Shown | None = None) -> str:
    """Take an approval back and tell what the operator is told."""
    try:
        with Store.open(place.store) as store:
            shown = shown or open_request(store)
            if shown is None:
                return "nothing"
            take_back(store, shown, person(who))
            return "taken back"
    except Refusal as why:
        return f"refused {why.code}"
    except LineclearError as why:
        return f"error {why.code}"
    except Exception as why:  # noqa: BLE001  # the fact to find out
        return raw_error(why)


def resolver(
    place: Place, resolution: Literal["ran", "not_run"], who: str, shown: Shown | None = None
) -> str:
    """Settle a call that may have run and tell what the operator is told."""
    try:
        with Store.open(place.store) as store:
            shown = shown or open_request(store)
            if shown is None:
                return "nothing"
            resolve(store, shown, resolution, person(who), note=f"{resolution} says {who}")
            return f"resolved {resolution}"
    except (AlreadyDecided, Refusal) as why:
        return f"refused {why.code}"
    except LineclearError as why:
        return f"error {why.code}"
    except Exception as why:  # noqa: BLE001  # the fact to find out
        return raw_error(why)


def raw_error(why: Exception) -> str:
    """Name an error that is no sentence for a person, and where it came from."""
    frames = traceback.extract_tb(why.__traceback__)
    frame = next(frame for frame in reversed(frames) if "lineclear" in frame.filename)
    return f"raw {type(why).__name__} in {Path(frame.filename).name}:{frame.lineno} {frame.line}"


def person(name: str) -> Person:
    return Person(uid=os.geteuid(), name=name, host="desk")
