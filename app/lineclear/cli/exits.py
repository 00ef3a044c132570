"""From the core's errors to exit codes: the one mapper of the command line."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import Final

from lineclear.core import errors
from lineclear.core.agent import errors as agent_errors


class Exit(IntEnum):
    """What a script that calls `lineclear` can tell apart."""

    DONE = 0
    """Done; a decision: durable."""
    IO = 1
    """A file could not be read or written, or it is not known whether it was; the file is named."""
    USAGE = 2
    """The command was not understood, or an id fits more than one call."""
    ALREADY_DECIDED = 3
    """Somebody decided before; who and when is printed."""
    REFUSED = 4
    """It may not be done; the reason code is printed in brackets."""
    NOTHING = 5
    """No such call, or nothing waits here."""
    HELD = 6
    """Another process holds the store, or goes on with the run or call already."""
    UNCERTAIN = 7
    """A call may have run: its process died between start and outcome."""
    AGENT_ERROR = 8
    """The agent's own code failed."""
    BROKEN = 9
    """`history verify`: a row of the history is not what was recorded; the first one is named."""
    INTERRUPTED = 130
    """Ctrl-C."""
    PIPE_CLOSED = 141
    """The reader of the output went away."""


class UsageError(errors.LineclearError):
    """The command cannot be understood as it was typed."""

    code = "usage"


_UNREADABLE: Final = {
    "absent": Exit.NOTHING,
    "no_permission": Exit.IO,
    "open_failed": Exit.IO,
}
"""Reasons why bytes cannot be read that are no refusal."""

_IN_HAND: Final = frozenset({"alive", "being_started"})
"""Codes of a refusal since somebody else has it in hand: which lock told so is nobody's matter."""

_BY_KIND: Final[tuple[tuple[type[BaseException], Exit], ...]] = (
    (UsageError, Exit.USAGE),
    (errors.AmbiguousId, Exit.USAGE),
    (errors.AlreadyDecided, Exit.ALREADY_DECIDED),
    (errors.NothingPending, Exit.NOTHING),
    (errors.StoreHeld, Exit.HELD),
    (errors.MayHaveRun, Exit.UNCERTAIN),
    (errors.NotConfirmed, Exit.IO),
    (errors.Refusal, Exit.REFUSED),
    (errors.DecisionRefused, Exit.REFUSED),
    (errors.StoreRefused, Exit.REFUSED),
    (errors.Denied, Exit.AGENT_ERROR),
    (agent_errors.AgentError, Exit.AGENT_ERROR),
    (agent_errors.NotRun, Exit.AGENT_ERROR),
    (agent_errors.Expired, Exit.AGENT_ERROR),
    (agent_errors.CallFailed, Exit.AGENT_ERROR),
    (agent_errors.ResultLost, Exit.AGENT_ERROR),
    (agent_errors.ResumeSerializeError, Exit.REFUSED),
    (KeyboardInterrupt, Exit.INTERRUPTED),
    (BrokenPipeError, Exit.PIPE_CLOSED),
)


def exit_code(error: BaseException) -> Exit:
    """Give the exit code of an error; what is not listed could not be done: IO."""
    if isinstance(error, errors.Unreadable):
        return _UNREADABLE.get(error.code, Exit.REFUSED)
    if isinstance(error, errors.Refusal) and error.code in _IN_HAND:
        return Exit.HELD
    for kind, code in _BY_KIND:
        if isinstance(error, kind):
            return code
    return Exit.IO


def sentence(error: BaseException) -> str:
    """Give what a person is told of an error: one sentence, with the reason code of a refusal."""
    if isinstance(error, errors.LineclearError):
        told = error.sentence
        path = getattr(error, "path", None)
        if path is not None and os.fspath(path) not in told:
            told = f"{told.rstrip('.')}: {path}."
        if exit_code(error) is Exit.REFUSED or isinstance(error, errors.Refusal):
            return _with_code(told, error.code)
        return told
    if isinstance(error, OSError):
        return _os_sentence(error)
    return f"{type(error).__name__}: {error}"


def _with_code(told: str, code: str) -> str:
    # Whoever was refused has paid for this import.
    from lineclear.core.checkpoints.warnings import Level, level_of  # noqa: PLC0415

    if level_of(code) is Level.STOP:
        told = f"{told} Having looked, add: --despite {code}"
    return f"{told} [{code}]"


def _os_sentence(error: OSError) -> str:
    why = error.strerror or str(error) or type(error).__name__
    named = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"{' → '.join(named)}: {why}." if named else f"{why}."
