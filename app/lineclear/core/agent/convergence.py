"""Guards against a run that goes in circles; what they count outlives the process, as in a3s."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final, Self

from lineclear.core.agent.plainjson import described
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.a3s import LoopConvergenceState
from lineclear.core.checkpoints.lc_agents import AgentStep
from lineclear.core.checkpoints.model import Json

REMEMBERED: Final = 8
"""How many calls are looked back on."""


class Convergence:
    """Counts repeated calls and malformed arguments of one run.

    Attributes:
        state: as a loop checkpoint holds it, with counters that only a3s uses.
    """

    def __init__(self, state: LoopConvergenceState | None = None) -> None:
        self.state = LoopConvergenceState() if state is None else state

    @classmethod
    def of_steps(
        cls, steps: Iterable[AgentStep], state: LoopConvergenceState | None = None
    ) -> Self:
        """Count on from a STATE, or anew, by a run's STEPS, where the state after them is lost.

        Calls that were not made count too: rather too many than too few.
        """
        guards = cls(state)
        for step in steps:
            guards.remember(step.action.tool, step.action.tool_input.value, is_error=False)
        return guards

    def times_made(self, tool: str, arguments: Json) -> int:
        """Count the remembered calls of a tool with the same arguments, however they ended."""
        start = f"{_signature(tool, arguments)} => "
        return sum(call.startswith(start) for call in self.state.recent_tool_signatures)

    def stop_repeat(self, tool: str, arguments: Json) -> int:
        """Note that a repeated call is not made; gives how often that was so without a break."""
        signature = _signature(tool, arguments)
        same = self.state.guarded_duplicate_signature == signature
        count = self.state.guarded_duplicate_count + 1 if same else 1
        self._change(guarded_duplicate_signature=signature, guarded_duplicate_count=count)
        return count

    def pass_guards(self) -> None:
        """Note that a call was neither repeated nor malformed."""
        self._change(
            parse_error_count=0, guarded_duplicate_signature=None, guarded_duplicate_count=0
        )

    def malformed(self) -> int:
        """Note arguments that are no JSON; gives how often that was so without a break."""
        self._change(parse_error_count=self.state.parse_error_count + 1)
        return self.state.parse_error_count

    def remember(self, tool: str, arguments: Json, *, is_error: bool) -> None:
        """Note that a call was made."""
        ended = "error" if is_error else "ok"
        calls = [
            *self.state.recent_tool_signatures,
            f"{_signature(tool, arguments)} => {ended}",
        ]
        self._change(recent_tool_signatures=calls[-REMEMBERED:])

    def _change(self, **fields: object) -> None:
        self.state = self.state.model_copy(update=fields)


def _signature(tool: str, arguments: Json) -> str:
    """Name a call by its tool and the SHA-256 of its arguments, never by the arguments."""
    try:
        text = jsontext.canonical(arguments)
    except (TypeError, ValueError):
        text = described(arguments).encode("utf-8", "replace")
    return f"{jsontext.storable(tool)}:{hashlib.sha256(text).hexdigest()}"
