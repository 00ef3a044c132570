"""Starts the window: `lineclear-inbox`, or `python -m lineclear.ui.app`.

It knows no Qt: where Qt is not installed, or cannot be loaded, it says so in a sentence.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence

from lineclear import gui_extra
from lineclear.core import frozen
from lineclear.ui.complaint import complain


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="lineclear-inbox", description="The inbox of calls that wait for a person's word."
    )
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="DIR",
        help="watch this folder instead of the configured ones; may be given several times",
    )
    parser.add_argument("--demo", action="store_true", help="say that the agents are pretended")
    parser.add_argument(
        "--self-check",
        action="store_true",
        help="in folders of its own, decide a call of a pretend agent, see its outcome and end",
    )
    parser.add_argument("--dark", action="store_true", default=None, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def display_missing(environment: Mapping[str, str]) -> bool:
    """Tell whether Qt would find nothing to draw on, and end the process without a word."""
    if sys.platform in ("win32", "darwin") or environment.get("QT_QPA_PLATFORM"):
        return False
    return not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def main(argv: Sequence[str] | None = None) -> int:
    """Start the window; the exit code: 0, or 1 when it cannot start (the sentence is printed)."""
    options = parse(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    missing = [] if frozen.is_frozen() else gui_extra.missing()
    if missing:
        return complain(gui_extra.sentence(missing))
    if display_missing(os.environ):
        return complain(
            "There is no display here, so no window opens; `lineclear list` shows what waits."
        )
    try:
        # Only now: it imports Qt.
        from lineclear.ui import running  # noqa: PLC0415
    except ImportError as why:
        if not gui_extra.names(why):
            raise
        return complain(gui_extra.unloadable(why))
    if not options.self_check:
        return running.start(options)
    # Only now: it plays an agent too, whose side the window does not need.
    from lineclear.ui import self_check  # noqa: PLC0415

    with self_check.surroundings() as source:
        options.source = [str(source)]
        check = self_check.SelfCheck(source)
        code = running.start(options, check.operate)
    if code == 0 and check.failure:
        return complain(f"The self-check failed. {check.failure}")
    if code == 0 and sys.stdout is not None:
        print(json.dumps(check.passed))  # noqa: T201
    return code


if __name__ == "__main__":
    sys.exit(main())
