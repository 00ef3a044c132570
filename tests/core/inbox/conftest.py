"""The watched folder of these tests, and a command that tells that it runs."""

import pytest

from tests.core.inbox.rows.test_stopped_runs import command

MARKS = """
import os, pathlib, sys, time
ran, go = map(pathlib.Path, sys.argv[1:])
ran.joinpath(str(os.getpid())).touch()
while not go.exists():
    time.sleep(0.01)
"""


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "agents"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def marks(source, tmp_path):
    """Settings of a command that tells that it runs, and goes on until `go` is there."""
    (tmp_path / "ran").mkdir()
    yield command(source, "-c", MARKS, str(tmp_path / "ran"), str(tmp_path / "go"))
    (tmp_path / "go").touch()
