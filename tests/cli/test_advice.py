"""Every command that is printed can be typed as it is printed."""

import re
import shlex
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from lineclear.cli import advice
from lineclear.cli.parsing import parser
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from tests.cli.program import lineclear, listed, only_row
from tests.cli.test_listing import waiting_run
from tests.core.inbox.rows.test_stopped_runs import left

WARNINGS = [(), ("may_be_running", "handed_over_before"), ("invisible", "twin"), ("call_missing",)]
SOURCES = [(), ("some folder/with 'quotes'", "/srv")]


def rows_of(state: State) -> list[Row]:
    return [
        Row(
            id="3f" * 16, system=system, state=state, source=Path("/srv"), kind=kind,
            store=Path("/srv/a b/'c'/1"), agent="a\x1b b", run="r", tool="t", process=process,
            warnings=warnings, resumable_by=by, has_factory=factory,
        )
        for system, kind, process, warnings, by, factory in product(
            ["lineclear", "starweaver"], ["approval", "deferred"], Process, WARNINGS,
            [None, "settings"], [True, False],
        )
    ]  # fmt: skip


def test_what_an_earlier_process_asked_runs_when_it_is_asked_again():
    row = replace(rows_of(State.PENDING)[0], process=Process.ALIVE, waited_for=False, agent="bot")
    told = "bot was started again since it asked this. It runs it when it asks again."
    assert advice.after_approval(row) == told


def commands_in(text: str) -> list[str]:
    return re.findall(r"lineclear [a-z].*", text)


@pytest.mark.parametrize("state", list(State))
def test_every_printed_command_is_understood(state):
    told: list[str] = []
    for row, sources in product(rows_of(state), SOURCES):
        told += advice.next_commands(row, sources)
        told.append(advice.after_approval(row, sources))
        told.append(advice.after_answer(row, sources))
        told.append(advice.after_denial(row, sources))
        told.append(advice.after_resolution(row, [], sources))
        for other in rows_of(state)[:3]:
            told.append(advice.after_resolution(row, [other], sources))
    commands = {command for text in told for command in commands_in(text)}
    assert commands
    for command in commands:
        # It ends with 2 where it is not understood.
        options = parser().parse_args(shlex.split(command)[1:])
        if hasattr(options, "id"):
            assert [*(options.sources or ())] in ([], [str(Path.cwd() / SOURCES[1][0]), "/srv"])


def test_a_run_that_was_found_by_a_folder_is_found_by_it_from_anywhere(tmp_path):
    source = tmp_path / "source"
    source.mkdir(mode=0o700)
    left(source)
    (row,) = listed("--source", source)
    shown = lineclear("show", row["id"], "--source", source).stdout
    setting, command = commands_in(shown)
    assert parser().parse_args(shlex.split(setting)[1:]).agent == row["agent"]
    asked = parser().parse_args(shlex.split(command)[1:])
    assert (asked.id, asked.sources) == (row["id"], [str(source)])


def test_what_is_printed_after_a_decision_finds_the_call_again(tmp_path):
    source = tmp_path / "a b"
    waiting_run(source, "k", "run_1", 1)
    (row,) = listed("--source", source)
    shown = lineclear("show", row["id"], "--source", "a b", cwd=tmp_path).stdout
    words = shlex.split(next(line for line in commands_in(shown) if " deny " in line))
    assert lineclear(*words[1:], cwd=Path("/")).returncode == 0
    assert only_row("--source", source)["decision"]["verdict"] == "deny"


def settled(state: State, row_id: str = "1" * 32) -> Row:
    return Row(
        id=row_id, system="lineclear", state=state, source=Path("/srv"), store=Path("/srv/bot/1"),
        agent="bot", run="r", process=Process.DEAD, resumable_by="settings",
        closed=state is State.DONE,
    )  # fmt: skip


def test_after_a_settled_call_what_its_run_left_is_named_and_never_the_call_itself():
    done = settled(State.DONE)
    kept = settled(State.RESUMABLE, "2" * 32)
    anew = settled(State.PENDING, "3" * 32)
    assert "lineclear relaunch " + kept.id in advice.after_resolution(done, [done, kept])
    assert "lineclear show " + anew.id in advice.after_resolution(done, [done, kept, anew])
    assert done.id not in advice.after_resolution(done, [done])


def test_a_lapsed_approval_of_another_program_is_to_be_taken_back():
    rows = [row for row in rows_of(State.LAPSED) if row.system == "starweaver"]
    told = {command.split()[1] for row in rows for command in advice.next_commands(row)}
    assert told == {"take-back"}
