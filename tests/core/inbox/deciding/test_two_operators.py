"""Two operators with homes or uids of their own: of the copies that both see one is started."""

import errno
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import SourceSetting, save
from lineclear.core.inbox.relaunch.copies import only_start
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger import lock
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.folder_lock import FolderLock
from lineclear.core.ledger.layout import APPROVALS, WORKERS
from lineclear.core.places import home
from tests.core.inbox.rows.test_stopped_runs import until
from tests.core.inbox.runs.test_beside import asked, looped, say, waiting

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="flock")
WORKER = """
import sys
from functools import partial
from pathlib import Path
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.relaunch import claimed_run as claimedrun
from lineclear.core.inbox.operator.settings import load
store, aid, patience = sys.argv[1:]
claimedrun.only_start = partial(claimedrun.only_start, patience_s=float(patience))
refuse = claimedrun.refuse_going_elsewhere
def late(shown, seen):
    print("looked", flush=True)
    sys.stdin.readline()
    return refuse(shown, seen)
claimedrun.refuse_going_elsewhere = late
try:
    claimedrun.run_claimed(Path(store), aid, load())
except LineclearError as why:
    print(why.code, why.sentence, flush=True)
"""


@pytest.fixture
def copies(source, marks, tmp_path):
    """An approved call in two folders, and two operators who watch both from homes of their own."""
    for name in ("b0", "b1"):
        waiting(source / name, asked())
    for row in scan_once(marks, marks.sources):
        say(row, marks)
    save(marks, tmp_path / "bob")
    return {row.store.name: row for row in scan_once(marks, marks.sources)}


@contextmanager
def worker(row, place, patience_s=30.0):
    """The worker of one of them: it says when it has looked, and then waits for a line."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(row.store), row.id, str(patience_s)],
        env={**os.environ, "LINECLEAR_HOME": str(place)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def go(process):
    process.stdin.write("go\n")
    process.stdin.flush()


def shown_of(row) -> Shown:
    shown = read_detail(row).shown
    assert shown is not None
    return shown


def starts(source):
    return [path.parts[-3] for path in source.glob("*/.approvals/*.start.json")]


def test_nobody_looks_between_the_look_and_the_start_of_another_operator(source, copies, tmp_path):
    with worker(copies["b0"], home()) as alice:
        assert alice.stdout.readline() == "looked\n"
        with worker(copies["b1"], tmp_path / "bob", 0.0) as bob:
            assert bob.stdout.readline() == (
                f"being_started Not started: {source / 'b1'} is locked by another program, which"
                " may be starting a copy of this run; try again once it has come to its end.\n"
            )
        go(alice)
        until(lambda: starts(source))
        with worker(copies["b1"], tmp_path / "bob", 0.0) as bob:
            # Nothing of what was started holds a lock: it is told what its look says.
            assert bob.stdout.readline() == "looked\n"
            go(bob)
            told = bob.stdout.readline()
        assert told.startswith("alive Its run goes on already, since ")
        assert told.endswith(f"was started in {source / 'b0'}.\n")
        assert until(lambda: len(list((tmp_path / "ran").iterdir()))) == 1
        (tmp_path / "go").touch()
        assert alice.wait() == 0
    assert starts(source) == ["b0"]


def test_of_two_at_once_the_later_one_waits_and_is_told(source, copies, tmp_path):
    with worker(copies["b1"], home()) as alice:
        assert alice.stdout.readline() == "looked\n"
        with worker(copies["b0"], tmp_path / "bob") as bob:
            until(lambda: lock.look(source / "b0" / APPROVALS / WORKERS).held)
            go(alice)
            assert bob.stdout.readline() == "looked\n"
            assert starts(source) == ["b1"]
            go(bob)
            assert bob.stdout.readline().startswith("alive ")
        (tmp_path / "go").touch()
    assert starts(source) == ["b1"]


def test_a_copy_that_appears_after_the_first_look_is_held_too(source, marks, monkeypatch):
    looped(source / "b0")
    (row,) = scan_once(marks, marks.sources)
    shown = shown_of(row)
    seen: list[int] = []
    with monkeypatch.context() as patched:

        def look(store, settings):
            found = scan_once(settings, settings.sources)
            seen.append(len(found))
            if len(seen) == 2:
                looped(source / "b2")
            return found

        looped(source / "b1")
        patched.setattr("lineclear.core.inbox.relaunch.copies.look_everywhere", look)
        with only_start(shown, marks) as rows:
            assert {one.store.name for one in rows} == {"b0", "b1"}
            assert seen == [2, 2]
        with only_start(shown, marks) as rows:
            assert {one.store.name for one in rows} == {"b0", "b1", "b2"}
            for name in ("b0", "b1", "b2"):
                assert not is_free(source / name)
    assert all(is_free(source / name) for name in ("b0", "b1", "b2"))


def is_free(folder):
    one = FolderLock(folder)
    try:
        return one.try_take()
    finally:
        one.close()


def test_a_folder_that_stays_locked_is_told_in_a_sentence_and_nothing_starts(source, marks):
    looped(source / "b0")
    looped(source / "b1")
    row = min(scan_once(marks, marks.sources), key=lambda one: one.store)
    one = FolderLock(source / "b1")
    assert one.try_take()
    with (
        pytest.raises(Refusal, match="b1 is locked by another program") as refused,
        only_start(shown_of(row), marks, patience_s=0.0),
    ):
        pytest.fail("started")
    assert refused.value.code == "being_started"
    # What it had taken meanwhile is free again.
    assert is_free(source / "b0")
    one.close()
    with only_start(shown_of(row), marks, patience_s=0.0):
        pass


def test_two_names_of_one_folder_are_one(source, marks, tmp_path):
    looped(source / "b0")
    (tmp_path / "again").symlink_to(source)
    (row,) = scan_once(marks, marks.sources)
    both = (*marks.sources, SourceSetting(path=tmp_path / "again"))
    with only_start(shown_of(row), marks.model_copy(update={"sources": both})) as rows:
        assert len(rows) == 1


def test_what_is_forked_while_it_is_held_does_not_hold_it(source, marks):
    looped(source / "b0")
    (row,) = scan_once(marks, marks.sources)
    with ExitStack() as stack:
        ours, theirs = os.pipe()
        with only_start(shown_of(row), marks):
            pid = os.fork()
            if pid == 0:
                os.close(theirs)
                os.read(ours, 1)
                os._exit(0)
            stack.callback(os.waitpid, pid, 0)
            stack.callback(os.close, theirs)
        assert is_free(source / "b0")


def test_a_read_only_folder_can_be_held(tmp_path):
    folder = tmp_path / "b0"
    folder.mkdir(mode=0o500)
    one, other = FolderLock(folder), FolderLock(folder)
    assert (one.try_take(), other.try_take()) == (True, False)
    one.close()
    assert other.try_take()
    other.close()


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOLCK, errno.EIO])
def test_where_folders_cannot_be_locked_only_a_run_without_copies_starts(
    source, marks, monkeypatch, number
):
    def fails(_fd):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(f"{FolderLock.__module__}.folders.try_lock_folder", fails)
    looped(source / "b0")
    (row,) = scan_once(marks, marks.sources)
    if number == errno.EIO:
        assert told_not_to(row, marks).endswith("check the disk and try again.")
    else:
        # Its start record alone decides who starts it.
        with only_start(shown_of(row), marks) as rows:
            assert len(rows) == 1
        looped(source / "b1")
        told = told_not_to(row, marks)
        assert told.endswith("leave one of them, and try again.")
        assert f"The file system of {source / 'b0'} keeps no locks on folders." in told


def told_not_to(row, settings):
    with pytest.raises(Refusal) as refused, only_start(shown_of(row), settings):
        pytest.fail("started")
    assert refused.value.code == "start_lock"
    return refused.value.sentence


# --- Two users ---------------------------------------------------------------------------------

ALICE, BOB, OPERATORS = 64711, 64712, 64700
AS_USER = """
import json, os, sys
from pathlib import Path
uid, group, source, name, patience, place = sys.argv[1:]
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.relaunch.copies import only_start
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
settings = Settings(sources=(SourceSetting(path=Path(source)),))
# What is imported late, another user may not be allowed to read.
try:
    shown = read_detail(scan_once(settings, settings.sources)[0]).shown
    with only_start(shown, settings, patience_s=0.0): pass
