"""`config trust`: shows exactly what would run, asks, and copies that for one run alone."""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.program import lineclear

PROPOSED = f"""
argv = ["{sys.executable}", "/srv/bot/agent.py", "two\\nlines", "{{store}}"]
cwd = "/"
[env]
MODE = "prod"
"""


@pytest.fixture
def store(tmp_path):
    made = tmp_path / "bot" / "1"
    made.mkdir(parents=True, mode=0o700)
    (made.parent / "resume.toml").write_text(PROPOSED)
    return made


def launches(home):
    path = home / "lineclear" / "settings.json"
    return json.loads(path.read_text()).get("launch", []) if path.exists() else []


def test_it_is_shown_whole_and_without_a_yes_nothing_counts(home, store):
    done = lineclear("config", "trust", store)
    assert done.returncode == 4
    assert "[not_asked]" in done.stderr
    for line in (
        f"    {sys.executable}",
        "    /srv/bot/agent.py",
        "    two\u23celines",
        "    {store}",
        "    MODE=prod",
    ):
        assert line in done.stdout.splitlines()
    assert launches(home) == []


def test_with_a_yes_exactly_this_counts_for_this_run_alone(home, store):
    done = lineclear("config", "trust", store, "--yes")
    assert done.returncode == 0
    assert launches(home) == [
        {
            "argv": [sys.executable, "/srv/bot/agent.py", "two\nlines", "{store}"],
            "cwd": "/",
            "env": {"MODE": "prod"},
            "source": str(store.parent),
        }
    ]
    again = lineclear("config", "trust", store.parent)
    assert again.returncode == 0
    assert "trust exactly this command already" in again.stdout


def test_a_file_that_was_changed_since_is_told_and_does_not_count(home, store):
    lineclear("config", "trust", store, "--yes")
    (store.parent / "resume.toml").write_text('argv = ["/bin/rm", "-rf", "/srv"]')
    done = lineclear("config", "trust", store)
    assert "not the command that you trusted" in done.stdout
    assert launches(home)[0]["argv"][0] == sys.executable


def test_a_run_that_proposes_nothing_or_nonsense_is_told(home, store):
    (store.parent / "resume.toml").write_text('argv = ["python3"]')
    done = lineclear("config", "trust", store, "--yes")
    assert done.returncode == 4
    assert "absolute path" in done.stderr
    (store.parent / "resume.toml").unlink()
    assert lineclear("config", "trust", store, "--yes").returncode == 5
    assert launches(home) == []


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
@pytest.mark.parametrize("answer, count", [(b"\n", 0), (b"yes\n", 1)])
def test_on_a_terminal_it_asks(home, store, answer, count):
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "lineclear", "config", "trust", str(store)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    told = b""
    while b"y/N" not in told:
        told += os.read(ours, 4096)
    os.write(ours, answer)
    assert running.wait(30) == 0
    os.close(ours)
    assert len(launches(home)) == count
