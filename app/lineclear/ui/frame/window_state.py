"""How the window was left: its size, its panes, its columns; a small file beside the settings."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.operator.settings import home

NAME = "window.json"


class WindowState(BaseModel):
    """What is restored at the next start; all of it may be absent."""

    model_config = ConfigDict(extra="ignore")
    geometry: str = ""
    """Qt's own bytes, as hexadecimal digits."""
    panes: tuple[int, ...] = ()
    columns: str = ""
    told_tray: bool = False
    """The operator has been told that closing leaves Lineclear in the tray."""
    told_end: bool = False
    """The operator has been told that without a tray closing ends the program."""


def read_state(folder: Path | None = None) -> WindowState:
    """Read how the window was left; anything wrong with the file means a fresh window."""
    path = (folder or home()) / NAME
    try:
        return WindowState.model_validate_json(read_file(str(path), max_bytes=1 << 20).raw)
    except (Unreadable, ValidationError):
        return WindowState()


def write_state(state: WindowState, folder: Path | None = None) -> None:
    """Keep how the window was left; a folder that cannot be written is no reason to stay open."""
    path = (folder or home()) / NAME
    draft = path.with_name(f".{NAME}.tmp")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(state.model_dump()), encoding="utf-8")
        draft.replace(path)
