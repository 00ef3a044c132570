"""A build that cannot go on says so in a sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ends before Linux' packages")


def built(work: Path, output: Path, **env: str) -> tuple[int, str]:
    """Build in the environment of the tests; the exit code, and all that was said."""
    places = ["--output", str(output), "--work", str(work), "--no-trial"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "packaging" / "build.py"), *places],
        env={**os.environ, "LINECLEAR_BUILD": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=50,
        check=False,
    )
    return done.returncode, done.stdout


def program(folder: Path, name: str, ends: str) -> Path:
    """A module that is found before the installed one of its name, and how it ends."""
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        f"import os, sys\nprint('so it was', flush=True)\n{ends}\n"
    )
    return folder


@pytest.mark.parametrize(
    "name, ends, told",
    [
        ("PyInstaller", "sys.exit(3)", "exit code 3"),
        ("hatchling", "sys.exit('no backend')", "exit code 1"),
        ("hatchling", "os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_where_a_program_fails_it_says_which_one(tmp_path, name, ends, told):
    first = program(tmp_path / "first", name, ends)
    code, said = built(tmp_path / "work", tmp_path / "dist", PYTHONPATH=str(first))
    last = said.splitlines()[-1]
    assert code == 1
    assert last.startswith(f"dev: The build stopped: {sys.executable} -m {name} ")
    assert last.endswith(f" ended with {told}.")
    assert "Traceback" not in said


def test_where_it_cannot_write_it_says_where(tmp_path):
    taken = tmp_path / "dist"
    taken.touch()
    assert built(tmp_path / "work", taken) == (
        1,
        f"dev: The build stopped: {taken}: File exists.\n",
    )
