"""A desktop's panel and its colour scheme on a bus: a host of tray icons, and the portal.

usage: panel_process.py

Serves on $DBUS_SESSION_BUS_ADDRESS until its input ends. Each line of input is a colour scheme to
take over, as the portal counts them (0: none, 1: dark, 2: light), or empty. The answer to each is
one JSON line: the icon that the panel holds then, as {"SIDE": [[r, g, b, a], ...], "tip": ...}.
"""

# dbus-fast reads D-Bus signatures from annotations, which are no types to any checker.
# ruff: noqa: F722, F821, N802
# mypy: disable-error-code="name-defined, valid-type, no-redef, misc"

import asyncio
import json
import sys
from typing import Any

from dbus_fast import PropertyAccess, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_property, method, signal

APPEARANCE = "org.freedesktop.appearance"
ITEM = "org.kde.StatusNotifierItem"


class Portal(ServiceInterface):
    """What the desktop tells of its colours."""

    def __init__(self) -> None:
        super().__init__("org.freedesktop.portal.Settings")
        self.scheme = 0

    @dbus_property(access=PropertyAccess.READ)
    def version(self) -> "u":
        return 2

    @method()
    def ReadAll(self, _namespaces: "as") -> "a{sa{sv}}":
        return {APPEARANCE: {"color-scheme": Variant("u", self.scheme)}}

    @method()
    def Read(self, _namespace: "s", _key: "s") -> "v":
        return Variant("v", Variant("u", self.scheme))

    @method()
    def ReadOne(self, _namespace: "s", _key: "s") -> "v":
        return Variant("u", self.scheme)

    @signal()
    def SettingChanged(self) -> "ssv":
        return [APPEARANCE, "color-scheme", Variant("u", self.scheme)]


class Watcher(ServiceInterface):
    """The place that a tray icon announces itself at."""

    def __init__(self) -> None:
        super().__init__("org.kde.StatusNotifierWatcher")
        self.items: list[str] = []

    @method()
    def RegisterStatusNotifierItem(self, service: "s") -> None:
        self.items.append(service)

    @dbus_property(access=PropertyAccess.READ)
    def RegisteredStatusNotifierItems(self) -> "as":
        return self.items

    @dbus_property(access=PropertyAccess.READ)
    def IsStatusNotifierHostRegistered(self) -> "b":
        return True

    @dbus_property(access=PropertyAccess.READ)
    def ProtocolVersion(self) -> "i":
        return 0


async def held(bus: MessageBus, watcher: Watcher) -> dict[str, Any]:
    """The icon as a panel reads it; nothing before there is one."""
    if not watcher.items:
        return {}
    service, path = watcher.items[-1], "/StatusNotifierItem"
    told = await bus.introspect(service, path)
    item: Any = bus.get_proxy_object(service, path, told).get_interface(ITEM)
    found: dict[str, Any] = {"tip": (await item.get_tool_tip())[2]}
    for wide, _high, pixels in await item.get_icon_pixmap():
        # ARGB, in the order of the network.
        parts = [pixels[at : at + 4] for at in range(0, len(pixels), 4)]
        found[str(wide)] = [[*part[1:], part[0]] for part in parts]
    return found


def tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def serve() -> None:
    bus = await MessageBus().connect()
    portal, watcher = Portal(), Watcher()
    bus.export("/org/freedesktop/portal/desktop", portal)
    bus.export("/StatusNotifierWatcher", watcher)
    await bus.request_name("org.freedesktop.portal.Desktop")
    await bus.request_name("org.kde.StatusNotifierWatcher")
    tell({})
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if line.strip():
            portal.scheme = int(line)
            portal.SettingChanged()
        tell(await held(bus, watcher))


if __name__ == "__main__":
    asyncio.run(serve())
