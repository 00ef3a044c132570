"""One standing notification through org.freedesktop.Notifications, by the desktop's own service."""

from __future__ import annotations

import asyncio
import html
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from lineclear.language import _
from lineclear.ui.desktop.alerts import Alert
from lineclear.ui.desktop.tokens import valid_token
from lineclear.ui.tasks import Tasks

if TYPE_CHECKING:
    from dbus_fast import Message

    from lineclear.ui.desktop.bus import Bus

log = logging.getLogger(__name__)

NAME: Final = "org.freedesktop.Notifications"
_PATH: Final = "/org/freedesktop/Notifications"
REVIEW: Final = "review"
LATER: Final = "later"
ACTIONS: Final = (
    # What a click on the notification itself does.
    *("default", _("Review")),
    *(REVIEW, _("Review")),
    *(LATER, _("Later (15 min)")),
)
_NO_MARKUP: Final = {ord(mark): f"\u27e6U+{ord(mark):04X}\u27e7" for mark in "<>&"}
_LOW: Final = 0
"""Services list it without a pop-up of its own."""
_NORMAL: Final = 1
_OF_THE_DESKTOP: Final = -1
_UNTIL_CLOSED: Final = 0


def without_markup(text: str) -> str:
    """TEXT for a desktop that does not say whether it renders markup: there is none in it."""
    return text.translate(_NO_MARKUP)


def body_for(alert: Alert, capabilities: frozenset[str]) -> str:
    """The body as this service shows it to the letter."""
    if "body-markup" in capabilities:
        return html.escape(alert.body, quote=False)
    return without_markup(alert.body)


