"""Services of a desktop on a bus: notifications, screen saver, settings portal, logind.

usage: services_process.py SOCKET SERVICE... [cap=CAPABILITY...]

Serves on $DBUS_SESSION_BUS_ADDRESS until killed. A test connects to SOCKET, writes one JSON line
{"do": ..., ...} and reads all calls back; what is done are presses of buttons, locks, a refusal.
"""

# dbus-fast reads D-Bus signatures from annotations, which are no types to any checker.
# ruff: noqa: F722, F821, N802
# mypy: disable-error-code="name-defined, valid-type, no-redef, misc"

import asyncio
import json
import sys
from typing import Any

from dbus_fast import DBusError, Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_property, method, signal

SESSION = "/org/freedesktop/login1/session/one"
calls: list[dict[str, Any]] = []


class Notifications(ServiceInterface):
    def __init__(self, capabilities: list[str]) -> None:
        super().__init__("org.freedesktop.Notifications")
        self.capabilities = capabilities
        self.number = 0
        self.refusing = False

    @method()
    def GetCapabilities(self) -> "as":
        return self.capabilities

    @method()
    def Notify(  # noqa: PLR0917
        self,
        app: "s",
        replaces: "u",
        icon: "s",
        summary: "s",
        body: "s",
        actions: "as",
        hints: "a{sv}",
        timeout: "i",
    ) -> "u":
        if self.refusing:
            raise DBusError("org.freedesktop.DBus.Error.Failed", "not today")
        self.number += 1
        shown = {
            "call": "Notify",
            "id": replaces or self.number,
            "replaces": replaces,
            "app": app,
            "icon": icon,
            "summary": summary,
            "body": body,
            "actions": actions,
            "hints": {name: hint.value for name, hint in hints.items()},
            "timeout": timeout,
        }
        calls.append(shown)
        return shown["id"]

    @method()
    def CloseNotification(self, number: "u"):
        calls.append({"call": "CloseNotification", "id": number})
        self.NotificationClosed(number, 3)

    @signal()
    def ActionInvoked(self, number: int, key: str) -> "us":
        return [number, key]

    @signal()
    def ActivationToken(self, number: int, token: str) -> "us":
        return [number, token]

    @signal()
    def NotificationClosed(self, number: int, reason: int) -> "uu":
        return [number, reason]


class Settings(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.freedesktop.portal.Settings")
        self.settings: dict[str, dict[str, Variant]] = {}

    @method()
    def ReadAll(self, spaces: "as") -> "a{sa{sv}}":
        calls.append({"call": "ReadAll", "spaces": spaces})
        return {space: keys for space, keys in self.settings.items() if space in spaces}

    @signal()
    def SettingChanged(self, space: str, key: str, value: Variant) -> "ssv":
        return [space, key, value]


class Saver(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.freedesktop.ScreenSaver")

    @signal()
    def ActiveChanged(self, active: bool) -> "b":
        return active


class LoginManager(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.freedesktop.login1.Manager")

    @method()
    def GetSession(self, name: "s") -> "o":
        calls.append({"call": "GetSession", "name": name})
        return SESSION

    @signal()
    def PrepareForSleep(self, begins: bool) -> "b":
        return begins


class LoginSession(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.freedesktop.login1.Session")
        self.locked = False

    @dbus_property()
    def LockedHint(self) -> "b":
        return self.locked

    @LockedHint.setter
    def LockedHint(self, locked: "b") -> None:
        self.locked = locked

    @signal()
    def Lock(self):
        pass


class Desktop:
    """The services, and what a test has them do."""

    def __init__(self, capabilities: list[str]) -> None:
        self.notifications = Notifications(capabilities)
        self.saver = Saver()
        self.portal = Settings()
        self.manager = LoginManager()
        self.session = LoginSession()
        self.clients: list[str] = []
        self.odd: dict[str, tuple[str, list[Any]]] = {}

    async def serve(self, services: list[str]) -> MessageBus:
        exported: dict[str, list[tuple[str, ServiceInterface]]] = {
            "org.freedesktop.Notifications": [
                ("/org/freedesktop/Notifications", self.notifications)
            ],
            "org.freedesktop.ScreenSaver": [("/org/freedesktop/ScreenSaver", self.saver)],
            "org.freedesktop.portal.Desktop": [("/org/freedesktop/portal/desktop", self.portal)],
            "org.freedesktop.login1": [
                ("/org/freedesktop/login1", self.manager),
                (SESSION, self.session),
            ],
        }
        bus = await MessageBus().connect()
        self.stranger = await MessageBus().connect()
        bus.add_message_handler(self.remember)
        for name in services:
            for path, interface in exported[name]:
                bus.export(path, interface)
            await bus.request_name(name)
        return bus

    def remember(self, message: Message) -> Message | None:
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        if message.member == "Notify":
            self.clients.append(str(message.sender))
        if message.member not in self.odd:
            return None
        calls.append({"call": f"odd {message.member}"})
        return Message.new_method_return(message, *self.odd[message.member])

    def answer(self, member: str, signature: str, body: list[Any]) -> None:
        """Answer a method in a shape of its own from now on."""
        self.odd[member] = (signature, body)

    def answer_well(self) -> None:
        """Answer as one should again."""
        self.odd = {}

    def press(self, id: int, key: str, token: str) -> None:  # noqa: A002
        if token:
            self.notifications.ActivationToken(id, token)
        self.notifications.ActionInvoked(id, key)
        self.notifications.NotificationClosed(id, 2)

    def close(self, id: int) -> None:  # noqa: A002
        self.notifications.NotificationClosed(id, 2)

    def refuse(self, on: bool) -> None:
        self.notifications.refusing = on

    def save_screen(self, active: bool) -> None:
        self.saver.ActiveChanged(active)

    def set(self, space: str, key: str, signature: str, value: Any) -> None:
        """Change a setting of the desktop."""
        told = Variant(signature, value)
        self.portal.settings.setdefault(space, {})[key] = told
        self.portal.SettingChanged(space, key, told)

    def sleep(self, begins: bool) -> None:
        self.manager.PrepareForSleep(begins)

    def lock(self) -> None:
        self.session.Lock()

    def hint(self, locked: bool) -> None:
        self.session.locked = locked
        self.session.emit_properties_changed({"LockedHint": locked})

    def calls(self) -> None:
        """Nothing: every answer holds them."""

    def forge(self, id: int, key: str) -> None:  # noqa: A002
        """Press a button from a connection that is not the service's."""
        forged = Message.new_signal(
            path="/org/freedesktop/Notifications",
            interface="org.freedesktop.Notifications",
            member="ActionInvoked",
            signature="us",
            body=[id, key],
        )
        forged.destination = self.clients[-1]
        self.stranger.send(forged)


async def serve(place: str, services: list[str], capabilities: list[str]) -> None:
    desktop = Desktop(capabilities)
    bus = await desktop.serve(services)

    async def hand(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if not line:  # Somebody looked whether anybody listens.
            writer.close()
            return
        asked = json.loads(line)
        getattr(desktop, asked.pop("do"))(**asked)
        writer.write(json.dumps(calls).encode() + b"\n")
        await writer.drain()
        writer.close()

    await asyncio.start_unix_server(hand, place)
    await bus.wait_for_disconnect()


if __name__ == "__main__":
    told = sys.argv[2:]
    asyncio.run(
        serve(
            sys.argv[1],
            [name for name in told if not name.startswith("cap=")],
            [name[4:] for name in told if name.startswith("cap=")],
        )
    )
