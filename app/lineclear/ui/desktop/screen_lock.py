"""Tells when the screen is locked or the machine sleeps, from logind and from screen savers."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from lineclear.ui.tasks import Tasks

if TYPE_CHECKING:
    from dbus_fast import Message

    from lineclear.ui.desktop.bus import Bus

log = logging.getLogger(__name__)

LOGIND: Final = "org.freedesktop.login1"
_MANAGER: Final = "org.freedesktop.login1.Manager"
_SESSION: Final = "org.freedesktop.login1.Session"
_PROPERTIES: Final = "org.freedesktop.DBus.Properties"
SAVERS: Final = (
    "org.freedesktop.ScreenSaver",
    "org.gnome.ScreenSaver",
    "org.cinnamon.ScreenSaver",
    "org.mate.ScreenSaver",
    "org.xfce.ScreenSaver",
)
"""Names of screen savers, which are the names of their interfaces too."""


class ScreenLock:
    """Follows the lock of this desktop session.

    Args:
        left: The operator is away or comes back: what was read before counts no more.
    """

    def __init__(self, left: Callable[[], None]) -> None:
        self._left = left
        self._locked: set[str] = set()
        self._session_path = ""
        self._system: Bus | None = None
        self._session: Bus | None = None

    @property
    def locked(self) -> bool:
        """Whether the screen is locked, as far as the desktop tells."""
        return bool(self._locked)

    async def run_session(self, loaded: Callable[[], Awaitable[Any]], tasks: Tasks) -> None:
        """Follow screen savers until cancelled; returns where there is no session bus."""
        bus = await loaded()
        await bus.keep(bus.session_address, self._follow_savers, tasks, name="session")

    async def run_system(self, loaded: Callable[[], Awaitable[Any]], tasks: Tasks) -> None:
        """Follow logind until cancelled; returns where there is no system bus."""
        bus = await loaded()
        await bus.keep(bus.system_address, self._follow_logind, tasks, name="system")

    def _set(self, who: str, *, locked: bool) -> None:
        if locked is (who in self._locked):
            return
        if locked:
            self._locked.add(who)
        else:
            self._locked.discard(who)
        self._left()

    # --- Screen savers --------------------------------------------------------------------------

    async def _follow_savers(self, bus: Bus) -> None:
        self._session = bus
        bus.on_signal = self._saver_told
        bus.on_owner = lambda name, _owner: self._set(name, locked=False)
        try:
            for name in SAVERS:
                await bus.listen(f"sender='{name}',interface='{name}',member='ActiveChanged'")
                await bus.follow(name)
            await bus.ended()
        finally:
            self._session = None
            for name in SAVERS:
                self._set(name, locked=False)

    def _saver_told(self, message: Message) -> None:
        name = message.interface or ""
        known = name in SAVERS and message.member == "ActiveChanged" and message.signature == "b"
        if known and self._session is not None and self._session.owns(message, name):
            self._set(name, locked=message.body[0])

    # --- logind ---------------------------------------------------------------------------------

    async def _follow_logind(self, bus: Bus) -> None:
        self._system = bus
        bus.on_signal = self._logind_told
        bus.on_owner = lambda _name, _owner: self._set(LOGIND, locked=False)
        try:
            await bus.listen(f"sender='{LOGIND}',interface='{_MANAGER}',member='PrepareForSleep'")
            await bus.follow(LOGIND)
            self._session_path = await self._own_session(bus)
            if self._session_path:
                place = f"sender='{LOGIND}',path='{self._session_path}'"
                await bus.listen(f"{place},interface='{_SESSION}'")
                await bus.listen(f"{place},interface='{_PROPERTIES}'")
            await bus.ended()
        finally:
            self._system = None
            self._set(LOGIND, locked=False)

    async def _own_session(self, bus: Bus) -> str:
        from lineclear.ui.desktop.bus import BusError  # noqa: PLC0415  # Only where there is one.

        manager = (LOGIND, "/org/freedesktop/login1", _MANAGER)
        own = os.environ.get("XDG_SESSION_ID", "")
        asked = [("GetSession", "s", own)] if own else []
        # A program that a user's service manager started is in no session; `auto` means its user's.
        for member, signature, value in (*asked, ("GetSession", "s", "auto")):
            with contextlib.suppress(BusError):
                (path,) = await bus.call(*manager, member, signature, value, answers="o")
                return str(path)
        log.info("logind knows no session of this program: a lock is learnt from screen savers")
        return ""

    def _logind_told(self, message: Message) -> None:
        if self._system is None or not self._system.owns(message, LOGIND):
            return
        if message.interface == _MANAGER:
            self._left()
        elif message.path != self._session_path:
            return
        elif message.interface == _SESSION and message.member in ("Lock", "Unlock"):
            # A wish to lock; not every locker says when it has, or that it is over.
            self._left()
        elif message.member == "PropertiesChanged" and message.signature == "sa{sv}as":
            changed = message.body[1]
            if "LockedHint" in changed:
                self._set(LOGIND, locked=bool(changed["LockedHint"].value))
