"""Where Lineclear's own folders are: moved together by $LINECLEAR_HOME."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def absolute(path: str | os.PathLike[str]) -> Path:
    """Make a path absolute, `~` expanded; a symlink keeps the name that a person gave it."""
    return Path(os.path.abspath(os.path.expanduser(path)))


def home() -> Path:
    """The folder of settings and history: $LINECLEAR_HOME, else the platform's config folder."""
    own = os.environ.get("LINECLEAR_HOME")
    if own:
        return absolute(own)
    return platformdirs.user_config_path("lineclear", appauthor=False)


def default_source() -> Path:
    """$LINECLEAR_HOME/agents, else <user data>/lineclear/agents."""
    own = os.environ.get("LINECLEAR_HOME")
    if own:
        return absolute(own) / "agents"
    return platformdirs.user_data_path("lineclear", appauthor=False) / "agents"
