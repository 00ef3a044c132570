"""The command that starts an agent again: the operator's, with the operator's environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from lineclear.core import frozen
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import LaunchSetting
from lineclear.core.places import path_text
from lineclear.core.sentences import worded
from lineclear.core.typed_commands import set_launch

_PLACEHOLDER = re.compile(r"\{(store|aid|checkpoint)\}")
PLACEHOLDERS = ("{store}", "{aid}", "{checkpoint}")
"""What is replaced in a resume command's arguments; any other braces stay as they are."""
_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP"
    r"|XDG_[A-Z_]+_(HOME|DIR|DIRS)|XDG_RUNTIME_DIR|LINECLEAR_HOME|SSL_CERT_(FILE|DIR)"
    r"|SYSTEMROOT|SYSTEMDRIVE|COMSPEC|PATHEXT|WINDIR|USERPROFILE|APPDATA|LOCALAPPDATA"
    r"|PROGRAMDATA|USERNAME"
)
"""Environment variables that a relaunched agent gets; all others are in the settings or absent."""


def filled(setting: LaunchSetting, store: Path, aid: str, checkpoint: Path) -> tuple[str, ...]:
    """Fill placeholders in; one pass, so that a folder called `{aid}` stays what it is."""
    values = {"store": os.fspath(store), "aid": aid, "checkpoint": os.fspath(checkpoint)}
    program, *arguments = setting.argv
    filled = (_PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in arguments)
    return (program, *filled)


def own_program() -> tuple[str, ...]:
    """Give the command that starts this program's command line."""
    if frozen.is_frozen():
        return (os.fspath(frozen.beside("lineclear")),)
    # -P: no module is ever taken from the folder that happens to be the current one.
    return (sys.executable, "-P", "-m", "lineclear")


def environment(setting: LaunchSetting, inherited: Mapping[str, str]) -> dict[str, str]:
    """Give a relaunched agent's environment: few variables of ours, those of the settings."""
    return {**own_environment(inherited), **setting.env}


def own_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Give the environment of a worker of ours: what the settings give an agent is not for it.

    With another home it would neither find the settings nor the lock that keeps a run from being
    started twice.
    """
    original = frozen.original_environment(inherited)
    return {name: value for name, value in original.items() if _passes(name)}


def _passes(name: str) -> bool:
    return name in frozen.LIBRARY_PATHS or _PASSED_ON.fullmatch(name) is not None


def start_folder(setting: LaunchSetting) -> Path:
    """Give the folder to start in: never one that an agent writes, where Python would import."""
    return Path.home() if setting.cwd is None else setting.cwd


def no_command(agent: str, store: Path) -> Refusal:
    """Say that nothing is configured for an agent and its store, and how to set it."""
    return Refusal(
        worded(
            "No resume command is set for {agent} in {store}. Set one under Settings,"
            " Resume commands in the window, or with `{command}`.",
            agent=visible_line(agent, 80),
            store=path_text(store),
            command=set_launch(agent, store),
        ),
        code="no_command",
    )
