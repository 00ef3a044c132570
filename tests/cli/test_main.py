import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import lineclear

COMMANDS = [
    "inbox",
    "list",
    "show",
    "watch",
    "approve",
    "deny",
    "modify",
    "take-back",
    "resolve",
    "resume",
    "relaunch",
    "config",
    "doctor",
    "tidy",
    "demo",
]


def imported_by(*words):
    code = (
        "import sys; from lineclear.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print('IMPORTED', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return set(done.stdout.rpartition("IMPORTED")[2].split())


def test_help_names_every_command_and_every_exit_code():
    done = lineclear("--help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert f"\n    {command}" in done.stdout
    for code in range(9):
        assert f"\n  {code}  " in done.stdout
    assert "run-claimed" not in done.stdout
    assert "demo-agent" not in done.stdout
    assert "==SUPPRESS==" not in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    done = lineclear(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: lineclear {command}")


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("list", "--help")])
def test_help_and_version_import_nothing_heavy(words):
    assert not imported_by(*words) & {"pydantic", "watchfiles", "asyncio", "platformdirs"}


def test_list_does_without_the_watcher_and_the_agents_side():
    loaded = imported_by("list")
    assert "pydantic" in loaded
    assert not loaded & {"watchfiles", "asyncio", "lineclear.core.agent.gate"}


def test_the_version_is_the_packages():
    done = lineclear("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("lineclear 0.")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("lst",),
        ("list", "--jso"),
        ("approve",),
        ("deny", "3f2a19c4"),
        ("modify", "3f2a19c4"),
        ("resolve", "3f2a19c4"),
        ("resolve", "3f2a19c4", "--ran"),
        ("resolve", "3f2a19c4", "--ran", "--not-run", "--note", "x"),
        ("resume", "/tmp"),
        ("config", "nope"),
    ],
)
def test_what_is_not_understood_is_told_on_standard_error_with_exit_code_2(words):
    done = lineclear(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_what_was_typed_reaches_the_terminal_escaped():
    done = lineclear("list", "\x1b[31mred\u202e")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "\u202e" not in done.stderr


def test_an_unexpected_error_is_a_sentence_and_a_file(home):
    code = (
        "import sys, lineclear.cli.listing as listing\n"
        "def broken(*_): raise ZeroDivisionError('boom\\x1b')\n"
        "listing.run = broken\n"
        "from lineclear.cli.main import main\n"
        "sys.exit(main(['list']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    (kept,) = (home / "lineclear" / "errors").iterdir()
    assert str(kept) in done.stderr
    assert "ZeroDivisionError" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_reader_that_goes_away_ends_the_command_quietly():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write) as closed:
        done = subprocess.run(
            [sys.executable, "-m", "lineclear", "config", "show"],
            stdout=closed, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 141
    assert done.stderr == ""


def test_a_full_disk_is_told():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "lineclear", "config", "show"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_a_command_that_follows_with_130():
    process = subprocess.Popen(
        [sys.executable, "-m", "lineclear", "watch", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert '"complete"' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert told == "lineclear: Stopped.\n"


def test_a_relative_home_is_told_in_a_sentence(tmp_path):
    done = lineclear("list", LINECLEAR_HOME="here", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "lineclear: LINECLEAR_HOME is 'here', which means another folder for each program: set it "
        f"to an absolute path, for example '{tmp_path}/here'.\n"
    )
    assert list(tmp_path.iterdir()) == []
