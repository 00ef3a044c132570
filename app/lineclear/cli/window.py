"""`lineclear inbox`: opens the window as a process of its own."""

from __future__ import annotations

import argparse
import os
import subprocess

from lineclear.cli import programs
from lineclear.cli.display import has_display
from lineclear.cli.exits import Exit
from lineclear.cli.selection import folders_of
from lineclear.cli.terminal import Terminal
from lineclear.core.errors import LineclearError
from lineclear.core.frozen import original_environment


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Open the window and wait until it closes, or return at once with `--detach`."""
    # The settings are the window's to read: it opens, and says so, where they are damaged.
    folders = folders_of(options)
    argv = list(programs.window())
    if not has_display():
        raise LineclearError(
            "There is no display to open the window on. `lineclear list` shows what waits, "
            "`lineclear watch` follows it.",
            code="no_display",
        )
    for folder in folders:
        argv += ["--source", str(folder)]
    terminal.flush()
    env = original_environment(os.environ)
    if options.detach:
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=env,
        )
        return Exit.DONE
    if os.name == "posix":
        # Signals, the exit code and the memory are then the window's alone.
        os.execve(argv[0], argv, env)  # noqa: S606 - an argv list, no shell
    return _run_to_its_end(argv, env)


def _run_to_its_end(argv: list[str], env: dict[str, str]) -> int:
    try:
        return subprocess.run(argv, env=env, check=False).returncode
    except KeyboardInterrupt:
        # It was told as well, and `run` has waited for it.
        return Exit.INTERRUPTED
