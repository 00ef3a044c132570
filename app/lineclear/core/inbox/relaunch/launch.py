"""Relaunching a dead agent: the command comes only from the operator's settings."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from lineclear.core import frozen
from lineclear.core.errors import NotConfirmed, Refusal
from lineclear.core.inbox.deciding.path import operator
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, launch_for
from lineclear.core.inbox.relaunch import output_log
from lineclear.core.inbox.relaunch.claimed_run import put_back, run_claimed
from lineclear.core.inbox.relaunch.command import (
    environment,
    filled,
    no_command,
    own_environment,
    own_program,
    start_folder,
)
from lineclear.core.inbox.relaunch.copies import only_start
from lineclear.core.inbox.relaunch.going_on import LAUNCHED
from lineclear.core.inbox.relaunch.launch_number import free_number
from lineclear.core.inbox.relaunch.startable import (
    refuse_beside_running,
    refuse_elsewhere,
    refuse_open,
    refuse_unless_resumable,
    rows_beside,
    word_for,
)
from lineclear.core.inbox.relaunch.worker_word import TOLD_TO, Word, awaited
from lineclear.core.inbox.rows import warning_words
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger import lock
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.damaged import refuse_damaged
from lineclear.core.ledger.folders import SHARED_FILE
from lineclear.core.ledger.layout import (
    APPROVALS,
    LOCK,
    launch_log_name,
    temporary_name,
)
from lineclear.core.ledger.liveness import Process, owner_of, process_of
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import folders
from lineclear.core.ledger.records import Launch, Owner, Person, new_nonce
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

__all__ = ["Launched", "command_for", "own_program", "put_back", "relaunch", "run_claimed"]

_log = logging.getLogger(__name__)
MAX_LAUNCHES = 3
LAUNCH_WINDOW = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _Start:
    """What is started, and by whom."""

    argv: tuple[str, ...]
    setting: LaunchSetting
    by: Person
    native: bool
    despite: frozenset[str] = frozenset()
    told_to: Path | None = None
    """Where a worker of ours is to say whether it started the command."""
    nonce: str = field(default_factory=new_nonce)

    @property
    def env(self) -> dict[str, str]:
        """The environment of what is started: the agent itself, or a worker of ours."""
        if not self.native:
            told = {} if self.told_to is None else {TOLD_TO: os.fspath(self.told_to)}
            return {**own_environment(os.environ), **told}
        return {**environment(self.setting, os.environ), LAUNCHED: self.nonce}


@dataclass(frozen=True, slots=True)
class Launched:
    """A started relaunch: where its output goes."""

    pid: int
    """The process that keeps the log; it lives as long as the agent does."""
    n: int
    log: Path
    argv: tuple[str, ...]
    keeper: Owner
    by_worker: bool
    """A worker of ours starts the command, and says whether it did."""


def command_for(row: Row, settings: Settings) -> LaunchSetting | None:
    """Give the configured command: by agent first, then by source; None: nothing is configured."""
    return launch_for(settings, agent=row.agent, store=row.store)


def relaunch(
    detail: Detail,
    settings: Settings,
    *,
    despite: frozenset[str] = frozenset(),
    beside: Iterable[Path] = (),
    word: Word | None = None,
) -> Launched:
    """Start the resume in its own session; its output goes to `launch-N.log`, 16 MiB at most.

    Native stores: the configured command itself, which takes its own lock. Foreign stores:
    `lineclear run-claimed`. A run of which nobody can tell whether it still goes on is resumed only
    where DESPITE holds `may_be_running`: the operator's word that nothing runs, which is recorded.
    So is `handed_over_before`, for a call that was approved before the same one was started, and
    `unread_beside`, where a file cannot be read that may hold an open call of the run, and
    `resumed_before`, of a run that was resumed from another folder. BESIDE are folders that are
    looked into beside those of the saved settings, also by what is started. A worker, which may
    still find that nothing may be started, says so to WORD.
    Raises Refusal: these, `no_command`, `no_program`, `alive` (the
    agent, its run or an earlier launch lives), `too_many_launches` (3 in 10 min), `not_decided`,
    `held`, `lapsed`, `clock`, `request_open` (a call of the same run is open), `gone`, `asked_anew`
    (of a call that is not there any more), `owner`, those of a turn; MayHaveRun,
    NotConfirmed, and Unreadable when the call is gone.
    """
    fresh = read_detail(detail.row)
    row = fresh.row
    refuse_unless_resumable(row)
    given = word_for(row, despite)
    setting = _setting(row, settings)
    with Store.open(row.store) as store:
        if store.owner_uid != os.geteuid():
            raise Refusal(
                worded(
                    "{store} belongs to user {uid}: only that user's inbox can start"
                    " the agent again.",
                    store=path_text(row.store),
                    uid=store.owner_uid,
                ),
                code="owner",
            )
        if not store.native:
            store.begin_foreign_ledger()
            if row.state is State.RESUMABLE and fresh.shown is not None:
                # Its program may remove or rewrite the file; what was resumed stays known.
                store.commit("request", None, row.id, fresh.shown.raw)
            given |= _look_beside(row, rows_beside(store), despite)
        with _own_turn(store, fresh.shown, settings, despite) as further:
            given |= further
            _refuse_alive(store, row)
            n = _next_number(store, row, fresh.launches)
            argv = _argv(store, row, setting, beside)
            told_to = None if word is None else word.path
            start = _Start(argv, setting, operator(settings), store.native, given, told_to)
            return _start(store, row, n, start)


# --- Who may be started ------------------------------------------------------------------------


def _look_beside(row: Row, rows: list[Row], despite: frozenset[str]) -> frozenset[str]:
    """Raise Refusal for what the others of a foreign store say against it; give the word for it."""
    beside = next((one for one in rows if one.id == row.id), row)
    refuse_open(beside)
    refuse_beside_running(row, rows)
    return word_for(beside, despite)


@contextmanager
def _own_turn(
    store: Store, shown: Shown | None, settings: Settings, despite: frozenset[str]
) -> Iterator[frozenset[str]]:
    """Have the turn of a run that an agent of ours goes on with; gives the word that it needs.

    Raises Refusal for what any folder says against it. Of another program's run its worker has it.
    """
    if not store.native or shown is None or shown.checkpoint.position is None:
        yield frozenset()
        return
    with only_start(shown, settings) as seen:
        yield refuse_elsewhere(shown, seen, despite)


def _setting(row: Row, settings: Settings) -> LaunchSetting:
    setting = command_for(row, settings)
    if setting is None:
        raise no_command(row.agent, row.store)
    program = setting.argv[0]
    if not os.path.isfile(program) or not os.access(program, os.X_OK):
        raise Refusal(
            worded("{program} of the resume command is no program.", program=path_text(program)),
            code="no_program",
        )
    return setting


def _refuse_alive(store: Store, row: Row) -> None:
    """Raise Refusal while the agent lives."""
    if not store.native:
        return
    folders = (row.store, row.store.parent)
    states = [lock.look(one) for one in folders if os.path.lexists(one / LOCK)]
    if not any(state.held or state.process is Process.ELSEWHERE for state in states):
        return
    left = next((one.owner for one in states if one.held and one.process is Process.DEAD), None)
    if left is not None:
        raise Refusal(
            worded(
                "The agent's process {pid} has ended, but a child of it lives and holds"
                " its folder; end that first.",
                pid=left.pid,
            ),
            code="alive",
        )
    raise Refusal(worded("The agent's process lives; it needs no relaunch."), code="alive")


def _next_number(store: Store, row: Row, known: Iterable[Launch]) -> int:
    """Give the number of the next launch; raises Refusal while an earlier one lives.

    KNOWN are launches that were read before, those of earlier attempts among them.
    """
    named = store.names()
    records = store.records(row.seq, row.id, named=named)
    if not store.native:
        # What starts it would be refused for it; an agent of ours has its lock.
        refuse_damaged(records, store.path)
    listed = records.launches
    launches = {one.nonce: one for one in (*known, *listed)}.values()
    for launch in launches:
        if launch.owner is not None and process_of(launch.owner) is Process.ALIVE:
            raise Refusal(
                worded(
                    "It was started already by {name}, as process {pid}.",
                    name=warning_words.person(launch.by),
                    pid=launch.owner.pid,
                ),
                code="alive",
            )
    now = read_now().wall
    recent = [one for one in launches if abs(now - one.at) < LAUNCH_WINDOW]
    if len(recent) >= MAX_LAUNCHES:
        raise Refusal(
            worded(
                "It was started {n} times in the last 10 minutes and did not stay;"
                " look at its output before you try again.",
                n=len(recent),
            ),
            code="too_many_launches",
        )
    return free_number(store, row.seq, row.id, listed, named)


# --- The command -------------------------------------------------------------------------------


def _argv(
    store: Store, row: Row, setting: LaunchSetting, beside: Iterable[Path]
) -> tuple[str, ...]:
    if store.native:
        return filled(setting, row.store, row.id, row.path or row.store)
    sources = (word for folder in beside for word in ("--source", os.fspath(folder)))
    return (*own_program(), "run-claimed", *sources, os.fspath(row.store), row.id)


def _log_keeper() -> tuple[str, ...]:
    if frozen.is_frozen():
        return (*own_program(), "run-logged")
    return (sys.executable, "-I", "-S", output_log.__file__)


# --- Starting ----------------------------------------------------------------------------------


def _start(store: Store, row: Row, n: int, start: _Start) -> Launched:
    """Start the log's keeper, record it, and only then tell it to start the command.

    The record names the keeper before anything runs, and its slot has one winner: of two
    relaunches at once one is told to go.
    """
    draft, log_fd = _create_log(store)
    try:
        keeper = _spawn(start, log_fd)
    finally:
        os.close(log_fd)
    assert keeper.stdin is not None
    name = launch_log_name(seq=row.seq, aid=row.id, n=n)
    try:
        owner = owner_of(keeper.pid)
        _record(store, row, n, start, owner)
        os.replace(draft, name, src_dir_fd=store.ledger_fd, dst_dir_fd=store.ledger_fd)
        _tell_to_go(keeper.stdin)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=store.ledger_fd)
        raise
    finally:
        with suppress(BrokenPipeError):
            keeper.stdin.close()
        # Waited for by a thread of its own, so that it never stays behind as a zombie.
        threading.Thread(target=keeper.wait, name="launch-reaper", daemon=True).start()
    log = store.path / APPROVALS / name
    return Launched(keeper.pid, n, log, start.argv, owner, not start.native)


def _tell_to_go(keeper: IO[bytes]) -> None:
    """Have a log's keeper start its command; raises NotConfirmed where it has ended."""
    try:
        keeper.write(output_log.GO)
    except OSError as why:
        # No closed output of this program, as a broken pipe is otherwise.
        raise NotConfirmed(
            worded("Not started: what was to start it was ended before it could; try again.")
        ) from why


