"""What an agent's process remembers of its lane, so that an ask costs what is new.

The folder is listed once. Later numbers are found by looking for the next one, and a request that
was seen closed stays closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from lineclear.core.ledger.layout import MAX_SEQ, RecordName

_MENTION = re.compile(rb'"call_key"\s*:\s*"([0-9a-f]{64})"')


class Lane:
    """The numbers of a store's requests: the highest, the open ones, and which bear which key.

    Attributes:
        listed: whether the folder was listed.
        highest: the highest number in any record's name, also of records that are gone now.
        newest: that of the newest request.
        unanswered: requests that were not seen with an outcome.
    """

    def __init__(self) -> None:
        self.listed = False
        self.highest = 0
        self.newest = 0
        self.unanswered: set[int] = set()
        self._unread: list[int] = []
        self._unreadable: list[int] = []
        self._mentions: dict[str, list[int]] = {}

    def take_listing(self, names: Iterable[tuple[str, RecordName]]) -> None:
        """Learn from a listing of all record names."""
        asked: set[int] = set()
        ended: set[int] = set()
        for _, name in names:
            if name.seq is None:
                continue
            self.highest = max(self.highest, name.seq)
            if name.kind == "request":
                asked.add(name.seq)
            elif name.kind == "outcome":
                ended.add(name.seq)
        # A name closes older calls; of the newest one the record itself is read.
        self.newest = max(asked, default=0)
        ended.discard(self.newest)
        self.unanswered = asked - ended
        self._unread = sorted(asked & ended)
        self.listed = True

    def take_newer(self, is_published: Callable[[int], bool | None]) -> list[int]:
        """Learn of requests that other processes published since.

        Gives the numbers that are passed over: what stands there (None) was not published.
        """
        passed: list[int] = []
        while self.highest < MAX_SEQ and (found := is_published(self.highest + 1)) is not False:
            if found:
                self.published(self.highest + 1)
            else:
                self.highest += 1
                passed.append(self.highest)
        return passed

    def published(self, seq: int) -> None:
        """Learn that a request stands."""
        self.highest = max(self.highest, seq)
        self.newest = max(self.newest, seq)
        self.unanswered.add(seq)

    def closed(self, seq: int) -> None:
        """Learn that a request has its outcome."""
        if seq in self.unanswered:
            self.unanswered.discard(seq)
            self._unread.append(seq)

    def gone(self, seq: int) -> None:
        """Learn that a request was taken out of the folder."""
        self.unanswered.discard(seq)

    @property
    def has_unread(self) -> bool:
        """Whether a request was found closed that `candidates` has not looked at."""
        return bool(self._unread)

    def candidates(self, key: str, read: Callable[[int], bytes | None]) -> list[int]:
        """Give the closed requests that may bear KEY, newest first.

        READ gives a request's bytes, or None where they cannot be read: such a request may bear
        any key. An argument may imitate a key's text, so each candidate has to be parsed.
        """
        for seq in self._unread:
            raw = read(seq)
            if raw is None:
                self._unreadable.append(seq)
                continue
            for match in _MENTION.finditer(raw):
                self._mentions.setdefault(match[1].decode(), []).append(seq)
        self._unread = []
        return sorted({*self._unreadable, *self._mentions.get(key, ())}, reverse=True)
