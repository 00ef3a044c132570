"""Nothing is cut and nothing overlaps: at 100 to 200 %, with larger type, small and large."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = Path(__file__).parent / "fitting.py"
LOOK_BESIDE = LOOK.with_name("fitting_windows.py")
SCENES: dict[str, tuple[str, ...]] = {
    "windows": ("keys", "proposal"),
    # Of the first every page.
    "settings": ("settings-folders", "settings-removal", "settings-edit"),
    "history": ("history", "history-export", "history-stored"),
    "burst": ("burst", "burst-deny", "burst-done"),
}
SIZES = [
    ("1", "1"),
    ("1.25", "1"),
    ("1.5", "1"),
    ("2", "1"),
    ("1", "1.5"),
]
OFTEN = {
    ("1", "1"): ("main", *SCENES),
    ("2", "1"): ("main", "settings"),
    ("1", "1.5"): ("main", "windows"),
}
"""What is looked at in every run: each window at 100 %, and some larger in one of the two ways."""


CASES = [
    pytest.param(
        *(scale, type_size, window),
        marks=() if window in OFTEN.get((scale, type_size), ()) else pytest.mark.thorough,
        id=f"{scale}-{type_size}-{window}",
    )
    for scale, type_size in SIZES
    for window in ("main", *SCENES)
]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("scale, type_size, window", CASES)
def test_nothing_is_cut_and_nothing_overlaps(
    scale: str, type_size: str, window: str, tmp_path: Path
):
    look: tuple[str | Path, ...] = (
        (LOOK, str(tmp_path / "agents"), type_size)
        if window == "main"
        else (LOOK_BESIDE, type_size, *SCENES[window])
    )
    assert looked_at(scale, tmp_path, *look) == ""


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
