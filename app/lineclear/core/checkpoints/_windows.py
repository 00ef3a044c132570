"""Opening a file on Windows so that its writer can still replace or remove it.

Python's own open shares reading and writing but not deletion, and then the writer's rename over
the file fails with WinError 5 or 32 for as long as it is held.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes  # noqa: E402
import msvcrt  # noqa: E402
import os  # noqa: E402
from ctypes import wintypes  # noqa: E402

_GENERIC_READ = 0x80000000
_SHARE_READ_WRITE_DELETE = 0x1 | 0x2 | 0x4
_OPEN_EXISTING = 3
_OPEN_REPARSE_POINT = 0x00200000  # a link itself, never what it points to
_INVALID_HANDLE = wintypes.HANDLE(-1).value

_kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
_create_file = _kernel32.CreateFileW
_create_file.restype = wintypes.HANDLE
_create_file.argtypes = [
    wintypes.LPCWSTR,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.LPVOID,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.HANDLE,
]
_close_handle = _kernel32.CloseHandle
_close_handle.argtypes = [wintypes.HANDLE]


def open_shared(name: str) -> int:
    """Open a file to read, sharing everything, and give its descriptor; raises OSError."""
    handle = _create_file(
        name,
        _GENERIC_READ,
        _SHARE_READ_WRITE_DELETE,
        None,
        _OPEN_EXISTING,
        _OPEN_REPARSE_POINT,
        None,
    )
    if handle == _INVALID_HANDLE:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)
    except OSError:
        _close_handle(handle)
        raise
