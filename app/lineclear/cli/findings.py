"""What can be wrong on this machine: each look gives findings, one sentence each."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from lineclear import gui_extra
from lineclear.cli import wording
from lineclear.cli.display import has_display
from lineclear.core import frozen
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.ledger import layout, presence
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import look
from lineclear.core.places import default_source, path_text
from lineclear.core.private_groups import others_may_write

_NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "fuse.sshfs", "vboxsf", "drvfs"}
)
"""File systems that report no changes made by other machines."""
_FOREIGN_TEMPORARY: Final = "pending.json.tmp"
_MOST_FOLDERS: Final = 100_000
_DECISION_BYTES: Final = 16_384
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
)
"""What linking a file says where there are no hard links."""


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact about this machine."""

    check: str
    level: Level
    sentence: str
    path: str | None = None


def look_at_agents_side(settings: Settings) -> Iterator[Finding]:
    """Where agents leave their calls by default, and whether the settings have them seen there."""
    folder = default_source()
    name = path_text(folder)
    told = f"Agents on this machine write to {name}"
    if os.environ.get("LINECLEAR_HOME"):
        told += " (from LINECLEAR_HOME)"
    watched = any(_holds(source.path, folder) for source in settings.sources)
    if not folder.exists():
        yield Finding("agents", Level.NOTE, f"{told}; the first one makes it.", name)
    elif not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        yield Finding("agents", Level.FAIL, f"{told}, but it cannot be written to.", name)
    else:
        yield Finding("agents", Level.OK, f"{told}.", name)
    if not watched:
        yield Finding(
            "agents",
            Level.WARN,
            f"Nobody watches {name}: calls of agents without a source of their own are not seen. "
            f"Add it: lineclear config add-source {shlex.quote(name)}",
            name,
        )


def _holds(source: Path, folder: Path) -> bool:
    return source == folder or source in folder.parents


def look_at_source(source: SourceSetting) -> Iterator[Finding]:
    """Whether a watched folder is there, safe, able to hold a ledger and to report changes."""
    name = path_text(source.path)
    try:
        status = source.path.stat()
    except OSError as why:
        # The default folder comes with the first agent.
        if source.path != default_source():
            yield Finding("source", Level.FAIL, f"{name} is not there: {why.strerror}.", name)
        return
    if not stat.S_ISDIR(status.st_mode):
        yield Finding("source", Level.FAIL, f"{name} is no folder.", name)
        return
    if not os.access(source.path, os.R_OK | os.X_OK):
        yield Finding("source", Level.FAIL, f"{name} cannot be read by this user.", name)
        return
    if not status.st_mode & stat.S_ISVTX and others_may_write(status):
        yield Finding(
            "source",
            Level.FAIL,
            f"Other users can replace what is in {name}: chmod go-w, or set the sticky bit.",
            name,
        )
    if source.path.is_symlink():
        leads = path_text(Path(os.path.realpath(source.path)))
        yield Finding("source", Level.NOTE, f"{name} is a link, now to {leads}.", name)
    yield from _look_at_file_system(source)
    yield _look_at_links(source.path)
    if not presence.watched(source.path, ours=True):
        yield Finding("source", Level.NOTE, f"No window watches {name} now.", name)


def _look_at_file_system(source: SourceSetting) -> Iterator[Finding]:
    kind = file_system(source.path)
    name = path_text(source.path)
    if kind in _NETWORK and not source.polling:
        yield Finding(
            "events",
            Level.WARN,
            f"{name} is on {kind}, which reports no changes of other machines: calls appear within "
            "2 s by the timer. This saves the attempt: lineclear config add-source"
            f" {shlex.quote(name)} --polling",
            name,
        )


def file_system(path: Path) -> str | None:
    """Give the type of the file system that PATH leads to; None where it cannot be told."""
    path = Path(os.path.realpath(path))
    try:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    best, found = "", None
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        point = _unescaped(before.split(" ")[4])
        inside = point == "/" or str(path) == point or str(path).startswith(point + "/")
        if inside and len(point) >= len(best):
            best, found = point, after.split(" ")[0]
    return found


def _unescaped(point: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, char)
    return point


def _look_at_links(folder: Path) -> Finding:
    """Try what publishing needs, on two private files that are removed at once."""
    name = path_text(folder)
    if _is_read_only(folder):
        told = f"{name} is on a disk that is mounted read-only: no decision can be recorded there."
        return Finding("publish", Level.FAIL, told, name)
    if not os.access(folder, os.W_OK | os.X_OK):
        told = f"This user cannot write to {name}: agents of others leave calls there."
        return Finding("publish", Level.NOTE, told, name)
    one, other = (folder / layout.temporary_name() for _ in range(2))
    try:
        try:
            _write(one)
            os.link(one, other)
        finally:
            with contextlib.suppress(OSError):
                one.unlink(missing_ok=True)
                other.unlink(missing_ok=True)
    except OSError as why:
        if why.errno not in _NO_LINKS:
            told = f"Nothing can be recorded in {name}: {why.strerror}."
            return Finding("publish", Level.FAIL, told, name)
        told = f"{name} has no hard links ({why.strerror}): an exclusive rename is needed there."
        return Finding("publish", Level.WARN, told, name)
    return Finding(
        "publish", Level.OK, f"{name} takes decisions: a file can be published once.", name
    )


