#!/usr/bin/env python3
"""Build all that is published of Lineclear, try it, and write down what came out.

    python3 packaging/build.py [--output DIR] [--work DIR] [--no-trial]

On every system: the wheel and the source distribution, one folder with the two programs frozen,
the bill of materials, the release notes, checksums and a report. On Linux also a Debian package
and a self-contained archive; on Windows the installer, on macOS the disk image.

It sets up what is missing, as `dev.py` does. It fails when the frozen program fails its self-check
or says anything meanwhile, or when a figure is over its limit.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

import dev

IN_VENV = "LINECLEAR_BUILD"
"""Set for the second start of this script, which runs in the virtual environment."""


def parse(argv: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="build.py", description="Build all that is published.")
    parser.add_argument(
        "--output", type=Path, default=dev.ROOT / "dist", help="what is made (default: dist)"
    )
    parser.add_argument(
        "--work", type=Path, default=dev.ROOT / "build", help="what is made on the way"
    )
    parser.add_argument(
        "--no-trial", action="store_true", help="do not start what was built; no start-up figures"
    )
    parser.add_argument(
        "--rounds", type=int, default=7, help="starts of each program for the start-up figures"
    )
    parser.add_argument(
        "--no-system-packages",
        action="store_true",
        help="install nothing with apt-get, not even as root",
    )
    return parser.parse_args(argv)


def build(options: argparse.Namespace) -> int:
    """Build; the exit code: 1, after a sentence, where a program or a file stopped it."""
    # Only now: it needs what the virtual environment holds.
    from building import release  # noqa: PLC0415

    try:
        return release.build(options)
    except subprocess.CalledProcessError as failed:
        # What it printed stands above, unless it was read.
        told = f"{failed.stdout or ''}{failed.stderr or ''}".strip()
        if told:
            print(told, file=sys.stderr)
        end = (
            f"exit code {failed.returncode}"
            if failed.returncode >= 0
            else f"signal {-failed.returncode}"
        )
        dev.say(f"The build stopped: {shlex.join(failed.cmd)} ended with {end}.")
    except subprocess.TimeoutExpired as late:
        dev.say(
            f"The build stopped: {shlex.join(late.cmd)} did not end in {late.timeout:g} seconds."
        )
    except OSError as error:
        named = "" if error.filename is None else f"{error.filename}: "
        dev.say(f"The build stopped: {named}{error.strerror or error}.")
    except KeyboardInterrupt:
        dev.say("The build stopped.")
        return 130
    return 1


def main(argv: list[str]) -> int:
    """Set up, then build in the virtual environment; the exit code."""
    options = parse(argv)
    if os.environ.get(IN_VENV) == "1":
        return build(options)
    try:
        env = dev.set_up(desktop=True, system_packages=not options.no_system_packages)
        again = [dev.program("python"), str(Path(__file__).resolve()), *argv]
        return dev.run_attached(again, {**env, IN_VENV: "1"}, Path.cwd())
    except dev.SetupError as error:
        dev.say(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
