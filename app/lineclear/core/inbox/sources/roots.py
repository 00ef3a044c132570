"""Where the watched folders lead now: a link is followed, and may lead elsewhere at any time."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from lineclear.core.inbox.operator.settings import Settings, SourceSetting


@dataclass(frozen=True, slots=True)
class Roots:
    """What is looked at for each source; two that are equal ask for nothing to be done."""

    places: dict[Path, str] = field(default_factory=dict)
    """The folder to walk for each source, the paused ones among them."""
    watched: dict[Path, SourceSetting] = field(default_factory=dict)
    """Those that are watched: not paused, and each folder once."""
    same: dict[Path, Path] = field(default_factory=dict)
    """Sources that lead to a folder which another one, the value, watches already."""


def root_of(path: Path) -> str:
    """Give the folder to walk for a source: where it leads, if it is itself a symbolic link."""
    text = os.path.abspath(path)
    return os.path.realpath(text) if os.path.islink(text) else text


def identity_of(root: str) -> tuple[int, int] | None:
    """Name the folder that stands at a path now, None where there is none."""
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def look_where(settings: Settings) -> Roots:
    """Look where each source leads now."""
    roots = Roots()
    first: dict[Path | tuple[int, int], Path] = {}
    for source in settings.sources:
        root = roots.places[source.path] = root_of(source.path)
        if source.paused:
            continue
        # Folders are told apart by what they are: a path may lead through a link further up.
        # Of each that leads to nothing it is told that it does.
        before = first.setdefault(identity_of(root) or source.path, source.path)
        if before == source.path:
            roots.watched[source.path] = source
        else:
            roots.same[source.path] = before
    return roots
