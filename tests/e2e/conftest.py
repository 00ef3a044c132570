"""The virtual desktop of the end-to-end tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, missing_programs, virtual_desktop


@pytest.fixture
def desktop(home: Path) -> Iterator[Desktop]:
    """A fresh desktop; where its programs are missing, a skip, but in CI a failure."""
    missing = missing_programs()
    if missing:
        reason = f"no virtual desktop here: {', '.join(missing)} not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = home / "desktop"
    folder.mkdir()
    with virtual_desktop(folder) as running:
        yield running
