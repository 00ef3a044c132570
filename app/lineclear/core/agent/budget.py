"""What one run may use: tool calls, tokens, iterations."""

from __future__ import annotations

from dataclasses import dataclass

from lineclear.core.agent.errors import BudgetExceeded, MaxIterationsReached, NotConverging
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.ledger.records import Limits


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run, None where there is none; they go on over a resume."""

    iterations: int | None = 10
    tool_calls: int | None = None
    tokens: int | None = None
    same_calls: int | None = None
    """How often a tool is called with equal arguments, among the last eight calls; one more is
    not made and the model told so, and the second time without another call between ends the
    run."""
    parse_errors: int | None = None
    """How often, without a sound call between, the model may write arguments that are no JSON."""

    def check_iteration(self, iteration: int) -> None:
        """Raise MaxIterationsReached where iteration number ITERATION, from 0, is too many."""
        if self.iterations is not None and iteration >= self.iterations:
            raise MaxIterationsReached(self.iterations)

    def check_tool_calls(self, wanted: int) -> None:
        """Raise BudgetExceeded where WANTED calls in all are too many."""
        if self.tool_calls is not None and wanted > self.tool_calls:
            raise BudgetExceeded("tool calls", limit=self.tool_calls, actual=wanted)

    def check_tokens(self, used: int | None) -> None:
        """Raise BudgetExceeded where more tokens were used than allowed."""
        if self.tokens is not None and used is not None and used > self.tokens:
            raise BudgetExceeded("tokens", limit=self.tokens, actual=used)

    def check_repeats(self, stopped: int, tool: str) -> None:
        """Raise NotConverging where the same call was STOPPED twice or more."""
        if stopped > 1:
            raise NotConverging(
                f"The agent made the same call of {visible_line(tool, 60)} again after it was told"
                " that it repeats itself."
            )

    def check_parse_errors(self, count: int) -> None:
        """Raise NotConverging where COUNT malformed calls in a row are too many."""
        if self.parse_errors is not None and count > self.parse_errors:
            raise NotConverging(
                f"The model wrote malformed tool arguments {count} times in a row; at most"
                f" {self.parse_errors} are allowed."
            )

    def limits(self) -> Limits:
        """Give the limits as a request names them."""
        return Limits(iteration=self.iterations, tool_calls=self.tool_calls, tokens=self.tokens)
