"""A test's hand on the services of a desktop, which run on a private bus; see services_process."""

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.e2e.desktop import DesktopError, wait_for

CAPABILITIES = ("actions", "body", "body-markup", "persistence")


class Services:
    """What a running process of services was called for, and what it is to do."""

    def __init__(self, child: subprocess.Popen[bytes], place: Path) -> None:
        self.child = child
        self._place = place

    def do(self, do: str, **more: Any) -> Any:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(20)
            connection.connect(str(self._place))
            with connection.makefile("rw", encoding="utf-8") as stream:
                stream.write(json.dumps({"do": do, **more}) + "\n")
                stream.flush()
                return json.loads(stream.readline())

    def shown(self) -> list[dict[str, Any]]:
        """Every notification that was asked for, the oldest first."""
        return [call for call in self.do("calls") if call["call"] == "Notify"]

    def closed(self) -> list[int]:
        """The ids that were taken back."""
        return [call["id"] for call in self.do("calls") if call["call"] == "CloseNotification"]

    def next(self, after: int = 0, seconds: float = 20) -> dict[str, Any]:
        """The notification after so many."""
        return wait_for(
            f"notification {after + 1}", lambda: self.shown()[after : after + 1], seconds
        )[0]

    def press(self, key: str, shown: dict[str, Any], token: str = "") -> None:
        self.do("press", key=key, id=shown["id"], token=token)


@contextlib.contextmanager
def running(
    place: Path, *services: str, env: dict[str, str], capabilities: tuple[str, ...] = CAPABILITIES
) -> Iterator[Services]:
    """Services on the bus of ENV, for the length of the block."""
    place.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "tests.e2e.services_process", str(place), *services]
    with subprocess.Popen(
        [*argv, *(f"cap={one}" for one in capabilities)], env=env, cwd=Path(__file__).parents[2]
    ) as child:
        try:

            def ready() -> bool:
                if child.poll() is not None:
                    raise DesktopError(f"the services ended with {child.returncode}")
                # Its file stands a moment before anybody listens.
                with socket.socket(socket.AF_UNIX) as connection:
                    return connection.connect_ex(str(place)) == 0

            wait_for("the desktop's services", ready)
            yield Services(child, place)
        finally:
            child.kill()


BUS = """
<busconfig>
  <type>session</type>
  <listen>unix:dir={folder}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
"""No folders of services: what the machine has installed is not started by asking for it."""


@contextlib.contextmanager
def private_bus(folder: Path) -> Iterator[str]:
    """A D-Bus daemon of the test's own; its address."""
    folder.mkdir(mode=0o700, exist_ok=True)
    config = folder / "bus.conf"
    config.write_text(BUS.format(folder=folder))
    argv = ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as daemon:
        try:
            assert daemon.stdout is not None
            yield daemon.stdout.readline().strip()
        finally:
            daemon.kill()
