"""Relaunching a dead agent: the command comes only from the operator's settings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.errors import LineclearError, MayHaveRun, NotConfirmed, NothingPending, Refusal
from lineclear.core.inbox import outputlog
from lineclear.core.inbox.deciding import operator
from lineclear.core.inbox.rows import Detail, Row, path_text
from lineclear.core.inbox.scan import read_detail
from lineclear.core.inbox.settings import LaunchSetting, Settings, launch_for
from lineclear.core.inbox.walk import own_names
from lineclear.core.ledger import foreign, lock, oserrors
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.layout import LOCK, launch_log_name, record_name
from lineclear.core.ledger.liveness import Process, owner_of, process_of
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import Launch, Person, new_nonce
from lineclear.core.ledger.start import Observed, Unfit, Verified, Waiting, begin, read_decision
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Shown, Store

MAX_LAUNCHES = 3
LAUNCH_WINDOW = timedelta(minutes=10)
_PLACEHOLDER = re.compile(r"\{(store|aid|checkpoint)\}")
_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP"
    r"|XDG_[A-Z_]+_(HOME|DIR|DIRS)|XDG_RUNTIME_DIR|LINECLEAR_HOME|SSL_CERT_(FILE|DIR)"
    r"|SYSTEMROOT|SYSTEMDRIVE|COMSPEC|PATHEXT|WINDIR|USERPROFILE|APPDATA|LOCALAPPDATA"
    r"|PROGRAMDATA|USERNAME"
)
"""Environment variables that a relaunched agent gets; all others are in the settings or absent."""
_LIBRARY_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH")
_DRAIN_S = 2.0
"""How long output is read after a command ended whose children hold its end of the pipe."""
_SIGNALLED = 128


@dataclass(frozen=True, slots=True)
class Launched:
    """A started relaunch: where its output goes."""

    pid: int
    """The process that keeps the log; it lives as long as the agent does."""
    n: int
    log: Path
    argv: tuple[str, ...]


def command_for(row: Row, settings: Settings) -> LaunchSetting | None:
    """Give the configured command: by agent first, then by source; None: nothing is configured."""
    return launch_for(settings, agent=row.agent, store=row.store)


def relaunch(detail: Detail, settings: Settings) -> Launched:
    """Start the resume in its own session; its output goes to `launch-N.log`, 16 MiB at most.

    Native stores: the configured command itself, which takes its own lock. Foreign stores:
    `lineclear run-claimed`. Raises Refusal: `no_command`, `no_program`, `alive` (the agent or an
    earlier launch lives), `too_many_launches` (3 in 10 min), `not_decided`, `owner`;
    MayHaveRun, NotConfirmed, and Unreadable when the call is gone.
    """
    row = read_detail(detail.row).row
    setting = _setting(row, settings)
    _refuse_unless_resumable(row)
    with Store.open(row.store) as store:
        if store.owner_uid != os.geteuid():
            raise Refusal(
                f"{path_text(row.store)} belongs to user {store.owner_uid}: only that user's"
                " inbox can start the agent again.",
                code="owner",
            )
        if not store.native:
            store.begin_foreign_ledger()
        _refuse_alive(store, row)
        argv = _argv(store, row, setting)
        return _start(store, row, argv, setting, operator(settings))


def run_claimed(store: Path, aid: str, settings: Settings) -> int:
    """Do the detached work for a foreign store: claim, start, run, wait, record.

    Gives the command's exit code. What it prints is passed on, and its end stands in the outcome.
    Raises what `relaunch` raises, and what claiming raises.
    """
    with Store.open(store) as opened:
        shown = _find(opened, aid)
        verified = _verified(opened, shown)
        setting = launch_for(settings, agent=path_text(store.name), store=store)
        if setting is None:
            raise _no_command(store)
        claimed = foreign.claim(opened, shown)
        try:
            won = begin(opened, shown, verified)
        except LineclearError:
            with suppress(LineclearError):
                foreign.put_back(opened, claimed)
            raise
        if not won:
            raise Refusal("Another relaunch of this call came first.", code="started")
        argv = _filled(setting, claimed.folder, aid, claimed.checkpoint)
        decision = record_name("decision", seq=None, aid=aid)
        told = {"LINECLEAR_DECISION": os.fspath(store / ".approvals" / decision)}
        return _run(opened, shown, argv, setting, told)


# --- Who may be started ------------------------------------------------------------------------


def _setting(row: Row, settings: Settings) -> LaunchSetting:
    setting = command_for(row, settings)
    if setting is None:
        raise _no_command(row.store)
    program = setting.argv[0]
    if not os.path.isfile(program) or not os.access(program, os.X_OK):
        raise Refusal(
            f"{path_text(program)} of the resume command is no program.", code="no_program"
        )
    return setting


def _no_command(store: Path) -> Refusal:
    return Refusal(
        f"No resume command is set for {path_text(store)}; set one in the settings.",
        code="no_command",
    )


def _refuse_unless_resumable(row: Row) -> None:
    if row.state is State.UNCERTAIN:
        raise MayHaveRun(
            "This call may have run; settle that first, or the agent would stop at it.", row.id
        )
    if row.state is State.PENDING:
        raise Refusal("This call is not decided yet.", code="not_decided")
    if row.state in (State.UNREADABLE, State.STRAY, State.DAMAGED):
        raise Refusal(
            row.reason or "This call cannot be read.", code=row.reason_code or row.state.value
        )
    if row.state is State.RUNNING:
        raise Refusal("The agent is running this call.", code="alive")


def _refuse_alive(store: Store, row: Row) -> None:
    """Raise Refusal while the agent, or an earlier relaunch of this call, lives."""
    if store.native:
        folders = (row.store, row.store.parent)
        states = [lock.look(one) for one in folders if os.path.lexists(one / LOCK)]
        if any(state.held or state.process is Process.ELSEWHERE for state in states):
            raise Refusal("The agent's process lives; it needs no relaunch.", code="alive")
    launches = store.records(row.seq, row.id).launches
    for launch in launches:
        if launch.owner is not None and process_of(launch.owner) is Process.ALIVE:
            raise Refusal(
                f"It was started already by {visible_line(launch.by.name, 40)}, as process"
                f" {launch.owner.pid}.",
                code="alive",
            )
    now = read_now().wall
    recent = [one for one in launches if abs(now - one.at) < LAUNCH_WINDOW]
    if len(recent) >= MAX_LAUNCHES:
        raise Refusal(
            f"It was started {len(recent)} times in the last 10 minutes and did not stay; look at"
            " its output before you try again.",
            code="too_many_launches",
        )


# --- The command -------------------------------------------------------------------------------


def _argv(store: Store, row: Row, setting: LaunchSetting) -> tuple[str, ...]:
    if store.native:
        return _filled(setting, row.store, row.id, row.path or row.store)
    return (*own_program(), "run-claimed", os.fspath(row.store), row.id)


def _filled(setting: LaunchSetting, store: Path, aid: str, checkpoint: Path) -> tuple[str, ...]:
    """Fill placeholders in; one pass, so that a folder called `{aid}` stays what it is."""
    values = {"store": os.fspath(store), "aid": aid, "checkpoint": os.fspath(checkpoint)}
    program, *arguments = setting.argv
    filled = (_PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in arguments)
    return (program, *filled)


def own_program() -> tuple[str, ...]:
    """Give the command that starts this program's command line."""
    if getattr(sys, "frozen", False):
        here = Path(sys.executable)
        return (os.fspath(here.with_name(f"lineclear{here.suffix}")),)
    # -P: no module is ever taken from the folder that happens to be the current one.
    return (sys.executable, "-P", "-m", "lineclear")


