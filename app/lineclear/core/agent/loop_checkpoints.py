"""Loop checkpoints as a3s keeps them: one after each completed tool round, never within one.

The names are those of a3s. Losing a checkpoint must not stop a run that lives, so a sink never
raises; whoever resumes a run on purpose reads the store behind it, which does.
"""

from __future__ import annotations

import logging
from typing import Final, Protocol, runtime_checkable

from lineclear.core.checkpoints.a3s import LoopCheckpoint
from lineclear.core.checkpoints.characters.text import visible_line

_log = logging.getLogger("lineclear.agent")

LONGEST_REASON: Final = 600
"""Characters of what a store says of its failure, in a log."""


@runtime_checkable
class LoopCheckpointSink(Protocol):
    """Takes the loop checkpoints of running agents; neither method raises."""

    async def save_checkpoint(self, checkpoint: LoopCheckpoint) -> None:
        """Keep where a run stands after a completed tool round; a failure is only logged."""

    async def load_latest(self, run_id: str) -> LoopCheckpoint | None:
        """Give the checkpoint of a run; None where there is none, or none that can be read."""


@runtime_checkable
class SessionStore(Protocol):
    """Keeps one loop checkpoint per run."""

    async def save_loop_checkpoint(self, run_id: str, checkpoint: LoopCheckpoint) -> None:
        """Keep a checkpoint, replacing the run's earlier one; raises LineclearError."""

    async def load_loop_checkpoint(self, run_id: str) -> LoopCheckpoint | None:
        """Give the checkpoint of a run, or None; raises Unreadable for one that is refused."""

    async def delete_loop_checkpoint(self, run_id: str) -> None:
        """Keep it no longer; a run without one is no error. Raises LineclearError."""

    async def kept_runs(self) -> list[tuple[int, str]]:
        """Give (nanoseconds since 1970 of the last save, run id) of each run that is kept."""


class SessionStoreCheckpointSink:
    """Forwards to a session store, and logs where that fails."""

    def __init__(self, store: SessionStore) -> None:
        self.store = store

    async def save_checkpoint(self, checkpoint: LoopCheckpoint) -> None:
        """Keep where a run stands; the run goes on without where that fails."""
        try:
            await self.store.save_loop_checkpoint(checkpoint.run_id, checkpoint)
        except Exception as why:  # noqa: BLE001 - whatever a store raises, the run goes on
            _log.warning(
                "The loop checkpoint of run %s could not be saved; the run goes on. %s",
                visible_line(checkpoint.run_id, 60),
                visible_line(str(why), LONGEST_REASON),
            )

    async def load_latest(self, run_id: str) -> LoopCheckpoint | None:
        """Give the checkpoint of a run; one that cannot be read is logged and counts as none."""
        try:
            return await self.store.load_loop_checkpoint(run_id)
        except Exception as why:  # noqa: BLE001 - as above
            _log.warning(
                "The loop checkpoint of run %s could not be loaded; it starts afresh. %s",
                visible_line(run_id, 60),
                visible_line(str(why), LONGEST_REASON),
            )
            return None


class MemorySessionStore:
    """Keeps checkpoints in this process: for tests, and for runs that nobody has to find."""

    def __init__(self) -> None:
        self._checkpoints: dict[str, LoopCheckpoint] = {}

    async def save_loop_checkpoint(self, run_id: str, checkpoint: LoopCheckpoint) -> None:
        """Keep a checkpoint."""
        checkpoint.ensure_addressed_by(run_id)
        checkpoint.ensure_loadable()
        self._checkpoints[run_id] = checkpoint

    async def load_loop_checkpoint(self, run_id: str) -> LoopCheckpoint | None:
        """Give the checkpoint of a run, or None."""
        found = self._checkpoints.get(run_id)
        if found is not None:
            found.ensure_loadable()
            found.ensure_addressed_by(run_id)
        return found

    async def delete_loop_checkpoint(self, run_id: str) -> None:
        """Keep it no longer."""
        self._checkpoints.pop(run_id, None)

    async def kept_runs(self) -> list[tuple[int, str]]:
        """Give the time of the last checkpoint and the id of each run."""
        return [
            (kept.checkpoint_ms * 1_000_000, run_id) for run_id, kept in self._checkpoints.items()
        ]
