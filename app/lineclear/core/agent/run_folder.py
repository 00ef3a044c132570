"""The folder of one agent below a source: its lock, its run.json."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from lineclear.core.agent.own_folder import take_lock
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import StoreHeld
from lineclear.core.ledger.commit import commit, replace
from lineclear.core.ledger.folders import file_mode, uid_of
from lineclear.core.ledger.layout import RUN_INFO
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.records import RunInfo, new_nonce
from lineclear.core.places import absolute, default_source

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class RunFolder:
    """`<source>/<name>/` or `<source>/<name>@<instance>/`, held by this process.

    Below a source that is shared with a group (3770) it is made for that group too. Where others
    may write in the source, it must be a real folder of this user's.
    Raises ValueError for a name that is no folder name, StoreHeld when a live process (or another
    object of this one) has it, StoreRefused, NotConfirmed.
    """

    def __init__(
        self,
        name: str,
        source: str | os.PathLike[str] | None,
        instance: str | None,
        adapter: str,
    ) -> None:
        _check_name("name", name)
        if instance is not None:
            _check_name("instance", instance)
        self.agent = name if instance is None else f"{name}@{instance}"
        self.source = default_source() if source is None else absolute(source)
        self.path = self.source / self.agent
        self._lock = _take(self.path, name, instance)
        self._pid = os.getpid()
        try:
            self.info = _run_info(self.path, name, adapter)
        except BaseException:
            self._lock.close()
            raise

    def check_process(self) -> None:
        """Refuse to serve a forked child, which is not the process that holds the lock."""
        if os.getpid() != self._pid:
            raise StoreHeld(
                f"{self.agent} belongs to process {self._pid}, from which this one was forked; "
                "make a Gate of your own here, with instance=.",
                self._pid,
            )

    def close(self) -> None:
        """Free the lock."""
        self._lock.close()


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"The {what} {name!r} is no folder name: use 1 to 64 of a-z, 0-9, '.', '_' and '-', "
            "the first a letter or digit."
        )


def _take(path: Path, name: str, instance: str | None) -> AgentLock:
    try:
        return take_lock(path)
    except StoreHeld as held:
        if held.only_read:
            raise
        other = "2" if instance is None else f"{instance}-2"
        who = "this very process" if held.pid == os.getpid() else held.holder
        raise StoreHeld(
            f"{path.name} is already in use by {who} ({path}). End that one, or run beside it "
            f"under a name of its own: Gate({name!r}, instance={other!r}).",
            held.pid,
            holder=held.holder,
        ) from held


def _run_info(path: Path, name: str, adapter: str) -> RunInfo:
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        fresh = RunInfo(
            v=1,
            nonce=new_nonce(),
            run_id=new_nonce(),
            agent=name,
            adapter=adapter,
            created_at=datetime.now(UTC),
        )
        owner, written_by = os.fstat(fd).st_uid, uid_of(RUN_INFO, path, dir_fd=fd)
        if written_by is None:
            commit(fd, RUN_INFO, fresh.encode(), mode=file_mode(fd))
        elif written_by != owner:
            # Another user of a shared source put it there before this agent ever ran.
            replace(fd, RUN_INFO, fresh.encode(), mode=file_mode(fd))
        raw = read_file(RUN_INFO, dir_fd=fd, owners=frozenset({owner})).raw
        return RunInfo.decode(raw, str(path / RUN_INFO))
    finally:
        os.close(fd)
