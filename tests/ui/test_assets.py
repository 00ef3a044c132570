"""What ships with the window is found in a checkout."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

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
