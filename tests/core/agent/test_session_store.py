import errno
import json
import logging
import os
import shutil
from pathlib import Path

import pytest

from lineclear.core.agent.errors import ResumeIOError, ResumeSerializeError
from lineclear.core.agent.loop_checkpoints import (
    LoopCheckpointSink,
    MemorySessionStore,
    SessionStore,
    SessionStoreCheckpointSink,
)
from lineclear.core.agent.session_store import FileSessionStore
from lineclear.core.checkpoints.a3s import LoopCheckpoint
from lineclear.core.errors import LineclearError, NotConfirmed, Unreadable
from tests.core.checkpoints.a3s_samples import a3s_document

LAYOUT = Path(__file__).parents[2] / "data" / "fixtures" / "a3s" / "store_layout"


def checkpoint(**fields) -> LoopCheckpoint:
    return LoopCheckpoint.from_document(a3s_document(**fields))


@pytest.fixture
def root(tmp_path):
    return tmp_path / "sessions"


@pytest.fixture
def files(root):
    return FileSessionStore(root)


def folder(root: Path) -> Path:
    return root / "v1" / "loop_checkpoints"


# --- the files --------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "files"])
def store(request, root) -> SessionStore:
    return FileSessionStore(root) if request.param == "files" else MemorySessionStore()


async def test_what_is_saved_is_loaded_and_the_next_replaces_it(store):
    assert isinstance(store, SessionStore)
    assert await store.load_loop_checkpoint("run-1") is None
    await store.save_loop_checkpoint("run-1", checkpoint())
    assert await store.load_loop_checkpoint("run-1") == checkpoint()
    later = checkpoint(turn=2, from_the_future={"kept": [1]})
    await store.save_loop_checkpoint("run-1", later)
    assert await store.load_loop_checkpoint("run-1") == later
    assert await store.load_loop_checkpoint("run-2") is None
    for _ in range(2):
        await store.delete_loop_checkpoint("run-1")
        assert await store.load_loop_checkpoint("run-1") is None


async def test_a_run_is_saved_under_its_own_key_only(store):
    with pytest.raises(Unreadable, match="key mismatch") as mismatch:
        await store.save_loop_checkpoint("run-2", checkpoint())
    assert mismatch.value.code == "key_mismatch"


async def test_the_file_stands_where_a3s_looks_for_it(files, root):
    await files.save_loop_checkpoint("run-1", checkpoint())
    (file,) = folder(root).iterdir()
    assert file.name == "id_cnVuLTE.json"
    assert file.read_bytes() == checkpoint().encode()
    assert file.stat().st_mode & 0o777 == 0o600
    assert [place.stat().st_mode & 0o777 for place in (root, *folder(root).parents[:1])] == [
        0o700,
        0o700,
    ]


@pytest.mark.parametrize("run_id", ["../../etc/passwd", "a/b\\c", "", "läuft 🚆", "x" * 150])
async def test_no_run_id_leaves_the_folder(files, root, run_id):
    await files.save_loop_checkpoint(run_id, checkpoint(run_id=run_id))
    assert len(list(folder(root).iterdir())) == 1
    found = await files.load_loop_checkpoint(run_id)
    assert found is not None
    assert found.run_id == run_id
    assert [name for _, name in await files.kept_runs()] == [run_id]


async def test_files_of_a3s_are_read(files, root):
    shutil.copytree(LAYOUT, root)
    small = await files.load_loop_checkpoint("6d0c1f0e-3d55-4f59-8f0b-8f0b0c3a1f10")
    assert small is not None
    assert small.convergence.recent_tool_signatures == []
    for run_id, code in (("run-future", "future_schema"), ("run-bad-binding", "bad_binding")):
        with pytest.raises(Unreadable, match=run_id) as refused:
            await files.load_loop_checkpoint(run_id)
        assert refused.value.code == code
        assert refused.value.path == str(folder(root) / _name(run_id))
    assert len(await files.kept_runs()) == 6


def _name(run_id: str) -> str:
    return {
        "run-future": "id_cnVuLWZ1dHVyZQ.json",
        "run-bad-binding": "id_cnVuLWJhZC1iaW5kaW5n.json",
    }[run_id]


