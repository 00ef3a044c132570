"""The program itself, as a process: it starts, says what is wrong, and ends at once when told."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lineclear.core.inbox.operator import operator_state
from lineclear.ui.app import parse
from lineclear.ui.frame.window_state import WindowState, read_state, write_state
from tests.ui.sample import ask_for

END_S = 5.0
SEES = """
import asyncio, sys
from lineclear.ui import running
from lineclear.ui.app import parse

async def read(window):
    while not window.model.rowCount():
        await asyncio.sleep(0.02)
    window.table.choose(window.model.id_at(0))
    while window.flow.view.prepared is None or not window.own_view.kept.state.seen:
        await asyncio.sleep(0.02)
    print("seen", flush=True)

running.start(parse(["--source", sys.argv[1]]), read)
"""
"""A person who reads the first call."""
APP = Path(__file__).resolve().parents[2] / "app"


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lineclear.ui.app", *arguments],
        cwd=cwd,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def watched(source: Path) -> bool:
    """Whether a window announced itself in the folder."""
    folder = source / ".watched"
    return folder.is_dir() and any(folder.iterdir())


def wait_until_it_watches(source: Path, child: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 30
    while not watched(source):
        assert child.poll() is None, child.communicate()[0]
        assert time.monotonic() < end, "it never watched"
        time.sleep(0.02)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(
    "told", [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name != "nt" else [])]
)
def test_it_ends_at_once_and_quietly_when_told(tmp_path, told):
    source = tmp_path / "agents"
    source.mkdir()
    ask_for(source)
    child = start("--source", str(source), cwd=tmp_path)
    try:
        wait_until_it_watches(source, child)
        began = time.monotonic()
        child.send_signal(told)
        said, _ = child.communicate(timeout=END_S)
    finally:
        child.kill()
    assert (child.returncode, said) == (0, "")
    assert time.monotonic() - began < END_S
    assert not watched(source)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_damaged_settings_stand_aside_and_the_window_opens(tmp_path, home):
    settings = home / "lineclear" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"v": 1, "v": 2}')
    child = start(cwd=tmp_path)
    try:
        wait_until_it_watches(home / "lineclear" / "agents", child)
        child.send_signal(signal.SIGTERM)
        said, _ = child.communicate(timeout=END_S)
    finally:
        child.kill()
    assert (child.returncode, said) == (0, "")
    (aside,) = settings.parent.glob("settings.json.damaged-*")
    assert aside.read_text() == '{"v": 1, "v": 2}'
    assert not settings.exists()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
def test_without_a_display_it_says_so(tmp_path):
    child = subprocess.run(
        [sys.executable, "-m", "lineclear.ui.app"],
        cwd=tmp_path,
        env={
            name: value
            for name, value in os.environ.items()
            if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert child.returncode == 1
    assert child.stderr.startswith("lineclear-inbox: There is no display here")


AS_MODULE = ("-m", "lineclear.ui.app")
AS_SCRIPT = ("-c", "import sys; from lineclear.ui.app import main; sys.exit(main())")
"""What pip writes into the program of an entry point."""


def without_packages(*arguments: str, cwd: Path, first: Path = APP) -> tuple[int, str]:
    """Run a Python that has Lineclear and no installed packages; its exit code and words."""
    done = subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": f"{first}{os.pathsep}{APP}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("words", [AS_MODULE, AS_SCRIPT, (*AS_SCRIPT, "--self-check")], ids=str)
def test_without_the_windows_packages_it_says_what_to_install(tmp_path, words):
    code, told = without_packages(*words, cwd=tmp_path)
    assert code == 1
    assert told == (
        "lineclear-inbox: The window needs PySide6, qasync and pygments: pip install"
        " 'lineclear[gui]'. Without it, `lineclear list` shows what waits.\n"
    )


def test_without_the_windows_packages_it_still_tells_its_options(tmp_path):
    code, told = without_packages(*AS_MODULE, "--help", cwd=tmp_path)
    assert code == 0
    assert told.startswith("usage: lineclear-inbox ")


@pytest.mark.skipif(sys.platform != "linux", reason="the words of Linux's loader")
@pytest.mark.parametrize("words", [AS_MODULE, AS_SCRIPT], ids=str)
def test_where_qt_cannot_be_loaded_it_says_what_the_loader_said(tmp_path, words):
    packages = tmp_path / "packages"
    for name in ("PySide6", "qasync", "pygments"):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").touch()
    library = packages / "PySide6" / "QtCore.abi3.so"
    library.touch()
    code, told = without_packages(*words, cwd=tmp_path, first=packages)
    assert code == 1
    assert told == (
        f"lineclear-inbox: The window cannot be loaded: {library}: file too short. Install what"
        " this names. Without it, `lineclear list` shows what waits.\n"
    )


def test_sources_of_the_command_line():
    assert parse(["--source", "/a", "--source", "/b", "--demo"]).source == ["/a", "/b"]


def test_the_windows_shape_is_kept(tmp_path):
    state = WindowState(geometry="0f", panes=(1, 2, 3), columns="aa", told_tray=True)
    write_state(state, tmp_path)
    assert read_state(tmp_path) == state


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", json.dumps({"panes": "x"}).encode()])
def test_a_damaged_shape_is_a_fresh_window(tmp_path, raw):
    (tmp_path / "window.json").write_bytes(raw)
    assert read_state(tmp_path) == WindowState()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_put_off_and_seen_outlives_any_end(tmp_path, home, told):
    source = tmp_path / "agents"
    source.mkdir()
    aid = ask_for(source).shown.aid
    child = subprocess.Popen(
        [sys.executable, "-c", SEES, str(source)],
        cwd=tmp_path,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "seen\n"
        if told is signal.SIGKILL:
            end = time.monotonic() + END_S
            while aid not in operator_state.load().state.seen:
                assert time.monotonic() < end, "it was never written"
                time.sleep(0.02)
        child.send_signal(told)
        child.communicate(timeout=END_S)
    finally:
        child.kill()
    assert operator_state.load().state.seen == {aid: "pending"}
