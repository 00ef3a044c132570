"""What a decision will do, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from lineclear.cli import wording
from lineclear.core import typed_commands
from lineclear.core.checkpoints.characters.text import visible_sentence
from lineclear.core.checkpoints.warnings import Level
from lineclear.core.inbox.relaunch.startable import words_needed
from lineclear.core.inbox.rows.cautions import RESUMED_BEFORE
from lineclear.core.inbox.rows.gone_calls import ASKED_ANEW, GONE
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.beside import is_held_back
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text
from lineclear.core.typed_commands import set_launch

NATIVE = "lineclear"
Sources = Sequence[str]
"""Folders that were given by `--source`: without them the call is not found again."""


def after_approval(row: Row, sources: Sources = ()) -> str:
    """Tell what an approval of this row brings about."""
    agent = masked_line(row.agent, 80)
    if _is_void(row):
        return _void(row)
    if row.state is State.HELD:
        return _while_held(row)
    if row.system != NATIVE:
        return (
            "Whether this agent reads Lineclear's answers is not known. It takes effect when it is"
            " relaunched."
        )
    if not row.waited_for:
        return f"{agent} was started again since it asked this. It runs it when it asks again."
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        return f"{agent} is waiting and runs it at once."
    if row.resumable_by is None and not row.has_factory:
        return f"Nothing runs until {agent} is started again. {how_to_go_on(row, sources)}"
    return f"Nothing runs until {agent} is resumed: {how_to_resume(row, sources)}"


def _is_void(row: Row) -> bool:
    """Tell whether a call went while it was decided, so that nobody gets the decision."""
    return row.reason_code in (GONE, ASKED_ANEW) and row.reason is not None


def _void(row: Row) -> str:
    cure = " Decide them again: lineclear list" if row.reason_code == ASKED_ANEW else ""
    return f"{visible_sentence(row.reason or '')}{cure}"


def _while_held(row: Row) -> str:
    """Tell why a decision on a call of a run is not handed over yet."""
    if row.reason_code is not None and row.reason:
        return f"It is recorded, but cannot be handed over: {visible_sentence(row.reason)}"
    return "It takes effect once every call of its run is decided and its agent is relaunched."


def after_answer(row: Row, sources: Sources = ()) -> str:
    """Tell when the agent of this row gets the result that was given in place of a run."""
    agent = masked_line(row.agent, 80)
    if _is_void(row):
        return _void(row)
    if row.state is State.HELD:
        return f"The tool does not run. {_while_held(row)}"
    if row.system != NATIVE:
        return f"The tool does not run. {agent} gets it when it is relaunched."
    if not row.waited_for:
        return f"The tool does not run. {agent} gets it when it asks again."
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        return f"{agent} gets it at once; the tool does not run."
    return f"The tool does not run. {agent} gets it when it goes on. {how_to_go_on(row, sources)}"


def how_to_go_on(row: Row, sources: Sources = ()) -> str:
    """Tell what goes on with a dead agent: a command, or that a person starts it as ever."""
    if row.resumable_by is None and row.system != NATIVE:
        return f"Set the command that resumes it, then relaunch it: {how_to_resume(row, sources)}"
    if row.resumable_by is None and not row.has_factory:
        return f"Start it as ever, or set the command that does: {how_to_resume(row, sources)}"
    return f"Go on with it: {how_to_resume(row, sources)}"


def after_denial(row: Row, sources: Sources = ()) -> str:
    """Tell when the agent of this row learns that its call was denied."""
    agent = masked_line(row.agent, 80)
    if _is_void(row):
        return _void(row)
    if row.state is State.HELD:
        return f"Nothing runs. {_while_held(row)}"
    if row.system != NATIVE:
        return f"Nothing runs. {agent} is told why when it is relaunched."
    if not row.waited_for:
        return f"{agent} is told why when it asks again."
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        return f"{agent} is told why."
    return f"{agent} is told why when it is resumed: {how_to_resume(row, sources)}"


def how_to_resume(row: Row, sources: Sources = ()) -> str:
    """Give the command that goes on with a dead agent, by its configured command if it has one.

    SOURCES are the folders that were given to look in. Only an executor can be made by a factory;
    for any other agent its start command is set first.
    """
    if row.resumable_by is not None:
        return _relaunch(row, sources)
    if row.system != NATIVE or not row.has_factory:
        # Whether an agent of ours could take its checkpoint up nobody knows before it tries.
        return set_launch(row.agent, row.store)
    return _resume(row)


def next_commands(row: Row, sources: Sources = ()) -> Iterator[str]:
    """Give the commands that make sense for a row now."""
    if not row.may_answer and row.state in (State.PENDING, State.UNCERTAIN, State.HELD):
        return
    if row.state is State.PENDING:
        yield from _decisions(row, sources)
    elif row.state is State.UNCERTAIN:
        yield on_call("resolve", row, sources, " --ran --note RESULT")
        yield on_call("resolve", row, sources, " --not-run --note WHY")
        yield on_call("resolve", row, sources, " --ask-again")
    elif row.state in (State.APPROVED, State.HELD) or _lapsed_of_others(row):
        if row.may_answer:
            yield on_call("take-back", row, sources)
        if row.state is not State.LAPSED and row.state is not State.HELD:
            yield from _resumes(row, sources)
    elif row.state in (State.LAPSED, State.DENIED, State.EXPIRED, State.WITHDRAWN, State.RESUMABLE):
        yield from _resumes(row, sources)


def _lapsed_of_others(row: Row) -> bool:
    """Tell whether an approval lapsed that no resumed agent asks for again."""
    return row.state is State.LAPSED and row.system != NATIVE and not row.closed


def _decisions(row: Row, sources: Sources = ()) -> Iterator[str]:
    if row.kind == "deferred":
        yield on_call("answer", row, sources, " --status completed --response JSON")
        return
    if not any(wording.warning_level(code) is Level.BLOCKED for code in row.warnings):
        despite = "".join(f" --despite {code}" for code in wording.stops(row))
        yield on_call("approve", row, sources, f"{despite}")
        if row.takes is None or "modify" in row.takes:
            yield on_call("modify", row, sources, f" --arguments JSON{despite}")
    yield on_call("deny", row, sources, " --reason WHY")


def _resumes(row: Row, sources: Sources = ()) -> Iterator[str]:
    if row.closed or row.process is Process.ALIVE or is_held_back(row):
        return
    yield how_to_resume(row, sources)
    if row.system != NATIVE and row.resumable_by is None:
        # What is typed once the command is set.
        yield _relaunch(row, sources)


def _relaunch(row: Row, sources: Sources) -> str:
    needed = words_needed(row)
    word = "".join(f" --despite {code}" for code in row.warnings if code in needed)
    return on_call("relaunch", row, sources, word)


def on_call(verb: str, row: Row, sources: Sources, words: str = "") -> str:
    """Give a command about a call, as it can be typed: in the folders where the call was found."""
    return typed_commands.on_call(verb, row.id, words.strip(), folders=sources)


def after_resolution(row: Row, rows: Iterable[Row], sources: Sources = ()) -> str:
    """Tell what goes on with the agent of ours of a settled call; ROWS is all that stands now.

    The settled call itself is over: what can go on is what its run left beside it, or asks anew.
    """
    if row.process in (Process.ALIVE, Process.ELSEWHERE):
        return ""
    left = [one for one in rows if one.store == row.store and not one.closed]
    waiting = next((one for one in left if one.state is State.PENDING), None)
    if waiting is not None:
        return f"It is asked anew: {on_call('show', waiting, sources)}"
    stopped = next((one for one in left if one.state in _GOES_ON), None)
    if stopped is not None:
        return how_to_go_on(stopped, sources)
    if row.has_factory:
        return f"Go on with it: {_resume(row)}"
    return f"Start {masked_line(row.agent, 80)} as ever to go on."


_GOES_ON = frozenset(
    {State.RESUMABLE, State.APPROVED, State.DENIED, State.LAPSED, State.EXPIRED, State.WITHDRAWN}
)


def _resume(row: Row) -> str:
    word = f" --despite {RESUMED_BEFORE}" if RESUMED_BEFORE in words_needed(row) else ""
    return f"lineclear resume {shlex.quote(path_text(row.store))} --agent MODULE:FACTORY{word}"