async def test_a_legacy_file_is_read_while_there_is_no_current_one(files, root):
    old = root / "loop_checkpoints"
    old.mkdir(parents=True)
    (old / "a_b.json").write_bytes(checkpoint(run_id="a/b", turn=7).encode())
    found = await files.load_loop_checkpoint("a/b")
    assert found is not None
    assert found.turn == 7
    # The name is lossy: another run's id gives the same, and is not given this run's state.
    with pytest.raises(Unreadable, match="key mismatch"):
        await files.load_loop_checkpoint("a\\b")
    await files.delete_loop_checkpoint("a\\b")
    await files.save_loop_checkpoint("a/b", checkpoint(run_id="a/b", turn=8))
    found = await files.load_loop_checkpoint("a/b")
    assert found is not None
    assert found.turn == 8
    await files.delete_loop_checkpoint("a/b")
    assert await files.load_loop_checkpoint("a/b") is None
    assert list(old.iterdir()) == []


async def test_the_run_of_a_legacy_file_counts_while_there_is_no_current_one(files, root):
    old = root / "loop_checkpoints"
    old.mkdir(parents=True)
    path = old / "a_b.json"
    path.write_bytes(checkpoint(run_id="a/b", turn=7).encode())
    (old / "settings.txt").write_bytes(b"no checkpoint")
    assert await files.kept_runs() == [(path.stat().st_mtime_ns, "a/b")]
    await files.save_loop_checkpoint("a/b", checkpoint(run_id="a/b", turn=8))
    (_, run_id), *others = await files.kept_runs()
    assert (run_id, others) == ("a/b", [])
    await files.delete_loop_checkpoint("a/b")
    (old / "b.json").write_bytes(checkpoint(run_id="a/b", turn=7).encode())
    assert [run_id for _, run_id in await files.kept_runs()] == ["a/b"]
    with pytest.raises(Unreadable, match=r"b\.json holds run 'a/b', but .* name it a_b\.json"):
        await files.refuse_misnamed("a/b")


@pytest.mark.parametrize("raw, code", [(b"A3SE\x01", "encrypted"), (b'{"run_id": "a', "not_json")])
async def test_a_legacy_file_that_cannot_be_read_stops_who_looks_unless_a_later_one_is_there(
    files, root, caplog, raw, code
):
    old = root / "loop_checkpoints"
    old.mkdir(parents=True)
    path = old / "a_b.json"
    path.write_bytes(raw)
    with pytest.raises(Unreadable) as stopped:
        await files.kept_runs()
    assert (stopped.value.code, stopped.value.path) == (code, str(path))
    os.utime(path, ns=(1, 1))
    await files.save_loop_checkpoint("c", checkpoint(run_id="c", turn=1))
    assert [run_id for _, run_id in await files.kept_runs()] == ["c"]
    assert str(path) in caplog.text


@pytest.mark.parametrize(
    "raw, code",
    [
        (b"A3SE\x01" + bytes(40), "encrypted"),
        (b"", "empty"),
        (b'{"run_id": "run-1", "turn"', "not_json"),
        (json.dumps(a3s_document(session_id=...)).encode(), "missing_field"),
        (json.dumps(a3s_document(turn=-1)).encode(), "negative"),
    ],
    ids=["encrypted", "empty", "torn", "missing", "negative"],
)
async def test_a_file_that_is_refused_is_kept_and_named(files, root, raw, code):
    folder(root).mkdir(parents=True)
    file = folder(root) / "id_cnVuLTE.json"
    file.write_bytes(raw)
    with pytest.raises(Unreadable) as refused:
        await files.load_loop_checkpoint("run-1")
    assert refused.value.code == code
    assert str(file) in refused.value.sentence
    assert file.read_bytes() == raw


async def test_too_large_is_neither_written_nor_read(files, root, monkeypatch):
    monkeypatch.setattr("lineclear.core.checkpoints.a3s.MAX_BYTES", 500)
    with pytest.raises(ResumeSerializeError, match="cannot be written"):
        await files.save_loop_checkpoint("run-1", checkpoint())
    assert not root.exists()
    folder(root).mkdir(parents=True)
    (folder(root) / "id_cnVuLTE.json").write_bytes(checkpoint().encode())
    with pytest.raises(Unreadable) as refused:
        await files.load_loop_checkpoint("run-1")
    assert refused.value.code == "too_large"


