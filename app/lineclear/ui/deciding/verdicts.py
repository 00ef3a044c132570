"""Giving a verdict: each act of an operator as one coroutine that says how it went."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.comparing import changed_arguments
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.history.sight import Sight
from lineclear.core.inbox.relaunch.launch import Launched
from lineclear.core.inbox.relaunch.startable import words_needed
from lineclear.core.inbox.relaunch.worker_word import Word, awaited
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.store import Shown
from lineclear.language import _, counted
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding.offers import stop_codes

GIVEN = {
    "approve": _("approved"),
    "deny": _("denied"),
    "modify": _("approved with changes"),
    "result": _("answered"),
}
"""A verdict as it is told of a call that has it."""
ACTS = {
    "approve": _("approve a call"),
    "deny": _("deny a call"),
    "modify": _("approve a call with changes"),
    "result": _("answer a call"),
}
"""What is being done, as a failure of it is told."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """A denial that is also for what the call's run goes on to ask."""

    reason: str
    given: datetime
    """When the denial of the call itself was written: from then on."""
    waiting: frozenset[str]
    """What the calls of the run are known by that the window knew when the operator said it."""


@dataclass(frozen=True, slots=True)
class Done:
    """An act that succeeded."""

    said: str
    origin: Origin = Origin.CLICK
    decided: bool = False
    """The call has its decision, which this window gave."""
    resume: bool = False
    """The agent is to be resumed now."""
    launched: Launched | None = None
    heard: Coroutine[Any, Any, None] | None = None
    """Ends once what was launched has started the agent; raises LineclearError where it has not."""
    word: Word | None = None
    """Tells for what that waits meanwhile."""
    lasting: Lasting | None = None
    """What the call's run goes on to ask is denied too."""


class Verdicts:
    """Carries acts out over the bridge; raises LineclearError where one did not happen."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def decide(
        self,
        detail: Detail,
        row: Row,
        verdict: Verdict,
        origin: Origin,
        *,
        sight: Sight,
        resume: bool = False,
        lasting: frozenset[str] | None = None,
    ) -> Done:
        """Give VERDICT on the bytes in DETAIL, as ROW was seen; durable on return.

        RESUME and LASTING (`Lasting.waiting`) are for what is done once it stands.
        """
        approves = verdict.verdict != "deny"
        despite = frozenset(stop_codes(row)) if approves else frozenset[str]()
        for typed in (verdict.arguments, verdict.result):
            if typed is not MISSING:
                despite |= changed_arguments.stop_codes(typed)
        decision = await self._bridge.decide(
            dataclasses.replace(detail, row=row),
            dataclasses.replace(verdict, shown=sight.shown()),
            origin,
            despite,
        )
        word = None
        if lasting is not None and verdict.reason:
            word = Lasting(verdict.reason, decision.at, lasting)
        return Done(_("Recorded."), origin, decided=True, resume=resume, lasting=word)

    async def take_back(self, detail: Detail) -> Done:
        """Take an approval back that nobody picked up."""
        void = await self._bridge.take_back(detail)
        if not void:
            return Done(_("Taken back."))
        return Done(
            counted(
                "Taken back. The decision on {n} other call of its run is void too: all its calls"
                " are asked anew.",
                "Taken back. The decisions on {n} other calls of its run are void too: all its"
                " calls are asked anew.",
                void,
            )
        )

    async def resolve(self, detail: Detail, resolution: str, note: str | None) -> Done:
        """Settle a call that may have run."""
        await self._bridge.resolve(detail, resolution, note)
        return Done(_("Recorded."))

    async def resume(self, row: Row, *, word: bool = False) -> Done:
        """Start the resume of a row's agent; WORD: for what the offer said stands against it."""
        despite = words_needed(row) if word else frozenset[str]()
        with ExitStack() as stack:
            listening = stack.enter_context(awaited())
            launched = await self._bridge.relaunch(row, despite, listening)
            if not launched.by_worker:
                return Done(_("Started."), launched=launched)
            heard = _heard(listening, launched, stack.pop_all())
        return Done(_("Starting\u2026"), launched=launched, heard=heard, word=listening)

    async def set_command(self, row: Row, argv: tuple[str, ...]) -> Done:
        """Remember the command that resumes a row's agent."""
        await self._bridge.set_command(row, argv)
        return Done(_("Saved."))


async def _heard(listening: Word, launched: Launched, stack: ExitStack) -> None:
    with stack:
        await listening.hear_it(launched.keeper, launched.log)


def misfit_of(shown: Shown | None) -> Callable[[Json], None] | None:
    """Give what raises Refusal for changed arguments that SHOWN's agent would refuse.

    What they raise as a warning is no reason: the review shows it.
    """

    def refuse(arguments: Json) -> None:
        assert shown is not None
        changed_arguments.refuse_unfit(shown, arguments, changed_arguments.stop_codes(arguments))

    return None if shown is None else refuse


def parsed_command(line: str) -> tuple[str, ...]:
    """Split a command as a shell would, without one, its program found; or LineclearError."""
    try:
        argv = shlex.split(line)
    except ValueError as why:
        raise LineclearError(
            _("That is no command: {why}.").format(why=why), code="command"
        ) from why
    program = shutil.which(argv[0]) if argv else None
    if program is None:
        raise LineclearError(
            _("There is no such program here. Give its full path."), code="command"
        )
    return (program, *argv[1:])
