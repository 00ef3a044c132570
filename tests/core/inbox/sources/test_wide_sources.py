"""Folders that are watched only on an explicit word."""

import os
import pwd
from pathlib import Path

import pytest

from lineclear.core.inbox.sources.wide_sources import too_wide


@pytest.mark.parametrize("folder", ["/", "~", "~/..", "/home", "/Users", "/proc", "/dev/shm"])
def test_machines_homes_and_file_systems_are_too_wide(folder):
    path = Path(folder).expanduser()
    why = too_wide(path)
    if folder in ("/proc", "/dev/shm") and not os.path.ismount(path):
        pytest.skip("nothing is mounted there")
    assert why is not None
    assert why.endswith("watch the folder in it that agents write to.")


def test_the_home_of_another_person_is_too_wide(tmp_path, monkeypatch):
    homes = tmp_path / "homes"
    (homes / "bob" / "agents").mkdir(parents=True)
    bob = pwd.struct_passwd(("bob", "x", 1001, 1001, "", str(homes / "bob"), "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwall", lambda: [bob])
    assert "somebody's whole home" in (too_wide(homes / "bob") or "")
    assert "holds home folders" in (too_wide(homes) or "")
    assert too_wide(homes / "bob" / "agents") is None


def test_a_folder_in_a_home_is_fit_and_a_link_is_what_it_leads_to(tmp_path):
    assert too_wide(Path.home() / "agents") is None
    link = tmp_path / "link"
    link.symlink_to("/")
    assert "whole machine" in (too_wide(link) or "")
    assert too_wide(tmp_path) is None
