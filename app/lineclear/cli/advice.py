"""What a decision will do, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lineclear.cli import wording
from lineclear.core.checkpoints.text import visible_line
from lineclear.core.checkpoints.warnings import Level
from lineclear.core.inbox.cautions import MAY_BE_RUNNING
from lineclear.core.inbox.rows import Row, path_text
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State

NATIVE = "lineclear"


def after_approval(row: Row) -> str:
    """Tell what an approval of this row brings about."""
    agent = visible_line(row.agent, 80)
    if row.system != NATIVE:
        return "This agent may not read Lineclear's answers: it takes effect when it is relaunched."
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        return f"{agent} is waiting and runs it at once."
    if row.resumable_by is None and not row.has_factory:
        return f"Nothing runs until {agent} is started again. {how_to_go_on(row)}"
    return f"Nothing runs until {agent} is resumed: {how_to_resume(row)}"


def after_answer(row: Row) -> str:
    """Tell when the agent of this row gets the result that was given in place of a run."""
    agent = visible_line(row.agent, 80)
    if row.system != NATIVE:
        return f"The tool does not run. {agent} gets it when it is relaunched."
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        return f"{agent} gets it at once; the tool does not run."
    return f"The tool does not run. {agent} gets it when it goes on. {how_to_go_on(row)}"


def how_to_go_on(row: Row) -> str:
    """Tell what goes on with a dead agent: a command, or that a person starts it as ever."""
    if row.resumable_by is None and not row.has_factory:
        return f"Start it as ever, or set the command that does: {how_to_resume(row)}"
    return f"Go on with it: {how_to_resume(row)}"


def after_denial(row: Row) -> str:
    """Tell when the agent of this row learns that its call was denied."""
    agent = visible_line(row.agent, 80)
    if row.system != NATIVE:
        return f"Nothing runs. {agent} is told why when it is relaunched."
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        return f"{agent} is told why."
    return f"{agent} is told why when it is resumed: {how_to_resume(row)}"


def how_to_resume(row: Row) -> str:
    """Give the command that goes on with a dead agent, by its configured command if it has one.

    Only an executor can be made by a factory; for any other agent its start command is set first.
    """
    if row.resumable_by is not None:
        word = f" --despite {MAY_BE_RUNNING}" if MAY_BE_RUNNING in row.warnings else ""
        return f"lineclear relaunch {row.id}{word}"
    if not row.has_factory:
        agent = shlex.quote(visible_line(row.agent, 80))
        return f"lineclear config set-launch --agent {agent} -- PROGRAM ARGUMENTS"
    return f"lineclear resume {shlex.quote(path_text(row.store))} --agent MODULE:FACTORY"


def next_commands(row: Row) -> Iterator[str]:
    """Give the commands that make sense for a row now."""
    if row.state is State.PENDING:
        yield from _decisions(row)
    elif row.state is State.UNCERTAIN:
        yield f"lineclear resolve {row.id} --ran --note RESULT"
        yield f"lineclear resolve {row.id} --not-run --note WHY"
        yield f"lineclear resolve {row.id} --ask-again"
    elif row.state in (State.APPROVED, State.HELD):
        yield f"lineclear take-back {row.id}"
        if row.state is not State.HELD:
            yield from _resumes(row)
    elif row.state in (State.LAPSED, State.DENIED, State.EXPIRED, State.WITHDRAWN, State.RESUMABLE):
        yield from _resumes(row)


def _decisions(row: Row) -> Iterator[str]:
    if row.kind == "deferred":
        yield f"lineclear answer {row.id} --status completed --response JSON"
        return
    if not any(wording.warning_level(code) is Level.BLOCKED for code in row.warnings):
        despite = "".join(f" --despite {code}" for code in wording.stops(row))
        yield f"lineclear approve {row.id}{despite}"
        yield f"lineclear modify {row.id} --arguments JSON{despite}"
    yield f"lineclear deny {row.id} --reason WHY"


def _resumes(row: Row) -> Iterator[str]:
    if row.closed or row.process is Process.ALIVE:
        return
    yield how_to_resume(row)
