"""How a watched folder fares, in sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from lineclear.core.places import path_text
from lineclear.core.sentences import worded, worded_count


def nothing_left_yet(path: Path) -> str:
    """Say that a folder is not there since no agent made it."""
    return worded("No agent has left anything in {path} yet.", path=path_text(path))


def missing(path: Path, missing_since: datetime, calls: int) -> str:
    """Say since when a folder is gone, and what became of its CALLS."""
    since = missing_since.astimezone().strftime("%H:%M")
    if not calls:
        return worded("{path} is missing since {since}.", path=path_text(path), since=since)
    return worded_count(
        "{path} is missing since {since}; its call is shown as last seen and cannot be decided.",
        "{path} is missing since {since}; its {n:,} calls are shown as last seen and cannot be"
        " decided.",
        calls,
        path=path_text(path),
        since=since,
    )


def not_looked_into(path: Path, why: str, others: int = 0) -> str:
    """Say why a folder, or one below it, cannot be looked into, and how many OTHERS cannot."""
    if not others:
        return worded("{path} cannot be looked into: {why}.", path=path_text(path), why=why)
    return worded(
        "{path} (and {others} more) cannot be looked into: {why}.",
        path=path_text(path),
        others=others,
        why=why,
    )


def hidden_behind(path: Path, links: Sequence[str]) -> str:
    """Say that calls below a folder wait behind LINKS, at least one, which are not followed."""
    return worded_count(
        "In {path} {link} is a link to where an agent keeps its calls: no link is followed, so they"
        " are not shown. Watch {target} itself.",
        "In {path} {n} links lead to where agents keep their calls, {link} among them: no link is"
        " followed, so they are not shown. Watch {target} itself, and the others.",
        len(links),
        path=path_text(path),
        link=path_text(os.path.basename(links[0])),
        target=path_text(os.path.realpath(links[0])),
    )


def overfull(path: Path, most: int) -> str:
    """Say that only the first MOST folders below one are looked at."""
    return worded(
        "{path} has more than {most:,} folders; only those are looked at. Watch a folder of agents,"
        " not a whole disk.",
        path=path_text(path),
        most=most,
    )


def leads(path: Path, root: Path) -> str:
    """Say where a link leads that was given as a folder; "" for a folder itself."""
    if root == path:
        return ""
    return worded("{path} leads to {root}.", path=path_text(path), root=path_text(root))


def same_as_another(path: Path, other: Path, *, watched: bool) -> str:
    """Say that a folder is that of another source, which is wholly WATCHED or not."""
    if watched:
        return worded(
            "{path} leads to the same folder as {other}, which shows its calls.",
            path=path_text(path),
            other=path_text(other),
        )
    return worded(
        "{path} leads to the same folder as {other}, which is not wholly watched.",
        path=path_text(path),
        other=path_text(other),
    )
