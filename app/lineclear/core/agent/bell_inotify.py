"""The bell on Linux: inotify(7) through the C library."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lineclear.core.agent.bell import Listeners, Ring

_IN_MOVED_TO = 0x80
_IN_CREATE = 0x100
_IN_Q_OVERFLOW = 0x4000
_IN_ONLYDIR = 0x1000000
_EVENT = struct.Struct("iIII")
_BUFFER_BYTES = 1 << 16
_DRAFT = b".tmp."


class InotifyBell:
    """Rings within microseconds; raises OSError where no watch is to be had."""

    def __init__(self) -> None:
        self._libc: Any = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise _last_error()
        self._quit = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._listeners = Listeners()
        self._lock = threading.Lock()
        self._folders: dict[int, Path] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    @contextlib.contextmanager
    def listen(self, folder: Path, ring: Ring) -> Iterator[None]:
        """Ring on every new record of FOLDER while the context is open."""
        with self._listeners.added(folder, ring):
            self._watch(folder)
            yield

    def close(self) -> None:
        """End the thread; the watches go with it."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            # Within the lock: a thread that an event has woken meanwhile would close it first,
            # and what another thread had opened under that number were written to.
            os.eventfd_write(self._quit, 1)
        if self._thread is None:
            self._free()

    def _watch(self, folder: Path) -> None:
        with self._lock:
            if self._closed:
                return
            mask = _IN_CREATE | _IN_MOVED_TO | _IN_ONLYDIR
            watch = self._libc.inotify_add_watch(self._fd, os.fsencode(folder), mask)
            if watch >= 0:  # Else there are too many: the poll is what is left.
                self._folders[watch] = folder
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="lineclear-bell", daemon=True
                )
                self._thread.start()

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._quit, select.POLLIN)
        while not self._closed:
            poll.poll()
            with contextlib.suppress(BlockingIOError):
                self._hear(os.read(self._fd, _BUFFER_BYTES))
        self._free()

    def _hear(self, events: bytes) -> None:
        offset = 0
        heard = set()
        while offset < len(events):
            watch, mask, _, length = _EVENT.unpack_from(events, offset)
            offset += _EVENT.size
            name = events[offset : offset + length]
            offset += length
            if mask & _IN_Q_OVERFLOW:
                self._listeners.ring_all()
            elif not name.startswith(_DRAFT):
                heard.add(watch)
        for watch in heard:
            with self._lock:
                folder = self._folders.get(watch)
            if folder is not None:
                self._listeners.ring(folder)

    def _free(self) -> None:
        with self._lock:
            os.close(self._fd)
            os.close(self._quit)


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
