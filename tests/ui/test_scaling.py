"""Nothing is cut and nothing overlaps: at 100 to 200 %, with larger type, small and large."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = Path(__file__).parent / "fitting.py"
LOOK_BESIDE = LOOK.with_name("fitting_windows.py")
SCENES = {
    "windows": ("keys", "proposal"),
    # Of the first every page.
    "settings": ("settings-folders", "settings-removal", "settings-edit"),
    "history": ("history", "history-export", "history-stored"),
    "burst": ("burst", "burst-deny", "burst-done"),
}
CASES = [
    ("1", "1"),
    ("1.25", "1"),
    ("1.5", "1"),
    ("2", "1"),
    ("1", "1.5"),
]


@pytest.mark.parametrize("scale, type_size", CASES, ids=lambda value: value)
def test_nothing_is_cut_and_nothing_overlaps(scale: str, type_size: str, tmp_path: Path):
    assert looked_at(scale, tmp_path, LOOK, str(tmp_path / "agents"), type_size) == ""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("scenes", SCENES)
@pytest.mark.parametrize("scale, type_size", CASES, ids=lambda value: value)
def test_neither_is_anything_in_other_windows_and_the_history(
    scale: str, type_size: str, scenes: str, tmp_path: Path
):
    assert looked_at(scale, tmp_path, LOOK_BESIDE, type_size, *SCENES[scenes]) == ""


def looked_at(scale: str, home: Path, *argv: str | Path) -> str:
    """What a look in a process of its own found."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QT_SCALE_FACTOR": scale,
        "LINECLEAR_HOME": str(home),
        "HOME": str(home),
    }
    done = subprocess.run(
        [sys.executable, *argv],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
