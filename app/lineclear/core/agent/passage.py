"""One call's way through the ledger, from asking to its outcome; every step is synchronous.

The steps write to disk and may take their time: callers run them off an event loop. One passage
is used by one thread at a time; only an end that could not be written may be tried again by
another.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal, Protocol

from lineclear.core.agent.plainjson import plain
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import DecisionRefused, NotConfirmed, Unreadable
from lineclear.core.ledger import ask as asking
from lineclear.core.ledger import outcome as ending
from lineclear.core.ledger import start as starting
from lineclear.core.ledger.ended_as import NOT_RUN, did_run, ended_as
from lineclear.core.ledger.layout import APPROVALS
from lineclear.core.ledger.records import Outcome, Start
from lineclear.core.ledger.store import CallRecords, Shown, Store

REFUSALS_ALLOWED = 3
"""Decisions that do not hold, for one call, before the agent gives up asking."""

_log = logging.getLogger("lineclear.agent")


@dataclass(frozen=True, slots=True)
class Admitted:
    """The start is durable and is ours: run the tool now, with these arguments, once."""

    arguments: Json
    """Parsed from the verified bytes, or the operator's where modified, with their number text."""
    aid: str
    """The call's id, 32 hex: the idempotency key for a tool that takes one."""
    modified: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """The call ended without a run here: nothing may be run for it."""

    outcome: Literal["ok", "error", "denied", "expired", "not_run"]
    text: str
    """What the model gets."""
    aid: str
    reason: str = ""
    """The operator's own words, for `denied` and `not_run`."""
    recorded: bool = False
    """Whether the text is the recorded result of a run, or else a person's."""
    began: bool = True
    """False: what ended with `error` was never run."""
    modified: bool = False
    """Whether it ran with an operator's arguments, and not with those of the request."""
    arguments: Json = None
    """Those, where it did, with their number text."""


class Acceptance(Protocol):
    """What a caller takes from an operator; both raise ValueError with a sentence."""

    def check_arguments(self, arguments: Json) -> None:
        """Refuse modified arguments that the tool cannot run with."""

    def result_text(self, result: Json) -> str:
        """Give the text to record for a result that an operator gives instead of a run."""


class TextAcceptance:
    """Takes any arguments, and any result as its text or its JSON."""

    def check_arguments(self, arguments: Json) -> None:
        """Accept."""

    def result_text(self, result: Json) -> str:
        """Give a text as it is and anything else as compact JSON."""
        return result if isinstance(result, str) else jsontext.compact(result).decode()


class _Again(Enum):
    AGAIN = "again"


_AGAIN = _Again.AGAIN
_Step = Admitted | Settled | None


