"""Whether a build may come out otherwise than the last one, by the history of this clone.

Standard library only, and the syntax of Python 3.8, as `dev.py`, which asks.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SINCE = "LINECLEAR_SINCE"
"""The variable by which a CI names the commit that it tested last."""

FILES = (
    "packaging",
    "pyproject.toml",
    "resources/icons",
    "tests/packaging",
    "LICENSE",
    # What a frozen program does otherwise than an unfrozen one, and its self-check.
    "app/lineclear/core/frozen.py",
    "app/lineclear/cli/agents_python.py",
    "app/lineclear/cli/programs.py",
    "app/lineclear/ui/app.py",
    "app/lineclear/ui/assets.py",
    "app/lineclear/ui/self_check.py",
)
"""What the bundle and the packages are made by, and what of the program they depend on."""
NOT = ("packaging/RELEASING.md", "packaging/pictures", "packaging/screenshots.py")


def git(root: Path, *arguments: str) -> str | None:
    """What git says in a clone; None where it fails, or is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],  # noqa: S607
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def base(root: Path, since: str | None) -> str | None:
    """The commit to compare with; None where it is not known.

    The one that is named, by SINCE or the variable; else, on a branch, where it left the main one;
    else the one before.
    """
    named = since or os.environ.get(SINCE)
    if named:
        return git(root, "rev-parse", "--verify", "--quiet", named + "^{commit}")
    head = git(root, "rev-parse", "HEAD")
    left = git(root, "merge-base", "HEAD", "origin/HEAD")
    if left is not None and left != head:
        return left
    return git(root, "rev-parse", "--verify", "--quiet", "HEAD^")


def verdict(root: Path, since: str | None = None) -> tuple[bool, str]:
    """Whether to build, and why, in a sentence; where nothing can be told, it is built."""
    found = base(root, since)
    if found is None:
        return True, "building: this clone does not tell what was tested last."
    paths = [*FILES, *(f":(exclude){path}" for path in NOT)]
    differing = git(root, "diff", "--name-only", "--no-renames", found, "--", *paths)
    new = git(root, "ls-files", "--others", "--exclude-standard", "--", *paths)
    if differing is None or new is None:
        return True, f"building: git cannot compare with {found[:12]}."
    changed = sorted({*differing.splitlines(), *new.splitlines()})
    if not changed:
        return False, (
            f"packaging files are as they were at {found[:12]}, so nothing is built, and the tests"
            " of what is built are left out; --bundle builds and runs them."
        )
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return True, f"building: {changed[0]}{more} changed since {found[:12]}."
