"""A connection to a D-Bus: calls that end in time, signals of known senders, and coming back.

Importing this takes some 60 ms and works only where dbus-fast is installed, which is on Linux:
the window does it late, and in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from dbus_fast import Message, MessageFlag, MessageType, Variant
from dbus_fast.aio import MessageBus

from lineclear.language import _
from lineclear.ui.tasks import Tasks

__all__ = ["Bus", "BusError", "Variant", "keep", "session_address", "system_address"]

log = logging.getLogger(__name__)

CALL_S = 5.0
"""A service that has not answered after this long is taken not to answer."""
CONNECT_S = 5.0
AGAIN_S = 30.0
"""How long after a bus was lost, or could not be reached, it is tried again."""
DAEMON: Final = "org.freedesktop.DBus"
_DAEMON_PATH: Final = "/org/freedesktop/DBus"


class BusError(Exception):
    """A call that was refused or not answered, or a bus that is not there; says why."""


def session_address() -> str:
    """Where the desktop session's bus is; "" when there is none."""
    told = os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
    if told:
        return told
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    usual = Path(runtime) / "bus"
    return f"unix:path={quote(str(usual))}" if runtime and _is_socket(usual) else ""


def system_address() -> str:
    """Where the machine's bus is; "" when there is none."""
    told = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS", "")
    usual = Path("/run/dbus/system_bus_socket")
    return told or (f"unix:path={usual}" if _is_socket(usual) else "")


def _is_socket(path: Path) -> bool:
    try:
        return path.is_socket()
    except OSError:
        # Another user's folder, as `su` leaves it in the environment.
        return False


class _Connection(MessageBus):
    """Takes note of what could not be sent: a caller learns of it by the end of the bus."""

    def send(self, msg: Message) -> asyncio.Future[Any]:  # type: ignore[override]
        """Send a message; the answer is done when it went out."""
        sent = super().send(msg)
        sent.add_done_callback(_forgotten)
        return sent


