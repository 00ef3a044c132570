"""The wheel holds what the window ships with, and finds it where it is installed."""

import configparser
import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = ROOT / "resources"
ICONS = sorted(path.name for path in (RESOURCES / "icons").iterdir())

READ_ALL = """
import sys
from pathlib import Path
import lineclear
from lineclear.ui import assets
print(Path(lineclear.__file__).parent)
for name in sys.argv[1:]:
    print(name, len(assets.read(f"icons/{name}")))
"""


LOCALE = ROOT / "resources" / "locale"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, timeout=120, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for sys.path with the wheel installed in it."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run(
        [*pip, "--target", str(target), str(wheel)], check=True, timeout=120, capture_output=True
    )
    return target


def test_it_holds_every_module_and_icon_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    code = {
        path.relative_to(ROOT / "app").as_posix()
        for path in (ROOT / "app").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    icons = {f"lineclear/resources/icons/{name}" for name in ICONS}
    locale = {
        f"lineclear/resources/locale/{path.relative_to(LOCALE).as_posix()}"
        for path in LOCALE.rglob("*")
        if path.is_file()
    }
    assert code | icons | locale <= names
    rest = names - code - icons - locale
    assert {name.split("/")[0] for name in rest} == {
        f"lineclear-{metadata.version('lineclear')}.dist-info"
    }


def test_its_programs_and_its_licence_are_named(wheel):
    with zipfile.ZipFile(wheel) as archive:
        info = f"lineclear-{metadata.version('lineclear')}.dist-info"
        entries = configparser.ConfigParser()
        entries.read_string(archive.read(f"{info}/entry_points.txt").decode())
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert dict(entries["console_scripts"]) == {"lineclear": "lineclear.cli.main:main"}
    assert dict(entries["gui_scripts"]) == {"lineclear-inbox": "lineclear.ui.app:main"}


def test_the_installed_wheel_reads_its_own_files(installed, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, *ICONS],
        cwd=tmp_path,
        env=env,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    where, *sizes = done.stdout.splitlines()
    assert Path(where) == installed / "lineclear"
    assert sizes == [f"{name} {(RESOURCES / 'icons' / name).stat().st_size}" for name in ICONS]


def test_the_installed_command_line_runs(installed, tmp_path, home):
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-m", "lineclear", "list", "--json"],
        cwd=tmp_path,
        env=env,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_its_window_says_what_to_install_where_nothing_else_is(installed, tmp_path):
    # The very file that pip writes; -S leaves out all that is installed.
    done = subprocess.run(
        [sys.executable, "-S", str(installed / "bin" / "lineclear-inbox")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "lineclear-inbox: The window needs PySide6, qasync and pygments: pip install"
        " 'lineclear[gui]'. "
    )
