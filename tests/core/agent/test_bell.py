import os
import threading

import pytest

from lineclear.core.agent.bell import SilentBell, open_bell
from lineclear.core.agent.bell_inotify import InotifyBell
from lineclear.core.agent.bell_watchfiles import WatchfilesBell

DEADLINE_S = 20.0


@pytest.fixture(params=["inotify", "watchfiles"])
def bell(request, tmp_path):
    bell = InotifyBell() if request.param == "inotify" else WatchfilesBell(tmp_path)
    yield bell
    bell.close()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "1" / ".approvals"
    folder.mkdir(parents=True)
    return folder


def rings_on(bell, folder, write) -> bool:
    """Whether WRITE rings; repeated, because watchfiles starts to look some time after."""
    rung = threading.Event()
    with bell.listen(folder, rung.set):
        for n in range(200):
            write(folder / f"{n:06d}.decision.json")
            if rung.wait(DEADLINE_S / 200):
                return True
    return False


def linked(path):
    draft = path.parent / f".tmp.{path.name}"
    draft.write_text("x")
    os.link(draft, path)
    draft.unlink()


def renamed(path):
    draft = path.parent / f".tmp.{path.name}"
    draft.write_text("x")
    draft.rename(path)


@pytest.mark.parametrize("write", [linked, renamed])
def test_a_new_record_rings_however_it_is_published(bell, folder, write):
    assert rings_on(bell, folder, write)


def test_all_who_listen_are_rung_and_who_stopped_is_not(bell, folder):
    stopped = threading.Event()
    with bell.listen(folder, stopped.set):
        pass
    stopped.clear()
    other = threading.Event()
    with bell.listen(folder, other.set):
        assert rings_on(bell, folder, linked)
        assert other.wait(DEADLINE_S)
    assert not stopped.is_set()


def test_a_folder_that_is_gone_rings_nobody_and_breaks_nothing(bell, tmp_path):
    with bell.listen(tmp_path / "absent", lambda: None):
        pass


def test_drafts_do_not_ring_on_linux(folder):
    bell = InotifyBell()
    rung = threading.Event()
    with bell.listen(folder, rung.set):
        (folder / ".tmp.0123").write_text("x")
        other = threading.Event()
        folder2 = folder.parent / "second"
        folder2.mkdir()
        with bell.listen(folder2, other.set):
            # Events come in order: once this one is heard, the draft's was, too.
            (folder2 / "record").write_text("x")
            assert other.wait(DEADLINE_S)
    assert not rung.is_set()
    bell.close()


def test_closing_twice_is_no_error_and_ends_the_thread(folder):
    bell = InotifyBell()
    with bell.listen(folder, lambda: None):
        thread = next(t for t in threading.enumerate() if t.name == "lineclear-bell")
    bell.close()
    bell.close()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()


def test_no_watch_to_be_had_leaves_the_poll(tmp_path, monkeypatch):
    def refuse(self):
        raise OSError(24, "too many")

    monkeypatch.setattr(InotifyBell, "__init__", refuse)
    bell = open_bell(tmp_path)
    assert isinstance(bell, SilentBell)
    with bell.listen(tmp_path, lambda: None):
        pass
    bell.close()


def test_its_thread_frees_nothing_that_is_still_written_to(folder, monkeypatch):
    bell = InotifyBell()
    write = os.eventfd_write
    alive = []

    def written_late(fd, value):
        # An event wakes the thread between the word that it ends and what would wake it for that.
        linked(folder / "000001.decision.json")
        (thread,) = (t for t in threading.enumerate() if t.name == "lineclear-bell")
        thread.join(0.5)
        alive.append(thread.is_alive())
        write(fd, value)

    with bell.listen(folder, lambda: None):
        monkeypatch.setattr("lineclear.core.agent.bell_inotify.os.eventfd_write", written_late)
        bell.close()
    assert alive == [True]
