"""What all watched folders know of a call counts, whichever folder is looked into."""

import sys

from tests import badinputs
from tests.cli.program import lineclear, listed, only_row
from tests.cli.test_listing import foreign
from tests.core.inbox.runs.test_beside import asked, failed, waiting

NAMED = {"trace_id": "r-1", "tool_id": "t-1"}


def set_up(tmp_path):
    """A watched folder whose agents go on by a command, and one that is looked into by name."""
    for name in ("watched", "given"):
        (tmp_path / name).mkdir(mode=0o700)
        folder = str(tmp_path / name)
        done = lineclear(
            "config", "set-launch", "--source", folder, "--", sys.executable, "-c", "print('ran')"
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert lineclear("config", "add-source", tmp_path / "watched").returncode == 0
    return tmp_path / "watched", tmp_path / "given", ("--source", tmp_path / "given")


def test_a_copy_of_a_call_that_ran_in_a_watched_folder_needs_the_word(tmp_path):
    watched, given, words = set_up(tmp_path)
    store = foreign(watched, **NAMED)
    row = only_row()
    assert lineclear("approve", row["id"]).returncode == 0
    done = lineclear("run-claimed", store, row["id"])
    assert done.returncode == 0, done.stderr
    foreign(given, **NAMED)
    (copy,) = listed(*words)
    done = lineclear("approve", copy["id"], *words)
    assert (done.returncode, "[handed_over_before]" in done.stderr) == (4, True)
    assert f"Answered before in {store}: approved by " in done.stderr
    shown = lineclear("show", copy["id"], *words).stdout
    assert f"Before     answered in {store}: approved by " in shown
    assert "first_time" not in shown
    done = lineclear("approve", copy["id"], "--despite", "handed_over_before", *words)
    assert done.returncode == 0, done.stderr
    done = lineclear("relaunch", copy["id"], *words)
    assert done.returncode == 0, done.stderr


def test_a_run_with_an_open_call_in_a_watched_folder_is_not_resumed(tmp_path):
    watched, given, words = set_up(tmp_path)
    failed(given / "web")
    waiting(watched / "other", asked())
    (row,) = listed(*words)
    done = lineclear("relaunch", row["id"], "--despite", "may_be_running", *words)
    assert (done.returncode, "[request_open]" in done.stderr) == (4, True)
    assert str(watched / "other") in done.stderr


def test_a_file_that_cannot_be_read_is_named_and_needs_its_own_word(tmp_path):
    _, given, words = set_up(tmp_path)
    failed(given / "web")
    badinputs.put(given / "web" / "torn.checkpoint.json", b"{")
    (row,) = [one for one in listed(*words) if one["state"] == "resumable"]
    shown = lineclear("show", row["id"], *words).stdout
    assert "--despite may_be_running --despite unread_beside" in shown
    known = ("--despite", "may_be_running")
    done = lineclear("relaunch", row["id"], *known, *words)
    assert (done.returncode, "[unread_beside]" in done.stderr) == (4, True)
    assert "torn.checkpoint.json" in done.stderr
    done = lineclear("relaunch", row["id"], *known, "--despite", "unread_beside", *words)
    assert done.returncode == 0, done.stderr
