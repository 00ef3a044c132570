"""The socket by which a second start raises the first window: for one person, and one request."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from lineclear.ui.desktop import hung_window, single_instance
from lineclear.ui.desktop.single_instance import (
    ANSWER,
    FirstWindow,
    Refused,
    asked_token,
    first_window,
    peer_uid,
    place,
    raise_first,
    startup_token,
)
from lineclear.ui.labels import PlainLabel

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such sockets")

NOBODY = 65534
ROOT = Path(__file__).parents[3]
as_root = pytest.mark.skipif(
    os.name == "nt" or os.getuid() != 0, reason="only root can be two users"
)


@pytest.fixture
def at(home: Path) -> Path:
    return place(home / "lineclear", [], os.environ)


@pytest.fixture
def first(at: Path, qapp) -> Iterator[FirstWindow]:
    made = first_window(at, "")
    assert made is not None
    yield made
    made.close()


def asked(at: Path, line: bytes) -> list[bytes]:
    """Send bytes to the socket in a thread, as the window's own thread has to answer."""
    answers: list[bytes] = []

    def ask() -> None:
        with socket.socket(socket.AF_UNIX) as guest:
            guest.settimeout(10)
            guest.connect(str(at))
            try:
                guest.sendall(line)
                answers.append(guest.recv(1000))
            except ConnectionError:
                answers.append(b"")

    thread = threading.Thread(target=ask)
    thread.start()
    threads.append(thread)
    return answers


threads: list[threading.Thread] = []


@pytest.fixture(autouse=True)
def joined() -> Iterator[None]:
    yield
    for thread in threads:
        thread.join(10)
    threads.clear()


def request(token: str = "", **more: object) -> bytes:
    return json.dumps({"v": 1, "ask": "raise", "token": token, **more}).encode() + b"\n"


# --- Where it is ------------------------------------------------------------------------------


@pytest.mark.parametrize("environment", [{}, {"XDG_RUNTIME_DIR": "/nowhere"}])
def test_every_start_of_this_user_looks_in_the_same_place(home, at, environment):
    assert at.parent == home / "lineclear"
    assert at == place(home / "lineclear", [], environment)
    assert at != place(home / "other", [], os.environ)
    assert at != place(home / "lineclear", [home / "bots"], os.environ)
    assert at == place(home / "lineclear", [], os.environ)


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_write_to_is_not_used(home, mode):
    place(home / "lineclear", [], os.environ)
    assert (home / "lineclear").stat().st_mode & 0o777 == 0o700
    (home / "lineclear").chmod(mode)
    assert place(home / "lineclear", [], os.environ).parent == home / "run"
    (home / "run").chmod(mode)
    with pytest.raises(Refused, match="lineclear is not this user's alone"):
        place(home / "lineclear", [], os.environ)


def test_without_a_place_of_ones_own_there_is_none(home):
    (home / "lineclear").mkdir()
    (home / "lineclear").chmod(0o777)
    with pytest.raises(Refused, match="not this user's alone"):
        place(home / "lineclear", [], {})


def test_a_path_that_no_socket_can_have_is_refused(home):
    with pytest.raises(Refused, match="too long"):
        place(home / ("x" * 90), [], {})
    assert place(home / ("x" * 90), [], os.environ).parent == home / "run"


def test_only_this_user_may_connect(first, at):
    assert at.stat().st_mode & 0o777 == 0o600


# --- What it takes ----------------------------------------------------------------------------


def test_a_request_raises_with_its_token(first, at, qtbot):
    with qtbot.waitSignal(first.raise_wanted, timeout=5000) as raised:
        answers = asked(at, request("tok-1_TIME77"))
    assert raised.args == ["tok-1_TIME77"]
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == [ANSWER]


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"raise\n",
        b"{}\n",
        b"[]\n",
        request(ask="approve"),
        request(v=2),
        request(more=1),
        request("two words"),
        request("x" * 513),
        request("\x00"),
        request()[:-2] + b', "token": "again"}\n',
        b'{"v": 1, "ask": "raise", "token": 7}\n',
        b'{"v": true, "ask": "raise", "token": ""}\n',
        b"\xff\xfe\n",
        b"x" * 5000,
        request() + request(),
    ],
    ids=lambda line: line[:24].decode("latin-1"),
)
def test_anything_else_is_refused(first, at, qtbot, line):
    raised: list[str] = []
    first.raise_wanted.connect(raised.append)
    answers = asked(at, line)
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == [b""]
    assert raised == []
    assert asked_token(line) is None


