import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.core.ledger import presence
from tests.cli.program import wait_for
from tests.demo.test_stage import processes_of

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.timeout(120),
]


def demo(*words, **variables):
    return subprocess.Popen(
        [sys.executable, "-m", "lineclear", "demo", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **variables},
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_without_a_display_it_says_how_to_answer_and_leaves_nothing(tmp_path, number):
    with demo(QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="", TMPDIR=str(tmp_path)) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first == "There is no display, so no window opens; the demo's agents go on.\n"
        told = ""
        while "Ctrl-C" not in told:
            told += process.stdout.readline()
        (home,) = tmp_path.iterdir()
        assert f"export LINECLEAR_HOME={home}\n" in told
        # The commands are typed as they are printed, in a shell with that one variable.
        (approve,) = re.findall(r"^    (.* approve [0-9a-f]{8})$", told, re.MULTILINE)
        (listing,) = re.findall(r"^    (.* list)$", told, re.MULTILINE)
        for command, answer in ((listing, "waiting"), (approve, "Approved.")):
            done = subprocess.run(
                shlex.split(command),
                env={**os.environ, "LINECLEAR_HOME": str(home)},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert answer in done.stdout
        process.send_signal(number)
        _, complaint = process.communicate(timeout=30)
    assert process.returncode == 130
    assert complaint == "lineclear: Stopped.\n"
    assert not home.exists()
    wait_for(lambda: not processes_of(home))


def test_a_home_of_ones_own_is_kept(tmp_path):
    home = tmp_path / "mine"
    with demo("--no-window", "--home", home) as process:
        wait_for((home / "agents" / "refund-bot").exists)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert (home / "settings.json").exists()
    assert (home / "agents" / "refund-bot").exists()
    wait_for(lambda: not processes_of(home))


def test_the_windows_end_is_the_demos(tmp_path):
    home = tmp_path / "demo"
    with demo("--home", home, QT_QPA_PLATFORM="offscreen") as process:
        source = home / "agents"
        # A source is announced as watched once the window's first scan has begun.
        wait_for(lambda: source.exists() and presence.watched(source), "the window watches")
        window = next(
            pid
            for pid, command in processes_of(home).items()
            if command.endswith("lineclear.ui.app --demo ")
        )
        assert Path(f"/proc/{window}/status").exists()
        os.kill(window, signal.SIGTERM)
        out, complaint = process.communicate(timeout=30)
    assert (process.returncode, complaint) == (0, "")
    assert out.endswith("The demo has ended; its agents are gone.\n")
    wait_for(lambda: not processes_of(home))


def test_a_second_demo_in_one_home_is_told_who_is_first(tmp_path):
    home = tmp_path / "demo"
    with demo("--no-window", "--home", home) as first:
        wait_for((home / "agents" / "refund-bot").exists)
        with demo("--no-window", "--home", home) as second:
            _, complaint = second.communicate(timeout=30)
        assert second.returncode == 6
        assert str(first.pid) in complaint
        assert (home / "agents" / "refund-bot").exists()
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=30)
    assert first.returncode == 130


@pytest.mark.skipif(sys.platform != "linux", reason="needs a signal at a parent's death")
def test_a_killed_demo_takes_its_window_along(tmp_path):
    home = tmp_path / "demo"
    with demo("--home", home, QT_QPA_PLATFORM="offscreen") as process:
        source = home / "agents"
        wait_for(lambda: source.exists() and presence.watched(source), "the window watches")
        process.kill()
        process.wait()
        try:
            wait_for(
                lambda: not any("ui.app" in command for command in processes_of(home).values()),
                "the window ends",
            )
        finally:
            for pid in processes_of(home):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
