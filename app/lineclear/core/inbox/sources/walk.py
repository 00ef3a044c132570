"""Finds the stores below a source; a folder that has not changed is not listed again."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lineclear.core.checkpoints.model import FileRule
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.inbox.sources.links import Hides, Links, Rules, behind
from lineclear.core.ledger import lock
from lineclear.core.ledger.layout import APPROVALS, LOCK, OWN_CLAIMED, RUN_INFO
from lineclear.core.private_groups import others_may_write
from lineclear.core.sentences import worded

Stamp = tuple[int, ...]
"""(dev, ino, mode, size, mtime_ns, ctime_ns) of a file or folder; () where there is none."""

MAX_FOLDERS = 100_000
"""Folders of one source that are looked at: a source is a folder of agents, not a disk."""

_RECORDS = frozenset({APPROVALS, OWN_CLAIMED})
_SKIPPED = _RECORDS | {".watched", ".git", ".hg", ".svn", "node_modules", "__pycache__"}
_DEEPEST_RULE = 3
"""Folders between a store and a checkpoint of its system, at most."""
_COARSE_NS = 2_200_000_000
"""FAT counts in 2 s, some network file systems in 1 s."""
_FINE_NS = 60_000_000
"""Local file systems stamp with the kernel's tick, at most 10 ms; slow machines need room."""


def stamp(path: str) -> Stamp:
    """Give what tells one version of a file or folder from another, () where it is not there."""
    try:
        status = os.lstat(path)
    except OSError:
        return ()
    return stamp_of(status)


def stamp_of(status: os.stat_result) -> Stamp:
    """Give the stamp of an lstat result."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def settled(of: Stamp, read_at_ns: int | None = None) -> bool:
    """Tell whether a change after READ_AT_NS (wall clock, default now) gives another stamp.

    A change within the same tick of the file system's clock as the last one leaves no trace in
    the time stamps, so what was read that shortly after a change is read once more.
    """
    if not of:
        return True
    read_at = time.time_ns() if read_at_ns is None else read_at_ns
    # ctime, not mtime, which anybody may set to any time. ctime is 0 nowhere but in old pasts.
    grain = _COARSE_NS if of[5] % 1_000_000_000 == 0 else _FINE_NS
    # In the future: the clock was set back, or it is another machine's.
    return abs(read_at - of[5]) > grain


@dataclass(frozen=True, slots=True)
class Folder:
    """One listed folder: what in it matters here."""

    path: str
    stamp: Stamp
    settled: bool
    subfolders: tuple[str, ...] = ()
    """Names of subfolders to look into, sorted."""
    links: tuple[str, ...] = ()
    """Names of symbolic links to folders."""
    files: tuple[str, ...] = ()
    """Names that a checkpoint may have here."""
    ledger: bool = False
    """`.approvals` is here."""


@dataclass(frozen=True, slots=True)
class Found:
    """A folder that is, or may be, a store."""

    path: str
    stamp: Stamp
    ledger: bool
    files: tuple[str, ...]
    """Paths of checkpoint files by the systems' own rules, relative to `path`, sorted."""
    linked: Hides = ""
    """The folder is a symbolic link, which is never followed: what it hides."""
    unsafe: str | None = None
    """A folder above it, inside the source, that other users can change."""


def own_rules() -> tuple[FileRule, ...]:
    """Give the file rules of all registered systems."""
    return tuple(rule for system in FORMATS.values() for rule in system.files)


def own_names(store: str) -> list[str]:
    """Give the checkpoint files of a store by the systems' own rules, relative to it, sorted."""
    names: list[str] = []
    for rule in own_rules():
        place = os.path.join(store, *rule.folder)
        try:
            present = os.listdir(place)
        except OSError:
            # Whatever is wrong with the folder shows when the store is opened.
            continue
        pattern = re.compile(rule.pattern)
        names += (os.path.join(*rule.folder, name) for name in present if pattern.fullmatch(name))
    return sorted(names)


def writable_by_others(path: str, mode: int) -> bool:
    """Tell whether other users can replace what is in a folder of this mode."""
    if os.name == "nt" or not mode & 0o022 or mode & stat.S_ISVTX:
        return False
    try:
        return others_may_write(os.stat(path))
    except OSError:
        return True


def is_lane(path: str) -> bool:
    """Tell from names, siblings and owners whether a folder is a lane of a run folder.

    What another user puts into a run folder is none of its agent's.
    """
    parent = os.path.dirname(path)
    return lock.is_lane_of(Path(path), Path(parent)) and (
        os.path.lexists(os.path.join(parent, RUN_INFO))
        or os.path.lexists(os.path.join(parent, LOCK))
    )


