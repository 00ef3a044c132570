"""What is said of decisions that a system takes only together, while they cannot be handed over."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import lineclear, listed
from tests.cli.test_relaunching import set_launch
from tests.core.inbox.runs.test_handed_together import left

DESPITE = ("--despite", "arguments_differ")


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, str]:
    folder = tmp_path / "source"
    folder.mkdir(mode=0o700)
    left(folder, wait_for_result=False)
    set_launch(tmp_path, "-c", "print('ran')", name="web")
    return ("--source", str(folder))


def said(*words: Any, code: int = 0) -> str:
    done = lineclear(*words)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def planted(words: tuple[str, str], text: str) -> Path:
    (store,) = {row["store"] for row in listed(*words)}
    (digest,) = {
        json.loads(path.read_text())["file_sha256"]
        for path in (Path(store) / ".approvals").glob("*.decision.json")
    }
    path = Path(store) / ".approvals" / f"{digest[:32]}.results.json"
    path.write_text(text)
    return path


def test_a_decision_that_waits_for_others_says_so(words):
    first, second = listed(*words)
    told = said("approve", first["id"], *DESPITE, *words)
    assert "Approved. It takes effect once every call of its run is decided and its agent" in told
    told = said("deny", second["id"], "--reason", "no", *words)
    assert "Nothing runs. web is told why when it is relaunched." in told


def test_results_of_a_stranger_are_told_by_approve_relaunch_and_doctor(words):
    first, second = listed(*words)
    said("approve", first["id"], *DESPITE, *words)
    path = planted(words, '{"approvals":{}}')
    why = f"{path} does not say what was decided, and belongs to user {os.getuid()}; look at it"
    told = said("approve", second["id"], *DESPITE, *words)
    assert f"Approved. It is recorded, but cannot be handed over: {why}" in told
    told = said("relaunch", first["id"], *words, code=4)
    assert why in told
    assert "[damaged]" in told
    told = said("doctor", *words)
    assert f"is held [damaged]: {why}" in told
    assert "Nothing is wrong." not in told
    # Removed, it is put together anew, and the run goes on.
    path.unlink()
    told = said("relaunch", first["id"], *words)
    assert told.startswith("Started: ")
    assert set(json.loads(path.read_text())["approvals"]) == {"call_1", "call_2"}


def test_after_a_taking_back_the_others_are_told_to_be_void_and_start_nothing(words):
    first, second = listed(*words)
    for row in (first, second):
        said("approve", row["id"], *DESPITE, *words)
    told = said("take-back", first["id"], *words)
    assert told == (
        f"shell {first['id'][:8]}: Taken back: nothing runs. The decision on another call of its"
        " run is void too: all its calls are asked anew.\n"
    )
    told = said("relaunch", second["id"], *words, code=4)
    assert "All calls of its run are asked anew, so nothing runs on this decision." in told
    shown = json.loads(said("show", second["id"], "--json", *words))
    assert (shown["state"], shown["reason_code"]) == ("withdrawn", "asked_anew")
    assert [row["state"] for row in listed(*words)].count("pending") == 2


def test_an_approval_of_a_call_that_was_rewritten_starts_nothing(words):
    first, second = listed(*words)
    for row in (first, second):
        said("approve", row["id"], *DESPITE, *words)
    path = Path(first["store"]) / "run.checkpoint.json"
    path.write_bytes(path.read_bytes() + b"\n")
    told = said("relaunch", first["id"], *words, code=4)
    assert "Started" not in told
    assert "[gone]" in told
