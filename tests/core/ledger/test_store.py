"""Store: whose folder it is, who may write in it, what is read from it, and nothing left open."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lineclear.core.errors import StoreRefused, Unreadable
from lineclear.core.ledger.ask import withdraw
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import StoreFormat
from lineclear.core.ledger.store import Store
from tests.core.ledger.steps import asked, change, names, pending, put, record, refund, say, started

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
NO_GROUP = 54_321
needs_fds = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


def refusal(path, **kwargs) -> StoreRefused:
    with pytest.raises(StoreRefused) as refused, Store.open(path, **kwargs):
        pass
    assert str(path) in str(refused.value)
    return refused.value


def unreadable(path) -> str:
    with pytest.raises(Unreadable) as refused, Store.open(path):
        pass
    return refused.value.code


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


# --- making and opening -----------------------------------------------------------------------


def test_a_new_store_is_its_users_alone_and_marked(lane):
    with Store.create(lane) as store:
        assert store.native
        mark = StoreFormat.decode(record(store, "FORMAT").read_bytes())
    status = lane.stat()
    assert (mark.dev, mark.ino) == (status.st_dev, status.st_ino)
    assert mark.store_id == store.store_id
    for folder in (lane, lane.parent, lane / ".approvals"):
        assert folder.stat().st_mode & 0o7777 == 0o700
    assert (lane / ".approvals" / "FORMAT").stat().st_mode & 0o7777 == 0o600
    assert store.owner_uid == os.geteuid()
    assert store.operators == {os.geteuid(), 0}
    assert store.group is None


def test_making_it_again_finds_the_same_store(lane):
    with Store.create(lane) as first, Store.create(lane) as second:
        assert first.store_id == second.store_id


def test_two_makers_at_once_agree(lane):
    lane.mkdir(parents=True, mode=0o700)
    gate = threading.Barrier(4)
    ids = []

    def make():
        gate.wait()
        with Store.create(lane) as store:
            ids.append(store.store_id)

    makers = [threading.Thread(target=make) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert len(ids) == 4
    assert len(set(ids)) == 1


def test_a_folder_of_another_program_is_foreign_and_opening_writes_nothing(tmp_path):
    (tmp_path / "pending.json").write_bytes(b"{}")
    with Store.open(tmp_path) as store:
        assert not store.native
        assert store.store_id is None
        assert store.names() == []
        assert store.calls() == []
        assert store.records(None, "a" * 32).request is None
    assert [path.name for path in tmp_path.iterdir()] == ["pending.json"]


def test_an_agent_does_not_move_into_a_folder_where_another_programs_call_waits(tmp_path):
    (tmp_path / "pending.json").write_bytes(b"{}")
    with pytest.raises(StoreRefused) as refused:
        Store.create(tmp_path)
    assert refused.value.code == "foreign_pending"
    assert [path.name for path in tmp_path.iterdir()] == ["pending.json"]


def test_a_kill_between_the_folder_and_its_mark_is_made_good(lane):
    (lane / ".approvals").mkdir(parents=True, mode=0o700)
    lane.chmod(0o700)
    with Store.create(lane) as store:
        assert store.native


def test_a_missing_folder_is_absent(tmp_path):
    assert unreadable(tmp_path / "gone") == "absent"


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert unreadable(tmp_path / "file") == "not_a_folder"


@pytest.mark.parametrize("made", [True, False])
def test_a_link_to_a_store_is_not_followed(lane, tmp_path, made):
    if made:
        Store.create(lane).close()
    link = tmp_path / "link"
    link.symlink_to(lane)
    assert unreadable(link) == "symlink"


def test_a_link_in_place_of_the_ledger_is_not_followed(store, tmp_path):
    ledger = store.path / ".approvals"
    ledger.rename(tmp_path / "elsewhere")
    ledger.symlink_to(tmp_path / "elsewhere")
    assert refusal(store.path).code == "symlink"


# --- who may write ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode, safe",
    [
        (0o755, True),
        (0o700, True),
        (0o3770, True),
        (0o1770, True),
        (0o777, False),
        (0o1777, False),
        (0o702, False),
        pytest.param(0o770, False, marks=needs_root),
        pytest.param(0o2770, False, marks=needs_root),
    ],
)
@pytest.mark.parametrize("which", ["", ".approvals"])
def test_a_folder_that_others_may_write_is_refused(store, mode, safe, which):
    if mode in (0o770, 0o2770):
        os.chown(store.path / which, -1, NO_GROUP)
    (store.path / which).chmod(mode)
    if safe:
        Store.open(store.path).close()
        return
    refused = refusal(store.path / which) if not which else refusal_of_ledger(store.path)
    assert refused.code == "writable_by_others"
    assert "chmod" in str(refused)


def refusal_of_ledger(path) -> StoreRefused:
    with pytest.raises(StoreRefused) as refused:
        Store.open(path)
    assert str(path / ".approvals") in str(refused.value)
    return refused.value


def test_a_copy_of_a_store_is_not_the_store(store, tmp_path):
    asked(store)
    copy = tmp_path / "copy"
    shutil.copytree(store.path, copy)
    refused = refusal(copy)
    assert refused.code == "store_moved"
    assert "copy" in str(refused)
    with pytest.raises(StoreRefused):
        Store.create(copy)


def test_a_renamed_store_is_the_same_store(store, tmp_path):
    shown = asked(store)
    moved = tmp_path / "moved"
    store.path.rename(moved)
    with Store.open(moved) as found:
        assert found.store_id == store.store_id
        assert found.read_request(1).raw == shown.raw


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"v":2}', b"x" * 5000])
def test_a_mark_that_cannot_be_read_is_no_foreign_store(store, raw):
    put(record(store, "FORMAT"), raw)
    refusal(store.path)


@needs_root
@pytest.mark.parametrize("name", [".approvals", ".approvals/FORMAT"])
def test_a_ledger_of_a_stranger_is_refused(store, name):
    os.chown(store.path / name, 4711, -1)
    assert refusal(store.path).code == "owner"


@needs_root
def test_a_foreign_ledger_of_a_stranger_is_refused(tmp_path):
    with Store.open(tmp_path) as store:
        store.begin_foreign_ledger()
    os.chown(tmp_path / ".approvals", 4711, -1)
    assert refusal(tmp_path).code == "owner"


@needs_root
def test_an_agent_takes_no_folder_of_another_user(lane):
    lane.mkdir(parents=True, mode=0o700)
    os.chown(lane, 4711, -1)
    with pytest.raises(StoreRefused) as refused:
        Store.create(lane)
    assert refused.value.code == "owner"
    assert list(lane.iterdir()) == []


# --- the foreign ledger -----------------------------------------------------------------------


def test_a_foreign_ledger_touches_nothing_else(tmp_path):
    checkpoint = tmp_path / "pending.json"
    checkpoint.write_bytes(b"{}")
    before = checkpoint.stat()
    with Store.open(tmp_path) as store:
        with pytest.raises(StoreRefused):
            store.commit("decision", None, "a" * 32, b"{}")
        store.begin_foreign_ledger()
        store.begin_foreign_ledger()
        assert store.commit("decision", None, "a" * 32, b"{}") is Commit.WON
        assert not store.native
    after = checkpoint.stat()
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    assert (tmp_path / ".approvals").stat().st_mode & 0o7777 == 0o700


# --- reading ----------------------------------------------------------------------------------


def test_calls_are_listed_oldest_first_from_names_alone(store):
    first = asked(store, refund("a"))
    withdraw(store, first)
    second = asked(store, refund("b"))
    put(record(store, f"{'c' * 32}.decision.json"), b"{}")
    put(record(store, f"000001-{'d' * 32}.decision.json"), b"{}")
    put(record(store, ".tmp." + "0" * 32), b"{}")
    put(record(store, "README.json"), b"{}")
    assert store.calls() == [(None, "c" * 32), (1, None), (2, None)]
    say(store, second, "deny")
    assert store.calls()[-1] == (2, second.aid)


def test_records_give_what_can_be_read_and_name_the_rest(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    put(record(store, f"000001-{'d' * 32}.decision.json"), b"{}")
    put(record(store, f"000001-{shown.aid}.outcome.json"), b"{")
    put(record(store, f"000001-{shown.aid}.launch-1.json"), b"{}")
    records = store.records(1, None)
    assert records.aid == shown.aid
    assert records.request == shown
    assert records.decision is not None
    assert records.start is None
    assert records.outcome is None
    assert [(name.split(".", 1)[1], code) for name, code, _ in records.damaged] == [
        ("launch-1.json", "unknown_version"),
        ("outcome.json", "damaged"),
    ]
    assert [name for name, _ in records.stray] == [f"000001-{'d' * 32}.decision.json"]


def test_records_by_name_alone_are_the_same(store, desk):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result="done")
    finish(store, shown, "error", result="late")
    assert store.known_records(1, shown.aid) == store.records(1, None)


def test_records_without_a_request(store):
    put(record(store, f"000007-{'d' * 32}.decision.json"), b"{}")
    records = store.records(7, None)
    assert records.request is None
    assert records.aid == "d" * 32
    assert len(records.damaged) == 1


def test_a_request_of_another_place_is_not_believed(store, desk):
    asked(store)
    raw = record(store, "000001.request.json").read_bytes()
    put(record(store, "000002.request.json"), raw)
    document = json.loads(raw)
    document["lineclear"] |= {"seq": 3, "store_id": "0" * 32}
    put(record(store, "000003.request.json"), json.dumps(document).encode())
    del document["lineclear"]
    put(record(store, "000004.request.json"), json.dumps(document).encode())
    put(record(store, "000005.request.json"), raw[:-2])
    codes = []
    for seq in (2, 3, 4, 5, 6):
        with pytest.raises(Unreadable) as refused:
            desk.read_request(seq)
        codes.append(refused.value.code)
        assert str(seq) in str(refused.value.path)
    assert codes == ["request_seq", "request_store", "no_envelope", "not_json", "absent"]


def test_our_part_of_a_request_is_validated(store, desk):
    asked(store)
    file = record(store, "000001.request.json")
    document = json.loads(file.read_bytes())
    document["lineclear"]["aid"] = "../../../etc/passwd"
    put(file, json.dumps(document).encode())
    with pytest.raises(Unreadable) as refused:
        desk.read_request(1)
    assert refused.value.code == "damaged"


# --- the projection ---------------------------------------------------------------------------


def test_the_projection_is_written_only_when_it_differs(store):
    shown = asked(store)
    before = (store.path / "pending.json").stat()
    store.project(shown.raw)
    assert (store.path / "pending.json").stat().st_ino == before.st_ino
    put(store.path / "pending.json", b"something else")
    store.project(shown.raw)
    assert pending(store) == shown.raw


def test_clearing_takes_only_its_own(store):
    shown = asked(store)
    store.clear(shown.raw + b"\n")
    assert pending(store) == shown.raw
    store.clear(shown.raw)
    assert pending(store) is None
    store.clear(shown.raw)


def test_a_link_in_place_of_the_projection_is_replaced_not_followed(store, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"keep me")
    (store.path / "pending.json").symlink_to(target)
    shown = asked(store)
    assert pending(store) == shown.raw
    assert not (store.path / "pending.json").is_symlink()
    assert target.read_bytes() == b"keep me"


# --- descriptors ------------------------------------------------------------------------------


@needs_fds
def test_no_descriptor_stays_open_on_any_path(store, lane, tmp_path):
    asked(store)
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o700)
    before = open_files()
    for _ in range(3):
        with Store.open(store.path) as again:
            again.records(1, None)
            again.names()
        with Store.open(foreign) as other:
            other.names()
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(store.path, tmp_path / "copy")
        refusal(tmp_path / "copy")
        unreadable(tmp_path / "gone")
        foreign.chmod(0o777)
        refusal(foreign)
        foreign.chmod(0o700)
    assert open_files() == before


@needs_fds
def test_a_child_program_inherits_no_descriptor(store):
    program = "import os; print(sorted(os.readlink(f'/proc/self/fd/{n}') for n in range(3, 64)"
    program += " if os.path.exists(f'/proc/self/fd/{n}')))"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, close_fds=False
    )
    assert str(store.path) not in told.stdout


def test_closing_twice_closes_nothing_else(store):
    other = Store.open(store.path)
    other.close()
    fd = os.open(store.path, os.O_RDONLY)
    other.close()
    os.fstat(fd)
    os.close(fd)


def test_a_launch_is_read_with_its_number(store, desk):
    shown = asked(store)
    put(record(store, f"000001-{shown.aid}.launch-1.json"), b"{}")
    change(
        record(store, f"000001-{shown.aid}.launch-1.json"),
        v=1,
        nonce="0" * 32,
        **store.bound(shown.aid),
        n=1,
        by={"uid": os.geteuid(), "name": "bob", "host": "h"},
        at="2026-11-29T16:23:33Z",
        argv=["/usr/bin/true"],
        cwd="/",
        log="launch-1.log",
    )
    (launch,) = desk.records(1, None).launches
    assert launch.argv == ("/usr/bin/true",)
    assert names(store)[0].startswith("000001-")
