"""An argument parser that says in one sentence what it did not understand."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from lineclear.cli.exits import Exit
from lineclear.cli.terminal import printable


class Parser(argparse.ArgumentParser):
    """An argument parser that takes no abbreviations and prints no agent text raw."""

    def __init__(self, **options: object) -> None:
        super().__init__(**{"allow_abbrev": False, **options})  # type: ignore[arg-type]

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Take the words of a filter also behind an option, which argparse leaves over."""
        found, over = super().parse_known_args(args, namespace)
        if isinstance(getattr(found, "filter", None), list):
            found.filter += [word for word in over if not word.startswith("-")]
            over = [word for word in over if word.startswith("-")]
        return found, over

    def error(self, message: str) -> NoReturn:
        """Say what was not understood, in one sentence, and exit with 2."""
        told = printable(message)
        sys.stderr.write(f"{self.prog}: {told}. Try `{self.prog} --help`.\n")
        raise SystemExit(int(Exit.USAGE))
