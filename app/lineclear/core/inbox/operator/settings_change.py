"""Changes of settings.json that lose nothing: one writer at a time, on what stands there now."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import own_files
from lineclear.core.inbox.operator import settings as settings_file
from lineclear.core.inbox.operator.settings import Settings, SettingsDamaged
from lineclear.core.sentences import joined, worded

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_NAME = "settings.lock"
_PATIENCE_S = 5.0
_PAUSE_S = 0.01
_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a window starts with, and what has to be said about the file; "" where all is well."""

    settings: Settings
    said: str = ""


def change(edit: Callable[[Settings], Settings], folder: Path | None = None) -> Settings:
    """Read the settings, EDIT them and write them, as one step among all programs of ours.

    EDIT may be called again, when another program wrote meanwhile. Gives what stands there now.
    Raises what EDIT raises, LineclearError (`settings_invalid` for values that the file may not
    hold, `settings_busy`, `settings_damaged`, `settings_unreadable`, `settings_unwritable`) and
    NotConfirmed.
    """
    path = settings_file.settings_path(folder)
    with _alone(path):
        for _ in range(_ATTEMPTS):
            before = settings_file.read_raw(path)
            now = Settings() if before is None else settings_file.parse(before, path)
            fresh = edit(now)
            if fresh == now and fresh.model_fields_set == now.model_fields_set:
                return now
            raw = settings_file.encoded(fresh, path)
            try:
                checked = settings_file.parse(raw, path)
            except SettingsDamaged as why:
                raise LineclearError(
                    worded("Nothing was changed: {why}.", why=why.why), code="settings_invalid"
                ) from why
            # An editor knows nothing of our lock; what it wrote just now is not written over.
            if settings_file.read_raw(path) == before:
                settings_file.write_raw(raw, path)
                return checked
    raise _busy(path)


def load_for_window(folder: Path | None = None) -> Loaded:
    """Read the settings; a file that cannot be understood is kept aside, and defaults are used.

    Nothing is ever deleted. What only a later version understands, or cannot be read or moved,
    stays where it is: then no change of settings is written. Raises LineclearError
    (`home_relative`).
    """
    path = settings_file.settings_path(folder)
    try:
        return Loaded(settings_file.load(folder))
    except SettingsDamaged as why:
        if why.newer:
            return Loaded(Settings(), joined((why.told, _UNTOUCHED)))
        return _set_aside(path, why.told)
    except LineclearError as why:
        if why.code != "settings_unreadable":
            raise
        return Loaded(Settings(), joined((why.sentence, _UNTOUCHED)))


def keep_aside(instead: Settings | None = None, folder: Path | None = None) -> Path | None:
    """Keep a file that cannot be understood under another name, and write INSTEAD in its place.

    Nothing is ever deleted. Gives where it is kept; None: the file can be understood, or is not
    there, and stays as it is. Raises LineclearError (`settings_damaged` for what only a later
    version understands, `settings_busy`, `settings_unreadable`, `settings_unwritable`) and
    NotConfirmed.
    """
    path = settings_file.settings_path(folder)
    with _alone(path):
        try:
            settings_file.load(folder)
        except SettingsDamaged as why:
            if why.newer:
                raise
        else:
            return None
        try:
            aside = _renamed(path)
        except OSError as why:
            raise LineclearError(
                worded(
                    "{path} could not be moved aside: {why}.",
                    path=visible_line(str(path)),
                    why=why.strerror or str(why),
                ),
                code="settings_unwritable",
            ) from why
        if instead is not None:
            settings_file.write_raw(settings_file.encoded(instead, path), path)
        return aside


def _renamed(path: Path) -> Path:
    # The file itself: a symlink to it stays, and what is saved next goes where it pointed.
    return own_files.keep_aside(Path(os.path.realpath(path)))


_UNTOUCHED = worded("The file is left alone, defaults are used, and no change is kept.")


def _set_aside(path: Path, told: str) -> Loaded:
    try:
        with _alone(path):
            # Somebody may have mended it since.
            with contextlib.suppress(LineclearError):
                return Loaded(settings_file.load(path.parent))
            aside = _renamed(path)
    except (OSError, LineclearError):
        return Loaded(
            Settings(),
            joined((told, worded("It could not be moved aside."), _UNTOUCHED)),
        )
    kept = worded("It is kept as {path}, and defaults are used.", path=visible_line(str(aside)))
    return Loaded(Settings(), joined((told, kept)))


# --- One at a time ------------------------------------------------------------------------------


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock beside PATH; the system frees it when this process ends."""
    real = Path(os.path.realpath(path)).parent
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        real.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(real / LOCK_NAME, flags, 0o600)
    except OSError as why:
        raise LineclearError(
            worded(
                "The settings were not saved: {path}: {why}.",
                path=visible_line(str(real)),
                why=why.strerror or str(why),
            ),
            code="settings_unwritable",
        ) from why
    try:
        end = time.monotonic() + _PATIENCE_S
        while not _lock(descriptor):
            if time.monotonic() > end:
                raise _busy(path)
            time.sleep(_PAUSE_S)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _busy(path: Path) -> LineclearError:
    return LineclearError(
        worded(
            "The settings were not saved: another program keeps writing {path}; try again.",
            path=visible_line(str(path)),
        ),
        code="settings_busy",
    )
