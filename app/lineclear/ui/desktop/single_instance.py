"""One window per person: a second start raises the first through a socket of that person alone.

All that the socket takes is one line, `{"v":1,"ask":"raise","token":"..."}`, and all that it
answers is `{"v":1,"raised":true}`. The token is the desktop's activation token, or empty.
A window whose socket went, or was taken by one that is over by now, listens again by itself.
Where there are no such sockets (Windows) every start opens a window.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import platform
import socket
import stat
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal

from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import Unreadable
from lineclear.ui.desktop.tokens import valid_token

log = logging.getLogger(__name__)

POSSIBLE: Final = sys.platform != "win32"
ANSWER_S = 5.0
"""A first window that has not answered after this long does not count."""
TURN_S = ANSWER_S + 3.0
"""How long a start waits for another one that is looking at the same moment: that one may be
waiting for a window that hangs, whose place it then takes."""
LOOK_S = 1.0
"""How often a window looks whether its socket is still there."""
_BUSY_S = 0.02
"""How soon a start knocks again where more wait already than the system lets wait."""
MAX_LINE: Final = 1_024
MAX_GUESTS: Final = 8
MAX_PATH: Final = 100
"""Bytes that a socket's path may have on every system."""
ANSWER: Final = b'{"v":1,"raised":true}\n'


class Refused(Exception):
    """What stands in the place of the socket is not this person's alone; says which."""


def place(home: Path, sources: Sequence[Path], environment: Mapping[str, str]) -> Path:
    """Where the window of HOME listens that watches SOURCES (none: the configured ones).

    In HOME, which every start knows: one from a terminal, a timer or another login may have no
    $XDG_RUNTIME_DIR, or another. That one is used where HOME can hold no such socket. Raises
    Refused when neither is this person's alone, or the path is too long for a socket.
    """
    # A home on the network is the same on machines that cannot reach each other's sockets.
    asked = "\0".join((platform.node(), str(home), *sorted(map(str, sources))))
    name = f"lineclear-inbox-{hashlib.sha256(os.fsencode(asked)).hexdigest()[:16]}"
    with contextlib.suppress(OSError):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    why = ""
    for folder in (home, Path(environment.get("XDG_RUNTIME_DIR", ""))):
        if not folder.is_absolute():
            continue
        if not _is_private(folder):
            why = why or f"{folder} is not this user's alone"
        elif len(os.fsencode(folder / name)) > MAX_PATH:
            why = why or f"{folder / name} is too long a path for a socket"
        else:
            return folder / name
    raise Refused(why)


def _is_private(folder: Path) -> bool:
    """Whether nobody else can put something into this folder, or in the place of something."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end of a local socket; None where the system does not say."""
    return None if (peer := _peer(connection)) is None else peer[1]


def _peer(connection: socket.socket) -> tuple[int, int] | None:
    """Pid and uid of who listens, or connected."""
    if sys.platform != "linux":
        return None
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _gid = struct.unpack("3i", found)
    return int(pid), int(uid)


def _is_ours(connection: socket.socket) -> bool:
    return peer_uid(connection) in (None, os.getuid())


# --- A second start -------------------------------------------------------------------------------


def raise_first(at: Path, token: str) -> bool:
    """Ask the first window to come to the front; False when none is there that answers.

    Raises Refused when what stands there is not this person's socket.
    """
    return _knock(at, token)[0]


def _knock(at: Path, token: str) -> tuple[bool, int | None]:
    """Whether a first window was raised; of one that is there and does not answer, the pid.

    0 where the system does not say who it is.
    """
    if not _stands(at):
        return False, None
    peer: tuple[int, int] | None = None
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(ANSWER_S)
        try:
            if not _connect(asking, at):
                # Its window died and left it.
                return False, None
            if not _is_ours(asking):
                raise Refused(f"another user listens at {at}")
            peer = _peer(asking)
            question: dict[str, str | int] = {"v": 1, "ask": "raise", "token": valid_token(token)}
            return _answer(asking, question) == ANSWER, None
        except OSError:
            log.warning("the window that is open already does not answer; here is another")
            return False, 0 if peer is None else peer[0]


