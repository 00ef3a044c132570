"""Runs a program in which the kernel refuses some system calls, as another file system would.

    python refusing.py linkat=1 renameat2=22 -- argv...

Each named call fails with that errno for the whole program: a seccomp filter, no root needed.
"""

import ctypes
import os
import platform
import struct
import sys

NUMBERS = {
    "x86_64": {
        "write": 1,
        "fsync": 74,
        "ftruncate": 77,
        "link": 86,
        "unlinkat": 263,
        "renameat": 264,
        "linkat": 265,
        "renameat2": 316,
    },
    "aarch64": {
        "unlinkat": 35,
        "linkat": 37,
        "renameat": 38,
        "ftruncate": 46,
        "write": 64,
        "fsync": 82,
        "renameat2": 276,
    },
}
SUPPORTED = sys.platform == "linux" and platform.machine() in NUMBERS
_NO_NEW_PRIVS = 38
_SET_SECCOMP = 22
_FILTER = 2
_LOAD_NUMBER = 0x20
_JUMP_EQUAL = 0x15
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000


def install(refused: dict[str, int]) -> None:
    numbers = NUMBERS[platform.machine()]
    program = struct.pack("HBBI", _LOAD_NUMBER, 0, 0, 0)
    for name, number in refused.items():
        program += struct.pack("HBBI", _JUMP_EQUAL, 0, 1, numbers[name])
        program += struct.pack("HBBI", _RETURN, 0, 0, _ERRNO | number)
    program += struct.pack("HBBI", _RETURN, 0, 0, _ALLOW)
    kept = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_SET_SECCOMP, _FILTER, filters, 0, 0):
        raise OSError(ctypes.get_errno(), "no seccomp filter")


def main() -> None:
    split = sys.argv.index("--")
    pairs = (word.split("=") for word in sys.argv[1:split])
    install({name: int(number) for name, number in pairs})
    os.execv(sys.argv[split + 1], sys.argv[split + 1 :])


if __name__ == "__main__":
    main()
