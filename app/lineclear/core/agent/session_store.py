"""Loop checkpoints in files, where a3s itself keeps and finds them.

A run's file is `v1/loop_checkpoints/id_<base64url of the run id, no padding>.json`. Early versions
of a3s wrote `loop_checkpoints/<run id>.json` with slashes and `..` replaced; such a file is read
only where the current one is absent, and only if it is the run's own, as several runs can share
such a name.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from lineclear.core.agent import misnamed
from lineclear.core.agent.errors import ResumeIOError, ResumeSerializeError
from lineclear.core.agent.reachable import (
    folder_below,
    in_file,
    names_of,
    refuse_lent,
    refuse_newest,
    written_ns,
)
from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.checkpoints import a3s, jsontext
from lineclear.core.checkpoints.a3s import LoopCheckpoint
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import StoreRefused, Unreadable
from lineclear.core.ledger.commit import remove_leftovers, replace, sync_folder
from lineclear.core.ledger.folders import (
    close_folder,
    file_mode,
    make_folder,
    make_folders,
    open_folder,
    owners_in,
    refuse_others,
)
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.sharing import inherited_group
from lineclear.core.places import absolute

_ENCRYPTED: Final = b"A3SE"


class FileSessionStore:
    """One checkpoint file per run below a folder that a3s would call its session store.

    Files are 0600 in folders 0700, replaced whole and durable. The folder is made when the first
    checkpoint is saved. Two processes that resume one run are not kept apart here: a
    FileResumeStore in the same folder does that.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.path = absolute(root)
        self._threads = LedgerThreads()
        self._swept = False

    async def save_loop_checkpoint(self, run_id: str, checkpoint: LoopCheckpoint) -> None:
        """Replace the run's file; durable on return.

        Raises Unreadable for what would not be loaded again (`key_mismatch`, `future_schema`,
        `bad_binding`), ResumeSerializeError for what no a3s would read back (no JSON, too deep,
        larger than 256 MiB, a run id that is no UTF-8), ResumeIOError, NotConfirmed, StoreRefused
        (`owner`: the folder for it is another user's).
        """
        await self._threads.run(lambda: self._save(run_id, checkpoint))

    async def load_loop_checkpoint(self, run_id: str) -> LoopCheckpoint | None:
        """Give the run's checkpoint, or None where there is no file.

        Raises Unreadable, naming the file: encrypted, future_schema, bad_binding, key_mismatch,
        too_large, and all codes of `read_file` and of parsing.
        """
        return await asyncio.to_thread(self._load, run_id)

    async def delete_loop_checkpoint(self, run_id: str) -> None:
        """Remove the run's file; raises ResumeIOError, NotConfirmed."""
        await self._threads.run(lambda: self._delete(run_id))

    async def kept_runs(self) -> list[tuple[int, str]]:
        """Give (nanoseconds since 1970 of the last save, run id) of each run with a file.

        One under a name that is not its run's own counts too, and an early version's where there
        is no current one. Raises Unreadable where a folder cannot be looked at, and for a file of
        an early version that cannot be read and was written after all others: its name does not
        tell whose it is.
        """
        return await asyncio.to_thread(self._kept_runs)

    async def refuse_misnamed(self, run_id: str) -> None:
        """Raise Unreadable (`key_mismatch`) where a run's file has a name that is not its own."""
        await asyncio.to_thread(self._refuse_misnamed, run_id)

    def file_of(self, run_id: str) -> Path:
        """Give the current file of a run, whether or not it is there."""
        return self.path.joinpath(*a3s.FOLDER, a3s.file_name(run_id))

    def close(self) -> None:
        """End the threads."""
        self._threads.close()

    # --- steps, off the loop --------------------------------------------------------------------

    def _save(self, run_id: str, checkpoint: LoopCheckpoint) -> None:
        checkpoint.ensure_addressed_by(run_id)
        checkpoint.ensure_loadable()
        if not _nameable(run_id):
            raise ResumeSerializeError(
                f"A checkpoint of run '{visible_line(run_id, 40)}' cannot be written below"
                f" {self.path}: no JSON can hold the run's id."
            )
        path = self.file_of(run_id)
        try:
            raw = checkpoint.encode()
        except (TypeError, ValueError) as why:
            raise ResumeSerializeError(f"{path} cannot be written: {why}") from why
        if len(raw) > a3s.MAX_BYTES:
            raise ResumeSerializeError(
                f"{path} cannot be written: it would take {len(raw) >> 20} MiB, and at most"
                f" {a3s.MAX_BYTES >> 20} MiB are read back."
            )
        try:
            fd = self._open_or_make(a3s.FOLDER)
        except OSError as why:
            raise self._failed(path, "written", why) from why
        try:
            if not self._swept:
                remove_leftovers(fd)
                self._swept = True
            replace(fd, path.name, raw, mode=file_mode(fd))
        finally:
            close_folder(fd)

    def _load(self, run_id: str) -> LoopCheckpoint | None:
        if not _nameable(run_id):
            return None
        for parts, path in (
            (a3s.FOLDER, self.file_of(run_id)),
            (a3s.LEGACY_FOLDER, self._legacy_file(run_id)),
        ):
            if folder_below(self.path, *parts) is None:
                continue
            try:
                owners = owners_in(self.path)
                raw = read_file(str(path), owners=owners, max_bytes=a3s.MAX_BYTES).raw
            except Unreadable as why:
                # What another user put there is no checkpoint of this agent's.
                if why.code in ("absent", "owner"):
                    continue
                raise
            refuse_lent(self.path, *parts)
            try:
                return _decoded(raw, run_id)
            except Unreadable as why:
                raise in_file(path, why) from why
        return None

    def _delete(self, run_id: str) -> None:
        if not _nameable(run_id):
            return
        for path in (self.file_of(run_id), self._legacy_file(run_id)):
            if path == self._legacy_file(run_id) and not self._is_of(path, run_id):
                continue
            try:
                fd = open_folder(path.parent, path.parent)
            except Unreadable as why:
                if why.code == "absent":
                    continue
                raise ResumeIOError(f"{path} cannot be removed: {why.sentence}") from why
            try:
                os.unlink(path.name, dir_fd=fd)
                sync_folder(fd)
            except FileNotFoundError:
                pass
            except OSError as why:
                raise self._failed(path, "removed", why) from why
            finally:
                close_folder(fd)

    def _kept_runs(self) -> list[tuple[int, str]]:
        files = self._files_in(a3s.FOLDER)
        names = frozenset(path.name for path in files)
        found: list[tuple[int, str]] = []
        for path in files:
            run_id = a3s.run_id_of(path.name)
            written = written_ns(path)
            if written is None:
                continue
            if run_id is not None:
                found.append((written, run_id))
                continue
            # Under another name it is of no use, but its run did leave one.
            run_id = misnamed.run_in(path, _decodes, root=self.path)
            if run_id is not None and a3s.file_name(run_id) not in names:
                found.append((written, run_id))
        return found + self._left_by_early_ones(names, found)

    def _left_by_early_ones(
        self, current: Collection[str], found: Collection[tuple[int, str]]
    ) -> list[tuple[int, str]]:
        """Give the runs of which only an early version's file is there; FOUND are all others."""
        early: list[tuple[int, str]] = []
        unread: list[tuple[int, Unreadable]] = []
        for path in self._files_in(a3s.LEGACY_FOLDER):
            if not a3s.is_legacy_name(path.name) or (written := written_ns(path)) is None:
                continue
            try:
                run_id = _run_in(path)
            except Unreadable as why:
                if why.code != "owner":
                    unread.append((written, why))
                continue
            if a3s.file_name(run_id) not in current:
                early.append((written, run_id))
        refuse_newest(unread, (*found, *early), "A loop checkpoint")
        return early

    def _files_in(self, parts: Sequence[str]) -> list[Path]:
        folder = folder_below(self.path, *parts)
        names = [] if folder is None else names_of(self.path, *parts)
        return [self.path.joinpath(*parts, name) for name in names]

    def _refuse_misnamed(self, run_id: str) -> None:
        for parts, own in (
            (a3s.FOLDER, a3s.file_name(run_id) if _nameable(run_id) else None),
            (a3s.LEGACY_FOLDER, a3s.legacy_file_name(run_id)),
        ):
            folder = None if own is None else folder_below(self.path, *parts)
            if folder is not None and own is not None:
                names = names_of(self.path, *parts)
                misnamed.refuse(folder, names, run_id, own, _decodes, root=self.path)

    def _is_of(self, path: Path, run_id: str) -> bool:
        """Tell whether a file of a name that several runs share is this run's."""
        try:
            _decoded(read_file(str(path), max_bytes=a3s.MAX_BYTES).raw, run_id)
        except Unreadable:
            return False
        return True

    def _open_or_make(self, parts: Sequence[str]) -> int:
        """Open a folder below the root, made durably where it is absent; no link is followed."""
        group = inherited_group(self.path)
        make_folders(self.path, group=group)
        path = self.path
        fd = open_folder(path, path)
        for part in parts:
            try:
                if make_folder(part, dir_fd=fd, group=group):
                    sync_folder(fd)
                path /= part
                below = open_folder(part, path, dir_fd=fd)
            finally:
                close_folder(fd)
            fd = below
            try:
                refuse_others(os.fstat(fd), path)
            except StoreRefused:
                close_folder(fd)
                raise
        return fd

    def _legacy_file(self, run_id: str) -> Path:
        return self.path.joinpath(*a3s.LEGACY_FOLDER, a3s.legacy_file_name(run_id))

    def _failed(self, path: Path, done: str, why: OSError) -> ResumeIOError:
        return ResumeIOError(
            f"{path} cannot be {done}: {oserrors.reason(why)}; {oserrors.cure(why)} and try again."
        )


def _nameable(run_id: str) -> bool:
    """Tell whether a file can hold a run of this id, and be named for it."""
    return jsontext.storable(run_id) == run_id


def _decodes(raw: bytes) -> str | None:
    try:
        return LoopCheckpoint.decode(raw).run_id
    except Unreadable:
        return None


def _run_in(path: Path) -> str:
    """Give the run of a file; raises Unreadable, naming it."""
    raw = read_file(str(path), max_bytes=a3s.MAX_BYTES).raw
    try:
        _refuse_encrypted(raw)
        return LoopCheckpoint.decode(raw).run_id
    except Unreadable as why:
        raise in_file(path, why) from why


def _refuse_encrypted(raw: bytes) -> None:
    if raw.startswith(_ENCRYPTED):
        raise Unreadable("encrypted", "It is encrypted at rest; only a3s itself can open it.")


def _decoded(raw: bytes, run_id: str) -> LoopCheckpoint:
    _refuse_encrypted(raw)
    checkpoint = LoopCheckpoint.decode(raw)
    checkpoint.ensure_addressed_by(run_id)
    return checkpoint
