"""Commands that a sentence tells a person to type: whole, and taken as they stand."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.places import path_text


def on_call(
    verb: str, aid: str, words: str = "", *, folders: Iterable[str | os.PathLike[str]] = ()
) -> str:
    """Give a command about a call; only in FOLDERS is it looked for, a store itself is one.

    Without any it is looked for where the settings say, which may not be where it stands.
    """
    where = "".join(f" --source {shlex.quote(_as_text(folder))}" for folder in folders)
    return f"lineclear {verb} {aid}{f' {words}' if words else ''}{where}"


def set_launch(agent: str, store: Path) -> str:
    """Give the command that sets how an agent is resumed, by its store if no name can be typed."""
    typed = visible_line(agent, 80)
    whose = f"--agent {shlex.quote(typed)}" if typed == agent else _of_folder(store)
    return f"lineclear config set-launch {whose} -- PROGRAM ARGUMENTS"


def _of_folder(store: Path) -> str:
    return f"--source {shlex.quote(_as_text(store))}"


def _as_text(path: str | os.PathLike[str]) -> str:
    # Nobody can type what is no text; it is shown as what it is.
    return path_text(os.path.abspath(path))
