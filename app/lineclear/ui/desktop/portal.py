"""Tells what the desktop wants of every program's look: less motion, more contrast.

Read from the settings portal: the standard keys `reduced-motion` and `contrast`, and, for desktops
that give no such key, the switches of GNOME and GTK and of KDE Plasma for animations.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from lineclear.language import _
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme

if TYPE_CHECKING:
    from dbus_fast import Message

    from lineclear.ui.desktop.bus import Bus

PORTAL: Final = "org.freedesktop.portal.Desktop"
_PATH: Final = "/org/freedesktop/portal/desktop"
_SETTINGS: Final = "org.freedesktop.portal.Settings"
APPEARANCE: Final = "org.freedesktop.appearance"
GNOME: Final = "org.gnome.desktop.interface"
GNOME_CONTRAST: Final = "org.gnome.desktop.a11y.interface"
KDE: Final = "org.kde.kdeglobals.KDE"

Loaded = Callable[[], Awaitable[Any]]
"""Gives the module `bus`, which is imported away from the window's thread."""


def follow(look: Theme, loaded: Loaded, tasks: Tasks) -> None:
    """Let LOOK follow the desktop until TASKS end, where there is such a desktop."""
    if sys.platform == "linux":
        portal = DesktopLook(lambda still, high: look.follow_desktop(still=still, high=high))
        tasks.start(portal.run(loaded, tasks), name=_("follow the desktop's look"))


def wants_stillness(told: dict[tuple[str, str], Any]) -> bool:
    """Tell whether any of the desktop's settings asks for less motion; odd values ask nothing."""
    return (
        _is_one(told.get((APPEARANCE, "reduced-motion")))
        or told.get((GNOME, "enable-animations")) is False
        or _is_zero(told.get((KDE, "AnimationDurationFactor")))
    )


def wants_contrast(told: dict[tuple[str, str], Any]) -> bool:
    """Tell whether any of the desktop's settings asks for high contrast."""
    return (
        _is_one(told.get((APPEARANCE, "contrast")))
        or told.get((GNOME_CONTRAST, "high-contrast")) is True
    )


def _is_one(value: Any) -> bool:
    return value == 1 and not isinstance(value, bool)


def _is_zero(value: Any) -> bool:
    # Plasma's own file holds it as text; portals pass it on as text or as a number.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        number = float(value)
    except ValueError:
        return False
    return math.isfinite(number) and number <= 0


class DesktopLook:
    """Follows the settings portal of this session.

    Args:
        follow: Told at first, and whenever it changes: whether nothing is to move by itself, and
            whether contrast is to be high.
    """

    def __init__(self, follow: Callable[[bool, bool], None]) -> None:
        self._follow = follow
        self._told: dict[tuple[str, str], Any] = {}
        self._bus: Bus | None = None

    async def run(self, loaded: Loaded, tasks: Tasks) -> None:
        """Follow the portal until cancelled; returns where there is no session bus."""
        bus = await loaded()
        await bus.keep(bus.session_address, self._serve, tasks, name="session")

    async def _serve(self, bus: Bus) -> None:
        self._bus = bus
        look = asyncio.Event()
        look.set()
        bus.on_signal = self._changed
        bus.on_owner = lambda _name, _owner: look.set()
        bus.on_end = look.set
        try:
            await bus.listen(
                f"sender='{PORTAL}',path='{_PATH}',interface='{_SETTINGS}',member='SettingChanged'"
            )
            await bus.follow(PORTAL)
            while not bus.over:
                # Asking starts a portal that is installed and does not run yet.
                await look.wait()
                look.clear()
                await self._read(bus)
        finally:
            self._bus = None

    async def _read(self, bus: Bus) -> None:
        from lineclear.ui.desktop.bus import BusError  # noqa: PLC0415  # Only where there is one.

        wanted = [APPEARANCE, GNOME, GNOME_CONTRAST, KDE]
        try:
            (found,) = await bus.call(
                *(PORTAL, _PATH, _SETTINGS, "ReadAll", "as", wanted), answers="a{sa{sv}}"
            )
        except BusError:
            return
        self._told = {
            (space, key): value.value
            for space, keys in found.items()
            for key, value in keys.items()
        }
        self._tell()

    def _changed(self, message: Message) -> None:
        known = message.member == "SettingChanged" and message.signature == "ssv"
        if known and self._bus is not None and self._bus.owns(message, PORTAL):
            space, key, value = message.body
            self._told[(space, key)] = value.value
            self._tell()

    def _tell(self) -> None:
        self._follow(wants_stillness(self._told), wants_contrast(self._told))
