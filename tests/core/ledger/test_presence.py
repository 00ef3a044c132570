import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.core.ledger import presence
from lineclear.core.ledger.lock import AgentLock
from tests.core.ledger import reading_users

WATCHER = """
import sys
from pathlib import Path
from lineclear.core.ledger import presence
from lineclear.core.ledger.lock import AgentLock
assert presence.announce(Path(sys.argv[1])) is not None
sys.stdout.write("watching\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def test_a_source_is_watched_exactly_while_somebody_announced_it(tmp_path):
    assert not presence.watched(tmp_path)
    first = presence.announce(tmp_path)
    second = presence.announce(tmp_path)
    assert first is not None
    assert second is not None
    assert presence.watched(tmp_path)
    first.close()
    assert presence.watched(tmp_path)
    second.close()
    assert not presence.watched(tmp_path)
    assert list((tmp_path / presence.FOLDER).iterdir()) == []


def test_a_killed_watcher_watches_no_longer_and_leaves_nothing_for_ever(tmp_path):
    watcher = subprocess.Popen(
        [sys.executable, "-c", WATCHER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "watching\n"
        assert presence.watched(tmp_path)
        watcher.kill()
        watcher.wait()
    assert not presence.watched(tmp_path)
    ours = presence.announce(tmp_path)
    assert ours is not None
    assert len(list((tmp_path / presence.FOLDER).iterdir())) == 1
    ours.close()


def test_a_source_where_nothing_may_be_written_is_announced_by_nobody(tmp_path):
    blocked = tmp_path / "source"
    blocked.write_text("a file, no folder")
    assert presence.announce(blocked) is None


READER = """
import sys
from pathlib import Path
from lineclear.core.ledger import presence
from lineclear.core.ledger.lock import AgentLock
here = presence.announce(Path(sys.argv[1]))
for line in sys.stdin:
    here.tell("Bob", line.strip() or None)
    sys.stdout.write("told\\n")
    sys.stdout.flush()
"""
CALL = "3f" * 16


def test_a_colleague_is_seen_reading_until_they_stop_or_die(tmp_path):
    ours = presence.announce(tmp_path)
    assert ours is not None
    ours.tell("me", CALL)
    assert presence.readers(tmp_path) == ()
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def tell(call: str) -> None:
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write(f"{call}\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "told\n"

    with reader:
        tell(CALL)
        (seen,) = presence.readers(tmp_path)
        assert (seen.uid, seen.name, seen.call) == (os.getuid(), "Bob", CALL)
        tell("")
        assert presence.readers(tmp_path) == ()
        tell(CALL)
        reader.kill()
        reader.wait()
    assert presence.readers(tmp_path) == ()
    ours.close()


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        b'{"v":1,"name":"x","call":"../../etc/passwd"}',
        b'{"v":1,"name":"a","name":"b","call":"' + CALL.encode() + b'"}',
        b'{"v":2,"name":"x","call":"' + CALL.encode() + b'"}',
        b'{"v":1,"name":"' + b"x" * 5000 + b'","call":"' + CALL.encode() + b'"}',
    ],
)
def test_a_reading_that_cannot_be_understood_is_nobodys(tmp_path, text):
    with subprocess.Popen(
        [sys.executable, "-c", WATCHER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "watching\n"
        (folder,) = (tmp_path / presence.FOLDER).iterdir()
        (folder / presence.READING).write_bytes(text)
        assert presence.readers(tmp_path) == ()
        watcher.kill()


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="needs root to be two users")
def test_two_users_of_one_group_see_each_other_read_and_a_stranger_sees_nothing(tmp_path):
    # Everybody may pass through the folders above.
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    done = subprocess.run(
        [sys.executable, "-m", reading_users.__name__, str(tmp_path)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    bob = reading_users.BOB
    assert json.loads(done.stdout) == {
        "operator": [[[bob, "Bob", CALL]], []],
        "stranger": [[], []],
        "afterwards": [],
    }


# --- What others put there ----------------------------------------------------------------------


def left_behind(folder: Path) -> dict[str, bytes]:
    """A folder as a watcher that was killed leaves it, and a reading in it."""
    AgentLock.acquire(folder).close()
    (folder / presence.READING).write_bytes(b"precious")
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


@pytest.mark.parametrize("name", ["x", "3f" * 16])
def test_nothing_is_removed_where_a_link_beside_the_watchers_leads(tmp_path, name):
    elsewhere = tmp_path / "elsewhere" / "refund-bot"
    kept = left_behind(elsewhere)
    shelf = tmp_path / "source" / presence.FOLDER
    shelf.mkdir(parents=True, mode=0o700)
    (shelf / name).symlink_to(elsewhere)
    ours = presence.announce(tmp_path / "source")
    assert ours is not None
    assert contents(elsewhere) == kept
    ours.close()
    assert contents(elsewhere) == kept
    assert not presence.watched(tmp_path / "source")


def test_nothing_is_removed_or_written_where_a_link_in_the_shelfs_place_leads(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    kept = left_behind(elsewhere / ("3f" * 16))
    (tmp_path / "source").mkdir(mode=0o700)
    (tmp_path / "source" / presence.FOLDER).symlink_to(elsewhere)
    assert presence.announce(tmp_path / "source") is None
    assert [one.name for one in elsewhere.iterdir()] == ["3f" * 16]
    assert contents(elsewhere / ("3f" * 16)) == kept


def test_a_link_put_in_the_place_of_our_own_folder_is_not_followed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    kept = left_behind(elsewhere)
    ours = presence.announce(tmp_path / "source")
    assert ours is None
    (tmp_path / "source").mkdir(mode=0o700)
    ours = presence.announce(tmp_path / "source")
    assert ours is not None
    (folder,) = (tmp_path / "source" / presence.FOLDER).iterdir()
    folder.rename(tmp_path / "moved")
    folder.symlink_to(elsewhere)
    ours.tell("me", CALL)
    ours.tell("me", None)
    ours.close()
    assert contents(elsewhere) == kept


def test_a_folder_that_holds_more_than_a_watcher_leaves_is_left_alone(tmp_path):
    folder = tmp_path / presence.FOLDER / ("3f" * 16)
    left_behind(folder)
    (folder / "pending.json").write_bytes(b"{}")
    kept = contents(folder)
    ours = presence.announce(tmp_path)
    assert ours is not None
    ours.close()
    assert contents(folder) == kept


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="needs root to be two users")
def test_what_another_user_left_is_theirs_to_remove(tmp_path):
    folder = tmp_path / presence.FOLDER / ("3f" * 16)
    kept = left_behind(folder)
    for one in (folder, *folder.iterdir()):
        os.chown(one, 4321, 4321)
    ours = presence.announce(tmp_path)
    assert ours is not None
    ours.close()
    assert contents(folder) == kept


def test_what_is_closed_twice_touches_nothing_of_others(tmp_path):
    ours = presence.announce(tmp_path)
    assert ours is not None
    ours.close()
    others = [os.open(tmp_path, os.O_RDONLY) for _ in range(4)]
    ours.tell("Bob", "0" * 32)
    ours.close()
    assert [os.fstat(fd).st_ino for fd in others] == [tmp_path.stat().st_ino] * 4
    assert list(tmp_path.iterdir()) == [tmp_path / presence.FOLDER]
    for fd in others:
        os.close(fd)
