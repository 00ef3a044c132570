"""Real processes of the end-to-end tests: the command line, and agents that can be killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.desktop import wait_for

ROOT = Path(__file__).parents[2]
"""Where all processes start, so that the agents are found as `tests.e2e.agents`."""

CLI = (sys.executable, "-m", "lineclear")


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What `--json` printed."""
        assert self.code == 0, f"exit {self.code}: {self.err}{self.out}"
        return json.loads(self.out)


def lineclear(*arguments: str | Path, expect: int | None = None, **more_env: str) -> Ended:
    """Run the command line to its end, checking the exit code where one is expected."""
    done = subprocess.run(
        [*CLI, *map(str, arguments)],
        env={**os.environ, **more_env},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    ended = Ended(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in ended.err, ended.err
    if expect is not None:
        assert ended.code == expect, f"exit {ended.code}, not {expect}: {ended.err}{ended.out}"
    return ended


def listed(*options: str | Path) -> list[dict[str, Any]]:
    """What `lineclear list --json` gives."""
    rows: list[dict[str, Any]] = lineclear("list", "--json", *options).json
    return rows


def row_of(aid: str, *options: str | Path) -> dict[str, Any]:
    """The row of one call, closed or open."""
    return next(row for row in listed("--all", *options) if row["id"] == aid)


class Program:
    """A process of its own session whose output goes to a file."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    @property
    def pid(self) -> int:
        return self.process.pid

    def text(self) -> str:
        """All that it printed so far, on both streams."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def said(self) -> list[dict[str, Any]]:
        """The JSON objects among the lines that it printed so far."""
        return [json.loads(line) for line in self.text().splitlines() if line.startswith("{")]

    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """End it as a power loss or the kernel would: kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(20)

    def ended(self, seconds: float = 30) -> int:
        """Wait for its end; its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end after {seconds:g} s; it said: {self.text()}") from None

    def finishes(self, seconds: float = 30) -> "Program":
        """Wait for a good end."""
        code = self.ended(seconds)
        assert code == 0, f"exit {code}: {self.text()}"
        return self


_running: list[Program] = []


@contextlib.contextmanager
def started(argv: list[str | Path], log: Path, **more_env: str) -> Iterator[Program]:
    """A program that runs at most as long as the block."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            list(map(str, argv)),
            env={**os.environ, "PYTHONUNBUFFERED": "1", **more_env},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    program = Program(process, log)
    _running.append(program)
    try:
        yield program
    finally:
        _running.remove(program)
        # Its children too: a tool that hangs on purpose is one.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)


def agent(
    name: str, *arguments: str | Path, log: Path, **more_env: str
) -> contextlib.AbstractContextManager[Program]:
    """Start one of the agent programs."""
    return started([sys.executable, "-m", f"tests.e2e.agents.{name}", *arguments], log, **more_env)


# --- What stands on disk, read without the library ---------------------------------------------


def agents_folder() -> Path:
    """The default source of this test's home."""
    return Path(os.environ["LINECLEAR_HOME"]) / "agents"


def lane(name: str, number: int = 1) -> Path:
    """A store of a run folder under the default source."""
    return agents_folder() / name / str(number)


def records(store: Path, kind: str) -> list[dict[str, Any]]:
    """The records of one kind in a store, oldest first."""
    found = sorted((store / ".approvals").glob(f"*.{kind}.json"))
    return [json.loads(path.read_bytes()) for path in found]


def pending_aid(store: Path) -> str | None:
    """The id of the call that a native store's pending.json shows; None when nothing waits."""
    try:
        raw = (store / "pending.json").read_bytes()
    except FileNotFoundError:
        return None
    aid: str = json.loads(raw)["lineclear"]["aid"]
    return aid


def settings(**what: Any) -> None:
    """Write settings.json into this test's home."""
    home = Path(os.environ["LINECLEAR_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "settings.json").write_text(json.dumps({"v": 1, **what}))


def command(name: str, *arguments: str | Path) -> dict[str, Any]:
    """A resume command of the settings that starts one of the agent programs."""
    argv = [sys.executable, "-m", f"tests.e2e.agents.{name}", *map(str, arguments)]
    return {"argv": argv, "cwd": str(ROOT)}


def waiting(store: Path, after: str | None = None, seconds: float = 20) -> str:
    """Wait until a call waits in a store, another one than AFTER; its id."""

    def look() -> str | None:
        for program in _running:
            assert program.process.poll() in (None, 0), f"an agent died: {program.text()}"
        aid = pending_aid(store)
        return None if aid == after else aid

    found = wait_for(f"a call in {store}", look, seconds)
    assert found is not None
    return found


def effects(path: Path) -> list[str]:
    """The lines that tools appended, each for one execution."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
