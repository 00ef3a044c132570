"""The README's pictures can be made again, from the real program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "resources" / "screenshots"


@pytest.mark.parametrize("name", ["inbox-light.png", "inbox-dark.png"])
def test_a_shipped_picture_is_small_and_named_by_the_readme_or_its_twin(name):
    assert (SHIPPED / name).read_bytes().startswith(b"\x89PNG")
    assert (SHIPPED / name).stat().st_size < 300_000
    assert "resources/screenshots/inbox-light.png" in (ROOT / "README.md").read_text()


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_the_window_is_pictured_light_and_dark(qapp, tmp_path):
    from PySide6.QtGui import QImage

    script = [sys.executable, str(ROOT / "packaging" / "screenshots.py")]
    done = subprocess.run(
        [*script, "--all", str(tmp_path), "--scene", "inbox", "--ratio", "1"],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    light, dark = (QImage(str(tmp_path / f"inbox-{look}.png")) for look in ("light", "dark"))
    assert (light.width(), light.height()) == (dark.width(), dark.height()) == (1280, 680)
    # In the empty part of the table.
    assert light.pixelColor(500, 600).lightness() > 240
    assert dark.pixelColor(500, 600).lightness() < 60
