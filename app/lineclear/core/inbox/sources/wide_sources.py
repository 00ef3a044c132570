"""Folders that hold far more than agents' calls: watched only on the operator's explicit word."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.sentences import worded

if sys.platform != "win32":
    import pwd

_OF_HOMES = ("/home", "/Users", "/export/home", "/var/home")
"""Where systems keep homes, also those of people who are in no list of users here."""
_WATCH_LESS = worded("watch the folder in it that agents write to.")


def too_wide(folder: Path) -> str | None:
    """Say why watching FOLDER would walk through far more than agents' folders; None: it is fit."""
    real = Path(os.path.realpath(folder))
    name = visible_line(str(folder))
    own = Path(os.path.realpath(Path.home()))
    cure = _WATCH_LESS
    if real.parent == real:
        return worded("{name} is a whole machine; {cure}", name=name, cure=cure)
    if real == own:
        return worded("{name} is your whole home folder; {cure}", name=name, cure=cure)
    homes = {own, *_homes()}
    if real in homes:
        return worded("{name} is somebody's whole home folder; {cure}", name=name, cure=cure)
    if real in map(Path, _OF_HOMES) or any(real in home.parents for home in homes):
        return worded("{name} holds home folders; {cure}", name=name, cure=cure)
    if os.path.ismount(real):
        return worded("{name} is a whole file system; {cure}", name=name, cure=cure)
    return None


def _homes() -> Iterator[Path]:
    """Give the homes of the people of this machine; those of services are folders like others."""
    if sys.platform == "win32":
        yield Path.home().parent / "Public"
        return
    for one in pwd.getpwall():
        if one.pw_uid >= 1000 and one.pw_uid < 60_000 and os.path.isabs(one.pw_dir):
            home = Path(os.path.realpath(one.pw_dir))
            if home.parent != home:
                yield home
