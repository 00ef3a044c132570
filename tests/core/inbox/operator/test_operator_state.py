"""What an operator snoozed and saved outlives the window; a damaged file is kept aside."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator.operator_state import (
    FILE_NAME,
    OperatorState,
    SavedFilter,
    load,
    save,
    state_path,
)

UNTIL = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


def test_absent_is_empty_and_nothing_is_said(tmp_path):
    loaded = load(tmp_path)
    assert (loaded.state, loaded.said) == (OperatorState(), "")


def test_what_is_saved_is_read_again_with_what_others_added(tmp_path):
    state = OperatorState.model_validate(
        {
            "snoozed": {"a" * 32: UNTIL},
            "filters": [SavedFilter(name="mine", line="tool:bash -agent:ci")],
            "later": {"kept": True},
        }
    )
    save(state, tmp_path)
    assert load(tmp_path).state == state
    written = json.loads(state_path(tmp_path).read_text())
    assert written["later"] == {"kept": True}
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'{"v": 2}',
        b'{"v": 1, "v": 1}',
        b'{"snoozed": {"a": "soon"}}',
        b'{"snoozed": {"a": "2026-03-04T09:30:00"}}',
        b'{"filters": [{"name": "", "line": "x"}]}',
        b"\xff\xfe",
    ],
)
def test_a_damaged_file_is_kept_aside_and_that_is_said(tmp_path, raw):
    state_path(tmp_path).write_bytes(raw)
    loaded = load(tmp_path)
    assert loaded.state == OperatorState()
    (aside,) = tmp_path.iterdir()
    assert aside.name.startswith(f"{FILE_NAME}.damaged-")
    assert aside.read_bytes() == raw
    assert aside.name in loaded.said
    assert str(state_path(tmp_path)) in loaded.said
    save(OperatorState(snoozed={"b": UNTIL}), tmp_path)
    assert load(tmp_path).state.snoozed == {"b": UNTIL}
    assert aside.read_bytes() == raw


def test_one_that_is_damaged_while_the_window_runs_is_not_written_over(tmp_path):
    save(OperatorState(), tmp_path)
    state_path(tmp_path).write_bytes(b"{")
    save(OperatorState(snoozed={"b": UNTIL}), tmp_path)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept[0] == FILE_NAME
    assert (tmp_path / kept[1]).read_bytes() == b"{"


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LineclearError, match=r"was not kept: .*file") as why:
        save(OperatorState(), tmp_path / "file" / "home")
    assert why.value.code == "state_unwritable"
