"""What a screen reader does to a window: read its parts and press them, over AT-SPI's own bus."""

import asyncio
import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desktop import Desktop, DesktopError, wait_for

LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
_ROOT = "/org/a11y/atspi/accessible/root"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_SHOWING = 1 << 25


@dataclass(frozen=True)
class Part:
    """One part of the window: where it is on the bus, what it is and what it is called."""

    owner: str
    path: str
    role: str
    name: str
    about: str
    showing: bool


class ScreenReader:
    """A client of the accessibility bus of one desktop."""

    def __init__(self, address: str) -> None:
        self._address = address

    def parts(self, application: str) -> list[Part]:
        """Every part of that application, the outermost first."""
        return asyncio.run(self._parts(application))

    def part(self, application: str, role: str, name: str) -> Part:
        """The part of that role that is shown and whose name begins so."""

        def look() -> Part | None:
            return next(
                (
                    part
                    for part in self.parts(application)
                    if part.role == role and part.showing and part.name.startswith(name)
                ),
                None,
            )

        found = wait_for(f"the {role} {name!r}", look)
        assert found is not None
        return found

    def press(self, part: Part, times: int = 1) -> None:
        """Do the first action of a part, so often without a pause."""
        asyncio.run(self._press(part, times))

    async def _parts(self, application: str) -> list[Part]:
        async with _connection(self._address) as bus:
            stack = [
                place
                for place in await _children(bus, "org.a11y.atspi.Registry", _ROOT)
                if await _property(bus, *place, "Name") == application
            ]
            found: list[Part] = []
            while stack:
                owner, path = stack.pop(0)
                with contextlib.suppress(DesktopError):
                    # A part may go while it is looked at.
                    found.append(await _part(bus, owner, path))
                    stack = await _children(bus, owner, path) + stack
            return found

    async def _press(self, part: Part, times: int) -> None:
        async with _connection(self._address) as bus:
            for _ in range(times):
                await _call(bus, part.owner, part.path, "org.a11y.atspi.Action.DoAction", "i", 0)


@contextlib.asynccontextmanager
async def _connection(address: str) -> Any:
    from dbus_fast.aio import MessageBus  # Only where there is a D-Bus.

    bus = await MessageBus(bus_address=address).connect()
    try:
        yield bus
    finally:
        bus.disconnect()
        await bus.wait_for_disconnect()


async def _call(
    bus: Any, owner: str, path: str, method: str, signature: str = "", *body: Any
) -> list[Any]:
    from dbus_fast import Message, MessageType

    reply = await asyncio.wait_for(
        bus.call(
            Message(
                destination=owner,
                path=path,
                interface=method.rpartition(".")[0],
                member=method.rpartition(".")[2],
                signature=signature,
                body=list(body),
            )
        ),
        20,
    )
    if reply.message_type is MessageType.ERROR:
        raise DesktopError(f"{method} of {path}: {reply.error_name} {reply.body}")
    return list(reply.body)


async def _property(bus: Any, owner: str, path: str, name: str) -> Any:
    (value,) = await _call(
        bus, owner, path, "org.freedesktop.DBus.Properties.Get", "ss", _ACCESSIBLE, name
    )
    return value.value


async def _children(bus: Any, owner: str, path: str) -> list[tuple[str, str]]:
    (found,) = await _call(bus, owner, path, f"{_ACCESSIBLE}.GetChildren")
    return [(each[0], each[1]) for each in found]


async def _part(bus: Any, owner: str, path: str) -> Part:
    (role,) = await _call(bus, owner, path, f"{_ACCESSIBLE}.GetRoleName")
    (states,) = await _call(bus, owner, path, f"{_ACCESSIBLE}.GetState")
    return Part(
        owner,
        path,
        role,
        await _property(bus, owner, path, "Name"),
        await _property(bus, owner, path, "Description"),
        bool(states[0] & _SHOWING),
    )


@contextlib.contextmanager
def screen_reader(desktop: Desktop) -> Iterator[ScreenReader]:
    """An accessibility bus on the desktop, switched on; programs started within are told of it."""
    launcher = next((one for one in LAUNCHERS if Path(one).exists()), None)
    if launcher is None or shutil.which("dbus-daemon") is None:
        pytest.skip("no accessibility bus here: at-spi2-core is not installed")
    with desktop.started([launcher, "--launch-immediately"]):
        address = asyncio.run(_address(desktop))
        yield ScreenReader(address)


async def _address(desktop: Desktop) -> str:
    async with _connection(desktop.bus) as bus:
        for _ in range(400):
            with contextlib.suppress(DesktopError):
                (address,) = await _call(
                    bus, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus.GetAddress"
                )
                return str(address)
            await asyncio.sleep(0.05)
    raise DesktopError("the accessibility bus does not come up")
