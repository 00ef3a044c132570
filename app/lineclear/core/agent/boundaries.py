"""The named boundaries of a run, at each of which a checkpoint handler may keep or suspend it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from lineclear.core.agent.errors import AgentExecutorError, ExecutionSuspended
from lineclear.core.agent.execution_record import checkpoint_of
from lineclear.core.agent.run import Run
from lineclear.core.checkpoints.starweaver import (
    AgentCheckpoint,
    AgentExecutionDecision,
    AgentExecutionNode,
    Continue,
    RunStatus,
    Suspend,
)


@runtime_checkable
class CheckpointHandler(Protocol):
    """Keeps or inspects a run at each of its boundaries (starweaver's `AgentExecutor` trait)."""

    async def checkpoint(self, checkpoint: AgentCheckpoint) -> AgentExecutionDecision:
        """Say whether the run goes on; what this raises stops it."""


class DirectCheckpointHandler:
    """Keeps nothing, and always goes on."""

    async def checkpoint(self, checkpoint: AgentCheckpoint) -> AgentExecutionDecision:  # noqa: ARG002
        """Go on."""
        return Continue()


class Boundaries:
    """Reports one executor's boundaries to its handler, if it has one."""

    def __init__(self, handler: CheckpointHandler | None, conversation_id: str) -> None:
        self._handler = handler
        self._conversation_id = conversation_id

    async def at(
        self,
        node: AgentExecutionNode,
        run: Run,
        status: RunStatus = RunStatus.RUNNING,
    ) -> None:
        """Come to a boundary; one at which a resumed run stood is passed without a word.

        Raises ExecutionSuspended, and AgentExecutorError where the handler fails.
        """
        if node in run.passed:
            run.passed.discard(node)
            return
        if self._handler is None:
            return
        try:
            checkpoint = checkpoint_of(node, run, self._conversation_id, status)
            decision = await self._handler.checkpoint(checkpoint)
        except AgentExecutorError:
            raise
        except Exception as why:
            raise AgentExecutorError(f"executor failed: {why} (at {node})") from why
        if isinstance(decision, Suspend):
            raise ExecutionSuspended(node, decision.reason)
        if not isinstance(decision, Continue):
            raise AgentExecutorError(
                "executor failed: a checkpoint handler must return Continue or Suspend, not"
                f" {type(decision).__name__} (at {node})"
            )
