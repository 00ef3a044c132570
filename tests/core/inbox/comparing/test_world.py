"""Calls that edit files, and what became of the world since they were asked."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lineclear.core.checkpoints.model import Counters
from lineclear.core.checkpoints.warnings import LEVELS, SENTENCES, Level
from lineclear.core.inbox.comparing.file_edits import FileEdit, edited, file_edit
from lineclear.core.inbox.comparing.world import FILE_CHANGED, RUN_WENT_ON, look
from lineclear.core.inbox.rows.agent_folder import Folder
from lineclear.core.inbox.rows.row import Detail
from lineclear.core.ledger.liveness import LockState, Process, owner_of
from lineclear.core.ledger.state import State
from tests.ui.sample import a_row


@pytest.mark.parametrize(
    "arguments, edit",
    [
        ({"path": "/a", "content": "x"}, FileEdit("write", "/a", "x")),
        ({"file_path": "/a", "contents": ""}, FileEdit("write", "/a", "")),
        (
            {"file_path": "/a", "old_string": "b", "new_string": "c"},
            FileEdit("replace", "/a", parts=(("b", "c"),)),
        ),
        (
            {"path": "/a", "edits": [{"old_text": "b", "new_text": "c"}], "replace_all": True},
            FileEdit("replace", "/a", parts=(("b", "c"),), everywhere=True),
        ),
        ({"patch": "@@ -1 +1 @@\n-a\n+b"}, FileEdit("patch", "", "@@ -1 +1 @@\n-a\n+b")),
        (
            {"path": "/a", "file_path": "/b", "file": "/a", "content": "x"},
            FileEdit("write", "/a", "x", others=("/b",)),
        ),
        ({"patch": "not one"}, None),
        ({"path": "/a"}, None),
        ({"path": 5, "content": "x"}, None),
        ({"edits": [1], "path": "/a"}, None),
        (["path"], None),
        (None, None),
    ],
)
def test_edits_are_told_by_their_arguments(arguments, edit):
    assert file_edit(arguments) == edit


def test_an_old_text_must_stand_there_exactly_once():
    edit = FileEdit("replace", parts=(("b", "c"),))
    assert edited(edit, "abd") == "acd"
    assert edited(edit, "abb") is None
    assert edited(edit, "a") is None
    assert edited(FileEdit("replace", parts=(("b", "c"),), everywhere=True), "abb") == "acc"


def detail_of(state=State.PENDING, own=3, others=(), asked=None) -> Any:
    counted = [SimpleNamespace(checkpoint=SimpleNamespace(counters=Counters(9, n))) for n in others]
    checkpoint: Any = SimpleNamespace(counters=Counters(2, own))
    kept: Any = tuple(counted)
    row = a_row(state=state, asked_at=asked or datetime.now(UTC))
    return Detail(row, None, checkpoint, b"", Path("f"), others=kept)


def test_a_file_written_since_the_call_was_asked_is_a_care(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("x")
    asked = datetime.now(UTC) - timedelta(minutes=5)
    arguments = {"path": str(path), "content": "y"}
    world = look(detail_of(asked=asked), arguments)
    assert world.codes == (FILE_CHANGED,)
    assert world.disk is not None
    assert world.disk.text == "x"
    earlier = (asked - timedelta(minutes=1)).timestamp()
    os.utime(path, (earlier, earlier))
    assert look(detail_of(asked=asked), arguments).codes == ()


def test_what_is_decided_already_raises_nothing(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("x")
    asked = datetime.now(UTC) - timedelta(minutes=5)
    detail = detail_of(State.APPROVED, asked=asked, others=(9,))
    assert look(detail, {"path": str(path), "content": "y"}).codes == ()


@pytest.mark.parametrize(
    "others, codes", [((), ()), ((2,), ()), ((3,), ()), ((2, 4), (RUN_WENT_ON,)), ((None,), ())]
)
def test_a_run_that_counts_more_calls_went_on(others, codes):
    assert look(detail_of(own=3, others=others), {}).codes == codes


def test_both_are_cares_with_a_sentence():
    for code in (FILE_CHANGED, RUN_WENT_ON):
        assert LEVELS[code] is Level.CARE
        assert SENTENCES[code]


linux = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for a process's folder")


@linux
def test_a_relative_path_is_looked_for_where_the_living_agent_is(tmp_path):
    (tmp_path / "notes.txt").write_text("before")
    arguments = {"path": "notes.txt", "content": "y"}
    with subprocess.Popen(["sleep", "600"], cwd=tmp_path) as agent:
        try:
            held = LockState(held=True, owner=owner_of(agent.pid), process=Process.ALIVE)
            world = look(replace(detail_of(), lock=held), arguments)
            assert world.folder == Folder(os.path.realpath(tmp_path), "process")
            assert world.disk is not None
            assert world.disk.text == "before"
            # Where it is only likely that the file is the one, nothing is warned of.
            asked = datetime.now(UTC) - timedelta(minutes=5)
            assert look(replace(detail_of(asked=asked), lock=held), arguments).codes == ()
        finally:
            agent.kill()
    dead = look(replace(detail_of(), lock=held), arguments)
    assert dead.folder is None
    assert dead.disk is not None
    assert dead.disk.why_not == "its path is relative, and the agent's folder is not known."


def test_a_relative_path_is_looked_for_where_the_dead_agent_was_started(tmp_path):
    (tmp_path / "notes.txt").write_text("before")
    launch: Any = SimpleNamespace(cwd=str(tmp_path))
    gone = LockState(held=False, owner=None, process=Process.DEAD)
    detail = replace(detail_of(), lock=gone, launches=(launch,))
    world = look(detail, {"path": "./notes.txt", "content": "y"})
    assert world.folder == Folder(str(tmp_path), "launch")
    assert world.disk is not None
    assert world.disk.text == "before"
    for path in ("~/notes.txt", "/etc/hosts", ""):
        assert look(detail, {"path": path, "content": "y"}).folder is None
    assert look(replace(detail, launches=()), {"path": "a", "content": "y"}).folder is None
