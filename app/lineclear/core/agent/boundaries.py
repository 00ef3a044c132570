"""The named boundaries of a run, at each of which a checkpoint handler may keep or suspend it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from pydantic import ValidationError

from lineclear.core.agent.errors import AgentExecutorError, ExecutionSuspended
from lineclear.core.agent.execution_record import checkpoint_of
from lineclear.core.agent.run import Run
from lineclear.core.checkpoints.serde import unreadable
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


@runtime_checkable
class KeepingHandler(CheckpointHandler, Protocol):
    """A checkpoint handler that can keep a run between two boundaries."""

    async def keep(self, checkpoint: AgentCheckpoint) -> None:
        """Keep the run, durably, without a say in whether it goes on; what this raises stops it."""


class DirectCheckpointHandler:
    """Keeps nothing, and always goes on."""

    async def checkpoint(self, checkpoint: AgentCheckpoint) -> AgentExecutionDecision:  # noqa: ARG002
        """Go on."""
        return Continue()


class Boundaries:
    """Reports one executor's boundaries to its handler, if it has one."""

    def __init__(
        self,
        handler: CheckpointHandler | None,
        conversation_id: str,
        kept: Callable[[Run], Awaitable[None]] | None = None,
    ) -> None:
        """KEPT is told of each run that the handler has taken, before it goes on."""
        self._handler = handler
        self._conversation_id = conversation_id
        self._kept = kept

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
            if node is AgentExecutionNode.RUN_COMPLETE:
                # No later boundary tells that it is suspended no more.
                await self._keep(node, run, status)
            return
        handler = self._handler
        if handler is None:
            return
        with _failing(node):
            decision = await handler.checkpoint(self._checkpoint(node, run, status))
        if self._kept is not None:
            await self._kept(run)
        if isinstance(decision, Suspend):
            raise ExecutionSuspended(node, decision.reason)
        if not isinstance(decision, Continue):
            raise AgentExecutorError(
                "executor failed: a checkpoint handler must return Continue or Suspend, not"
                f" {type(decision).__name__} (at {node})"
            )

    @property
    def keeps_beginnings(self) -> bool:
        """Whether it is kept that a tool begins; True where nothing is kept at all."""
        return self._handler is None or isinstance(self._handler, KeepingHandler)

    async def begins(self, run: Run) -> None:
        """Keep that the tool of the call which is carried out begins; raises AgentExecutorError."""
        await self._keep(AgentExecutionNode.TOOL_CALL, run, RunStatus.RUNNING)

    async def _keep(self, node: AgentExecutionNode, run: Run, status: RunStatus) -> None:
        if isinstance(self._handler, KeepingHandler):
            with _failing(node):
                await self._handler.keep(self._checkpoint(node, run, status))
            if self._kept is not None:
                await self._kept(run)

    def _checkpoint(self, node: AgentExecutionNode, run: Run, status: RunStatus) -> AgentCheckpoint:
        kept_again = isinstance(self._handler, KeepingHandler)
        return checkpoint_of(node, run, self._conversation_id, status, begun=kept_again)


@contextmanager
def _failing(node: AgentExecutionNode) -> Iterator[None]:
    try:
        yield
    except AgentExecutorError:
        raise
    except ValidationError as why:
        # A count that a checkpoint cannot hold; what pydantic says of it is for programmers.
        said = unreadable(why).sentence
        raise AgentExecutorError(f"executor failed: {said} (at {node})") from why
    except Exception as why:
        raise AgentExecutorError(f"executor failed: {why} (at {node})") from why
