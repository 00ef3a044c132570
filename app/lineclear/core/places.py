"""Where Lineclear's own folders are: moved together by $LINECLEAR_HOME."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from lineclear.core.errors import LineclearError


def path_text(path: str | os.PathLike[str]) -> str:
    r"""Give a path as text that any UTF-8 output takes: bytes that are no UTF-8 become `\xNN`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def absolute(path: str | os.PathLike[str]) -> Path:
    """Make a path absolute, `~` expanded; a symlink keeps the name that a person gave it."""
    return Path(os.path.abspath(os.path.expanduser(path)))


def home() -> Path:
    """The folder of the settings: $LINECLEAR_HOME, else the platform's config folder.

    Raises LineclearError (`home_relative`).
    """
    own = _own_home()
    if own is not None:
        return own
    return platformdirs.user_config_path("lineclear", appauthor=False)


def state() -> Path:
    """The folder of the history: $LINECLEAR_HOME, else the platform's folder for lasting state.

    Raises LineclearError (`home_relative`).
    """
    own = _own_home()
    if own is not None:
        return own
    return platformdirs.user_state_path("lineclear", appauthor=False)


def default_source() -> Path:
    """$LINECLEAR_HOME/agents, else <user data>/lineclear/agents.

    Raises LineclearError (`home_relative`).
    """
    own = _own_home()
    if own is not None:
        return own / "agents"
    return platformdirs.user_data_path("lineclear", appauthor=False) / "agents"


def _own_home() -> Path | None:
    own = os.environ.get("LINECLEAR_HOME")
    if not own:
        return None
    # An agent and the inbox seldom start in the same folder, and would never meet.
    if not os.path.isabs(os.path.expanduser(own)):
        raise LineclearError(
            f"LINECLEAR_HOME is {own!a}, which means another folder for each program: set it to an"
            f" absolute path, for example {os.path.abspath(own)!a}.",
            code="home_relative",
        )
    return absolute(own)
