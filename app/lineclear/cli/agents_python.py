"""An agent's own Python: a bundled program hands `lineclear resume` over to it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lineclear.cli.exits import UsageError
from lineclear.core import frozen

_NAMES: Final = ("python3", "python")
_HAS_LINECLEAR: Final = (
    "import importlib.util as u, sys; sys.exit(0 if u.find_spec('lineclear') else 1)"
)
_PATIENCE_S: Final = 30


def find(asked: str | None, environment: Mapping[str, str]) -> str:
    """Give the program of a Python that has Lineclear.

    Args:
        asked: The one that was named; no other is looked at then.
        environment: That of the person who asked: what `python3` and `python` mean there. An
            active virtual environment is first on its PATH; the starter of a bundle takes
            VIRTUAL_ENV itself away.

    Raises:
        UsageError: There is none.
    """
    looked = []
    for program in _candidates(asked, environment):
        if _has_lineclear(program, environment):
            return program
        looked.append(program)
    if asked is not None:
        raise UsageError(f"{asked} is no Python that has Lineclear; in it: pip install lineclear")
    seen = f": {', '.join(looked)}" if looked else ""
    raise UsageError(
        "This program brings a Python of its own, which has none of an agent's packages, and no"
        f" Python with Lineclear was found{seen}. Name the agent's with --python, or activate its"
        " virtual environment."
    )


def _candidates(asked: str | None, environment: Mapping[str, str]) -> Iterator[str]:
    if asked is not None:
        found = shutil.which(os.path.expanduser(asked), path=environment.get("PATH"))  # noqa: PTH111
        if found is not None:
            yield found
        return
    for name in _NAMES:
        found = shutil.which(name, path=environment.get("PATH"))
        if found is not None:
            yield found


def _has_lineclear(program: str, environment: Mapping[str, str]) -> bool:
    try:
        done = subprocess.run(
            [program, "-c", _HAS_LINECLEAR],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(environment),
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def hand_over(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Become `PROGRAM -m lineclear ARGUMENTS`; its exit code where a program cannot do that."""
    argv = [program, "-m", "lineclear", *arguments]
    if os.name == "posix":
        # Signals, the agent's lock and the exit code are then that program's alone.
        os.execve(program, argv, dict(environment))  # noqa: S606 - an argv list, no shell
    return subprocess.run(argv, env=dict(environment), check=False).returncode


def is_needed(spec: str) -> bool:
    """Tell whether a factory cannot be in this program: it is bundled, the factory another's."""
    return frozen.is_frozen() and spec.partition(":")[0].split(".")[0] != "lineclear"
