"""The demo's stage: a home of its own, the agents' processes, and an end that leaves nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lineclear.core.errors import LineclearError
from lineclear.core.frozen import original_environment
from lineclear.core.inbox.deciding import path as deciding
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.operator.settings import (
    LaunchSetting,
    Settings,
    SourceSetting,
    load,
    save,
)
from lineclear.core.inbox.watching import scan
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.lock import AgentLock, look
from lineclear.core.ledger.state import State
from lineclear.demo.leash import STAGE

AGENTS: Final = ("refund-bot", "schema-bot", "deploy-bot", "payout-bot", "web-bot")
"""The pretend agents, in the order in which they start."""
RESUMABLE: Final = {
    "deploy-bot": "lineclear.demo.executors:deploy_bot",
    "payout-bot": "lineclear.demo.executors:payout_bot",
    "schema-bot": "lineclear.demo.executors:schema_bot",
}
"""Factories by which the window relaunches those that died."""
DIES_RUNNING: Final = "payout-bot"
_OWN_NOTE: Final = "Approved by the demo itself, to show a call that may have run."
_TERMINATE_S: Final = 3.0


@dataclass(slots=True)
class Stage:
    """A running demo; `tick` now and then, `close` at the end."""

    home: Path
    command: tuple[str, ...]
    """argv that starts `lineclear`."""
    keep: bool = False
    """Whether the home stays when the demo ends."""
    _lock: AgentLock | None = None
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _approved: bool = False

    @property
    def source(self) -> Path:
        """Where the pretend agents leave their calls."""
        return self.home / "agents"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every process of the demo."""
        return {**original_environment(os.environ), "LINECLEAR_HOME": str(self.home)}

    def open(self) -> None:
        """Make the home, write its settings, start the agents; StoreHeld: a demo runs there."""
        self.source.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = AgentLock.acquire(self.home / STAGE)
        save(self._settings(), self.home)
        (self.home / "logs").mkdir(mode=0o700, exist_ok=True)
        for name in AGENTS:
            self._start(name)

    def tick(self) -> None:
        """Reap who died, and say the demo's own yes to the call that is to end halfway."""
        for process in self._processes.values():
            process.poll()
        if not self._approved:
            # Files that appear and change meanwhile are looked at again with the next tick.
            with contextlib.suppress(LineclearError, OSError):
                self._approved = self._approve()

    def running(self) -> list[str]:
        """Name the agents whose first process still lives."""
        return [name for name, process in self._processes.items() if process.poll() is None]

    def close(self) -> None:
        """End all agents, relaunched ones too, and remove the home unless it is kept."""
        for process in self._processes.values():
            with contextlib.suppress(OSError):
                process.terminate()
        if self._lock is not None:
            # Whoever was relaunched is no child of ours: the lock's end is its signal.
            self._lock.close()
            self._lock = None
        deadline = time.monotonic() + _TERMINATE_S
        for process in self._processes.values():
            try:
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        _wait_until(lambda: not self._held(), deadline)
        if not self.keep:
            shutil.rmtree(self.home, ignore_errors=True)

    def _start(self, name: str) -> None:
        with (self.home / "logs" / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [*self.command, "demo-agent", name, str(self.home)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                # Ctrl-C in the demo's terminal is the stage's to pass on.
                start_new_session=True,
            )

    def _settings(self) -> Settings:
        known = load(self.home)
        launches = tuple(
            LaunchSetting(
                agent=name,
                argv=(*self.command, "resume", "{store}", "--agent", factory),
                cwd=self.home,
                env={"LINECLEAR_HOME": str(self.home)},
            )
            for name, factory in RESUMABLE.items()
        )
        others = tuple(one for one in known.launch if one.agent not in RESUMABLE)
        return known.model_copy(update={"launch": (*others, *launches)})

    def _approve(self) -> bool:
        settings = load(self.home)
        source = SourceSetting(path=self.source / DIES_RUNNING)
        if not source.path.is_dir():
            return False
        for row in scan.scan_once(settings, (source,)):
            if row.state is State.PENDING:
                verdict = Verdict("approve", note=_OWN_NOTE)
                deciding.decide(scan.read_detail(row), verdict, Origin.CLI, settings)
                return True
            # An earlier demo in a kept home has come this far. A run between two calls has no
            # decision: its call is still to come.
            if row.decision is not None:
                return True
        return False

    def _held(self) -> bool:
        return any(look(lock.parent).held for lock in self.source.rglob(LOCK))


def sweep(folder: Path, prefix: str) -> None:
    """Remove what demos that were killed left in FOLDER; one that runs holds its stage's lock."""
    for home in folder.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            own = not home.is_symlink() and home.stat().st_uid == _own_uid()
            if own and look(home / STAGE).held is False:
                shutil.rmtree(home, ignore_errors=True)


def _own_uid() -> int:
    # Windows has none, and says 0 of every file.
    return os.getuid() if hasattr(os, "getuid") else 0


def _wait_until(fact: Callable[[], bool], deadline: float) -> None:
    while not fact() and time.monotonic() < deadline:
        time.sleep(0.05)