class Bus:
    """One connection; `keep` makes it."""

    def __init__(self, connection: MessageBus) -> None:
        self._connection = connection
        self._owners: dict[str, str] = {}
        self._late: dict[int, tuple[str | None, Callable[[list[Any]], None]]] = {}
        self._odd: set[tuple[str, str, str]] = set()
        """Who answered which call in which wrong shape: each is said once."""
        self.on_signal: Callable[[Message], None] = lambda _message: None
        self.on_owner: Callable[[str, str], None] = lambda _name, _owner: None
        """A followed name has another owner; "" for none."""
        self.on_end: Callable[[], None] = lambda: None
        self._over = asyncio.Event()
        connection.add_message_handler(self._take)

    async def call(
        self,
        service: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        *body: Any,
        answers: str | None = None,
        late: Callable[[list[Any]], None] | None = None,
    ) -> list[Any]:
        """Call a method and give the values of its answer.

        ANSWERS is the signature that the answer has to have, None where nobody looks at it: any
        program can take a service's name. LATE takes the answer that comes after the deadline, if
        it ever does. Raises BusError.
        """
        if not self._connection.connected:
            raise BusError("the bus is gone")
        message = Message(
            destination=service,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
            serial=self._connection.next_serial(),
        )
        try:
            # Not wait_for, which before Python 3.12 may lose a cancellation.
            async with asyncio.timeout(CALL_S):
                reply = await self._connection.call(message)
        except TimeoutError as why:
            if late is not None:
                self._late[message.serial] = (answers, late)
            raise BusError(f"{service} does not answer {member}") from why
        except (OSError, EOFError, ValueError) as why:
            raise BusError(f"the bus is gone: {why}") from why
        if reply is None:
            raise BusError("the bus is gone")
        if reply.message_type is MessageType.ERROR:
            told = " ".join(str(part) for part in reply.body)
            raise BusError(f"{member}: {reply.error_name} {told}".strip()[:300])
        if answers is not None and reply.signature != answers:
            raise self._odd_answer(reply, service, member, answers)
        return list(reply.body)

    def _odd_answer(self, reply: Message, service: str, member: str, answers: str) -> BusError:
        said = f"{service} answers {member} with {reply.signature[:40]!r} and not {answers!r}"
        who = (reply.sender or "", member, reply.signature)
        if who not in self._odd:
            self._odd.add(who)
            log.warning("%s: it is taken as no answer.", said)
        return BusError(said)

    def send(self, service: str, path: str, member: str, signature: str, *body: Any) -> None:
        """Call a method of the interface that bears the service's name, and forget it."""
        message = Message(
            destination=service,
            path=path,
            interface=service,
            member=member,
            signature=signature,
            body=list(body),
            flags=MessageFlag.NO_REPLY_EXPECTED,
        )
        if self._connection.connected:
            self._connection.send(message)

    async def listen(self, rule: str) -> None:
        """Receive the signals that fit a match rule. Raises BusError."""
        await self.call(DAEMON, _DAEMON_PATH, DAEMON, "AddMatch", "s", f"type='signal',{rule}")

    async def follow(self, name: str) -> str:
        """Know from now on who owns a name; its owner, "" for none. Raises BusError."""
        await self.listen(
            f"sender='{DAEMON}',interface='{DAEMON}',member='NameOwnerChanged',arg0='{name}'"
        )
        self._owners.setdefault(name, "")
        # Nobody owns it yet: not an error.
        with contextlib.suppress(BusError):
            (owner,) = await self.call(
                *(DAEMON, _DAEMON_PATH, DAEMON, "GetNameOwner", "s", name), answers="s"
            )
            self._owners[name] = owner
        return self._owners[name]

    def owns(self, message: Message, name: str) -> bool:
        """Whether a message came from the owner of a followed name: anybody can send one."""
        return bool(message.sender) and self._owners.get(name) == message.sender

    @property
    def over(self) -> bool:
        """The connection is over."""
        return self._over.is_set()

    async def ended(self) -> None:
        """Wait until the connection is over."""
        await self._over.wait()

    async def attend(self) -> None:
        """Notice the end of the connection; `keep` sees to it."""
        try:
            await self._connection.wait_for_disconnect()  # type: ignore[no-untyped-call]
        except (OSError, EOFError, ValueError) as why:
            log.info("the bus is gone: %s", why)
        self._over.set()
        self.on_end()

    def close(self) -> None:
        """End the connection."""
        if self._connection.connected:
            self._connection.disconnect()

    def _take(self, message: Message) -> None:
        if message.message_type is MessageType.METHOD_RETURN:
            answers, late = self._late.pop(message.reply_serial, (None, None))
            if late is not None and answers in (None, message.signature):
                late(list(message.body))
        elif message.message_type is MessageType.SIGNAL:
            if message.sender == DAEMON and message.member == "NameOwnerChanged":
                name, _old, new = message.body
                if name in self._owners:
                    self._owners[name] = new
                    self.on_owner(name, new)
            else:
                self.on_signal(message)


def _forgotten(sent: asyncio.Future[Any]) -> None:
    if not sent.cancelled() and sent.exception() is not None:
        log.debug("a message was not sent: %s", sent.exception())


async def keep(
    address: Callable[[], str],
    serve: Callable[[Bus], Awaitable[None]],
    tasks: Tasks,
    *,
    name: str,
) -> None:
    """Serve on a bus, and again whenever it comes back; returns where there is none.

    SERVE is done when the bus is over; its BusError ends only this attempt.
    """
    while where := address():
        try:
            bus = await _connected(where)
        except BusError as why:
            log.info("the %s bus cannot be reached: %s", name, why)
        else:
            tasks.start(bus.attend(), name=_("attend to the {bus} bus").format(bus=name))
            try:
                await serve(bus)
            except BusError as why:
                log.info("the %s bus: %s", name, why)
            finally:
                bus.close()
        await asyncio.sleep(AGAIN_S)
    log.info("there is no %s bus here", name)


async def _connected(address: str) -> Bus:
    try:
        connection = _Connection(address)
        async with asyncio.timeout(CONNECT_S):
            await connection.connect()
    # Whatever is wrong with an address or a bus, the window works without it.
    except Exception as why:
        raise BusError(str(why) or type(why).__name__) from why
    return Bus(connection)