@dataclass(slots=True)
class Walker:
    """Walks one source again and again; owned by one worker."""

    root: str
    """Absolute; the last part is no symbolic link."""
    depth: int
    elsewhere: frozenset[str] = frozenset()
    """Roots of other sources: what stands below them is theirs."""
    troubles: dict[str, str] = field(default_factory=dict)
    """Folders that could not be listed in the last walk, with the reason."""
    overfull: bool = False
    """The last walk stopped at `MAX_FOLDERS`."""
    moved: bool = False
    """The root went away, or was swapped, during the last walk: what was not seen may exist."""
    links: Links = field(default_factory=Links)
    """What links below the root lead to."""
    _folders: dict[str, Folder] = field(default_factory=dict)
    _founds: dict[str, tuple[Folder, Found]] = field(default_factory=dict)
    _rules: tuple[tuple[FileRule, re.Pattern[str]], ...] = field(
        default_factory=lambda: tuple((rule, re.compile(rule.pattern)) for rule in own_rules())
    )

    def walk(self) -> Iterator[Found | None]:
        """Give every store folder below the root, and None for each other folder looked at.

        Raises OSError when the root itself cannot be listed, or is no folder of its own.
        """
        root = stamp(self.root)
        began = root[:2]
        os.scandir(self.root).close()
        if not root or not stat.S_ISDIR(root[2]):
            # What is below a link is nowhere looked into, so nothing would be found.
            raise OSError(errno.ESTALE, worded("another folder took its place just now"), self.root)
        self.troubles.clear()
        self.overfull = self.moved = False
        before, self._folders = self._folders, {}
        self.links.begin()
        yield from self._below(self.root, 0, None, before)
        self.links.end()
        # Not to be found is only what was not found in a root that stayed.
        self.moved = stamp(self.root)[:2] != began

    def walk_from(self, path: str) -> Iterator[Found | None]:
        """Walk as `walk` does, but only PATH and what is below it; the root alone by itself."""
        if path == self.root:
            folder = self._list(path, self._folders.get(path))
            yield None if folder is None else self._found(folder, None)
            return
        level = path[len(self.root) :].count(os.sep)
        yield from self._below(path, level, self._unsafe_above(path), self._folders)

    def _below(
        self, start: str, depth: int, unsafe_above: str | None, before: dict[str, Folder]
    ) -> Iterator[Found | None]:
        waiting: list[tuple[str, int, str | None]] = [(start, depth, unsafe_above)]
        while waiting:
            path, level, unsafe = waiting.pop()
            if len(self._folders) >= MAX_FOLDERS:
                self.overfull = True
                return
            folder = self._list(path, before.get(path))
            if folder is None:
                continue
            yield self._found(folder, unsafe)
            for name in folder.links:
                linked = self._linked(os.path.join(path, name), level + 1)
                if linked is not None:
                    yield linked
            if not folder.subfolders or level >= self.depth or self._is_store_of_ours(folder):
                continue
            if unsafe is None and writable_by_others(path, folder.stamp[2]):
                unsafe = path
            for name in reversed(folder.subfolders):
                below = os.path.join(path, name)
                if below not in self.elsewhere:
                    waiting.append((below, level + 1, unsafe))

    def look(self, path: str) -> Found | None:
        """Look at one folder below the root outside a walk."""
        folder = self._list(path, self._folders.get(path))
        if folder is None:
            return None
        return self._found(folder, self._unsafe_above(path))

    def knows(self, path: str) -> bool:
        """Tell whether a folder was looked at, and was there at the last look."""
        return path in self._folders

    def place_of(self, path: str) -> str | None:
        """Give the folder that an event on PATH (absolute) says to look at.

        The deepest folder on the way that is no link and lies outside every ledger; a known folder
        that is gone counts. None for what lies deeper than stores can, or in another source.
        """
        if path == self.root:
            return path
        start = self.root.rstrip(os.sep) + os.sep
        if not path.startswith(start):
            return None
        place = self.root
        for level, part in enumerate(path[len(start) :].split(os.sep)):
            if part in _RECORDS:
                return place
            below = os.path.join(place, part)
            if part in _SKIPPED or below in self.elsewhere or level > self.depth + _DEEPEST_RULE:
                return None
            if below not in self._folders:
                now = stamp(below)
                if not now or not stat.S_ISDIR(now[2]):
                    return place
            place = below
        return place

    def stores_above(self, place: str) -> Iterator[str]:
        """Give the folders that are stores if checkpoints lie in this very folder, or below it."""
        parts = place.split(os.sep)
        for rule, _ in self._rules:
            for deep in range(1, len(rule.folder) + 1):
                above = os.sep.join(parts[:-deep])
                if tuple(parts[-deep:]) == rule.folder[:deep] and len(above) >= len(self.root):
                    yield above

    def _list(self, path: str, known: Folder | None) -> Folder | None:
        now = stamp(path)
        if not now or not stat.S_ISDIR(now[2]):
            self._folders.pop(path, None)
            self._founds.pop(path, None)
            return None
        if known is not None and known.settled and known.stamp == now:
            self._folders[path] = known
            return known
        read_at = time.time_ns()
        try:
            with os.scandir(path) as entries:
                folder = self._sorted_out(path, now, settled(now, read_at), list(entries))
        except OSError as why:
            self.troubles[path] = why.strerror or worded("it cannot be listed")
            return None
        self._folders[path] = folder
        return folder

    def _sorted_out(
        self, path: str, now: Stamp, quiet: bool, entries: list[os.DirEntry[str]]
    ) -> Folder:
        subfolders: list[str] = []
        links: list[str] = []
        files: list[str] = []
        names: set[str] = set()
        for entry in entries:
            name = entry.name
            names.add(name)
            if any(not rule.folder and pattern.fullmatch(name) for rule, pattern in self._rules):
                files.append(name)
            elif name in _SKIPPED:
                continue
            elif entry.is_dir(follow_symlinks=False):
                subfolders.append(name)
            elif entry.is_symlink():
                links.append(name)
        return Folder(
            path,
            now,
            quiet,
            subfolders=tuple(sorted(subfolders)),
            links=tuple(sorted(links)),
            files=tuple(sorted(files)),
            ledger=APPROVALS in names,
        )

    def _found(self, folder: Folder, unsafe: str | None) -> Found | None:
        known = self._founds.get(folder.path)
        if known is not None and known[0] is folder and known[1].unsafe == unsafe:
            return known[1]
        files = [*folder.files, *self._deep_files(folder)]
        if not files and not folder.ledger:
            return None
        found = Found(folder.path, folder.stamp, folder.ledger, tuple(files), unsafe=unsafe)
        if len(files) == len(folder.files):
            # All that it says follows from the folder itself.
            self._founds[folder.path] = (folder, found)
        return found

    def _deep_files(self, folder: Folder) -> Iterator[str]:
        """Give checkpoint files that a system keeps some folders below its store."""
        for rule, pattern in self._rules:
            if not rule.folder or rule.folder[0] not in folder.subfolders:
                continue
            place = os.path.join(folder.path, *rule.folder)
            below = self._list(place, self._folders.get(place))
            if below is None:
                continue
            try:
                names = sorted(os.listdir(place))
            except OSError as why:
                self.troubles[place] = why.strerror or worded("it cannot be listed")
                continue
            for name in names:
                if pattern.fullmatch(name):
                    yield os.path.join(*rule.folder, name)

    def _linked(self, path: str, level: int) -> Found | None:
        """Give a symbolic link that hides a store, or may, at LEVEL below the root."""

        def look(target: str) -> Hides:
            if target in self.elsewhere or target == self.root:
                return ""
            return behind(
                target, self.depth - level, Rules(self._is_store, self._is_watched, _SKIPPED)
            )

        hides = self.links.look(path, look)
        if not hides:
            return None
        return Found(path, stamp(path), ledger=False, files=(), linked=hides)

    def _is_store(self, path: str, names: set[str]) -> bool:
        if APPROVALS in names:
            return True
        for rule, pattern in self._rules:
            if not rule.folder:
                if any(map(pattern.fullmatch, names)):
                    return True
            elif rule.folder[0] in names:
                place = os.path.join(path, *rule.folder)
                with contextlib.suppress(OSError):
                    if any(map(pattern.fullmatch, os.listdir(place))):
                        return True
        return False

    def _is_watched(self, path: str) -> bool:
        """Tell whether this source, or another, shows what stands in a folder."""
        for other in self.elsewhere:
            if path == other or path.startswith(other.rstrip(os.sep) + os.sep):
                return True
        start = self.root.rstrip(os.sep) + os.sep
        if not path.startswith(start):
            return path == self.root
        parts = path[len(start) :].split(os.sep)
        return len(parts) <= self.depth and _SKIPPED.isdisjoint(parts)

    def _is_store_of_ours(self, folder: Folder) -> bool:
        """A native store holds no other stores, so whatever else is in it is not looked at."""
        return folder.ledger and os.path.lexists(os.path.join(folder.path, APPROVALS, "FORMAT"))

    def _unsafe_above(self, path: str) -> str | None:
        above = os.path.dirname(path)
        while len(above) >= len(self.root) and path != self.root:
            now = stamp(above)
            if now and writable_by_others(above, now[2]):
                return above
            if above == self.root:
                break
            above = os.path.dirname(above)
        return None
