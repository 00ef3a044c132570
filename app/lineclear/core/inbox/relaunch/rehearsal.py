"""What a resume command would do, without doing it: nothing here starts anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.operator.settings import LaunchSetting
from lineclear.core.inbox.relaunch.command import PLACEHOLDERS, environment, filled, start_folder
from lineclear.core.inbox.rows.row import Row
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A command as it would be started."""

    argv: tuple[str, ...]
    """Filled in for a call, where one was given."""
    cwd: Path
    passed: tuple[str, ...]
    """Names of the variables that it gets from this program's own environment."""
    added: Mapping[str, str]
    """Variables that the command itself sets."""
    wrong: tuple[str, ...]
    """Why it would not start, in sentences; empty: nothing stands in its way."""

    def lines(self) -> list[str]:
        """Say it whole, one argument a line, everything odd as a visible token."""
        nothing = worded("nothing")
        return [
            worded("Program and arguments"),
            *(f"  {shown_argument(part)}" for part in self.argv),
            worded("Started in"),
            f"  {path_text(self.cwd)}",
            worded("Environment that it sets"),
            *(
                [f"  {visible_line(n)}={shown_argument(v)}" for n, v in self.added.items()]
                or [joined(("  ", nothing), by="")]
            ),
            worded("Environment that it is handed on"),
            joined(("  ", ", ".join(self.passed) or nothing), by=""),
        ]


def shown_argument(part: str) -> str:
    """One argument in one line, whole; quoted where its end or its emptiness would not be seen."""
    told = visible_line(part)
    return f"\u201c{told}\u201d" if not part or part != part.strip() else told


def rehearse(
    setting: LaunchSetting, row: Row | None = None, inherited: Mapping[str, str] | None = None
) -> Rehearsal:
    """Say what SETTING would start: for the call of ROW, else with its placeholders as they are."""
    argv = setting.argv
    if row is not None:
        argv = filled(setting, row.store, row.id, row.path or row.store)
    own = os.environ if inherited is None else inherited
    cwd = start_folder(setting)
    given = environment(setting, own)
    passed = tuple(sorted(given.keys() - setting.env.keys()))
    return Rehearsal(argv, cwd, passed, dict(setting.env), tuple(_wrong(setting, cwd)))


def _wrong(setting: LaunchSetting, cwd: Path) -> list[str]:
    program = setting.argv[0]
    told: list[str] = []
    if not os.path.isfile(program):
        told.append(worded("There is no program {program}.", program=path_text(program)))
    elif not os.access(program, os.X_OK):
        told.append(worded("{program} may not be executed.", program=path_text(program)))
    if not cwd.is_dir():
        told.append(worded("There is no folder {folder} to start it in.", folder=path_text(cwd)))
    elif not os.access(cwd, os.X_OK):
        told.append(worded("The folder {folder} may not be entered.", folder=path_text(cwd)))
    return told


def without_a_place(setting: LaunchSetting) -> bool:
    """Whether the command is the same for every call: nothing in it says which store is meant."""
    return not any(mark in part for part in setting.argv[1:] for mark in PLACEHOLDERS)
