"""Standing denials outlive the window that was told them: for their time, their run, its giver."""

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.inbox.deciding.kept_denials import KeptDenials
from lineclear.core.inbox.deciding.standing_denials import (
    LASTS,
    Stand,
    StandingDenial,
    StandingDenials,
)
from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.folder_lock import FolderLock
from lineclear.core.ledger.liveness import current_owner, owner_of
from lineclear.core.ledger.records import Person
from tests.core.inbox.deciding.test_standing_denials import ASKED, later

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ME = Person(uid=os.getuid() if hasattr(os, "getuid") else 0, name="ada", host="here")
SOURCES = [Path("/srv/bots")]
SECOND = 1_000_000_000
STAND = Stand(frozenset({"b" * 64}), 2)


def at(minutes: float = 0, *, boot: str = "boot-1", boottime: float | None = None) -> Now:
    since = minutes if boottime is None else boottime
    wall = NOON + timedelta(minutes=minutes)
    return Now(wall, boot, int((1000 + since * 60) * SECOND))


def a_word(**changes) -> StandingDenial:
    known = {
        "source": SOURCES[0],
        "folder": ASKED.run_key[0],
        "agent": "refund-bot",
        "run": "run-7",
        "reason": "wrong customer",
        "until": NOON + LASTS,
        "pid": 4121,
        "start_ticks": 99,
    }
    return StandingDenial(**{**known, **changes})


