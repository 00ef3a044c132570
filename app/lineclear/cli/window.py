"""`lineclear inbox`: opens the window as a process of its own."""

from __future__ import annotations

import argparse
import subprocess

from lineclear.cli import programs
from lineclear.cli.display import has_display
from lineclear.cli.exits import Exit
from lineclear.cli.selection import settings_for
from lineclear.cli.terminal import Terminal
from lineclear.core.errors import LineclearError


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Open the window and wait until it closes, or return at once with `--detach`."""
    settings = settings_for(options)
    argv = list(programs.window())
    if not has_display():
        raise LineclearError(
            "There is no display to open the window on. `lineclear list` shows what waits, "
            "`lineclear watch` follows it.",
            code="no_display",
        )
    if options.sources:
        for source in settings.sources:
            argv += ["--source", str(source.path)]
    terminal.flush()
    if options.detach:
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return Exit.DONE
    return wait_for_window(argv)


def wait_for_window(argv: list[str], env: dict[str, str] | None = None) -> int:
    """Run the window to its end; Ctrl-C reaches it as it reaches us, and it is waited for."""
    with subprocess.Popen(argv, env=env) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            try:
                process.wait(timeout=5)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.terminate()
            raise
    if code != 0:
        raise LineclearError(f"The window ended with {_ending(code)}.", code="window_failed")
    return Exit.DONE


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
