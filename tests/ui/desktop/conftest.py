"""A private session bus; no screen is needed for what goes over it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop_services import private_bus


@pytest.fixture
def session_bus(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a fresh bus, in the environment too; a skip where there is no daemon."""
    if shutil.which("dbus-daemon") is None:
        if os.environ.get("CI"):
            pytest.fail("dbus-daemon is not installed")
        pytest.skip("dbus-daemon is not installed")
    with private_bus(home / "bus") as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield address