def _log_keeper() -> tuple[str, ...]:
    if getattr(sys, "frozen", False):
        return (*own_program(), "run-logged")
    return (sys.executable, "-I", "-S", outputlog.__file__)


def environment(setting: LaunchSetting, inherited: Mapping[str, str]) -> dict[str, str]:
    """Give a relaunched agent's environment: few variables of ours, those of the settings.

    A frozen program points the library paths at its own libraries and keeps the original values
    under names that end with `_ORIG`: the agent gets the original ones.
    """
    passed = {name: value for name, value in inherited.items() if _PASSED_ON.fullmatch(name)}
    for name in _LIBRARY_PATHS:
        original = inherited.get(f"{name}_ORIG")
        if original is None and not getattr(sys, "frozen", False):
            original = inherited.get(name)
        if original:
            passed[name] = original
    return {**passed, **setting.env}


def _folder(setting: LaunchSetting) -> Path:
    """Give the folder to start in: never one that an agent writes, where Python would import."""
    return Path.home() if setting.cwd is None else setting.cwd


# --- Starting ----------------------------------------------------------------------------------


def _start(
    store: Store, row: Row, argv: tuple[str, ...], setting: LaunchSetting, by: Person
) -> Launched:
    """Start the log's keeper, record it, and only then tell it to start the command.

    The record names the keeper before anything runs, and its slot has one winner: of two
    relaunches at once one is told to go.
    """
    n = _next_number(store, row)
    name = launch_log_name(seq=row.seq, aid=row.id, n=n)
    log_fd = _create_log(store, name)
    try:
        keeper = _spawn(argv, setting, log_fd)
    finally:
        os.close(log_fd)
    assert keeper.stdin is not None
    try:
        launch = Launch(
            v=1,
            nonce=new_nonce(),
            n=n,
            by=by,
            at=read_now().wall,
            argv=tuple(path_text(part) for part in argv),
            cwd=path_text(_folder(setting)),
            log=name,
            owner=owner_of(keeper.pid),
        )
        if store.commit("launch", row.seq, row.id, launch.encode(), n) is Commit.LOST:
            raise _came_second()
        keeper.stdin.write(outputlog.GO)
    finally:
        with suppress(BrokenPipeError):
            keeper.stdin.close()
        # Waited for by a thread of its own, so that it never stays behind as a zombie.
        threading.Thread(target=keeper.wait, name="launch-reaper", daemon=True).start()
    return Launched(keeper.pid, n, store.path / ".approvals" / name, argv)


