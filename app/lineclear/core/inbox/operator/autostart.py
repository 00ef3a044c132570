"""Whether the window starts when its operator signs in: an entry in the desktop's own place for it.

Linux and other freedesktop systems: `$XDG_CONFIG_HOME/autostart/lineclear.desktop`. Elsewhere the
system or the installer has a switch of its own, and this one only says where.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lineclear.core import frozen
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import settings as settings_file
from lineclear.core.ledger.platform import oserrors
from lineclear.core.sentences import worded

NAME: Final = "lineclear.desktop"
_PROGRAM: Final = "lineclear-inbox"
_HEAD: Final = "[Desktop Entry]"
_MOST: Final = 65_536
_ELSEWHERE: Final = {
    "win32": worded("Windows: the installer offers it (Start Lineclear when I sign in)."),
    "darwin": worded("macOS: add Lineclear under System Settings, General, Login Items."),
}


@dataclass(frozen=True, slots=True)
class Autostart:
    """How it stands."""

    on: bool
    place: str
    """The entry's path, shown; "" where there can be none."""
    why_not: str = ""
    """Why it cannot be switched here; "" where it can."""


def state(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Autostart:
    """Look how it stands; an entry that cannot be read counts as off."""
    if platform in _ELSEWHERE:
        return Autostart(on=False, place="", why_not=_ELSEWHERE[platform])
    own = entry_path(environment)
    counting = own if os.path.lexists(own) else _of_the_system(environment)
    on = counting is not None and _starts(counting)
    missing = "" if on or program() else _not_installed()
    return Autostart(on, visible_line(str(own)), missing)


def switch(
    *, on: bool, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> None:
    """Write the entry, or take it away; durable.

    Raises LineclearError (`autostart`).
    """
    if platform in _ELSEWHERE:
        raise LineclearError(_ELSEWHERE[platform], code="autostart")
    path = entry_path(environment)
    try:
        # A link leads to the packaged entry, which is not ours to write.
        if path.is_symlink():
            path.unlink()
        if on:
            _write(path, entry(environment))
        elif _of_the_system(environment) is not None:
            _write(path, f"{_HEAD}\nType=Application\nName=Lineclear\nHidden=true\n")
        else:
            path.unlink(missing_ok=True)
    except OSError as why:
        raise LineclearError(
            worded(
                "Nothing was changed: {path}: {reason}.",
                path=visible_line(str(path)),
                reason=oserrors.reason(why),
            ),
            code="autostart",
        ) from why


def entry(environment: Mapping[str, str] = os.environ) -> str:
    """Give the desktop entry of the installed program; raises LineclearError (`autostart`)."""
    found = program()
    if not found:
        raise LineclearError(_not_installed(), code="autostart")
    words = [found]
    if own := environment.get("LINECLEAR_HOME"):
        # Else the window of the next session would watch other folders than this one.
        words = ["/usr/bin/env", f"LINECLEAR_HOME={own}", found]
    return (
        f"{_HEAD}\nType=Application\nVersion=1.4\nName=Lineclear\n"
        "Comment=Watch for calls of AI agents from the start of the session\n"
        f"Exec={' '.join(_quoted(word) for word in words)}\n"
        f"TryExec={_escaped(found)}\n"
        "Icon=lineclear\nTerminal=false\nStartupNotify=false\nX-GNOME-Autostart-Delay=5\n"
    )


def program() -> str:
    """Give the whole path of the installed window program, "" where there is none."""
    if frozen.is_frozen():
        beside = frozen.beside(_PROGRAM)
        return os.fspath(beside) if beside.exists() else ""
    beside = Path(sys.executable).with_name(_PROGRAM)
    if os.access(beside, os.X_OK):
        return os.fspath(beside)
    return os.path.abspath(found) if (found := shutil.which(_PROGRAM)) else ""


def entry_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Give where this user's entry stands, or would."""
    config = environment.get("XDG_CONFIG_HOME") or ""
    # The specification: a relative one is to be ignored.
    base = Path(config) if os.path.isabs(config) else Path.home() / ".config"
    return base / "autostart" / NAME


def _of_the_system(environment: Mapping[str, str]) -> Path | None:
    for folder in (environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"):
        if os.path.isabs(folder) and (Path(folder) / "autostart" / NAME).exists():
            return Path(folder) / "autostart" / NAME
    return None


def _starts(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _MOST:
            return False
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    said = dict(line.replace(" ", "").lower().partition("=")[::2] for line in lines)
    off = (said.get("hidden"), said.get("x-gnome-autostart-enabled"))
    return "exec" in said and off[0] != "true" and off[1] != "false"


def _write(path: Path, text: str) -> None:
    try:
        settings_file.write_raw(text.encode(), path)
    except LineclearError as why:
        raise LineclearError(
            worded("Nothing was changed: {path} cannot be written.", path=visible_line(str(path))),
            code="autostart",
        ) from why


def _quoted(word: str) -> str:
    """Quote an argument as Exec= wants it: inside quotes, and once more as any text of the file."""
    if "\n" in word or "\r" in word:
        raise LineclearError(
            worded("A path with a line break cannot be started: {word}.", word=ascii(word)),
            code="autostart",
        )
    inner = "".join(f"\\{char}" if char in '"`$\\' else char for char in word)
    return _escaped(f'"{inner}"'.replace("%", "%%"))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\")


def _not_installed() -> str:
    return worded(
        "There is no program {program} beside {executable} or on the PATH to"
        " start: install Lineclear first.",
        program=_PROGRAM,
        executable=visible_line(sys.executable),
    )
