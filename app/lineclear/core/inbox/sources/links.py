"""Links below a source: none is followed, so it is told what each of them hides."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from lineclear.core.ledger.layout import LOCK, RUN_INFO

Hides = Literal["", "shown", "store", "agents", "unknown"]
"""Nothing, a store that is watched where it is, a store, a folder of agents, nobody can tell."""

MOST_FOLDERS = 400
"""Folders behind one link that are looked into; above that nobody can tell."""
_MARKS = frozenset({RUN_INFO, LOCK})
_REST = 200.0
"""Looking behind a link takes at most the 200th part of the time."""
_REST_LEAST_S = 1.0


@dataclass(frozen=True, slots=True)
class Rules:
    """What a source takes for a store, and what of others is shown anyhow."""

    is_store: Callable[[str, set[str]], bool]
    """Whether a folder with these names in it is a store."""
    is_watched: Callable[[str], bool]
    """Whether what stands in a folder is shown where it is."""
    skipped: frozenset[str]
    """Names of folders that no source looks into."""


def behind(target: str, deep: int, rules: Rules) -> Hides:
    """Look for stores at TARGET, by its real path, and DEEP levels below; through links, too."""
    if rules.is_watched(target):
        names = {one.name for one in _entries(target) or ()}
        return "shown" if rules.is_store(target, names) else ""
    looked: set[str] = set()
    waiting = [(target, 0)]
    while waiting:
        path, level = waiting.pop()
        if path in looked or rules.is_watched(path):
            continue
        entries = _entries(path) if len(looked) < MOST_FOLDERS else None
        if entries is None:
            return "unknown"
        looked.add(path)
        names = {one.name for one in entries}
        if rules.is_store(path, names) or names & _MARKS:
            return "agents" if level else "store"
        if level < deep:
            waiting += ((below, level + 1) for below in _folders(entries, rules.skipped))
    return ""


def _entries(path: str) -> list[os.DirEntry[str]] | None:
    """Give what is in a folder, nothing of what is none; None: that cannot be told."""
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return None


def _folders(entries: list[os.DirEntry[str]], skipped: frozenset[str]) -> Iterator[str]:
    for one in entries:
        if one.name not in skipped:
            if one.is_symlink():
                yield os.path.realpath(one.path)
            elif one.is_dir():
                yield one.path


@dataclass(slots=True)
class _Known:
    target: str
    stamp: tuple[int, ...]
    hides: Hides
    again_at: float


@dataclass(slots=True)
class Links:
    """The links of one source, and what they hid at the last look."""

    _known: dict[str, _Known] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def hiding(self) -> list[str]:
        """Give the links that surely hide what no source shows."""
        return sorted(path for path, one in self._known.items() if one.hides in ("store", "agents"))

    def begin(self) -> None:
        """Begin a walk."""
        self._seen.clear()

    def end(self) -> None:
        """End it: links that it has not seen are gone."""
        for path in self._known.keys() - self._seen:
            del self._known[path]

    def look(self, path: str, look: Callable[[str], Hides]) -> Hides:
        """Tell what a link hides; LOOK looks behind it, which is not done each time."""
        self._seen.add(path)
        began = time.monotonic()
        target = os.path.realpath(path)
        stamp = _stamp(target)
        known = self._known.get(path)
        same = known is not None and (known.target, known.stamp) == (target, stamp)
        if known is not None and same and began < known.again_at:
            return known.hides
        hides = look(target)
        now = time.monotonic()
        rest = max(_REST_LEAST_S, (now - began) * _REST)
        self._known[path] = _Known(target, stamp, hides, now + rest)
        return hides


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns
