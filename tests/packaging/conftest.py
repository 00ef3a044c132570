"""The virtual desktop is the end-to-end tests' own; the build is made once and shared."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import desktop

__all__ = ["desktop"]

ROOT = Path(__file__).resolve().parents[2]
BUILD_S = 900
# As for the scripts there: `building` and `dev` are found beside each other.
sys.path.append(str(ROOT / "packaging"))


class Release:
    """The folder of everything that `packaging/build.py` makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bundle = folder / "lineclear"

    def file(self, pattern: str) -> Path:
        """The one file whose name matches."""
        (found,) = self.folder.glob(pattern)
        return found

    @property
    def report(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((self.folder / "report.json").read_text())
        return told


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """What was built of this checkout: in the folder that $LINECLEAR_RELEASE names, else now."""
    built = os.environ.get("LINECLEAR_RELEASE")
    if built is not None:
        return Release(Path(built).resolve())
    with alone(tmp_path_factory) as work:
        if not (work / "dist" / "report.json").exists():
            build(work)
    return Release(work / "dist")


@contextlib.contextmanager
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that all workers of this run share, for one of them at a time."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    work = folder / "release"
    work.mkdir(exist_ok=True)
    with (work / "lock").open("w") as turn:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(turn, fcntl.LOCK_EX)
        yield work


def build(work: Path) -> None:
    places = ["--output", str(work / "dist"), "--work", str(work / "build"), "--rounds", "3"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "packaging" / "build.py"), *places, "--no-system-packages"],
        cwd=work,
        timeout=BUILD_S,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.fixture(scope="session")
def drawn_icons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The icons as the build draws them."""
    folder = tmp_path_factory.mktemp("icons")
    draw = [sys.executable, str(ROOT / "packaging" / "building" / "icons.py"), str(folder)]
    subprocess.run(draw, check=True, timeout=60)
    return folder
