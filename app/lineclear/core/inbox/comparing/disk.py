"""A file that a call names, read as it stands on this machine now; the name is hostile."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from lineclear.core.checkpoints.fileread import FileBytes, FileIdentity, read_file
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

MOST: Final = 2 << 20
"""Bytes of a file that are read for a comparison."""
_PSEUDO: Final = ("/proc", "/sys", "/dev")
"""Reading there can have effects, block, or give what no file holds."""
_FOLDER: Final = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(frozen=True, slots=True)
class Disk:
    """What stands at a path, or why that is not known."""

    read_at: datetime
    text: str | None = None
    """None where it was not read; "" where there is no file yet."""
    absent: bool = False
    identity: FileIdentity | None = None
    why_not: str = ""
    """A sentence, where nothing can be compared."""
    leads_to: str = ""
    """The path of the file itself, where the one that was asked for is a link or leads over one."""
    is_link: bool = False
    """The last part of the path is the link."""

    @property
    def changed_at(self) -> datetime | None:
        """When the file was written last."""
        if self.identity is None:
            return None
        try:
            return datetime.fromtimestamp(self.identity.mtime_ns / 1e9, UTC)
        except (OverflowError, ValueError, OSError):
            return None


def read_from_disk(path: str) -> Disk:
    """Read a regular file of text, at most 2 MiB of it, as far as this user may.

    Nothing is followed into /proc, /sys or /dev; pipes and devices are not opened. Never raises.
    """
    try:
        real = _real(path)
        leads_to = "" if real == os.path.normpath(path) else real
        is_link = bool(leads_to) and os.path.islink(path)
    except (Unreadable, OSError, ValueError):
        real, leads_to, is_link = "", "", False
    found = _found(path, real)
    return replace(found, leads_to=leads_to, is_link=is_link)


def is_relative(path: str) -> bool:
    """Tell whether a path starts in a folder that it does not name; `~` names a home."""
    return bool(path) and not os.path.isabs(path) and not path.startswith("~")


def _found(path: str, real: str) -> Disk:
    now = datetime.now(UTC)
    try:
        found = _read(path, real)
        return Disk(now, found.raw.decode("utf-8"), identity=found.identity)
    except FileNotFoundError:
        return Disk(now, "", absent=True)
    except UnicodeDecodeError:
        return Disk(now, why_not=worded("it holds no text."))
    except Unreadable as why:
        if why.code == "absent":
            return Disk(now, "", absent=True)
        return Disk(now, why_not=_WHY.get(why.code, worded("it cannot be read.")))
    except (OSError, ValueError):
        return Disk(now, why_not=worded("it cannot be read by this user."))


def _real(path: str) -> str:
    """Give the path of the file itself; raises Unreadable for what is not to be looked at."""
    if not os.path.isabs(path):
        raise Unreadable("relative", "")
    if "\0" in path or _is_pseudo(path):
        raise Unreadable("pseudo", "")
    return os.path.realpath(path)


def _read(path: str, real: str) -> FileBytes:
    # Looked up once: what is read is what is named.
    if _is_pseudo(real := real or _real(path)):
        raise Unreadable("pseudo", "")
    if not os.path.basename(real):
        # The root itself: nothing is named within it.
        raise Unreadable("not_regular", "")
    with _folder(os.path.dirname(real)) as folder:
        name = real if folder is None else os.path.basename(real)
        found = read_file(name, dir_fd=folder, max_bytes=MOST, others_may_write=True)
    if found.identity.dev in _pseudo_devices():
        raise Unreadable("pseudo", "")
    return found


_WHY: Final = {
    "relative": worded("its path is relative, and the agent's folder is not known."),
    "pseudo": worded("it leads to a place where no files stand."),
    "no_permission": worded("it cannot be read by this user."),
    "not_regular": worded("it is no regular file."),
    "too_large": worded("it is larger than 2 MiB."),
    "changed_while_read": worded("it changed while it was read."),
    "symlink": worded("its links lead in a circle, or changed while it was read."),
}


def _is_pseudo(path: str) -> bool:
    plain = os.path.normpath(path)
    # Two leading slashes mean the same as one here, and stay with normpath.
    plain = "/" + plain.lstrip("/") if plain.startswith("//") else plain
    return any(plain == place or plain.startswith(f"{place}/") for place in _PSEUDO)


def _pseudo_devices() -> frozenset[int]:
    found = set()
    for place in ("/proc", "/sys"):
        with contextlib.suppress(OSError):
            found.add(os.stat(place).st_dev)
    return frozenset(found)


@contextlib.contextmanager
def _folder(path: str) -> Iterator[int | None]:
    """Open a folder component by component, so that none of them is a link by now."""
    if sys.platform == "win32":
        yield None
        return
    descriptor = os.open("/", _FOLDER)
    try:
        for part in path.strip("/").split("/"):
            if part:
                below = os.open(part, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)