class Passage:
    """One call in one lane.

    `advance` is repeated until it gives something: on Admitted the caller runs the tool and must
    `finish`; on Settled there is nothing to run. A caller that stops waiting calls `abandon`.
    """

    def __init__(
        self, store: Store, call: asking.Call, acceptance: Acceptance | None = None
    ) -> None:
        self.call = call
        self.store = store
        self.shown: Shown | None = None
        self.acceptance = TextAcceptance() if acceptance is None else acceptance
        self._refusals = 0
        self._failed_look = ""
        self._running = False
        self._end: Callable[[], object] | None = None
        self._ending = threading.Lock()

    @property
    def folder(self) -> Path:
        """The folder in which decisions appear."""
        return self.store.path / APPROVALS

    @property
    def unfinished(self) -> bool:
        """Whether a start of ours stands, or may, whose outcome is not durable yet."""
        return self._running

    @property
    def aid(self) -> str:
        """The id of the request that stands; "" before there is one."""
        return "" if self.shown is None else self.shown.aid

    def publish(self, again_of: str | None = None) -> Settled | None:
        """Publish or adopt the request; Settled where the same keyed call has ended before.

        Raises MayHaveRun, Unreadable, StoreRefused, NotConfirmed.
        """
        asked = asking.ask(self.store, self.call, again_of=again_of)
        if isinstance(asked, asking.Finished):
            settled = self._ended(asked.records, asked.outcome)
            if settled is _AGAIN:
                return self.publish(asked.records.aid)
            return settled
        self.shown = asked.shown
        return None

    def adopt(self, shown: Shown) -> None:
        """Go on with a request that stands, or stood, in the lane."""
        self.shown = shown

    def advance(self) -> _Step:
        """Look at the ledger once and go as far as it allows; None: nothing decided yet.

        Raises MayHaveRun, DecisionRefused, Unreadable, StoreRefused, NotConfirmed.
        """
        step: _Step | _Again = _AGAIN
        while step is _AGAIN:
            try:
                step = self._look()
            except Unreadable as why:
                if not why.passing:
                    raise
                self._note_failed_look(why.sentence)
                return None
        return step

    def undecided(self) -> bool:
        """Tell whether nobody has said anything of the request yet."""
        assert self.shown is not None
        records = self.store.records(self.shown.seq, self.shown.aid)
        return records.decision is None and records.start is None and records.outcome is None

    def finish(
        self,
        outcome: Literal["ok", "error"],
        text: str,
        *,
        code: str | None = None,
        duration_ms: int | None = None,
    ) -> None:
        """Record how the admitted call ended, durably; raises NotConfirmed."""
        with self._ending:
            self._end = lambda: self._finish(outcome, text, code=code, duration_ms=duration_ms)
            self._end()
            self._running = False

    def finish_again(self) -> None:
        """Record an end that could not be recorded, if there is one, from any thread.

        Raises NotConfirmed.
        """
        with self._ending:
            if self._end is None or not self._running:
                return
            self._end()
            self._running = False
        _log.warning(
            "%s has recorded how %s (%s) ended.",
            self.call.agent,
            visible_line(self.call.tool, 60),
            self.aid[:8],
        )

    def abandon(self, *, withdraw: bool) -> None:
        """Stop waiting: close an open request, or leave it open for a later process."""
        if self.shown is None:
            return
        if self._running:
            self.finish("error", "[Cancelled before it ran]", code="not_begun")
        elif withdraw and not asking.withdraw(self.store, self.shown):
            # A verdict stands. It will not be used, and nobody shall wait for it to be.
            records = self.store.records(self.shown.seq, self.shown.aid)
            if records.start is None and records.outcome is None:
                self._finish("withdrawn")

    # --- one look --------------------------------------------------------------------------------

    def _look(self) -> _Step | _Again:
        assert self.shown is not None, "asked before it is looked at"
        seen = starting.read_decision(self.store, self.shown)
        match seen:
            case starting.Waiting():
                self._project()
                return None
            case starting.Unfit(code=code, sentence=sentence):
                return self._refuse(code, sentence)
            case starting.Observed(records=records, outcome=outcome):
                return self._observe(records, outcome)
            case starting.Verified():
                return self._follow(seen)

    def _project(self) -> None:
        assert self.shown is not None
        # The request itself is safe: a full disk only lets other readers see it late.
        with contextlib.suppress(NotConfirmed):
            self.store.project(self.shown.raw)

    def _note_failed_look(self, sentence: str) -> None:
        if sentence != self._failed_look:
            self._failed_look = sentence
            _log.warning("%s will look again: %s", self.call.agent, sentence)

    def _follow(self, verified: starting.Verified) -> _Step | _Again:
        decision = verified.decision
        match decision.verdict:
            case "approve" | "modify":
                return self._admit(verified)
            case "result":
                return self._answer(verified)
            case "deny":
                reason = decision.reason or ""
                text = denial_text(reason)
                self._finish("denied", text)
                return Settled("denied", text, decision.aid, reason)
            case "expired":
                text = denial_text("nobody decided in time")
                self._finish("expired", text)
                return Settled("expired", text, decision.aid)
            case "withdrawn":
                # By an earlier process of this agent that then changed its mind, or died.
                self._finish("withdrawn")
                return self._again(decision.aid)

    def _admit(self, verified: starting.Verified) -> _Step | _Again:
        assert self.shown is not None
        modified = verified.decision.verdict == "modify"
        if modified:
            try:
                self.acceptance.check_arguments(verified.arguments)
            except ValueError as why:
                return self._refuse("invalid_arguments", str(why))
        if not self._begin(verified):
            return _AGAIN
        return Admitted(verified.arguments, self.shown.aid, modified)

    def _answer(self, verified: starting.Verified) -> _Step | _Again:
        assert self.shown is not None
        try:
            text = self.acceptance.result_text(plain(verified.decision.result))
        except ValueError as why:
            return self._refuse("invalid_result", str(why))
        # The fence, as for a run: the answer may be taken back at this very moment.
        if not self._begin(verified):
            return _AGAIN
        self.finish("ok", text)
        return Settled("ok", text, self.shown.aid)

    def _begin(self, verified: starting.Verified) -> bool:
        """Win the fence, or give way; an unconfirmed start is closed as one that did not run."""
        assert self.shown is not None
        self._running = True
        try:
            self._running = starting.begin(self.store, self.shown, verified)
        except NotConfirmed as why:
            # What cannot be written now is written later: the first failure is the one to tell.
            with contextlib.suppress(NotConfirmed):
                self.finish(
                    "error", "[Not run: its start could not be confirmed]", code="unconfirmed"
                )
            tool = visible_line(self.call.tool, 60)
            raise NotConfirmed(f"{why.sentence} {tool} was not run.") from why
        return self._running

    def _observe(self, records: CallRecords, outcome: Outcome | None) -> _Step | _Again:
        if outcome is not None:
            ended = self._ended(records, outcome)
            return self._again(records.aid) if ended is _AGAIN else ended
        return None  # Held by a process that lives, or may: its outcome will tell.

    def _ended(self, records: CallRecords, outcome: Outcome) -> Settled | _Again:
        text = ending.result_text(self.store, records) or ""
        aid = records.aid
        reason = (records.decision.reason or "") if records.decision is not None else ""
        match outcome.outcome:
            case "ok" | "error" as kind:
                ran = records.decision is None or records.decision.verdict != "result"
                began = ended_as(records) != NOT_RUN
                given = _given(records)
                return Settled(kind, text, aid, recorded=ran, began=began, **given)
            case "denied":
                return Settled("denied", text or denial_text(reason), aid, reason)
            case "expired":
                return Settled("expired", text, aid)
            case "resolved" if outcome.resolution == "ran":
                return Settled("ok", text, aid, **_given(records))
            case "resolved" if outcome.resolution == "not_run":
                return Settled("not_run", text, aid, not_run_note(text))
            case _:  # Closed without an answer: withdrawn, refused, or to be asked again.
                return _AGAIN

    # --- asking again ----------------------------------------------------------------------------

    def _refuse(self, code: str, sentence: str) -> _Step | _Again:
        assert self.shown is not None
        self._refusals += 1
        _log.warning(
            "%s refused a decision for %s (%s, %s): %s",
            self.call.agent,
            visible_line(self.call.tool, 60),
            self.shown.aid[:8],
            code,
            sentence,
        )
        aid = self.shown.aid
        if self._finish("refused", sentence, code=code) == "late":
            return _AGAIN  # Somebody started on it, or it ended: look what stands.
        if self._refusals >= REFUSALS_ALLOWED:
            raise DecisionRefused(
                f"{self.call.agent} refused {self._refusals} decisions for "
                f"{visible_line(self.call.tool, 60)}, the last because: {sentence} It did not run.",
                code=code,
            )
        return self._again(aid)

    def _again(self, aid: str) -> Settled | _Again:
        settled = self.publish(aid)
        return _AGAIN if settled is None else settled

    def _finish(
        self,
        outcome: Literal["ok", "error", "denied", "expired", "withdrawn", "refused"],
        text: str = "",
        *,
        code: str | None = None,
        duration_ms: int | None = None,
    ) -> Literal["recorded", "late"]:
        assert self.shown is not None
        said = ending.finish(
            self.store,
            self.shown,
            outcome,
            result=jsontext.storable(text),
            code=code,
            duration_ms=duration_ms,
        )
        if said == "late" and self._running:
            _log.warning(
                "%s finished %s (%s) after an operator had settled it; both are recorded.",
                self.call.agent,
                visible_line(self.call.tool, 60),
                self.shown.aid[:8],
            )
        return said


def _given(records: CallRecords) -> dict[str, Json]:
    """Tell with what an operator's arguments a call ran, if it did."""
    if not did_run(records):
        return {}
    decision: dict[str, Json] = {}
    if isinstance(records.start, Start):
        decision = records.start.decision
    elif records.decision is not None:
        decision = records.decision.model_dump(mode="python", exclude_unset=True)
    if decision.get("verdict") != "modify":
        return {}
    return {"modified": True, "arguments": decision.get("arguments")}


def denial_text(reason: str) -> str:
    """Tell the model that a person said no, as lc-agents does."""
    return f"[DENIED by approval: {reason}]"


def not_run_note(text: str) -> str:
    """Take the operator's note out of `[NOT RUN: <note>]`."""
    return text.removeprefix("[NOT RUN: ").removesuffix("]")
