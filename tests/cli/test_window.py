import importlib.util
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from lineclear.cli import programs
from lineclear.cli.main import main
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator.settings import settings_path
from lineclear.core.ledger import presence
from lineclear.core.ledger.lock import look
from tests.cli.program import lineclear, wait_for

NO_DISPLAY: dict[str, Any] = {"QT_QPA_PLATFORM": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_the_inbox_says_what_to_type_instead():
    done = lineclear("inbox", **NO_DISPLAY)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "lineclear: There is no display to open the window on. "
        "`lineclear list` shows what waits, `lineclear watch` follows it.\n"
    )


def test_without_qt_the_inbox_says_what_to_install(monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "PySide6" else found(name)
    )
    assert main(["inbox"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("lineclear: The window needs PySide6: pip install 'lineclear[gui]'.")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a window needs a display")
@pytest.mark.parametrize("words", [(), ("--detach",)])
def test_the_window_watches_until_it_is_ended(tmp_path, home, words):
    command = [sys.executable, "-m", "lineclear", "inbox", "--source", str(tmp_path), *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: presence.watched(tmp_path), "the window watches")
        (folder,) = (tmp_path / presence.FOLDER).iterdir()
        # Held first, named a moment later.
        wait_for(lambda: look(folder).owner is not None, "the lock says who watches")
        owner = look(folder).owner
        assert owner is not None
        if words:
            assert process.wait(20) == 0
        else:
            assert owner.pid == process.pid
        os.kill(owner.pid, signal.SIGTERM)
        wait_for(lambda: not presence.watched(tmp_path), "the window is gone")
        _, told = process.communicate(timeout=20)
    assert (process.returncode, told) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a window needs a display")
def test_damaged_settings_open_the_window_which_keeps_them_aside(tmp_path, home):
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{ damaged")
    command = [sys.executable, "-m", "lineclear", "inbox", "--source", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: presence.watched(tmp_path), "the window watches")
        process.terminate()
        process.communicate(timeout=20)
    (kept,) = path.parent.glob("settings.json.damaged-*")
    assert kept.read_text() == "{ damaged"


def test_a_source_that_is_no_folder_opens_no_window(tmp_path):
    assert lineclear("inbox", "--source", tmp_path / "absent").returncode == 1


def test_in_a_bundle_the_windows_program_stands_beside_this_one(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "lineclear"))
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(LineclearError, match=str(tmp_path / "lineclear-inbox")):
        programs.window()
    (tmp_path / "lineclear-inbox").touch()
    assert programs.window() == (str(tmp_path / "lineclear-inbox"),)


def test_from_source_it_is_a_module_of_this_python():
    assert programs.window() == (sys.executable, "-m", "lineclear.ui.app")