def _next_number(store: Store, row: Row) -> int:
    """Give the number after the highest that a record or a log bears."""
    assert store.ledger_fd is not None
    taken = re.compile(r".*\.launch-([0-9]+)\.(?:json|log)")
    found = [
        int(match[1])
        for match in map(taken.fullmatch, os.listdir(store.ledger_fd))
        if match is not None and row.id in match[0]
    ]
    return max(found, default=0) + 1


def _came_second() -> Refusal:
    return Refusal("Another relaunch of this call came first.", code="alive")


def _create_log(store: Store, name: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(name, flags, 0o600, dir_fd=store.ledger_fd)
    except FileExistsError as why:
        raise _came_second() from why
    except OSError as why:
        raise NotConfirmed(
            f"Not started: {oserrors.reason(why)}, making {name} in {path_text(store.path)};"
            f" {oserrors.cure(why)} and try again."
        ) from why


def _spawn(argv: tuple[str, ...], setting: LaunchSetting, log_fd: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [*_log_keeper(), *argv],
            stdin=subprocess.PIPE,
            stdout=log_fd,
            stderr=subprocess.STDOUT,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
            cwd=_folder(setting),
            env=environment(setting, os.environ),
        )
    except OSError as why:
        raise Refusal(
            f"The resume command could not be started in {path_text(_folder(setting))}:"
            f" {why.strerror}.",
            code="no_program",
        ) from why


# --- The detached worker of a foreign store ----------------------------------------------------


def _find(store: Store, aid: str) -> Shown:
    """Find the checkpoint of a call where it was left, or where it was claimed before."""
    paths = [store.path / name for name in own_names(os.fspath(store.path))]
    for path in (*foreign.claimed_checkpoints(store), *paths):
        try:
            every = foreign.show_foreign(path, store=store)
        except LineclearError:
            # Another file of the store; the one that is looked for says its own trouble below.
            continue
        for shown in every:
            if shown.aid == aid:
                return shown
    raise NothingPending(f"{path_text(store.path)} holds no checkpoint of call {aid[:8]} any more.")


def _verified(store: Store, shown: Shown) -> Verified:
    match read_decision(store, shown):
        case Verified() as verified:
            if verified.decision.verdict in ("expired", "withdrawn"):
                raise Refusal(f"The call is {verified.decision.verdict}.", code="closed")
            return verified
        case Waiting():
            raise Refusal("This call is not decided yet.", code="not_decided")
        case Unfit(code=code, sentence=sentence):
            raise Refusal(sentence, code=code)
        case Observed():
            raise Refusal("This call was started or ended already.", code="started")


def _run(
    store: Store,
    shown: Shown,
    argv: tuple[str, ...],
    setting: LaunchSetting,
    told: dict[str, str],
) -> int:
    began = time.monotonic()
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            close_fds=True,
            cwd=_folder(setting),
            env={**environment(setting, os.environ), **told},
        )
    except OSError as why:
        sentence = f"{path_text(argv[0])} could not be started: {why.strerror}."
        finish(store, shown, "error", result=sentence, exit_code=outputlog.NOT_STARTED)
        raise Refusal(sentence, code="no_program") from why
    tail = _Tail()
    assert child.stdout is not None
    reader = threading.Thread(target=tail.follow, args=(child.stdout.fileno(),), daemon=True)
    reader.start()
    code = child.wait()
    # Children of the command may hold its output open for ever; its own words are in by now.
    reader.join(_DRAIN_S)
    finish(
        store,
        shown,
        "ok" if code == 0 else "error",
        result=tail.text(),
        exit_code=code,
        duration_ms=round((time.monotonic() - began) * 1000),
    )
    return code if code >= 0 else _SIGNALLED - code


class _Tail:
    """Passes output on and remembers its end."""

    def __init__(self) -> None:
        self._held = b""

    def follow(self, source: int) -> None:
        """Read until all writers have closed their end."""
        while True:
            try:
                chunk = os.read(source, 1 << 16)
            except OSError:
                return
            if not chunk:
                return
            self._held = (self._held + chunk)[-outputlog.TAIL :]
            # Nobody may be left who reads it; the outcome still says how it ended.
            with suppress(OSError):
                os.write(1, chunk)

    def text(self) -> str:
        """Give the end as text; bytes that are no UTF-8 become U+FFFD."""
        return self._held.decode("utf-8", "replace")
