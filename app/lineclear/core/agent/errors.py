"""Errors of the agent's side; those that the operator's side knows too are in `core.errors`."""

from __future__ import annotations

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError


class NotRun(LineclearError):
    """A call that may have run was settled by an operator as not run; `note` is their text."""

    code = "not_run"

    def __init__(self, sentence: str, note: str) -> None:
        super().__init__(sentence)
        self.note = note


class Expired(LineclearError):
    """Nobody decided before the time that the agent had set; nothing ran."""

    code = "expired"


class CallFailed(LineclearError):
    """A call of the same key ran before and failed; `text` is what was recorded of it."""

    code = "call_failed"

    def __init__(self, sentence: str, text: str) -> None:
        super().__init__(sentence)
        self.text = text


class ResultLost(LineclearError):
    """A call of the same key ran before, but its result cannot be read back; `text` is what is."""

    code = "result_lost"

    def __init__(self, sentence: str, text: str) -> None:
        super().__init__(sentence)
        self.text = text


# --- Resume stores ------------------------------------------------------------------------------


class ResumeError(LineclearError):
    """A resume store could not do what was asked of it."""

    code = "resume_error"


class ResumeIOError(ResumeError):
    """A file of the store cannot be read or written."""

    code = "resume_io"


class ResumeSerializeError(ResumeError):
    """A pending call cannot be written or read as JSON; the file is kept."""

    code = "resume_serialize"


# --- The executor -------------------------------------------------------------------------------


class AgentError(LineclearError):
    """The agent's own run failed; nothing of the approval protocol did."""

    code = "agent_error"


class BudgetExceeded(AgentError):
    """A budget is used up: `limit` was allowed, `actual` was asked for or used."""

    code = "budget_exceeded"

    def __init__(self, budget: str, *, limit: int, actual: int) -> None:
        super().__init__(f"The run's budget of {limit} {budget} is used up: it needs {actual}.")
        self.budget = budget
        self.limit = limit
        self.actual = actual


class MaxIterationsReached(AgentError):
    """The run made all its iterations and has no answer; `limit` is how many it had."""

    code = "max_iterations"

    def __init__(self, limit: int) -> None:
        super().__init__(f"The run ended without an answer after {limit} iterations.")
        self.limit = limit


class HookRejected(AgentError):
    """A hook rejected a call; the run stops."""

    code = "hook_rejected"


class NotConverging(AgentError):
    """The run goes in circles: the same call, or malformed calls, again and again."""

    code = "not_converging"


class AgentExecutorError(AgentError):
    """A checkpoint handler failed, or stopped the run; the run can be resumed."""

    code = "executor_failed"


class ExecutionSuspended(AgentExecutorError):
    """A checkpoint handler suspended the run at the boundary `node`, for `reason`."""

    code = "suspended"

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(
            f"The run is suspended at {node}: {visible_line(reason, 400)}. It can be resumed."
        )
        self.node = node
        self.reason = reason


class AgentFailed(AgentError):
    """A resumed agent failed by itself; its own error is the `__cause__`."""