async def test_what_rust_could_not_read_back_is_not_written(files, root):
    deep: list[object] = []
    for _ in range(125):
        deep = [deep]
    with pytest.raises(ResumeSerializeError):
        await files.save_loop_checkpoint("run-1", checkpoint(extra=deep))
    assert not root.exists()


async def test_a_failed_write_leaves_the_old_file_and_no_temporary(files, root, monkeypatch):
    await files.save_loop_checkpoint("run-1", checkpoint())

    def full(*args: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NotConfirmed, match="the disk is full"):
        await files.save_loop_checkpoint("run-1", checkpoint(turn=2))
    monkeypatch.undo()
    assert [file.name for file in folder(root).iterdir()] == ["id_cnVuLTE.json"]
    assert await files.load_loop_checkpoint("run-1") == checkpoint()


async def test_a_link_in_the_way_is_not_followed(files, root, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root.mkdir()
    (root / "v1").symlink_to(elsewhere)
    with pytest.raises(LineclearError, match="symbolic link"):
        await files.save_loop_checkpoint("run-1", checkpoint())
    assert list(elsewhere.iterdir()) == []


async def test_a_file_where_the_folder_should_be_is_told(files, root):
    root.write_text("not a folder")
    with pytest.raises((ResumeIOError, Unreadable), match="sessions"):
        await files.save_loop_checkpoint("run-1", checkpoint())


# --- the sink ---------------------------------------------------------------------------------


async def test_the_sink_forwards(store):
    sink = SessionStoreCheckpointSink(store)
    assert isinstance(sink, LoopCheckpointSink)
    assert await sink.load_latest("run-1") is None
    await sink.save_checkpoint(checkpoint())
    await sink.save_checkpoint(checkpoint(turn=2))
    assert await sink.load_latest("run-1") == checkpoint(turn=2)


class Broken:
    """A session store whose medium is gone."""

    async def save_loop_checkpoint(self, run_id, checkpoint):
        raise ConnectionError("no route to the store")

    async def load_loop_checkpoint(self, run_id):
        raise ConnectionError("no route to the store")

    async def delete_loop_checkpoint(self, run_id):
        raise ConnectionError("no route to the store")

    async def kept_runs(self):
        return []


async def test_the_sink_never_raises_and_says_what_failed(caplog):
    sink = SessionStoreCheckpointSink(Broken())
    with caplog.at_level(logging.WARNING, "lineclear.agent"):
        await sink.save_checkpoint(checkpoint())
        assert await sink.load_latest("run-1") is None
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [text.partition(";")[0] for text in said] == [
        "The loop checkpoint of run run-1 could not be saved",
        "The loop checkpoint of run run-1 could not be loaded",
    ]
    assert all(text.endswith("no route to the store") for text in said)


async def test_an_unreadable_file_counts_as_none_for_the_sink(files, root):
    folder(root).mkdir(parents=True)
    (folder(root) / "id_cnVuLTE.json").write_bytes(checkpoint(schema_version=1).encode()[:-9])
    assert await SessionStoreCheckpointSink(files).load_latest("run-1") is None
    with pytest.raises(Unreadable):
        await files.load_loop_checkpoint("run-1")


# --- what would not be loaded again ------------------------------------------------------------


async def test_what_would_not_be_loaded_again_is_not_saved(store):
    await store.save_loop_checkpoint("run-1", checkpoint())
    newer = checkpoint().model_copy(update={"schema_version": 5})
    with pytest.raises(Unreadable, match="has schema version 5") as refused:
        await store.save_loop_checkpoint("run-1", newer)
    assert refused.value.code == "future_schema"
    assert await store.load_loop_checkpoint("run-1") == checkpoint()


async def test_what_is_no_json_is_not_saved(files):
    odd = checkpoint().model_copy(update={"extra": {1, 2}})
    with pytest.raises(ResumeSerializeError, match="type set cannot be written as JSON"):
        await files.save_loop_checkpoint("run-1", odd)


@pytest.mark.parametrize("run_id", ["\ud800", "nul\0"])
async def test_a_run_id_that_no_file_can_hold_is_of_no_run(files, root, run_id):
    with pytest.raises(ResumeSerializeError, match="no JSON can hold the run's id"):
        await files.save_loop_checkpoint(
            run_id, checkpoint(run_id="x").model_copy(update={"run_id": run_id})
        )
    assert await files.load_loop_checkpoint(run_id) is None
    await files.delete_loop_checkpoint(run_id)
    assert not root.exists()