def relaunch_and_hear(
    detail: Detail,
    settings: Settings,
    *,
    despite: frozenset[str] = frozenset(),
    beside: Iterable[Path] = (),
) -> Launched:
    """Do as `relaunch`, and return once the command is started as far as a worker of ours knows.

    For what that waits is logged. Stopped meanwhile (Ctrl+C), nothing is started; where it was just
    being started, this is not stopped.
    Raises what `relaunch` raises, also where the worker has it; NotConfirmed where that says
    nothing.
    """
    with awaited() as word:
        launched = relaunch(detail, settings, despite=despite, beside=beside, word=word)
        if not launched.by_worker:
            return launched
        try:
            word.hear(launched.keeper, launched.log)
        except Exception:
            raise
        except BaseException:
            if word.withdraw():
                _log.warning("Nothing was started: stopped while waiting.")
                raise
            _log.warning("It was being started already; that is not stopped.")
            word.hear(launched.keeper, launched.log)
    return launched


def _record(store: Store, row: Row, n: int, start: _Start, keeper: Owner) -> None:
    """Commit the launch record; raises Refusal when its number is another's."""
    told: dict[str, Any] = {"despite": tuple(sorted(start.despite))} if start.despite else {}
    launch = Launch(
        v=1,
        nonce=start.nonce,
        **store.bound(row.id),
        n=n,
        by=start.by,
        at=read_now().wall,
        argv=tuple(path_text(part) for part in start.argv),
        cwd=path_text(start_folder(start.setting)),
        log=launch_log_name(seq=row.seq, aid=row.id, n=n),
        owner=keeper,
        **told,
    )
    if store.commit("launch", row.seq, row.id, launch.encode(), n) is Commit.LOST:
        raise Refusal(worded("Another relaunch of this call came first."), code="alive")


def _create_log(store: Store) -> tuple[str, int]:
    """Make the log under a private name; the winner of the record gives it its own."""
    name = temporary_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        fd = os.open(name, flags, 0o600, dir_fd=store.ledger_fd)
    except OSError as why:
        raise NotConfirmed(
            worded(
                "Not started: {reason}, making a log in {path}; {cure} and try again.",
                reason=oserrors.reason(why),
                path=path_text(store.path),
                cure=oserrors.cure(why),
            )
        ) from why
    if store.group is not None:
        # Colleagues read it beside the other records; without, it is this user's alone.
        with suppress(OSError):
            folders.set_mode(fd, SHARED_FILE)
    return name, fd


def _spawn(start: _Start, log_fd: int) -> subprocess.Popen[bytes]:
    folder = start_folder(start.setting)
    try:
        return subprocess.Popen(
            [*_log_keeper(), *start.argv],
            stdin=subprocess.PIPE,
            stdout=log_fd,
            stderr=subprocess.STDOUT,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
            cwd=folder,
            env=start.env,
        )
    except OSError as why:
        raise Refusal(
            worded(
                "The resume command could not be started in {folder}: {why}.",
                folder=path_text(folder),
                why=why.strerror or str(why),
            ),
            code="no_program",
        ) from why