def _stands(at: Path) -> bool:
    """Whether a socket of this user is there; raises Refused for anything else."""
    try:
        found = at.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise Refused(f"{at} is not this user's socket")
    return True


def _connect(asking: socket.socket, at: Path) -> bool:
    """Reach who listens; False: nobody does. Raises OSError where it is too busy for `ANSWER_S`."""
    end = time.monotonic() + ANSWER_S
    while True:
        try:
            asking.connect(str(at))
        except BlockingIOError:
            # Others wait to be let in, so somebody listens.
            if time.monotonic() >= end:
                raise
            time.sleep(_BUSY_S)
        except OSError:
            return False
        else:
            return True


def _is_taken(at: Path) -> bool:
    """Whether a window listens there, however busy; raises Refused as `raise_first` does."""
    if not _stands(at):
        return False
    with socket.socket(socket.AF_UNIX) as asking:
        asking.setblocking(False)
        try:
            asking.connect(str(at))
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True


def _answer(asking: socket.socket, question: dict[str, str | int]) -> bytes:
    asking.sendall(jsontext.compact(dict(question)) + b"\n")
    answer = b""
    while not answer.endswith(b"\n") and len(answer) < MAX_LINE:
        more = asking.recv(MAX_LINE)
        if not more:
            break
        answer += more
    return answer


# --- The first start ------------------------------------------------------------------------------