@pytest.fixture
def dead():
    """The identity of a window that was killed."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = owner_of(child.pid)
    child.kill()
    child.wait()
    assert child.stdin is not None
    child.stdin.close()
    return owner


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state" / "standing"


@pytest.fixture
def left(folder, dead):
    """Leave words as a window that was killed left them; give the one file."""

    def leave(word=None, stand=STAND):
        KeptDenials(lambda: ME, folder, dead).keep({word or a_word(): stand}, at())
        return max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)

    return leave


def taken_up(folder, *, me=ME, sources=SOURCES, now=None, window=None):
    return KeptDenials(lambda: me, folder, window).take_up(sources, now or at(1))


def test_it_goes_on_with_what_it_knew_and_is_this_users_alone(folder, left):
    path = left()
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    found = taken_up(folder)
    assert dict(found.words) == {a_word(): STAND}
    assert found.said == ()


def test_what_waited_when_it_was_given_still_waits_and_the_rest_is_met(folder, left):
    waited = later(1)
    left(stand=Stand(frozenset({waited.id}), 2))
    standing = StandingDenials()
    standing.go_on(taken_up(folder).words)
    own = {"pid": 4121, "start_ticks": 99}
    new, other_run = later(2, **own), later(3, pid=4121, start_ticks=100)
    met = standing.meeting([later(1, **own), new, other_run], NOON + timedelta(minutes=1))
    assert [(row.id, word.reason) for row, word in met] == [(new.id, "wrong customer")]
    standing.denied(new.id, a_word())
    assert standing.met(a_word()) == 3
    assert standing.meeting([later(4, **own)], NOON + LASTS) == []


@pytest.mark.parametrize(
    "now",
    [
        at(15),
        at(-1),
        # The clock was put back; that of the boot was not.
        at(1, boottime=15),
        at(1, boot="boot-2"),
    ],
)
def test_it_never_goes_on_beyond_its_time(folder, left, now):
    left()
    assert taken_up(folder, now=now).words == {}
    assert list(folder.iterdir()) == []


def test_over_a_boot_it_goes_on_only_where_no_process_was_known(folder, left):
    left(a_word(pid=None, start_ticks=0))
    found = taken_up(folder, now=at(2, boot="boot-2", boottime=-900))
    assert list(found.words) == [a_word(pid=None, start_ticks=0)]


@pytest.mark.parametrize(
    "changes",
    [
        {"me": ME.model_copy(update={"uid": ME.uid + 1})},
        {"sources": [Path("/srv/others")]},
    ],
)
def test_it_is_left_where_it_is_for_whom_it_is(folder, left, changes):
    left()
    assert taken_up(folder, **changes).words == {}
    assert list(taken_up(folder).words) == [a_word()]


def test_a_window_that_lives_keeps_its_words_and_one_alone_takes_them_up(folder, left):
    KeptDenials(lambda: ME, folder, current_owner()).keep(
        {a_word(run="run-8"): Stand(frozenset(), 0)}, at()
    )
    left()
    assert list(taken_up(folder, window=current_owner()).words) == [a_word()]
    assert taken_up(folder).words == {}


def test_of_windows_that_open_at_once_one_takes_a_word_up(folder, left):
    start = threading.Barrier(4)

    def window(_number: int) -> int:
        start.wait(10)
        return len(taken_up(folder, window=current_owner()).words)

    with ThreadPoolExecutor(4) as windows:
        for _ in range(20):
            left()
            assert sum(windows.map(window, range(4))) == 1
            assert len(list(folder.iterdir())) == 1
            next(folder.iterdir()).unlink()


def test_a_copy_of_a_word_is_kept_aside_and_said(folder, left):
    file = left()
    shutil.copy(file, folder / f"{'a' * 32}.json")
    found = taken_up(folder)
    assert list(found.words) == [a_word()]
    (said,) = found.said
    assert "is a copy of another." in said
    (aside,) = (path for path in folder.iterdir() if path != file)
    assert ".json.damaged-" in aside.name


def test_a_folder_that_stays_locked_is_not_waited_for_long(folder, left):
    left()
    lock = FolderLock(folder)
    assert lock.try_take()
    try:
        found = taken_up(folder)
    finally:
        lock.close()
    assert found.words == {}
    assert "every call waits for you" in found.said[0]
    assert len(taken_up(folder).words) == 1


def test_what_is_taken_back_or_over_leaves_no_file(folder, left):
    left()
    kept = KeptDenials(lambda: ME, folder)
    words = dict(kept.take_up(SOURCES, at(1)).words)
    kept.keep(words, at(1))
    (path,) = folder.iterdir()
    before = path.read_bytes()
    words[a_word()] = Stand(frozenset({"b" * 64}), 3)
    kept.keep(words, at(1))
    assert path.read_bytes() != before
    assert json.loads(path.read_text())["boottime_ns"] == at().boottime_ns
    kept.keep({}, at(1))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda known: b"{",
        lambda known: b"",
        lambda known: json.dumps(known | {"until": "2026-03-02T23:00:00Z"}).encode(),
        lambda known: json.dumps(known | {"extra": 1}).encode(),
        lambda known: json.dumps(known | {"pid": "4121"}).encode(),
        lambda known: json.dumps(known)[:-1].encode() + b', "reason": "other"}',
    ],
)
def test_a_damaged_file_is_kept_aside_and_said(folder, left, damage):
    path = left()
    path.write_bytes(damage(json.loads(path.read_text())))
    found = taken_up(folder)
    assert found.words == {}
    (aside,) = folder.iterdir()
    assert aside.name.startswith(f"{path.name}.damaged-")
    (said,) = found.said
    assert said.startswith("A denial that you gave for some minutes does not go on: ")
    assert aside.name in said
    assert taken_up(folder).said == ()


def test_many_damaged_files_are_told_in_one_sentence_and_each_in_the_log(folder, left, caplog):
    left().write_bytes(b"{")
    for number in range(255):
        path = folder / f"{number:032x}.json"
        path.write_bytes(b"{")
        path.chmod(0o600)
    (said,) = taken_up(folder).said
    assert said.endswith("255 more beside it do not go on either.")
    assert said.count(".damaged-") == 1
    assert sum(".damaged-" in line for line in caplog.messages) == 256
    assert len(list(folder.glob("*.damaged-*"))) == 256


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
@pytest.mark.parametrize("kind", ["link", "fifo", "writable"])
def test_a_hostile_file_is_never_followed_waited_for_or_believed(folder, left, tmp_path, kind):
    path = left()
    elsewhere = tmp_path / "elsewhere.json"
    if kind == "link":
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
    elif kind == "fifo":
        path.unlink()
        os.mkfifo(path)
    else:
        path.chmod(0o666)
    found = taken_up(folder)
    assert found.words == {}
    assert len(found.said) == 1


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_a_folder_that_others_may_write_or_a_link_is_not_looked_into(folder, left, tmp_path):
    left()
    folder.chmod(0o777)
    (said,) = taken_up(folder).said
    assert "every call waits for you" in said
    folder.chmod(0o700)
    folder.rename(tmp_path / "other")
    folder.symlink_to(tmp_path / "other")
    found = taken_up(folder)
    assert found.words == {}
    assert len(found.said) == 1


def test_what_a_later_version_wrote_is_left_alone(folder, left):
    path = left()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"v": 2}))
    found = taken_up(folder)
    assert (found.words, found.said) == ({}, ())
    assert [each.name for each in folder.iterdir()] == [path.name]


def test_nothing_was_ever_kept(folder):
    found = taken_up(folder)
    assert (found.words, found.said) == ({}, ())
    assert not folder.exists()


def test_a_word_that_cannot_be_kept_says_so(folder):
    folder.parent.mkdir()
    folder.write_text("in its place")
    kept = KeptDenials(lambda: ME, folder)
    word = {a_word(): Stand(frozenset(), 0)}
    (said,) = kept.keep(word, at())
    assert said.startswith("Your denial ends with this window, for it is not kept: ")
    assert "folder" in said
    assert not kept.has(a_word())
    folder.unlink()
    assert kept.keep(word, at()) == ()
    assert list(taken_up(folder).words) == []
    assert kept.has(a_word())


def test_one_that_was_taken_back_is_removed_as_soon_as_that_can_be_done(folder, left, tmp_path):
    left()
    kept = KeptDenials(lambda: ME, folder)
    assert list(kept.take_up(SOURCES, at(1)).words) == [a_word()]
    folder.rename(tmp_path / "aside")
    folder.write_text("in its place")
    (said,) = kept.keep({}, at(1))
    assert said.startswith("The denial that you took back may go on in the next window, ")
    # What is over by its time cannot come back.
    assert kept.keep({}, at(20)) == ()
    folder.unlink()
    (tmp_path / "aside").rename(folder)
    assert kept.keep({}, at(1)) == ()
    assert list(folder.iterdir()) == []


def test_it_goes_on_under_another_name_of_the_same_user(folder, left):
    left()
    renamed = ME.model_copy(update={"name": "Ada B", "host": "there"})
    assert list(taken_up(folder, me=renamed).words) == [a_word()]


def test_it_does_not_go_on_for_another_process_in_the_place_of_its_own(folder, left):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as agent:
        owner = owner_of(agent.pid)
        word = a_word(pid=owner.pid, start_ticks=owner.start_ticks, here=True)
        left(word)
        found = taken_up(folder, window=None)
        assert list(found.words) == [word]
        ended = [word.ended]
        agent.kill()
        agent.wait()
    assert [*ended, word.ended] == [False, True]
    left(word)
    assert taken_up(folder).words == {}


def test_a_word_holds_no_longer_when_the_clock_is_put_back():
    standing = StandingDenials()
    standing.add(ASKED, "no", NOON)
    assert standing.active(NOON - timedelta(seconds=60))
    assert standing.active(NOON - timedelta(minutes=10)) == ()
