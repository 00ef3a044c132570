"""Who else reads which call: told to colleagues of the same sources, and asked of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.platform.this import folders
from lineclear.core.ledger.presence import NAME_MOST, Reader
from lineclear.core.ledger.sharing import is_name_of_another
from lineclear.language import _, counted
from lineclear.ui import words
from lineclear.ui.bridge import Bridge
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.tasks import Tasks

LOOK_MS = 2_000
MARK_LIMIT = 14
"""Characters of a name in a row."""
YOU = _("you, in another window,")


def named(one: Reader) -> str:
    """A colleague: what they call themselves, cut, and which user they are."""
    name = words.name(one.name, "")
    return (
        _("{name} (uid {uid})").format(name=name, uid=one.uid)
        if name
        else _("uid {uid}").format(uid=one.uid)
    )


class Colleagues(QObject):
    """Advice only: no decision depends on it.

    Signals:
        changed(list): ids of calls that somebody else began or stopped reading.
    """

    changed = Signal(list)

    def __init__(self, bridge: Bridge, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._row: Callable[[str], Row | None] = lambda _id: None
        self._readers: dict[str, tuple[Reader, ...]] = {}
        self._told = ""
        self._looking = False
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)

    def serve(self, queue: QueueModel) -> None:
        """Mark in the queue what others read, and let it be skipped."""
        queue.skipped, queue.reader, self._row = self.read_by_others, self.mark, queue.row
        self.changed.connect(queue.readers_changed)

    def tell(self, row: Row | None) -> None:
        """Say what is being read in this window; None: nothing, or nobody is before it."""
        call = "" if row is None else row.id
        if call != self._told:
            self._told = call
            self._bridge.tell_reading(row)

    def tell_anew(self) -> None:
        """Say it again at the next `tell`: whether it may be said has changed."""
        self._told = ""
        self._bridge.tell_reading(None)

    def watch(self, *, on: bool) -> None:
        """Ask again and again, or not while nobody could see the answer."""
        if on and not self._timer.isActive():
            self._timer.start()
            self.look()
        elif not on:
            self._timer.stop()

    def look(self) -> None:
        """Ask what the others read, away from the window's thread."""
        if not self._looking:
            self._looking = True
            self._tasks.start(self._look(), name=_("see what colleagues read"))

    async def _look(self) -> None:
        try:
            told = await self._bridge.readers()
        finally:
            self._looking = False
        found = {call: seen for call in told if (seen := self._operators(call, told[call]))}
        before, self._readers = self._readers, found
        other = [call for call in {**before, **found} if before.get(call) != found.get(call)]
        if other:
            self.changed.emit(other)

    def _operators(self, call: str, seen: tuple[Reader, ...]) -> tuple[Reader, ...]:
        """Leave the user of the call's own agent out: where others decide, it is none of them."""
        row = self._row(call)
        return tuple(one for one in seen if row is None or not one.shared or one.uid != row.user)

    def read_by_others(self, row_id: str) -> bool:
        """Whether a colleague has this call before them."""
        return row_id in self._readers

    def sentence(self, row_id: str) -> str:
        """Who reads it, in words; "" for nobody."""
        names = self._names(row_id)
        if not names:
            return ""
        if names == [YOU]:
            return _("you are reading this in another window")
        if len(names) > 2:
            return counted(
                "{name} and {n} other are reading this",
                "{name} and {n} others are reading this",
                len(names) - 1,
                name=names[0],
            )
        if len(names) == 2:
            return _("{name} and {other} are reading this").format(name=names[0], other=names[1])
        return _("{name} is reading this").format(name=names[0])

    def mark(self, row_id: str) -> str:
        """The same in a row of the table; whose name it is, is told where the call is read."""
        seen = self._readers.get(row_id, ())
        others = [one for one in seen if not self._is_me(one)]
        if not others:
            return _("you, elsewhere") if seen else ""
        name = words.name(others[0].name, "", MARK_LIMIT)
        if not name or is_name_of_another(others[0].name, others[0].uid):
            name = named(others[0])
        more = len({named(one) for one in others}) - 1
        if more:
            return counted(
                "{name} and {n} other read", "{name} and {n} others read", more, name=name
            )
        return _("{name} is reading").format(name=name)

    def _is_me(self, one: Reader) -> bool:
        """Whether it is the same user under the same name: several people may share an account."""
        return one.uid == folders.user_id() and one.name == self._bridge.me().name[:NAME_MOST]

    def _names(self, row_id: str) -> list[str]:
        """Who reads it, each once, others before this very person.

        A name is its owner's own word, and whose it is the folder's owner: anybody may call
        themselves as they like, nobody can be of another uid.
        """
        seen = self._readers.get(row_id, ())
        found = {named(one): None for one in seen if not self._is_me(one)}
        if any(map(self._is_me, seen)):
            found[YOU] = None
        return list(found)
