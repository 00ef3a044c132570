"""A checkpoint handler that keeps each run in a file, and suspends it where it is told to."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from lineclear.core.agent import misnamed
from lineclear.core.agent.errors import AgentExecutorError
from lineclear.core.agent.reachable import (
    MAX_BYTES,
    folder_below,
    in_file,
    names_of,
    refuse_newest,
    written_ns,
)
from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.ours import BLOCK
from lineclear.core.checkpoints.run_names import file_stem
from lineclear.core.checkpoints.starweaver import (
    AgentCheckpoint,
    AgentExecutionDecision,
    AgentExecutionNode,
    Continue,
    RunStatus,
    Suspend,
)
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.commit import remove_leftovers, replace, sync_folder
from lineclear.core.ledger.folders import (
    close_folder,
    file_mode,
    make_folders,
    open_folder,
    owners_in,
)
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.sharing import inherited_group
from lineclear.core.places import absolute

SUFFIX: Final = ".checkpoint.json"
_LIKE_A_CHECKPOINT: Final = ".checkpoint"
_NAME: Final = re.compile(r"[0-9a-f]{32}\.checkpoint\.json")
_MAX_DEPTH: Final = 126
"""Arguments may nest 115 deep and stand six containers further in; serde_json reads 127."""


def checkpoint_name(run_id: str) -> str:
    """Give the file name of a run: nothing of its id gets into a name but a digest."""
    return file_stem(run_id) + SUFFIX


class FileCheckpointHandler:
    """Writes `<32 hex>.checkpoint.json` at each boundary of a run, in starweaver's own form.

    Args:
        folder: made 0700 if absent; the folder of the executor's FileResumeStore, so that
            operators see the run, its calls and its checkpoints as one.
        suspend_at: boundaries at which every run is suspended.
        suspend_for_approval: suspends a run when a call waits for a person, instead of waiting in
            this process; resumed with or without a decision, it goes on.

    The file is replaced whole and durable before the run goes on, and before a tool begins. It
    holds the reason of a suspension under `metadata.lineclear.suspended`. Files of runs that
    completed go away when the next run starts.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        suspend_at: Iterable[AgentExecutionNode | str] = (),
        suspend_for_approval: bool = False,
    ) -> None:
        self.path = absolute(folder)
        self._suspend_at = frozenset(map(AgentExecutionNode, suspend_at))
        self._suspend_for_approval = suspend_for_approval
        self._wanted: str | None = None
        self._threads = LedgerThreads()

    def suspend(self, reason: str) -> None:
        """Suspend whichever run comes next to a boundary, once; safe in any thread."""
        self._wanted = reason

    async def checkpoint(self, checkpoint: AgentCheckpoint) -> AgentExecutionDecision:
        """Keep the run, and say whether it goes on; raises AgentExecutorError."""
        reason = self._reason(checkpoint)
        if reason is not None:
            checkpoint = checkpoint.with_suspended(reason)
        await self._threads.run(lambda: self._write(checkpoint))
        return Continue() if reason is None else Suspend(reason=reason)

    async def keep(self, checkpoint: AgentCheckpoint) -> None:
        """Keep the run between two boundaries; raises AgentExecutorError."""
        await self._threads.run(lambda: self._write(checkpoint))

    async def forget(self, run_id: str) -> None:
        """Remove the file of a run, unless it cannot be read or another program wrote it.

        Raises Unreadable for the first, AgentExecutorError, and NotConfirmed.
        """
        await self._threads.run(lambda: self._forget(run_id))

    async def load_checkpoint(self, run_id: str) -> AgentCheckpoint | None:
        """Give the last checkpoint of a run, or None; raises Unreadable, naming the file."""
        return await asyncio.to_thread(self._load, run_id)

    async def kept_runs(self) -> list[tuple[int, str]]:
        """Give (nanoseconds since 1970, run id) of each run that has not completed.

        Files that cannot be read are logged. One that was written after all others, so that it may
        be of the run that left a checkpoint last, raises Unreadable, and so does a folder that
        cannot be looked at. A file under a name that is not its run's own counts too.
        """
        return await asyncio.to_thread(self._kept_runs)

    async def completed_runs(self) -> list[str]:
        """Give the runs that completed, whose files go away when the next one starts."""
        return await asyncio.to_thread(self._completed_runs)

    async def refuse_misnamed(self, run_id: str) -> None:
        """Raise Unreadable (`key_mismatch`) where a run's file has a name that is not its own."""
        await asyncio.to_thread(self._refuse_misnamed, run_id)

    def file_of(self, run_id: str) -> Path:
        """Give the file of a run, whether or not it is there."""
        return self.path / checkpoint_name(run_id)

    def close(self) -> None:
        """End the threads."""
        self._threads.close()

    # --- steps, off the loop --------------------------------------------------------------------

    def _reason(self, checkpoint: AgentCheckpoint) -> str | None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            return wanted
        if checkpoint.state.status is RunStatus.WAITING:
            if not self._suspend_for_approval:
                return None
            waiting = checkpoint.state.pending_approval_tool_returns
            return f"{', '.join(call.name for call in waiting)} waits for a person's approval"
        if checkpoint.node in self._suspend_at:
            return f"told to suspend at {checkpoint.node}"
        return None

    def _write(self, checkpoint: AgentCheckpoint) -> None:
        name = checkpoint_name(checkpoint.run_id)
        path = self.path / name
        try:
            raw = checkpoint.encode(max_depth=_MAX_DEPTH)
        except ValueError as why:
            raise AgentExecutorError(f"executor failed: {path} cannot be written: {why}") from why
        try:
            make_folders(self.path, group=inherited_group(self.path))
            fd = open_folder(self.path, self.path)
        except OSError as why:
            raise self._failed(path, why) from why
        try:
            if checkpoint.node is AgentExecutionNode.RUN_START:
                remove_leftovers(fd)
                self._remove_completed(fd)
            replace(fd, name, raw, mode=file_mode(fd))
        finally:
            close_folder(fd)

    def _completed_runs(self) -> list[str]:
        return [run_id for _, run_id in self._completed()]

    def _completed(self) -> Iterator[tuple[str, str]]:
        """Give the name and the run of each file of a run that completed."""
        for name in filter(_NAME.fullmatch, self._names()):
            try:
                checkpoint = self._read(self.path / name)
            except Unreadable:
                continue
            if _completed(checkpoint):
                yield name, checkpoint.run_id

    def _remove_completed(self, fd: int) -> None:
        removed = False
        for name, _ in self._completed():
            try:
                os.unlink(name, dir_fd=fd)
            except OSError:
                continue
            removed = True
        if removed:
            sync_folder(fd)

    def _forget(self, run_id: str) -> None:
        found = self._load(run_id)
        if found is None or BLOCK not in found.metadata:
            return
        path = self.file_of(run_id)
        fd = open_folder(self.path, self.path)
        try:
            os.unlink(path.name, dir_fd=fd)
            sync_folder(fd)
        except FileNotFoundError:
            pass
        except OSError as why:
            raise AgentExecutorError(
                f"executor failed: {path} cannot be removed: {oserrors.reason(why)}"
            ) from why
        finally:
            close_folder(fd)

    def _load(self, run_id: str) -> AgentCheckpoint | None:
        path = self.file_of(run_id)
        if folder_below(self.path) is None:
            return None
        try:
            found = self._read(path)
        except Unreadable as why:
            # What another user put there is no checkpoint of this agent's.
            if why.code in ("absent", "owner"):
                return None
            raise
        _ensure_named_for(path, found.run_id)
        return found

    def _read(self, path: Path) -> AgentCheckpoint:
        raw = read_file(str(path), owners=owners_in(self.path), max_bytes=MAX_BYTES).raw
        try:
            return AgentCheckpoint.decode(raw)
        except Unreadable as why:
            raise in_file(path, why) from why

    def _kept_runs(self) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        unread: list[tuple[int, Unreadable]] = []
        names = frozenset(self._names())
        for name in names:
            path = self.path / name
            written = written_ns(path)
            if written is None:
                continue
            try:
                run_id = self._run_kept_in(path, names)
            except Unreadable as why:
                if why.code not in ("absent", "owner"):
                    unread.append((written, why))
                continue
            if run_id is not None:
                found.append((written, run_id))
        refuse_newest(unread, found, "A checkpoint")
        return found

    def _run_kept_in(self, path: Path, names: Collection[str]) -> str | None:
        """Give the run in a file that has not completed; raises Unreadable for one of our names."""
        ours = _NAME.fullmatch(path.name) is not None
        run_id = (
            self._run_in(path) if ours else misnamed.run_in(path, _unended_run_of, root=self.path)
        )
        if run_id is None or path.name == (own := checkpoint_name(run_id)):
            return run_id
        if own in names:
            return None  # A copy of that one.
        if ours:
            _ensure_named_for(path, run_id)
        return run_id

    def _run_in(self, path: Path) -> str | None:
        checkpoint = self._read(path)
        return None if _completed(checkpoint) else checkpoint.run_id

    def _refuse_misnamed(self, run_id: str) -> None:
        own = checkpoint_name(run_id)
        misnamed.refuse(self.path, self._names(), run_id, own, _run_of, root=self.path)

    def _names(self) -> list[str]:
        """List the files that say by their name that they are checkpoints, or were some."""
        folder = folder_below(self.path)
        names = [] if folder is None else names_of(folder)
        return [name for name in names if _LIKE_A_CHECKPOINT in name.casefold()]

    def _failed(self, path: Path, why: OSError) -> AgentExecutorError:
        return AgentExecutorError(
            f"executor failed: {path} cannot be written: {oserrors.reason(why)};"
            f" {oserrors.cure(why)} and resume the run."
        )


def _run_of(raw: bytes) -> str | None:
    try:
        return AgentCheckpoint.decode(raw).run_id
    except Unreadable:
        return None


def _unended_run_of(raw: bytes) -> str | None:
    try:
        checkpoint = AgentCheckpoint.decode(raw)
    except Unreadable:
        return None
    return None if _completed(checkpoint) else checkpoint.run_id


def _completed(checkpoint: AgentCheckpoint) -> bool:
    return checkpoint.node is AgentExecutionNode.RUN_COMPLETE and checkpoint.suspended is None


def _ensure_named_for(path: Path, run_id: str) -> None:
    if path.name != checkpoint_name(run_id):
        raise Unreadable(
            "key_mismatch",
            f"{visible_line(str(path))} holds run '{visible_line(run_id, 40)}', but is named for"
            " another one.",
            path,
        )
