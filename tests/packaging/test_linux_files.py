"""What a Linux desktop reads of an installation, checked by the desktop's own validators."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.packaging.conftest import ROOT

FILES = ROOT / "packaging" / "linux"


def validated(program: str, *arguments: str | Path) -> None:
    """Run a validator; where it is missing, a skip, but in CI a failure."""
    if shutil.which(program) is None:
        reason = f"{program} is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def entry(name: str) -> dict[str, str]:
    read = configparser.ConfigParser(interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(FILES / name, encoding="utf-8")
    assert read.sections() == ["Desktop Entry"]
    return dict(read["Desktop Entry"])


@pytest.mark.parametrize("name", ["lineclear.desktop", "lineclear-autostart.desktop"])
def test_the_menu_entries_are_valid(name):
    validated("desktop-file-validate", FILES / name)


def test_the_menu_entry_starts_the_window_and_is_found_from_it():
    menu = entry("lineclear.desktop")
    assert (menu["Exec"], menu["TryExec"], menu["Icon"]) == (
        "lineclear-inbox",
        "lineclear-inbox",
        "lineclear",
    )
    # The window names its menu entry, so that its icon and its name are shown.
    program = (ROOT / "app" / "lineclear" / "ui" / "running.py").read_text()
    named = re.search(r'setDesktopFileName\("(.+?)"\)', program)
    assert named is not None
    assert named[1] + ".desktop" == "lineclear.desktop"
    assert entry("lineclear-autostart.desktop")["Exec"] == menu["Exec"]


def test_the_metadata_are_valid_and_of_this_version(tmp_path):
    from building import identity, linux

    place = tmp_path / f"{identity.APP_ID}.metainfo.xml"
    place.write_text(linux.metainfo())
    validated("appstreamcli", "validate", "--no-net", place)
    component = ET.parse(place).getroot()
    release = component.find("releases/release")
    assert release is not None
    assert release.get("version") == identity.version()
    assert component.findtext("id") == identity.APP_ID
    assert component.findtext("launchable") == "lineclear.desktop"
    assert {each.text for each in component.findall("provides/binary")} == {
        "lineclear",
        "lineclear-inbox",
    }
    assert re.findall(r"@[A-Z_]+@", place.read_text()) == []


def test_the_program_does_not_start_by_itself(tmp_path, drawn_icons):
    from building import linux

    share = tmp_path / "share"
    linux.install(share, drawn_icons)
    laid = {path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file()}
    assert "lineclear/autostart/lineclear.desktop" in laid
    assert [path for path in laid if "xdg" in path] == []
    assert {path.split("/")[0] for path in laid} == {
        "applications",
        "icons",
        "lineclear",
        "metainfo",
    }
