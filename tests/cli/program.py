"""The command line as its users have it: a process, its output, its exit code."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
PATIENCE_S = 20.0


def lineclear(
    *words: str | Path, stdin: bytes = b"", cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "lineclear", *map(str, words)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **variables},
        timeout=60,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args,
        done.returncode,
        done.stdout.decode("utf-8", "surrogateescape"),
        done.stderr.decode("utf-8", "surrogateescape"),
    )


def listed(*words: str | Path) -> list[dict[str, Any]]:
    """Give what `list --json` prints."""
    done = lineclear("list", "--json", *words)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert isinstance(rows, list)
    return rows


def wait_for(fact: Callable[[], T], what: str = "") -> T:
    """Give the first true value of FACT."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = fact()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail(f"not in {PATIENCE_S} s: {what or fact}")


AGENT = """
import asyncio, json, sys
from pathlib import Path
from lineclear.core.agent.gate import Gate

async def main():
    with Gate(sys.argv[1]) as gate:
        async def tool(**arguments):
            with open(sys.argv[2], "a") as ran:
                print(json.dumps(arguments), file=ran)
            if "die" in sys.argv:
                import os, signal
                os.kill(os.getpid(), signal.SIGKILL)
            return "done"
        tool.__name__ = tool.__qualname__ = sys.argv[3]
        from lineclear.core.agent.passage import Settled
        step = await gate.ask(sys.argv[3], json.loads(sys.argv[4]))
        if isinstance(step, Settled):
            print("settled", flush=True)
            return
        text = await tool(**step.arguments)
        await step.finish("ok", text)
        print("finished", flush=True)

asyncio.run(main())
"""


class Agent:
    """A real agent process that asks for one call."""

    def __init__(self, process: subprocess.Popen[str], ran: Path) -> None:
        self.process = process
        self._ran = ran

    def runs(self) -> list[Any]:
        """Give the arguments of each time that the tool ran."""
        if not self._ran.exists():
            return []
        return [json.loads(line) for line in self._ran.read_text().splitlines()]

    def kill(self) -> None:
        """Let it die as by `kill -9`."""
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def agent(
    folder: Path, *more: str, name: str = "bot", tool: str = "send", arguments: Any = None
) -> Iterator[Agent]:
    """Start an agent that asks, and wait until its call is listed."""
    ran = folder / f"{name}.ran"
    asked = {"to": "bob", "amount": 10} if arguments is None else arguments
    words = [sys.executable, "-c", AGENT, name, str(ran), tool, json.dumps(asked), *more]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Agent(process, ran)
        finally:
            process.kill()


def only_row(*words: str | Path, state: str | None = None) -> dict[str, Any]:
    """Wait until exactly one row is listed, in that state if one is given."""

    def look() -> dict[str, Any] | None:
        rows = listed(*words)
        if len(rows) == 1 and (state is None or rows[0]["state"] == state):
            return rows[0]
        return None

    row = wait_for(look, f"one row in state {state}")
    assert row is not None
    return row
