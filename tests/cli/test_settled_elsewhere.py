"""What is told of settling another program's call: only what happens, and the way on."""

import os
import shutil

import pytest

from lineclear.cli.advice import next_commands
from lineclear.cli.settled_elsewhere import told
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from tests.cli.program import lineclear, listed, only_row, wait_for
from tests.cli.test_listing import foreign
from tests.cli.test_relaunching import LOOP, set_launch
from tests.ui.sample import a_row

SETTLED = a_row(1, system="starweaver", state=State.UNCERTAIN, item="c1", run="r")
AGAIN = a_row(2, system="starweaver", state=State.PENDING, item="c1", run="r", store=SETTLED.store)


def test_of_several_calls_the_other_one_is_not_the_same_asked_anew():
    other = a_row(
        3, system="starweaver", state=State.UNCERTAIN, item="c2", run="r", store=SETTLED.store
    )
    sentence = told(SETTLED, "ran", [other], note="done")
    assert "asked anew. Next: " in sentence
    assert f"lineclear show {other.id}" in sentence
    both = told(
        SETTLED,
        "not_run",
        [AGAIN, a_row(4, system="starweaver", item="c2", run="r", store=SETTLED.store)],
    )
    assert both.endswith(f"It is asked anew: lineclear show {AGAIN.id}")


def test_nothing_is_promised_of_a_note_that_nothing_gives():
    sentence = told(SETTLED, "ran", [AGAIN], note="it's done")
    assert "gets your note" not in sentence
    assert sentence.endswith(f"lineclear deny {AGAIN.id} --reason 'it'\"'\"'s done'")
    assert "nothing to resume it from" in told(SETTLED, "ran", [])


def test_the_command_of_another_program_is_set_first():
    row = a_row(1, system="starweaver", state=State.RESUMABLE, tool=None, process=Process.UNKNOWN)
    commands = list(next_commands(row))
    assert "lineclear config set-launch" in commands[0]
    assert commands[1].startswith(f"lineclear relaunch {row.id}")
    assert not any("lineclear resume" in one for one in commands)


@pytest.mark.parametrize("word", ["ran", "not-run"])
def test_a_killed_call_of_another_program_has_a_way_on(tmp_path, word):
    words = ("--source", tmp_path / "source")
    foreign(tmp_path / "source")
    # The command takes its worker with it.
    code = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    set_launch(tmp_path, "-c", code, name="theirs")
    (row,) = listed(*words)
    assert lineclear("approve", row["id"], *words).returncode == 0
    assert lineclear("relaunch", row["id"], *words).returncode == 0
    only_row(*words, state="uncertain")
    done = lineclear("resolve", row["id"], f"--{word}", "--note", "seen", *words)
    assert done.returncode == 0
    again = next(one for one in listed(*words) if one["state"] == "pending")
    assert f"lineclear {'deny' if word == 'ran' else 'show'} {again['id']}" in done.stdout
    assert "handed_over_before" in again["warnings"]
    assert lineclear("approve", again["id"], *words).returncode == 4


def test_a_killed_run_is_told_as_a_run(tmp_path):
    folder = tmp_path / "source" / "code" / "v1" / "loop_checkpoints"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(LOOP, folder)
    words = ("--source", tmp_path / "source")
    set_launch(
        tmp_path, "-c", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)", name="code"
    )
    (row,) = listed(*words)
    assert lineclear("relaunch", row["id"], "--despite", "may_be_running", *words).returncode == 0
    only_row(*words, state="uncertain")
    done = lineclear("resolve", row["id"], "--not-run", "--note", "seen", *words)
    again = wait_for(lambda: [one for one in listed(*words) if one["state"] == "resumable"])[0]
    assert f"lineclear relaunch {again['id']} --despite may_be_running" in done.stdout
    assert "told so" not in done.stdout
    assert os.path.basename(again["store"]) == "code"  # noqa: PTH119
