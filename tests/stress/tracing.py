"""Children whose system calls are watched one by one, killed at any of them or made to fail."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("tracer.c")
GO_ON, KILL, SKIP = 0, 1, 2
_END = 0x5EED
_ASK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.POINTER(ctypes.c_uint64), ctypes.c_int64
)
_NUMBERS = {
    "x86_64": {
        "read": 0,
        "write": 1,
        "open": 2,
        "close": 3,
        "stat": 4,
        "fstat": 5,
        "lstat": 6,
        "lseek": 8,
        "pread64": 17,
        "pwrite64": 18,
        "access": 21,
        "fcntl": 72,
        "flock": 73,
        "fsync": 74,
        "fdatasync": 75,
        "ftruncate": 77,
        "rename": 82,
        "mkdir": 83,
        "rmdir": 84,
        "link": 86,
        "unlink": 87,
        "readlink": 89,
        "chmod": 90,
        "fchmod": 91,
        "getsid": 124,
        "fstatfs": 138,
        "getdents64": 217,
        "openat": 257,
        "mkdirat": 258,
        "newfstatat": 262,
        "unlinkat": 263,
        "renameat": 264,
        "linkat": 265,
        "readlinkat": 267,
        "fchmodat": 268,
        "faccessat": 269,
        "renameat2": 316,
        "statx": 332,
    },
    "aarch64": {
        "fcntl": 25,
        "flock": 32,
        "mkdirat": 34,
        "unlinkat": 35,
        "linkat": 37,
        "renameat": 38,
        "fstatfs": 44,
        "ftruncate": 46,
        "faccessat": 48,
        "fchmod": 52,
        "fchmodat": 53,
        "openat": 56,
        "close": 57,
        "getdents64": 61,
        "lseek": 62,
        "read": 63,
        "write": 64,
        "pread64": 67,
        "pwrite64": 68,
        "readlinkat": 78,
        "newfstatat": 79,
        "fstat": 80,
        "fsync": 82,
        "fdatasync": 83,
        "getsid": 156,
        "renameat2": 276,
        "statx": 291,
    },
}
NAMES = {number: name for name, number in _NUMBERS.get(platform.machine(), {}).items()}
"""The calls on files that are counted; what an interpreter does with its memory is not."""


def unsupported() -> str | None:
    """Say why children cannot be traced here, None if they can."""
    if sys.platform != "linux" or not NAMES:
        return "needs Linux on x86-64 or arm64"
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.exists() and scope.read_text().strip() == "3":
        return "this kernel lets nobody trace"
    return None if shutil.which("cc") else "needs a C compiler"


@dataclass
class Watch:
    """Counts a child's calls on files and interferes once.

    A stop is the entry or the exit of a call; both are counted from 1.
    """

    kill_at_stop: int = 0
    fail_call: int = 0
    errno: int = 0
    stops: int = 0
    calls: list[str] = field(default_factory=list)
    hit: str = ""
    over: bool = False
    pid: int = 0

    def entering(self, name: str, arguments: list[int]) -> int:
        self.calls.append(name)
        if len(self.calls) == self.fail_call:
            self.hit = f"{name} failed with {self.errno}"
            return -self.errno
        return self._stop(f"before {name}")

    def leaving(self, name: str, arguments: list[int], value: int) -> int:
        return self._stop(f"after {name}")

    def _stop(self, where: str) -> int:
        self.stops += 1
        if self.stops != self.kill_at_stop:
            return GO_ON
        self.hit = f"killed {where}"
        return KILL

    def decide(self, entering: bool, number: int, arguments: list[int], value: int) -> int:
        name = NAMES.get(number)
        if name == "getsid" and arguments[0] == _END:
            self.over = True
        if name is None or name == "getsid" or self.over:
            return GO_ON
        if entering:
            return self.entering(name, arguments)
        return self.leaving(name, arguments, value)


@dataclass(frozen=True)
class Ended:
    """How a traced child ended: `told` is what it said at its end, None when it was killed."""

    pid: int
    told: str | None


class Tracer:
    """Runs work in traced children of this process, which must have one thread only."""

    def __init__(self, folder: Path) -> None:
        library = folder / "tracer.so"
        subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True, timeout=60
        )
        self._library = ctypes.CDLL(str(library), use_errno=True)
        self._library.follow.argtypes = [ctypes.c_int, _ASK]

    def run(self, work: Callable[[], str], watch: Watch) -> Ended:
        """Run WORK in a child, which ends with it; WATCH sees every call on files."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self._library.be_traced()
                told = work()
                self._library.getsid(_END)
                os.write(writing, told.encode())
            finally:
                os._exit(0)
        os.close(writing)
        watch.pid = child

        def decide(entering: int, number: int, arguments: Any, value: int) -> int:
            return watch.decide(bool(entering), number, arguments[:6], value)

        status = self._library.follow(child, _ASK(decide))
        said = bytearray()
        while piece := os.read(reading, 65536):
            said += piece
        os.close(reading)
        if status < 0:
            raise OSError(ctypes.get_errno(), "cannot trace a child")
        return Ended(child, said.decode() if os.WIFEXITED(status) else None)
