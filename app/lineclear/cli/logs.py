"""What the core logs becomes sentences on standard error; tracebacks go to files."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from lineclear.cli import trace
from lineclear.cli.terminal import Terminal


@contextlib.contextmanager
def as_sentences(terminal: Terminal, *, debug: bool) -> Iterator[None]:
    """Let warnings of Lineclear's own loggers reach the operator, one line each."""
    logger = logging.getLogger("lineclear")
    handler = _SentenceHandler(terminal, debug=debug)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if debug else logging.WARNING)
    # An agent's own set-up of the root logger would say everything twice.
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


class _SentenceHandler(logging.Handler):
    """Tells a record on one line."""

    def __init__(self, terminal: Terminal, *, debug: bool) -> None:
        super().__init__()
        self._terminal = terminal
        self._debug = debug

    def emit(self, record: logging.LogRecord) -> None:
        told = record.getMessage().replace("\n", " ")
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not self._debug:
            kept = trace.keep(error)
            if kept is not None:
                told = f"{told} ({kept})"
        self._terminal.complain(told)
        if error is not None and self._debug:
            trace.show(error)
