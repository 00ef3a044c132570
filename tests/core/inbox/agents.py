"""Agents for these tests: calls asked in real stores, by this process or by one of its own."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.relaunch.launch import relaunch
from lineclear.core.inbox.rows.row import Detail
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.store import Store

_HOLDER = """
import sys
from pathlib import Path
from typing import Any, Self
from lineclear.core.ledger.ask import Call, ask
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.store import Store
run, lane, tool = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with AgentLock.acquire(run), Store.create(run / lane) as store:
    ask(store, Call(tool, {"to": "bob"}, run.name))
    print("ready", flush=True)
    sys.stdin.read()
"""

_FORK = """
    import os
    if os.fork() == 0:
        os.close(1)
        sys.stdin.read()
        os._exit(0)
"""
"""A child that ends when nobody writes to the agent any more, not with the agent."""


def call(tool="send_refund", arguments=None, agent="refund-bot", **said) -> Call:
    return Call(tool, {"customer": "C-1204"} if arguments is None else arguments, agent, **said)


def asked(folder: Path, said: Call | None = None) -> Any:
    """Ask in a store as its agent does, without a lock: nothing is known of the process."""
    with Store.create(folder) as store:
        answer = ask(store, said or call())
    assert isinstance(answer, Asked)
    return answer.shown


class Agent:
    """A real agent process that holds its run folder's lock and waits in a lane."""

    def __init__(self, run: Path, lane="1", tool="send_refund", *, forks: bool = False) -> None:
        program = _HOLDER.replace("    print(", f"{_FORK}    print(") if forks else _HOLDER
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(run), lane, tool],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def kill_alone(self) -> None:
        """Kill the agent; a child that it forked lives until `kill`."""
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.kill()


def watching(*folders: Path, **said) -> Settings:
    return Settings(sources=tuple(SourceSetting(path=folder) for folder in folders), **said)


def relaunched_at_once(
    number: int, detail: Detail, settings: Settings, despite: frozenset[str] = frozenset()
) -> list[str]:
    """Relaunch one row so many times at the same moment; give each one's number or refusal."""
    answers: list[str] = []
    barrier = threading.Barrier(number)

    def rival() -> None:
        barrier.wait()
        try:
            answers.append(str(relaunch(detail, settings, despite=despite).n))
        except Refusal as why:
            answers.append(why.code)

    threads = [threading.Thread(target=rival) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