class FirstWindow(QObject):
    """Listens for later starts.

    Signals:
        raise_wanted(str): a later start wants the window; with an activation token, or "".
    """

    raise_wanted = Signal(str)

    def __init__(self, at: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._at = at
        self.hung: int | None = None
        """The pid of a window that is open already and did not answer (0: not known), or None."""
        # The oldest first.
        self._guests: dict[socket.socket, tuple[QSocketNotifier, bytes]] = {}
        self._door: socket.socket | None = None
        self._identity = (0, 0)
        self._bell: QSocketNotifier | None = None
        self._looks = QTimer(self)
        self._looks.setInterval(int(LOOK_S * 1000))
        self._looks.timeout.connect(self._look)
        self._looks.start()

    def listen(self) -> None:
        """Begin to listen, in the place of a window that died. Raises OSError."""
        self._shut()
        self._at.unlink(missing_ok=True)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.setblocking(False)
        self._door.bind(str(self._at))
        # Nobody can connect before it listens, and then only this user.
        self._at.chmod(0o600)
        self._identity = self._found()
        self._door.listen(MAX_GUESTS)
        self._bell = QSocketNotifier(self._door.fileno(), QSocketNotifier.Type.Read, self)
        self._bell.activated.connect(self._guests_came)

    def close(self) -> None:
        """Listen no more, and leave nothing there."""
        self._looks.stop()
        with contextlib.suppress(OSError):
            # Unless another window, to which this one seemed dead, has taken the place.
            if self._listens():
                self._at.unlink()
        self._shut()
        for guest in tuple(self._guests):
            self._part(guest)

    def _shut(self) -> None:
        if self._bell is not None:
            self._bell.setEnabled(False)
            self._bell.deleteLater()
            self._bell = None
        if self._door is not None:
            self._door.close()
            self._door = None

    def _found(self) -> tuple[int, int]:
        """Name what stands in the socket's place; raises OSError where nothing does."""
        found = self._at.lstat()
        return found.st_dev, found.st_ino

    def _listens(self) -> bool:
        """Whether what stands there is this window's: no other can have its number meanwhile."""
        try:
            return self._bell is not None and self._found() == self._identity
        except OSError:
            return False

    def _look(self) -> None:
        """Listen again where nobody does: else every later start would open one more window."""
        if self._listens():
            return
        try:
            with _turn(self._at, 0.0) as ours:
                if ours and not _is_taken(self._at):
                    self.listen()
                    log.info("the window's socket was gone; it listens again")
        except (Refused, OSError) as why:
            log.debug("the window cannot listen yet: %s", why)

    def _guests_came(self) -> None:
        while self._door is not None:
            try:
                guest, _ = self._door.accept()
            except OSError:
                return
            if not _is_ours(guest):
                log.info("a connection to the window's socket was refused")
                guest.close()
                continue
            if len(self._guests) >= MAX_GUESTS:
                # Who has said nothing for longest does not keep out who has something to say.
                oldest = next(iter(self._guests))
                self._read(oldest)
                self._part(oldest)
            guest.setblocking(False)
            bell = QSocketNotifier(guest.fileno(), QSocketNotifier.Type.Read, self)
            bell.activated.connect(partial(self._read, guest))
            self._guests[guest] = (bell, b"")
            QTimer.singleShot(int(ANSWER_S * 1000), self, partial(self._part, guest))

    def _part(self, guest: socket.socket) -> None:
        known = self._guests.pop(guest, None)
        if known is not None:
            known[0].setEnabled(False)
            known[0].deleteLater()
            guest.close()

    def _read(self, guest: socket.socket, *_: object) -> None:
        if guest not in self._guests:
            return
        bell, before = self._guests[guest]
        try:
            more = guest.recv(MAX_LINE + 1)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        line = before + more
        self._guests[guest] = (bell, line)
        if more and not line.endswith(b"\n") and len(line) <= MAX_LINE:
            return
        token = asked_token(line)
        if not line:
            log.debug("somebody looked whether the window listens")
        elif token is None:
            log.info("the window's socket takes only a request to raise the window")
        else:
            with contextlib.suppress(OSError):
                guest.send(ANSWER)
        self._part(guest)
        if token is not None:
            self.raise_wanted.emit(token)


def asked_token(line: bytes) -> str | None:
    """The activation token of a request to raise the window; None for anything else."""
    if len(line) > MAX_LINE or not line.endswith(b"\n"):
        return None
    try:
        asked = jsontext.parse(line)
    except Unreadable:
        return None
    if set(asked) != {"v", "ask", "token"} or asked["v"] is True:
        return None
    if asked["v"] != 1 or asked["ask"] != "raise":
        return None
    token = asked["token"]
    return token if isinstance(token, str) and token == valid_token(token) else None


@contextlib.contextmanager
def _turn(at: Path, seconds: float) -> Iterator[bool]:
    """Let those who look at the same moment do so one after the other; True: it is our turn.

    False after SECONDS.
    """
    import fcntl  # noqa: PLC0415  # Not on Windows, where nobody comes here.

    descriptor = os.open(f"{at}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    end = time.monotonic() + seconds
    ours = False
    try:
        while not ours:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                ours = True
            except BlockingIOError:
                if time.monotonic() >= end:
                    break
                time.sleep(0.01)
        yield ours
    finally:
        os.close(descriptor)


def first_window(at: Path, token: str) -> FirstWindow | None:
    """Become the first window; None when there is one, which was raised.

    Raises Refused, and OSError when nothing can listen there.
    """
    with _turn(at, TURN_S):
        # After that time all the same: a person is to have a window.
        raised, hung = _knock(at, token)
        if hung is not None and _changed(at, hung):
            # Another start may have taken its place meanwhile.
            raised, again = _knock(at, token)
            hung = hung if again is None else again
        if raised:
            return None
        first = FirstWindow(at)
        first.hung = hung
        first.listen()
    return first


def _changed(at: Path, hung: int) -> bool:
    """Whether somebody else than the process HUNG listens there by now."""
    with contextlib.suppress(OSError, Refused), socket.socket(socket.AF_UNIX) as looking:
        looking.setblocking(False)
        looking.connect(str(at))
        peer = _peer(looking)
        return peer is not None and peer[0] != hung
    return False


def startup_token(environment: Mapping[str, str]) -> str:
    """The token by which the desktop lets a program that it started come to the front."""
    return valid_token(environment.get("XDG_ACTIVATION_TOKEN")) or valid_token(
        environment.get("DESKTOP_STARTUP_ID")
    )
