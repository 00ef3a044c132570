"""Relaunching a dead agent: the command comes only from the operator's settings, never from a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lineclear.core.inbox.rows import Detail, Row
from lineclear.core.inbox.settings import LaunchSetting, Settings


@dataclass(frozen=True, slots=True)
class Launched:
    """A started relaunch: where its output goes."""

    pid: int
    n: int
    log: Path
    argv: tuple[str, ...]


def command_for(row: Row, settings: Settings) -> LaunchSetting | None:
    """The configured command for this row: by agent first, then by source; None: nothing is configured."""
    raise NotImplementedError


def relaunch(detail: Detail, settings: Settings) -> Launched:
    """Start the resume in its own session with the original library paths; its output goes to launch-N.log.

    Native stores: the configured command itself (it takes its own lock). Foreign stores: `lineclear run-claimed`.
    Raises Refusal (`no_command`, `alive`, `too_many_launches`: 3 in 10 min, `not_decided`), NotConfirmed.
    """
    raise NotImplementedError


def run_claimed(store: Path, aid: str, settings: Settings) -> int:
    """The detached worker for a foreign store: claim, commit start, run, wait, commit outcome; exit code."""
    raise NotImplementedError
