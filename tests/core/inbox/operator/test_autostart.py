"""The desktop entry that starts the window at sign-in, read as desktops read it."""

import re
import sys

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import autostart


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An installed program in a folder whose name needs every kind of quoting."""
    folder = tmp_path / 'it"s $HOME `x` 100% \\ here'
    folder.mkdir()
    program = folder / "lineclear-inbox"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return program


@pytest.fixture
def desk(tmp_path):
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CONFIG_DIRS": str(tmp_path / "etc")}


def started(path) -> list[str]:
    """What a desktop starts for an entry: the file's escapes, then the quotes, then the codes."""
    lines = dict(line.partition("=")[::2] for line in path.read_text().splitlines()[1:])
    text = lines["Exec"].replace("\\\\", "\\")
    quoted = re.findall(r'"((?:\\.|[^"\\])*)"', text)
    return [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in quoted]


def test_off_until_it_is_switched_on_and_off_again(installed, desk):
    path = autostart.entry_path(desk)
    assert autostart.state(desk, "linux") == autostart.Autostart(False, str(path))
    assert not path.parent.exists(), "looking makes nothing"
    autostart.switch(on=True, environment=desk, platform="linux")
    assert autostart.state(desk, "linux").on
    assert started(path) == [str(installed)]
    autostart.switch(on=False, environment=desk, platform="linux")
    assert not path.exists()
    assert not autostart.state(desk, "linux").on


def test_the_next_session_watches_what_this_one_does(installed, desk):
    env = {**desk, "LINECLEAR_HOME": "/srv/my agents"}
    autostart.switch(on=True, environment=env, platform="linux")
    words = started(autostart.entry_path(desk))
    assert words == ["/usr/bin/env", "LINECLEAR_HOME=/srv/my agents", str(installed)]


def test_an_entry_of_the_whole_system_is_hidden_for_this_person_only(installed, desk, tmp_path):
    system = tmp_path / "etc" / "autostart" / "lineclear.desktop"
    system.parent.mkdir(parents=True)
    system.write_text("[Desktop Entry]\nExec=lineclear-inbox\n")
    assert autostart.state(desk, "linux").on
    autostart.switch(on=False, environment=desk, platform="linux")
    assert not autostart.state(desk, "linux").on
    assert "Hidden=true" in autostart.entry_path(desk).read_text()
    assert system.read_text() == "[Desktop Entry]\nExec=lineclear-inbox\n"
    autostart.switch(on=True, environment=desk, platform="linux")
    assert autostart.state(desk, "linux").on


def test_a_link_to_the_packaged_entry_is_on_and_only_the_link_goes(installed, desk, tmp_path):
    packaged = tmp_path / "packaged.desktop"
    packaged.write_text("[Desktop Entry]\nExec=lineclear-inbox\n")
    path = autostart.entry_path(desk)
    path.parent.mkdir(parents=True)
    path.symlink_to(packaged)
    assert autostart.state(desk, "linux").on
    autostart.switch(on=False, environment=desk, platform="linux")
    assert not path.is_symlink()
    assert packaged.exists()


def test_what_is_not_installed_cannot_be_started(desk, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install Lineclear first" in autostart.state(desk, "linux").why_not
    with pytest.raises(LineclearError, match="install Lineclear first"):
        autostart.switch(on=True, environment=desk, platform="linux")
    assert not autostart.entry_path(desk).exists()


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_elsewhere_it_is_said_where_the_switch_is(desk, platform):
    found = autostart.state(desk, platform)
    assert (found.on, found.place) == (False, "")
    assert found.why_not
    with pytest.raises(LineclearError):
        autostart.switch(on=True, environment=desk, platform=platform)


def test_a_folder_in_its_place_is_a_sentence(installed, desk):
    autostart.entry_path(desk).mkdir(parents=True)
    for on in (True, False):
        with pytest.raises(LineclearError, match="Nothing was changed"):
            autostart.switch(on=on, environment=desk, platform="linux")
    assert not autostart.state(desk, "linux").on