def test_a_request_may_come_in_pieces(first, at, qtbot):
    line = request("t")
    with socket.socket(socket.AF_UNIX) as guest:
        guest.connect(str(at))
        guest.sendall(line[:9])
        qtbot.waitUntil(lambda: any(read for _, read in first._guests.values()))
        with qtbot.waitSignal(first.raise_wanted, timeout=5000) as raised:
            guest.sendall(line[9:])
    assert raised.args == ["t"]


def test_who_connects_and_says_nothing_is_shown_out(first, at, qtbot, monkeypatch):
    monkeypatch.setattr(single_instance, "ANSWER_S", 0.1)
    with socket.socket(socket.AF_UNIX) as guest:
        guest.connect(str(at))
        guest.settimeout(5)
        qtbot.waitUntil(lambda: bool(first._guests))
        qtbot.waitUntil(lambda: not first._guests)
        assert guest.recv(1) == b""


def come(at: Path, guests: int) -> list[socket.socket]:
    """Let so many connect, one after the other, and say nothing."""
    silent = [socket.socket(socket.AF_UNIX) for _ in range(guests)]
    for guest in silent:
        guest.settimeout(5)
        guest.connect(str(at))
        QCoreApplication.processEvents()
    return silent


def test_only_so_many_are_let_in_at_once(first, at, qtbot):
    guests = come(at, single_instance.MAX_GUESTS + 1)
    try:
        qtbot.waitUntil(lambda: len(first._guests) == single_instance.MAX_GUESTS)
        assert guests[0].recv(1) == b""
    finally:
        for guest in guests:
            guest.close()


def test_who_says_nothing_keeps_nobody_out(first, at, qtbot):
    guests = come(at, 20)
    try:
        with qtbot.waitSignal(first.raise_wanted, timeout=3000) as raised:
            answers = asked(at, request("late"))
        assert raised.args == ["late"]
        qtbot.waitUntil(lambda: answers == [ANSWER])
    finally:
        for guest in guests:
            guest.close()


def test_who_asked_is_heard_before_others_take_the_room(first, at, qtbot):
    asking = socket.socket(socket.AF_UNIX)
    asking.connect(str(at))
    asking.sendall(request("early"))
    guests = [socket.socket(socket.AF_UNIX) for _ in range(single_instance.MAX_GUESTS)]
    for guest in guests:
        guest.connect(str(at))
    with qtbot.waitSignal(first.raise_wanted, timeout=3000) as raised:
        pass
    assert raised.args == ["early"]
    for guest in (asking, *guests):
        guest.close()


# --- First and second -------------------------------------------------------------------------

HOLDER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget
from lineclear.ui.desktop import single_instance
from lineclear.ui.desktop.single_instance import first_window
single_instance.ANSWER_S = float(sys.argv[3])
app = QCoreApplication([])
first = first_window(Path(sys.argv[1]), sys.argv[2])
if first is None:
    print("raised", flush=True)
else:
    first.raise_wanted.connect(lambda token: print("wanted", token, flush=True))
    print("first" if first.hung is None else f"first beside {first.hung}", flush=True)
    app.exec()