except LineclearError:
    pass
os.setgroups([int(group)]); os.setgid(int(group)); os.setuid(int(uid))
os.environ["LINECLEAR_HOME"] = place
rows = {row.store.name: row for row in scan_once(settings, settings.sources)}
try:
    with only_start(read_detail(rows[name]).shown, settings, patience_s=float(patience)) as seen:
        print("held", sorted(row.store.name for row in seen), flush=True)
        sys.stdin.readline()
except LineclearError as why:
    print(why.code, flush=True)
"""


@contextmanager
def user(uid, source, name, place, patience_s):
    words = (uid, OPERATORS, source, name, patience_s, place)
    with subprocess.Popen(
        [sys.executable, "-c", AS_USER, *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        yield process
        process.communicate()


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="needs root to act as several users"
)
def test_two_users_exclude_each_other_by_the_folders_that_both_can_read():
    with tempfile.TemporaryDirectory() as stage:
        folder = Path(stage)
        folder.chmod(0o711)
        source = folder / "agents"
        source.mkdir()
        for name, uid in (("b0", ALICE), ("b1", BOB)):
            for path in (looped(source / name), *(source / name).rglob("*"), source / name):
                os.chown(path, uid, OPERATORS)
                path.chmod(0o3750 if path.is_dir() else 0o640)
            (folder / name).mkdir()
            os.chown(folder / name, uid, OPERATORS)
        source.chmod(0o755)
        with user(ALICE, source, "b0", folder / "b0", 30.0) as alice:
            assert alice.stdout.readline() == "held ['b0', 'b1']\n"
            with user(BOB, source, "b1", folder / "b1", 0.0) as bob:
                assert bob.stdout.readline() == "being_started\n"
        with user(BOB, source, "b1", folder / "b1", 0.0) as bob:
            assert bob.stdout.readline() == "held ['b0', 'b1']\n"
