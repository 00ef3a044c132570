"""Folders of a store are made for whom they are shared with."""

import os
import stat

import pytest

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
        monkeypatch.setattr(os, "chown", killed)
        with pytest.raises(KeyboardInterrupt):
            folders.make_folder(shared / "run", group=os.getegid())
    finally:
        os.umask(before)
    seen = (shared / "run").stat()
    assert (seen.st_gid, stat.S_IMODE(seen.st_mode) & 0o1777) == (os.getegid(), 0o1750)


def test_elsewhere_nobody_else_may_look_until_it_is_the_groups(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "chown", killed)
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
