"""Who the program is: every package takes its name, version and words from here.

The version itself stands in `pyproject.toml` alone.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "lineclear"
TITLE = "Lineclear"
WINDOW = "lineclear-inbox"
COMMAND = "lineclear"
PUBLISHER = "The Lineclear developers"
"""Who stands in the packages as the one who made the program."""

# The publisher sets these two, here, before the first release; RELEASING.md says why.
APP_ID = "io.github.lineclear.Lineclear"
"""The name of the program among all programs: AppStream's component, macOS' bundle, and what
Windows groups windows by. A later change makes another program of it."""
MAINTAINER = f"{PUBLISHER} <packages@lineclear.invalid>"
"""What Debian's packages must name; a distributor sets $DEBFULLNAME and $DEBEMAIL."""

_PLACEHOLDER_ID = "io.github.lineclear.Lineclear"
_NOBODYS = ".invalid>"
"""How an address ends that nobody can have (RFC 2606)."""


def project() -> dict[str, object]:
    """The table `[project]` of `pyproject.toml`."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, object] = tomllib.loads(text)["project"]
    return found


def version() -> str:
    """The version of the program, for example `0.1.0`."""
    return str(project()["version"])


def summary() -> str:
    """What the program is, in one line without a full stop."""
    return str(project()["description"])


def maintainer() -> str:
    """Who answers for the package, as `Name <address>`."""
    name, address = os.environ.get("DEBFULLNAME"), os.environ.get("DEBEMAIL")
    return f"{name} <{address}>" if name and address else MAINTAINER


def unsettled() -> list[str]:
    """What the publisher has not set yet and a public release needs, as sentences."""
    found = []
    if APP_ID == _PLACEHOLDER_ID:
        found.append(
            f"{APP_ID} stands for the program's own identifier (APP_ID in building/identity.py)."
        )
    if maintainer().endswith(_NOBODYS):
        found.append(
            f"{maintainer()} stands for the maintainer's own address (MAINTAINER in"
            " building/identity.py, or $DEBFULLNAME and $DEBEMAIL)."
        )
    return found


def changed_at() -> int:
    """When the source was last changed, in seconds since 1970, so that two builds are equal.

    $SOURCE_DATE_EPOCH, else the time of the last commit, else now.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isdigit():
        return int(given)
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        told = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        told = ""
    return int(told) if told.isdigit() else int(datetime.now(UTC).timestamp())


def changed_on() -> str:
    """The day of `changed_at`, as 2026-03-04."""
    return datetime.fromtimestamp(changed_at(), UTC).date().isoformat()
