"""How much is stressed, where, and how a harness is run."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether everything is run, which takes some minutes, or a part of it."""
    return os.environ.get("LINECLEAR_STRESS") == "full"


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: thousands of stores are made and synced in it."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="lineclear-stress-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def harness(arena: Path) -> Callable[..., dict[str, Any]]:
    """Runs a harness of this folder in a process with one thread, which can fork and trace."""

    def run(module: str, *words: object) -> dict[str, Any]:
        argv = [sys.executable, "-m", f"tests.stress.{module}", arena, *words]
        ran = subprocess.run(
            [str(word) for word in argv], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        report: dict[str, Any] = json.loads(ran.stdout)
        return report

    return run
