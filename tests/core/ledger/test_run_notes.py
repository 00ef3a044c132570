"""What an agent notes of its runs: the latest last, few of them, and never a guess."""

import os
import stat

import pytest

from lineclear.core.errors import Unreadable
from lineclear.core.ledger.run_notes import RUNS, note_ended, note_resumed, run_notes
from lineclear.core.ledger.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "bot") as store:
        yield store


def test_a_run_is_told_of_once_and_with_its_last_end(store):
    assert run_notes(store) == ()
    note_resumed(store, "run-1")
    note_ended(store, "run-2", "error")
    note_ended(store, "run-1", "ok")
    other, run = run_notes(store)
    assert (other.run_id, other.resumed_at, other.outcome) == ("run-2", None, "error")
    assert (run.run_id, run.outcome, run.at) == ("run-1", "ok", run.ended_at)
    assert run.resumed_at is not None
    assert run.ended_at is not None
    assert run.resumed_at <= run.ended_at
    # Resumed once more, it has not ended.
    note_resumed(store, "run-1")
    assert run_notes(store)[-1].outcome is None
    assert stat.S_IMODE((store.path / RUNS).stat().st_mode) == 0o600


def test_only_the_latest_are_kept(store):
    for number in range(70):
        note_resumed(store, f"run-{number}")
    assert [note.run_id for note in run_notes(store)] == [f"run-{n}" for n in range(6, 70)]


def test_what_nobody_could_name_is_not_noted(store):
    note_resumed(store, "")
    note_resumed(store, "x" * 5_000)
    assert not (store.path / RUNS).exists()


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"v": 2}', b"\xff", b'{"v": 1, "runs": []}'])
def test_what_cannot_be_read_is_neither_taken_nor_written_over(store, raw):
    (store.path / RUNS).write_bytes(raw)
    (store.path / RUNS).chmod(0o600)
    for look in (run_notes, lambda store: note_resumed(store, "run-1")):
        with pytest.raises(Unreadable, match=r"runs\.json does not tell which runs") as why:
            look(store)
        assert why.value.sentence.endswith("under its id makes its calls again.")
    assert (store.path / RUNS).read_bytes() == raw


@pytest.mark.parametrize(
    "made, code",
    [
        ("link", "symlink"),
        ("folder", "not_regular"),
        ("pipe", "not_regular"),
        ("huge", "too_large"),
        ("loose", "writable_by_others"),
    ],
)
def test_what_is_no_such_file_is_named_with_what_to_do(store, tmp_path, made, code):
    path = store.path / RUNS
    if made == "link":
        (tmp_path / "elsewhere").write_bytes(b"{}")
        path.symlink_to(tmp_path / "elsewhere")
    elif made == "folder":
        path.mkdir()
    elif made == "pipe":
        os.mkfifo(path, 0o600)
    else:
        path.touch(0o600)
        path.chmod(0o666 if made == "loose" else 0o600)
        os.truncate(path, 5 << 20 if made == "huge" else 0)
    for look in (run_notes, lambda store: note_ended(store, "run-1", "ok")):
        with pytest.raises(Unreadable) as why:
            look(store)
        assert why.value.code == code
        assert why.value.sentence.startswith(f"{path} does not tell which runs went on here: ")
        cure = "with chmod go-w." if made == "loose" else "makes its calls again."
        assert why.value.sentence.endswith(cure)
