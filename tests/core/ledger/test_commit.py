"""commit: the first creator wins, what it says is durable, and nothing is left behind."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lineclear.core.errors import NotConfirmed
from lineclear.core.ledger.commit import Commit, commit, remove_leftovers, replace, sync_folder
from tests.core.ledger import refusing

MINE = b'{"nonce":"00000000000000000000000000000001"}'
THEIRS = b'{"nonce":"00000000000000000000000000000002"}'

needs_seccomp = pytest.mark.skipif(not refusing.SUPPORTED, reason="needs seccomp of Linux")

PROGRAM = """
import os, sys
from lineclear.core.errors import LineclearError
from lineclear.core.ledger import commit as publishing
folder = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
act = getattr(publishing, sys.argv[2])
for data in sys.argv[4:]:
    try:
        print(act(folder, sys.argv[3], data.encode()))
    except LineclearError as why:
        print(why.code, why.sentence)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(folder, calls, act, name, *texts):
    """Run ACT with each text while the kernel refuses CALLS; its answers, line by line."""
    pairs = [f"{call}={number}" for call, number in calls.items()]
    python = [sys.executable, "-c", PROGRAM, str(folder), act, name, *texts]
    ran = subprocess.run(
        [sys.executable, refusing.__file__, *pairs, "--", *python],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return ran.stdout.splitlines()


@pytest.fixture
def folder(tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_the_first_creator_wins_and_nothing_is_overwritten(folder, tmp_path):
    assert commit(folder, "slot.json", MINE) is Commit.WON
    assert commit(folder, "slot.json", THEIRS) is Commit.LOST
    assert (tmp_path / "slot.json").read_bytes() == MINE
    assert names(tmp_path) == ["slot.json"]
    found = (tmp_path / "slot.json").stat()
    assert (found.st_nlink, found.st_mode & 0o7777) == (1, 0o600)


def test_the_same_bytes_committed_again_are_still_ours(folder):
    assert commit(folder, "slot.json", MINE) is Commit.WON
    assert commit(folder, "slot.json", MINE) is Commit.WON


@pytest.mark.parametrize("size", [1, 4096, (1 << 20) + 1, 5 << 20])
def test_bytes_of_any_size_are_compared_whole(folder, tmp_path, size):
    data = os.urandom(size)
    almost = data[:-1] + bytes([data[-1] ^ 1])
    assert commit(folder, "slot", data) is Commit.WON
    assert commit(folder, "slot", almost) is Commit.LOST
    assert commit(folder, "slot", data + b" ") is Commit.LOST
    assert (tmp_path / "slot").read_bytes() == data


def test_a_mode_for_a_group_is_set_whatever_the_umask(folder, tmp_path):
    before = os.umask(0o077)
    try:
        commit(folder, "slot", MINE, mode=0o640)
    finally:
        os.umask(before)
    assert (tmp_path / "slot").stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("planted", ["symlink to ours", "symlink", "fifo", "folder", "socket"])
def test_what_is_no_file_in_the_slot_has_won_and_is_not_followed(folder, tmp_path, planted):
    slot, elsewhere = tmp_path / "slot", tmp_path / "elsewhere"
    elsewhere.write_bytes(MINE)
    if planted == "fifo":
        os.mkfifo(slot)
    elif planted == "folder":
        slot.mkdir()
    elif planted == "socket":
        os.mknod(slot, 0o140600)
    else:
        slot.symlink_to(elsewhere if planted == "symlink to ours" else tmp_path / "nowhere")
    assert commit(folder, "slot", MINE) is Commit.LOST
    assert names(tmp_path) == ["elsewhere", "slot"]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "a\0b", ".tmp." + "0" * 32])
def test_a_name_that_leads_elsewhere_is_a_programming_error(folder, name):
    with pytest.raises(ValueError):
        commit(folder, name, MINE)
    with pytest.raises(ValueError):
        replace(folder, name, MINE)


def test_threads_of_one_process_have_one_winner(folder):
    answers = {}
    for round_ in range(50):
        gate = threading.Barrier(4)

        def write(number, *, gate=gate, name=f"slot-{round_}"):
            gate.wait()
            answers[name, number] = commit(folder, name, b"%032x" % number)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    wins = [name for (name, _), answer in answers.items() if answer is Commit.WON]
    assert sorted(wins) == sorted(f"slot-{round_}" for round_ in range(50))


def test_no_descriptor_is_left_open(folder):
    commit(folder, "slot", MINE)
    before = len(names(Path("/proc/self/fd")))
    for _ in range(20):
        commit(folder, "slot", THEIRS)
        replace(folder, "projection", MINE)
        sync_folder(folder)
    assert len(names(Path("/proc/self/fd"))) == before


def test_a_folder_that_is_gone_is_told_in_a_sentence(tmp_path):
    home = tmp_path / "store"
    home.mkdir()
    fd = os.open(home, os.O_RDONLY)
    home.rmdir()
    with pytest.raises(NotConfirmed, match=f"^Not confirmed: the folder is gone at {home}") as told:
        commit(fd, "slot", MINE)
    os.close(fd)
    assert told.value.code == "not_confirmed"