"""


def started(at: Path, token: str = "", answer_s: float = 5.0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(at), token, str(answer_s)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.fixture
def holder(at: Path) -> Iterator[subprocess.Popen[str]]:
    with started(at) as child:
        assert line(child) == "first"
        yield child
        child.kill()


def test_a_second_start_raises_the_first(holder, at):
    assert raise_first(at, "tok-2")
    assert line(holder) == "wanted tok-2"
    assert raise_first(at, "not a token")
    assert line(holder) == "wanted"


def test_the_socket_of_a_dead_window_is_taken_over(holder, at, qapp):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert at.is_socket()
    assert not raise_first(at, "")
    first = first_window(at, "")
    assert first is not None
    first.close()
    assert not at.exists()


def test_a_window_that_hangs_is_not_waited_for(holder, at, qapp, monkeypatch, caplog):
    monkeypatch.setattr(single_instance, "ANSWER_S", 0.2)
    holder.send_signal(signal.SIGSTOP)
    assert not raise_first(at, "")
    assert "does not answer" in caplog.text


def test_beside_a_window_that_hangs_one_opens_and_no_third(holder, at):
    holder.send_signal(signal.SIGSTOP)
    children = [started(at, answer_s=2.0) for _ in range(3)]
    try:
        said = {line(child): child for child in children}
        assert sorted(said) == [opened := f"first beside {holder.pid}", "raised"]
        # It takes its place back from nobody once it answers again.
        holder.send_signal(signal.SIGCONT)
        assert raise_first(at, "tok")
        assert [line(said[opened]) for _ in range(3)] == ["wanted", "wanted", "wanted tok"]
    finally:
        for child in children:
            child.kill()
            child.communicate()


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
def test_the_person_is_told_which_window_hangs_and_what_to_do(qtbot):
    window = QMainWindow()
    qtbot.addWidget(window)
    middle = QWidget()
    QVBoxLayout(middle).addWidget(PlainLabel("the table"))
    window.setCentralWidget(middle)
    window.show()
    strip = hung_window.tell_above(window, 4121)
    assert strip.isVisible()
    assert strip.label.text() == (
        "A Lineclear window that is open already does not answer, so this one opened. If it stays"
        " like that, end its process, 4121: nothing that it recorded is lost."
    )
    assert "process:" in hung_window.told(0)
    strip.button("hungWindowOk").click()
    assert not strip.isVisible()


def test_of_many_starts_at_once_one_is_the_first(at):
    children = [started(at) for _ in range(5)]
    try:
        said = [line(child) for child in children]
        assert sorted(word.split()[0] for word in said) == ["first"] + ["raised"] * 4
    finally:
        for child in children:
            child.kill()
            child.communicate()


def test_a_window_that_closes_leaves_another_ones_socket(at, qapp):
    older = FirstWindow(at)
    older.listen()
    newer = FirstWindow(at)
    newer.listen()
    older.close()
    assert at.is_socket()
    newer.close()
    assert not at.exists()


# --- Again ------------------------------------------------------------------------------------


@pytest.fixture
def displaced(at: Path, qapp, monkeypatch) -> Iterator[FirstWindow]:
    """The window of this process, in the place of which another process listens."""
    monkeypatch.setattr(single_instance, "LOOK_S", 0.05)
    window = FirstWindow(at)
    window.listen()
    yield window
    window.close()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_window_listens_again_when_the_one_in_its_place_is_over(displaced, at, qtbot, end):
    at.unlink()
    with started(at) as other:
        assert line(other) in {"first", "raised"}
        other.send_signal(end)
        other.wait()
    qtbot.waitUntil(displaced._listens)
    with qtbot.waitSignal(displaced.raise_wanted, timeout=5000) as raised:
        asked(at, request("again"))
    assert raised.args == ["again"]


def test_a_window_leaves_the_socket_to_another_one_that_lives(displaced, at, qtbot):
    newer = FirstWindow(at)
    newer.listen()
    found = at.stat().st_ino
    displaced._look()
    newer._look()
    assert at.stat().st_ino == found
    assert not displaced._listens()
    newer.close()
    qtbot.waitUntil(displaced._listens)


def test_a_window_listens_again_when_its_socket_is_removed(displaced, at, qtbot):
    at.unlink()
    qtbot.waitUntil(at.is_socket)
    assert at.stat().st_mode & 0o777 == 0o600
    displaced.close()
    assert not at.exists()
    assert not displaced._looks.isActive()


def test_a_window_that_could_not_listen_does_once_it_can(at, qapp, qtbot, monkeypatch):
    monkeypatch.setattr(single_instance, "LOOK_S", 0.05)
    at.write_text("mine")
    with pytest.raises(Refused):
        first_window(at, "")
    window = FirstWindow(at)
    window._look()
    assert at.read_text() == "mine"
    at.unlink()
    qtbot.waitUntil(window._listens)
    window.close()
    assert not at.exists()


def test_a_window_that_is_busy_is_not_taken_for_dead(holder, at):
    holder.send_signal(signal.SIGSTOP)
    guests = []
    while True:
        guest = socket.socket(socket.AF_UNIX)
        guest.setblocking(False)
        try:
            guest.connect(str(at))
        except BlockingIOError:
            guest.close()
            break
        guests.append(guest)
    going_on = threading.Timer(0.3, holder.send_signal, [signal.SIGCONT])
    going_on.start()
    assert raise_first(at, "tok")
    going_on.join()
    for guest in guests:
        guest.close()


@pytest.mark.parametrize("kind", ["file", "folder", "symlink"])
def test_what_is_no_socket_is_refused_and_left(at, home, kind):
    if kind == "file":
        at.write_text("mine")
    elif kind == "folder":
        at.mkdir()
    else:
        at.symlink_to(home / "elsewhere")
    with pytest.raises(Refused):
        first_window(at, "")
    assert os.path.lexists(at)


# --- Two users --------------------------------------------------------------------------------


# The interpreter may be where nobody else can start it, so it changes its user by itself.
AS_NOBODY = f"""
import os, socket, sys
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
"""


def as_nobody(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY + code, *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd="/",
    )


CONNECT = """
guest = socket.socket(socket.AF_UNIX)
guest.settimeout(10)
try:
    guest.connect(sys.argv[1])
    guest.sendall(sys.argv[2].encode())
    print(repr(guest.recv(100)))