def _write(path: Path) -> None:
    """Write as much as a decision takes: a full disk still makes empty files."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        rest = memoryview(bytes(_DECISION_BYTES))
        while rest:
            rest = rest[os.write(fd, rest) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _is_read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except (OSError, AttributeError):
        return False


def look_at_events(folders: int) -> Iterator[Finding]:
    """Whether the system has room for the watches that this many folders need."""
    if sys.platform != "linux":
        return
    limits = {
        limit: _number(Path("/proc/sys/fs/inotify") / limit)
        for limit in ("max_user_watches", "max_user_instances", "max_queued_events")
    }
    if any(value is None for value in limits.values()):
        yield Finding("events", Level.NOTE, "The limits of inotify cannot be read here.")
        return
    watches = limits["max_user_watches"] or 0
    told = ", ".join(f"{name} {value}" for name, value in limits.items())
    if folders * 2 > watches:
        yield Finding(
            "events",
            Level.WARN,
            f"{folders} folders are watched and inotify allows {watches}: above that, calls appear "
            "within 2 s by the timer. Raise fs.inotify.max_user_watches.",
        )
    else:
        yield Finding("events", Level.OK, f"inotify: {told}; {folders} folders to watch.")


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def look_at_window() -> Iterator[Finding]:
    """Whether the window can be opened here."""
    missing = [] if frozen.is_frozen() else gui_extra.missing()
    if missing:
        yield Finding("window", Level.NOTE, gui_extra.needed(missing))
    elif not has_display():
        yield Finding("window", Level.NOTE, "Qt is installed, but there is no display here.")
    else:
        yield Finding("window", Level.OK, "Qt is installed and a display answers.")


def look_at_launches(settings: Settings) -> Iterator[Finding]:
    """Whether the configured resume commands can be started."""
    for launch in settings.launch:
        whose = launch.agent or path_text(launch.source or "every agent")
        program = launch.argv[0]
        if shutil.which(program) is None:
            told = f"The resume command of {whose} cannot be started: {program} is no program."
            yield Finding("launch", Level.FAIL, told, program)
        elif launch.cwd is not None and not launch.cwd.is_dir():
            cwd = path_text(launch.cwd)
            told = f"The resume command of {whose} starts in {cwd}, which is no folder."
            yield Finding("launch", Level.FAIL, told, cwd)
        else:
            yield Finding("launch", Level.OK, f"{whose} is resumed by {program}.", program)


@dataclass(slots=True)
class Inventory:
    """What lies in one source, by one walk."""

    folders: int = 0
    alive: int = 0
    ended: int = 0
    odd_locks: tuple[tuple[str, str], ...] = ()
    """(folder, what is odd about its lock)."""
    temporaries: int = 0
    oldest_s: float = 0.0


def take_inventory(source: SourceSetting) -> Inventory:
    """Count locks and leftovers of temporary files below a source."""
    found = Inventory()
    base = len(source.path.parts)
    now = time.time()
    for folder, names, files in os.walk(source.path):
        found.folders += 1
        if len(Path(folder).parts) - base > source.depth + 3 or found.folders > _MOST_FOLDERS:
            names.clear()
        if presence.FOLDER in names:
            names.remove(presence.FOLDER)
        if layout.LOCK in files:
            _take_lock(found, Path(folder))
        for name in files:
            if layout.TEMPORARY_NAME.fullmatch(name) or name == _FOREIGN_TEMPORARY:
                found.temporaries += 1
                found.oldest_s = max(found.oldest_s, _age(os.path.join(folder, name), now))  # noqa: PTH118
    return found


def _age(path: str, now: float) -> float:
    try:
        return now - os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _take_lock(found: Inventory, folder: Path) -> None:
    state = look(folder)
    if state.held:
        found.alive += 1
        if state.process is Process.DEAD or state.note:
            told = state.note or "it is held, but the process that it names is dead"
            found.odd_locks += ((path_text(folder), told),)
    elif state.held is None:
        found.odd_locks += ((path_text(folder), state.note or "it cannot be looked at"),)
    else:
        found.ended += 1


def look_at_inventory(source: SourceSetting, found: Inventory) -> Iterator[Finding]:
    """Tell locks and leftovers of one source."""
    name = path_text(source.path)
    told = f"{name}: {found.alive} agents run, {found.ended} have ended."
    yield Finding("locks", Level.OK, told, name)
    for folder, odd in found.odd_locks:
        yield Finding("locks", Level.WARN, f"The agent.lock in {folder} is odd: {odd}.", folder)
    if found.temporaries:
        yield Finding(
            "temporaries",
            Level.NOTE,
            f"{found.temporaries} temporary files are left in {name}, the oldest "
            f"{wording.span(found.oldest_s)} old: crashes leave them, they are never read, and "
            "only their owner removes them.",
            name,
        )