def test_a_file_size_limit_leaves_nothing_behind(tmp_path):
    program = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))" + PROGRAM
    ran = subprocess.run(
        [sys.executable, "-c", program, tmp_path, "commit", "slot", "x" * 100],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert "Not confirmed: the file would be larger than allowed" in ran.stdout
    assert names(tmp_path) == []


@needs_seccomp
@pytest.mark.parametrize(
    "number, words",
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EIO, "the disk reports an error"),
    ],
)
def test_a_failed_fsync_is_told_with_the_folder_and_leaves_nothing(tmp_path, number, words):
    (line,) = refused(tmp_path, {"fsync": number}, "commit", "slot.json", "mine")
    told = f"not_confirmed Not confirmed: {words} at {tmp_path}, writing slot.json; "
    assert line.startswith(told)
    assert line.endswith(" and try again.")
    assert names(tmp_path) == []


@needs_seccomp
def test_a_failed_fsync_leaves_a_projection_as_it_was(tmp_path):
    (tmp_path / "pending.json").write_text("before")
    (line,) = refused(tmp_path, {"fsync": errno.EIO}, "replace", "pending.json", "after")
    assert line.startswith("not_confirmed ")
    assert names(tmp_path) == ["pending.json"]
    assert (tmp_path / "pending.json").read_text() == "before"


@needs_seccomp
def test_a_temporary_that_stays_does_not_undo_the_record(folder, tmp_path):
    (line,) = refused(tmp_path, {"unlinkat": errno.EIO}, "commit", "slot", MINE.decode())
    assert line == "Commit.WON"
    assert (tmp_path / "slot").stat().st_nlink == 2
    assert commit(folder, "slot", MINE) is Commit.WON
    assert commit(folder, "slot", THEIRS) is Commit.LOST


@needs_seccomp
@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES])
def test_without_hard_links_a_rename_that_replaces_nothing_publishes(tmp_path, number):
    calls = {"linkat": number}
    answers = refused(tmp_path, calls, "commit", "slot", "mine", "their", "mine")
    assert answers == ["Commit.WON", "Commit.LOST", "Commit.WON"]
    assert (tmp_path / "slot").read_text() == "mine"
    assert names(tmp_path) == ["slot"]


@needs_seccomp
@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS])
def test_without_any_exclusive_publish_the_store_is_refused(tmp_path, number):
    calls = {"linkat": errno.EPERM, "renameat2": number}
    (line,) = refused(tmp_path, calls, "commit", "slot", "mine")
    assert line.startswith(f"no_exclusive_publish {tmp_path} cannot be a store: ")
    assert names(tmp_path) == []


@needs_seccomp
def test_a_link_that_fails_for_another_reason_is_not_confirmed(tmp_path):
    (line,) = refused(tmp_path, {"linkat": errno.EIO}, "commit", "slot", "mine")
    assert line.startswith("not_confirmed Not confirmed: the disk reports an error")
    assert names(tmp_path) == []


def test_only_what_a_killed_writer_left_long_ago_is_removed(folder, tmp_path):
    old, new = (tmp_path / f".tmp.{digit * 32}" for digit in "01")
    other = tmp_path / ".tmp.not-ours"
    for path in (old, new, other, tmp_path / "000001.request.json"):
        path.touch()
        if path != new:
            os.utime(path, (1_000_000_000, 1_000_000_000))
    remove_leftovers(folder)
    assert names(tmp_path) == sorted([new.name, other.name, "000001.request.json"])


def test_a_writer_whose_temporary_was_removed_writes_anew(folder, tmp_path):
    stop = threading.Event()

    def remove() -> None:
        while not stop.is_set():
            for path in tmp_path.glob(".tmp.*"):
                path.unlink(missing_ok=True)

    remover = threading.Thread(target=remove)
    remover.start()
    answers: list[Commit | NotConfirmed] = []
    try:
        for number in range(50):
            try:
                answers.append(commit(folder, f"slot-{number}", MINE))
            except NotConfirmed as why:
                answers.append(why)
    finally:
        stop.set()
        remover.join()
    for number, answer in enumerate(answers):
        stands = (tmp_path / f"slot-{number}").exists()
        assert stands or isinstance(answer, NotConfirmed)


def test_replace_puts_the_whole_text_in_place(folder, tmp_path):
    replace(folder, "pending.json", b"one")
    replace(folder, "pending.json", b"two")
    assert (tmp_path / "pending.json").read_bytes() == b"two"
    assert names(tmp_path) == ["pending.json"]


def test_replace_takes_the_place_of_a_symlink_and_leaves_its_target(folder, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"kept")
    (tmp_path / "pending.json").symlink_to(target)
    replace(folder, "pending.json", b"new")
    assert target.read_bytes() == b"kept"
    assert (tmp_path / "pending.json").read_bytes() == b"new"
    assert not (tmp_path / "pending.json").is_symlink()


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux, to mount a disk"
)
def test_on_a_read_only_disk_no_file_is_missed_that_was_never_made(tmp_path):
    script = 'mount -t tmpfs -o ro disk "$0" && exec "$@"'
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, str(tmp_path),
         sys.executable, "-c", PROGRAM, str(tmp_path), "commit", "a.json", "x"],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    assert ran.stdout.startswith("not_confirmed Not confirmed: ")
    assert ran.stderr == ""
