"""What the command line adds to the history: each decision that it gives, and what it finds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from lineclear.cli.terminal import Terminal
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.ledgerread import Place
from lineclear.core.inbox.history.writing import History
from lineclear.core.inbox.operator.settings import Settings, load
from lineclear.core.inbox.rows.row import Row


@contextlib.contextmanager
def history(settings: Settings | None, terminal: Terminal) -> Iterator[History]:
    """Open the history to write; what was kept aside is said. Raises LineclearError."""
    settings = load() if settings is None else settings
    with History.open(days=settings.history_days) as opened:
        try:
            yield opened
        finally:
            for notice in opened.notices:
                terminal.complain(notice)


def look(settings: Settings, places: Iterable[Place], terminal: Terminal) -> None:
    """Record what stores hold beyond the history; a failure is one sentence, nothing else."""
    try:
        with history(settings, terminal) as opened:
            opened.prune()
            opened.observe(places)
    except LineclearError as why:
        terminal.complain(why.sentence)


@contextlib.contextmanager
def decided(settings: Settings, row: Row, nonce: str | None, terminal: Terminal) -> Iterator[None]:
    """Record what is decided within; the decision counts whether or not it can be recorded.

    NONCE: that of the decision about to be given, None where none is given.
    """
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(history(settings, terminal))
            if nonce is not None:
                opened.intend(nonce)
        except LineclearError as why:
            terminal.complain(f"{why.sentence} The decision is given all the same.")
            yield
            return
        yield
        try:
            opened.observe([Place(row.store, row.source)])
        except LineclearError as why:
            terminal.complain(why.sentence)
