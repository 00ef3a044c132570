"""What one run may use: tool calls, tokens, iterations."""

from __future__ import annotations

from dataclasses import dataclass

from lineclear.core.agent.errors import BudgetExceeded, MaxIterationsReached
from lineclear.core.ledger.records import Limits


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run, None where there is none; they go on over a resume."""

    iterations: int | None = 10
    tool_calls: int | None = None
    tokens: int | None = None

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

    def limits(self) -> Limits:
        """Give the limits as a request names them."""
        return Limits(iteration=self.iterations, tool_calls=self.tool_calls, tokens=self.tokens)
