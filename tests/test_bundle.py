"""The frozen programs: built once, then started as a user starts them; any stray output fails."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lineclear.core.ledger.ask import Call, ask
from lineclear.core.ledger.store import Store

ROOT = Path(__file__).resolve().parent.parent
BUILD_S = 900

pytestmark = [pytest.mark.bundle, pytest.mark.timeout(BUILD_S + 120)]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the two programs."""
    work = tmp_path_factory.mktemp("bundle")
    build = [
        *(sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
        *("--distpath", str(work / "dist"), "--workpath", str(work / "build")),
        str(ROOT / "packaging" / "lineclear.spec"),
    ]
    done = subprocess.run(
        build, cwd=ROOT, timeout=BUILD_S, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return work / "dist" / "lineclear"


@pytest.fixture
def source(home: Path) -> Path:
    """The default source of this test's home, with one call in it."""
    source = home / "lineclear" / "agents"
    with Store.create(source / "refund-bot" / "1") as store:
        ask(store, Call("send_refund", {"amount": 80}, "refund-bot"))
    return source


def test_the_frozen_command_line_lists_what_waits(bundle, source):
    done = subprocess.run(
        [str(bundle / "lineclear"), "list", "--json"], capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
    assert [row["tool"] for row in json.loads(done.stdout)] == ["send_refund"]


def test_the_frozen_window_opens_watches_and_ends(bundle, source):
    child = subprocess.Popen(
        [str(bundle / "lineclear-inbox")],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        end = time.monotonic() + 60
        watched = source / ".watched"
        while not (watched.is_dir() and any(watched.iterdir())):
            assert child.poll() is None, child.communicate()[0]
            assert time.monotonic() < end, "it never watched"
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=20)
    finally:
        child.kill()
    assert (child.returncode, said) == (0, "")
