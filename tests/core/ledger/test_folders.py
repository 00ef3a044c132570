"""Folders of a store are made for whom they are shared with."""

import os
import stat

import pytest

from lineclear.core.errors import StoreRefused
from lineclear.core.ledger import folders

pytestmark = pytest.mark.skipif(os.name == "nt", reason="groups of operators")


@pytest.fixture
def shared(tmp_path):
    """A folder that is shared with this user's group."""
    place = tmp_path / "shared"
    folders.make_folder(place, group=os.getegid())
    return place


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_below_a_shared_folder_the_group_may_look_from_the_first_moment(shared, monkeypatch):
    # Whoever looks before the agent went on sees this.
    def killed(*_, **__):
        raise KeyboardInterrupt

    before = os.umask(0o022)
    try:
        monkeypatch.setattr(os, "fchown", killed)
        with pytest.raises(KeyboardInterrupt):
            folders.make_folder(shared / "run", group=os.getegid())
    finally:
        os.umask(before)
    seen = (shared / "run").stat()
    assert (seen.st_gid, stat.S_IMODE(seen.st_mode) & 0o1777) == (os.getegid(), 0o1750)


def test_elsewhere_nobody_else_may_look_until_it_is_the_groups(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fchown", killed)
    with pytest.raises(KeyboardInterrupt):
        folders.make_folder(tmp_path / "run", group=os.getegid())
    assert mode_of(tmp_path / "run") == folders.ONE_USER_MODE


def test_it_ends_with_the_mode_that_was_asked_for(shared):
    group = os.getegid()
    assert folders.make_folder(shared / "run", group=group)
    assert folders.make_folder(shared / "shown", group=group, mode=folders.SHOWN_MODE)
    assert not folders.make_folder(shared / "run", group=group)
    assert mode_of(shared / "run") == folders.GROUP_MODE
    assert mode_of(shared / "shown") == folders.SHOWN_MODE


# --- Whoever owns the folder around it -----------------------------------------------------------


@pytest.fixture
def exchanged(monkeypatch):
    """Let a call take the place of the first folder that is made, as soon as it is."""
    real = os.mkdir

    def arm(then):
        def mkdir(name, mode=0o777, *, dir_fd=None):
            real(name, mode, dir_fd=dir_fd)
            monkeypatch.setattr(os, "mkdir", real)
            os.rmdir(name, dir_fd=dir_fd)
            then(name, dir_fd)

        monkeypatch.setattr(os, "mkdir", mkdir)

    yield arm
    assert os.mkdir is real, "nothing was made"


@pytest.mark.parametrize("below", [True, False], ids=["by its name", "by its path"])
def test_a_link_in_its_place_changes_no_file_that_it_leads_to(shared, tmp_path, exchanged, below):
    own = tmp_path / "decision.json"
    own.write_text("denied")
    own.chmod(0o640)
    exchanged(lambda name, dir_fd: os.symlink(own, name, dir_fd=dir_fd))
    fd = folders.open_folder(shared, shared) if below else None
    try:
        with pytest.raises(StoreRefused) as refused:
            folders.make_folder("run" if below else shared / "run", dir_fd=fd, group=os.getegid())
    finally:
        if fd is not None:
            folders.close_folder(fd)
    assert refused.value.code == "owner"
    assert f"{shared / 'run'} was exchanged just as it was made" in refused.value.sentence
    assert f"Whoever owns {shared}, user {os.geteuid()}, can do that" in refused.value.sentence
    assert mode_of(own) == 0o640
    assert (shared / "run").is_symlink()


def test_another_folder_in_its_place_keeps_its_mode(shared, tmp_path, exchanged):
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (other / "kept").touch()
    exchanged(lambda name, dir_fd: os.rename(other, name, dst_dir_fd=dir_fd))
    with pytest.raises(StoreRefused) as refused:
        folders.make_folder(shared / "run", group=os.getegid())
    assert refused.value.code == "owner"
    assert mode_of(shared / "run") == 0o700


@pytest.mark.parametrize("group", [False, True], ids=["alone", "shared"])
def test_further_folders_are_made_in_the_one_that_was_made(shared, tmp_path, exchanged, group):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    exchanged(lambda name, dir_fd: os.symlink(elsewhere, name, dir_fd=dir_fd))
    with pytest.raises(StoreRefused) as refused:
        folders.make_folders(shared / "run" / "1", group=os.getegid() if group else None)
    assert refused.value.code == ("owner" if group else "symlink")
    assert list(elsewhere.iterdir()) == []


def test_nobody_of_the_group_writes_before_it_is_made(shared, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    before = os.umask(0o002)
    try:
        monkeypatch.setattr(os, "fchown", killed)
        with pytest.raises(KeyboardInterrupt):
            folders.make_folder(shared / "run", group=os.getegid())
    finally:
        os.umask(before)
    assert mode_of(shared / "run") & 0o070 == 0o050
