import importlib.util
import sys
from typing import Any

import pytest

from lineclear.cli import programs
from lineclear.cli.main import main
from lineclear.core.errors import LineclearError
from tests.cli.program import lineclear

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
