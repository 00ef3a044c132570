"""Nothing is cut and nothing overlaps: at 100 to 200 %, with larger type, small and large."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = Path(__file__).parent / "fitting.py"
CASES = [
    ("1", "1"),
    ("1.25", "1"),
    ("1.5", "1"),
    ("2", "1"),
    ("1", "1.5"),
]


@pytest.mark.parametrize("scale, type_size", CASES, ids=lambda value: value)
def test_nothing_is_cut_and_nothing_overlaps(scale: str, type_size: str, tmp_path: Path):
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "QT_SCALE_FACTOR": scale,
        "LINECLEAR_HOME": str(tmp_path),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, str(LOOK), str(tmp_path / "agents"), type_size],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == ""