except PermissionError:
    print("refused")
except ConnectionError:
    print(repr(b""))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike those of pytest."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@as_root
def test_another_user_cannot_connect(open_folder, qapp):
    at = open_folder / "socket"
    first = first_window(at, "")
    assert first is not None
    assert as_nobody(CONNECT, str(at), request().decode()).stdout == "refused\n"
    first.close()


@as_root
def test_another_user_who_gets_through_is_not_heard(open_folder, qapp, qtbot):
    at = open_folder / "socket"
    first = first_window(at, "")
    assert first is not None
    raised: list[str] = []
    first.raise_wanted.connect(raised.append)
    at.chmod(0o666)
    said: list[str] = []
    thread = threading.Thread(
        target=lambda: said.append(as_nobody(CONNECT, str(at), request().decode()).stdout)
    )
    thread.start()
    qtbot.waitUntil(lambda: bool(said), timeout=20000)
    thread.join()
    assert said == ["b''\n"]
    assert raised == []
    first.close()


LISTEN = """
door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
door.listen()
print("listens", flush=True)
door.accept()[0].sendall(b'{"v":1,"raised":true}\\n')
"""


@as_root
def test_another_users_socket_is_refused(open_folder):
    theirs = open_folder / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    at = theirs / "socket"
    with subprocess.Popen(
        [sys.executable, "-c", AS_NOBODY + LISTEN, str(at)],
        stdout=subprocess.PIPE,
        cwd="/",
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"listens\n"
        with pytest.raises(Refused, match="not this user's socket"):
            raise_first(at, "token")
        # Even where the file looks like ours, who listens is asked of the system.
        os.chown(at, 0, 0)
        with pytest.raises(Refused, match="another user listens"):
            raise_first(at, "token")
        child.kill()


@as_root
def test_a_runtime_folder_of_another_user_is_not_used(home, open_folder):
    theirs = open_folder / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, NOBODY, NOBODY)
    (home / "lineclear").mkdir()
    (home / "lineclear").chmod(0o777)
    with pytest.raises(Refused, match="not this user's alone"):
        place(home / "lineclear", [], {"XDG_RUNTIME_DIR": str(theirs)})


def test_the_system_says_who_is_at_the_other_end():
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert peer_uid(one) == (os.getuid() if sys.platform == "linux" else None)


# --- Tokens -----------------------------------------------------------------------------------


def test_the_token_of_a_start_is_taken_from_the_environment():
    assert startup_token({"XDG_ACTIVATION_TOKEN": "a", "DESKTOP_STARTUP_ID": "b"}) == "a"
    assert startup_token({"DESKTOP_STARTUP_ID": "b_TIME1"}) == "b_TIME1"
    assert startup_token({"XDG_ACTIVATION_TOKEN": "two words"}) == ""
    assert startup_token({}) == ""
