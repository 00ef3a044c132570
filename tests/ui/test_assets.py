"""What ships with the window is found in a checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PySide6.QtCore import QFile
from PySide6.QtGui import QIcon

from lineclear.core.ledger.state import State
from lineclear.ui import assets, theme
from lineclear.ui.queue.row_delegate import glyph_of
from tests.ui.sample import a_row

ROOT = Path(__file__).resolve().parent.parent.parent
ICONS = sorted((ROOT / "resources" / "icons").glob("*.svg"))


@pytest.mark.parametrize("icon", ICONS, ids=lambda path: path.stem)
def test_an_icon_is_read_as_the_file_that_ships(icon):
    assert assets.read(f"icons/{icon.name}") == icon.read_bytes()
    assert ET.parse(icon).getroot().tag.endswith("svg")


@pytest.mark.parametrize("dark", [False, True])
def test_every_picture_of_the_style_sheet_is_there_and_drawn(qapp, dark):
    look = theme.own_palette(dark=dark, high=False)
    named = re.findall(r'url\("([^"]*)"\)', theme.stylesheet(theme.tokens_of(look, high=False)))
    assert len(named) == 2
    for name in named:
        assert QFile.exists(name)
        assert not QIcon(name).pixmap(14, 14).isNull()


ODD = ["a\nb", "a'b", 'a"b', "a\\b", "a)b", "a%41b", "a{b;c}", "a /*b", "\u00e4 \u0416"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_the_window_starts_without_a_word_in_a_folder_of_any_name(tmp_path, home):
    folder = tmp_path.joinpath(*ODD)
    shutil.copytree(ROOT / "app" / "lineclear", folder / "app" / "lineclear")
    shutil.copytree(ROOT / "resources" / "icons", folder / "resources" / "icons")
    done = subprocess.run(
        [sys.executable, "-m", "lineclear.ui.app", "--self-check"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(folder / "app"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "QT_QPA_PLATFORM": "offscreen",
        },
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match="no-such"):
        assets.read("icons/no-such.svg")


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_a_shape_of_its_own(qapp, state):
    row = a_row(1, state=state, outcome="ok")
    assert not theme.glyph(glyph_of(row), "#000000").toImage().isNull()


def test_shapes_differ_without_their_colour(qapp):
    shapes = {
        path.stem: bytes(theme.glyph(path.stem, "#000000").toImage().constBits())
        for path in ICONS
        if path.stem.startswith("state-")
    }
    assert len(set(shapes.values())) == len(shapes) == 12
