"""Names that one process of a user holds on this machine, whichever home or folder it has.

On Linux an address of an abstract socket: nothing of it lies on a disk, so it needs no folder that
can be written, and the kernel frees it with its process. Processes in another network namespace
(most containers) have names of their own. Elsewhere there are none.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lineclear.core.errors import StoreHeld, StoreRefused
from lineclear.core.ledger.platform import oserrors
from lineclear.core.sentences import worded

_PROC: Final = Path("/proc")


def hold(name: str) -> socket.socket:
    """Hold a name until the socket is closed; programs that are started do not inherit it.

    Raises StoreHeld, naming the process of this user that has it, and StoreRefused (`no_name`)
    where it cannot be had.
    """
    if sys.platform != "linux":
        raise StoreRefused(worded("This system keeps no names for a user."), code="no_name")
    held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        held.bind(_address(name))
    except OSError as why:
        held.close()
        if why.errno != errno.EADDRINUSE:
            raise StoreRefused(
                worded(
                    "No name can be held on this machine: {reason}.", reason=oserrors.reason(why)
                ),
                code="no_name",
            ) from why
        pid = holder(name)
        if pid is None:
            # Anybody may take any name: only what this user's own process holds counts.
            raise StoreRefused(
                worded("Another user, or a process that cannot be seen from here, holds its name."),
                code="no_name",
            ) from why
        who = (
            worded("this very process") if pid == os.getpid() else worded("process {pid}", pid=pid)
        )
        raise StoreHeld(worded("{who} goes on with it.", who=who), pid, holder=who) from why
    return held


def holder(name: str) -> int | None:
    """Give the process of this user that holds a name; None: none is known to."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError):
        inode = _inode(_address(name))
        if inode is not None:
            link = f"socket:[{inode}]"
            return next((pid for pid in _own_processes() if link in _open_files(pid)), None)
    return None


def _address(name: str) -> bytes:
    # Its length is limited to 107 bytes.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"\0lineclear/{os.geteuid()}/{digest}".encode()


def _inode(address: bytes) -> str | None:
    shown = b"@" + address[1:]
    for line in (_PROC / "net" / "unix").read_bytes().splitlines():
        fields = line.split()
        # Num, RefCount, Protocol, Flags, Type, St, Inode, Path.
        if len(fields) == 8 and fields[7] == shown:
            return fields[6].decode()
    return None


def _own_processes() -> Iterator[int]:
    """Give this user's processes, this one first."""
    yield os.getpid()
    for name in os.listdir(_PROC):
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if (_PROC / name).stat().st_uid == os.geteuid():
                yield int(name)


def _open_files(pid: int) -> set[str]:
    files = _PROC / str(pid) / "fd"
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(files):
            # It may be closed meanwhile.
            with contextlib.suppress(OSError):
                found.add(os.readlink(files / name))
    return found