class DesktopNotifications:
    """Shows the alert that is wanted, and shows it again to a service that restarted.

    Nothing here waits for the service but `run`; what is wanted changes at once, and only the
    newest counts. What the service would not show goes to UNSHOWN. ICON: a name or a file's URI.
    """

    def __init__(
        self,
        *,
        icon: str,
        acted: Callable[[str, str], None],
        closed: Callable[[], None],
        unshown: Callable[[Alert], None],
    ) -> None:
        self._icon = icon
        self._acted = acted
        self._closed = closed
        self._unshown = unshown
        self._wake = asyncio.Event()
        self._wanted: Alert | None = None
        self._shown: Alert | None = None
        self._unable: Alert | None = None
        """What was wanted and could not be shown: tried again only when another service comes."""
        self._id = 0
        self._token = ""
        self._bus: Bus | None = None
        self._capabilities: frozenset[str] | None = None
        self._services = 0
        """How many services there have been, to notice that another one took over meanwhile."""
        self._begun = sys.platform != "linux"
        """Until the first look for a service an alert waits for it."""

    # --- What is wanted -------------------------------------------------------------------------

    def show(self, alert: Alert) -> None:
        """Let ALERT stand in the place of what stands now."""
        self._wanted, self._unable = alert, None
        if self._bus is None and self._begun:
            self._give_up()
        self._wake.set()

    def withdraw(self) -> None:
        """Let nothing stand."""
        self._wanted = None
        self._wake.set()

    def _give_up(self) -> None:
        if self._wanted is not None and self._wanted is not self._unable:
            self._unable = self._wanted
            if not self._wanted.corrects:
                # A message at the tray cannot be corrected: it would be another one.
                self._unshown(self._wanted)

    # --- The service ----------------------------------------------------------------------------

    async def run(self, loaded: Callable[[], Awaitable[Any]], tasks: Tasks) -> None:
        """Serve until cancelled; returns where there is no session bus.

        LOADED gives the module `bus`, which is imported away from the window's thread.
        """
        bus = await loaded()
        try:
            await bus.keep(bus.session_address, self._serve, tasks, name="session")
        except asyncio.CancelledError:
            self._wanted = None
            raise
        finally:
            self._lost()

    def _lost(self) -> None:
        self._begun = True
        self._bus = None
        self._forget()
        self._give_up()

    def _forget(self) -> None:
        self._id, self._shown, self._capabilities, self._token = 0, None, None, ""
        self._services += 1

    async def _serve(self, bus: Bus) -> None:
        bus.on_signal = self._signal
        bus.on_owner = self._owner
        bus.on_end = self._wake.set
        self._bus, self._unable = bus, None
        try:
            await bus.listen(f"sender='{NAME}',interface='{NAME}',path='{_PATH}'")
            await bus.follow(NAME)
            self._begun = True
            while not bus.over:
                self._wake.clear()
                await self._settle(bus)
                await self._wake.wait()
        except asyncio.CancelledError:
            self._wanted = None
            await self._take_along(bus)
            raise
        finally:
            self._lost()

    async def _settle(self, bus: Bus) -> None:
        wanted = self._wanted
        if wanted is None:
            await self._close(bus)
        elif wanted is not self._shown and wanted is not self._unable:
            await self._notify(bus, wanted)

    async def _notify(self, bus: Bus, alert: Alert) -> None:
        from lineclear.ui.desktop.bus import BusError, Variant  # noqa: PLC0415  # See there.

        try:
            if self._capabilities is None:
                (told,) = await bus.call(NAME, _PATH, NAME, "GetCapabilities", answers="as")
                self._capabilities = frozenset(told)
            known, service = self._capabilities, self._services
            hints = {
                "desktop-entry": Variant("s", "lineclear"),
                "category": Variant("s", "x-lineclear.call"),
                "urgency": Variant("y", _LOW if alert.corrects else _NORMAL),
                # Replacing what still stands is an update, no second bell.
                "suppress-sound": Variant(
                    "b", alert.corrects or (bool(self._id) and not alert.urgent)
                ),
            }
            (shown,) = await bus.call(
                *(NAME, _PATH, NAME, "Notify", "susssasa{sv}i", "Lineclear", self._id),
                *(self._icon, alert.title, body_for(alert, known)),
                *(list(ACTIONS) if "actions" in known else [], hints),
                _UNTIL_CLOSED if alert.urgent else _OF_THE_DESKTOP,
                answers="u",
                late=lambda body: self._came_late(bus, body),
            )
        except BusError as why:
            log.info("the desktop's notification service: %s", why)
            self._forget()
            if self._wanted is alert:
                self._give_up()
            return
        self._id = shown
        if service == self._services:
            self._shown = alert
        else:
            self._wake.set()

    def _came_late(self, bus: Bus, body: list[Any]) -> None:
        """Take back what a slow service showed after it had been given up."""
        if body[0] != self._id:
            bus.send(NAME, _PATH, "CloseNotification", "u", body[0])

    async def _close(self, bus: Bus) -> None:
        from lineclear.ui.desktop.bus import BusError  # noqa: PLC0415  # See there.

        standing, self._id, self._shown = self._id, 0, None
        if not standing:
            return
        try:
            await bus.call(NAME, _PATH, NAME, "CloseNotification", "u", standing)
        except BusError as why:
            # Most often it is gone already.
            log.debug("a notification was not closed: %s", why)

    async def _take_along(self, bus: Bus) -> None:
        """The program ends: a notification that nobody answers any more goes with it."""
        try:
            async with asyncio.timeout(1.0):
                await self._close(bus)
        except TimeoutError:
            log.debug("a notification was not closed: the service does not answer")

    # --- What the service tells -----------------------------------------------------------------

    def _owner(self, _name: str, owner: str) -> None:
        # A service that restarted has forgotten what it showed.
        self._forget()
        if owner:
            self._unable = None
            self._wake.set()

    def _signal(self, message: Message) -> None:
        if self._bus is None or not self._bus.owns(message, NAME):
            return
        body = message.body
        if not body or not self._id or body[0] != self._id:
            return
        if message.member == "ActivationToken" and message.signature == "us":
            self._token = valid_token(body[1])
        elif message.member == "ActionInvoked" and message.signature == "us":
            token, self._token = self._token, ""
            self._done()
            self._acted(LATER if body[1] == LATER else REVIEW, token)
        elif message.member == "NotificationClosed":
            self._id = 0
            self._done()
            self._closed()

    def _done(self) -> None:
        self._wanted, self._shown = None, None
        self._wake.set()
