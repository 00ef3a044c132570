"""The files that a patch itself names, and whether they are the one that its call names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final

_GIT: Final = re.compile(r'diff --git "?a/(.*?)"? "?b/(.*?)"?')
_MOVED: Final = ("rename from ", "rename to ", "copy from ", "copy to ", "Index: ")
_SIDES: Final = frozenset("abciow")
"""The first folder of a name in a git patch: which side it is of."""
_MOST: Final = 20


def patched_names(patch: str) -> tuple[str, ...]:
    """Give the names in the headers of a patch, as they stand there, each once."""
    return tuple(dict.fromkeys(name for name in _names(patch) if name and name != "/dev/null"))


def strangers(patch: str, path: str) -> tuple[str, ...]:
    """Give the names in the headers that cannot be PATH, at most 20 of them."""
    found = (name for name in patched_names(patch) if not _same(name, path))
    return tuple(name for name, _ in zip(found, range(_MOST), strict=False))


def _names(patch: str) -> Iterator[str]:
    lines = patch.split("\n")
    in_hunk = False
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        pair = line.startswith("--- ") and after.startswith("+++ ")
        if line.startswith("@@ "):
            in_hunk = True
        elif line.startswith("diff --git "):
            in_hunk = False
            git = _GIT.fullmatch(line.rstrip())
            yield from git.groups() if git is not None else (line.removeprefix("diff --git "),)
        elif pair:
            # A removed line may look so too: a name too many is only one more to look at.
            yield _name(line)
            yield _name(after)
            in_hunk = False
        elif not in_hunk and line.startswith(("--- ", "+++ ")):
            yield _name(line)
        elif not in_hunk and line.startswith(_MOVED):
            yield line.split(" ", 2 if line[0] != "I" else 1)[-1].strip().strip('"')


def _name(header: str) -> str:
    # A time may follow, after a tab.
    return header[4:].split("\t", 1)[0].strip().strip('"')


def _same(name: str, path: str) -> bool:
    wanted = posixpath.normpath(path.replace("\\", "/"))
    parts = name.replace("\\", "/").split("/")
    forms = [parts, parts[1:]] if parts[0] in _SIDES and len(parts) > 1 else [parts]
    for form in forms:
        found = posixpath.normpath("/".join(form))
        if found == wanted or wanted.endswith(f"/{found}") or found.endswith(f"/{wanted}"):
            return True
    return False
