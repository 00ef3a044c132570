"""Adds to the history: what is found in the ledgers, what was decided here, and gaps."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from lineclear.core.inbox.history import chain, database, merging, retention
from lineclear.core.inbox.history.entry import Entry, Fact, Kind, detail_text, kept
from lineclear.core.inbox.history.ledgerread import Mask, Place, look, stamp_text
from lineclear.core.inbox.history.merging import Merged
from lineclear.core.inbox.secrets import masking as secrets
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.records import format_instant, new_nonce
from lineclear.core.places import path_text

log = logging.getLogger(__name__)

T = TypeVar("T")
_AT_ONCE: Final = 500
"""Rows of one transaction: other writers get their turn between two."""
_INTENT_WAITS_S: Final = 0.25
_INTENT_KEPT: Final = timedelta(days=1)


class History:
    """The history of this machine and user, open to be written; from any thread.

    Attributes:
        path: the file that is written.
        origin: which chain is this history's own.
        notices: sentences for the operator (a file that was kept aside); taken by whoever tells
            them.
    """

    def __init__(
        self, path: Path, *, mask: Mask = secrets.mask_for_record, days: int | None = None
    ) -> None:
        self.path = path
        self.origin = ""
        self.notices: list[str] = []
        self.mask = mask
        self.days = days
        self._wanted = path
        self._lock = threading.Lock()
        self._intending = threading.Lock()
        self._known: dict[Path, set[tuple[str, str]]] = {}
        self._looks: dict[str, str] = {}
        self._identity: tuple[int, int] = (0, 0)
        self._opened = 0
        self._aside: list[str] = []
        self._open()

    @classmethod
    def open(
        cls,
        path: Path | None = None,
        *,
        mask: Mask = secrets.mask_for_record,
        days: int | None = None,
    ) -> Self:
        """Open the history, or begin it.

        MASK is given each call's arguments and gives them with secrets replaced: nothing else of
        them is kept. DAYS: rows recorded longer ago are removed by `prune`, and what ended longer
        ago is not taken in. A file that cannot be used is kept aside and told in `notices`.
        Raises LineclearError (`history_unreadable`, `history_busy`, `history_unwritable`).
        """
        return cls(database.history_path() if path is None else path, mask=mask, days=days)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- What is recorded -----------------------------------------------------------------------

    def intend(self, nonce: str, watcher: str = "") -> None:
        """Say that a decision with this nonce (`Verdict.nonce`) is about to be given here.

        Called just before `deciding.decide`. Whoever then sees the decision first, this program
        or another one of this history, records it as given here and not as found; so it is also
        after a crash between the two. A decision that is not given after all leaves no trace.
        Waits a quarter of a second at most. Raises LineclearError; no decision ought to wait for
        that either. WATCHER, of whom it is a sign of life, is for one that has noted that it began.
        """
        now = datetime.now(UTC)
        # By a connection of its own: it never stands behind what is being recorded.
        with self._intending, database.transaction(self._quick, self.path):
            self._quick.execute(
                "DELETE FROM intents WHERE at < ?", [format_instant(now - _INTENT_KEPT)]
            )
            self._quick.execute(
                "INSERT OR IGNORE INTO intents VALUES (?, ?)", [nonce, format_instant(now)]
            )
            self._quick.execute(
                "UPDATE watchers SET beat = ? WHERE id = ?", [chain.now_text(), watcher]
            )

    def observe(self, places: Iterable[Place]) -> tuple[Entry, ...]:
        """Look at stores and record what their ledgers hold and this history lacks.

        Idempotent. A store whose ledger looks as it did at the last look costs one stat; else a
        listing, and the reading of what is new. Raises LineclearError (`history_busy`,
        `history_unwritable`, `history_unreadable`): then the same look finds the same again.
        """
        added: list[Entry] = []
        for place in places:
            added += self._observe(place)
        return tuple(added)

    def note(self, kind: Kind, at: datetime | None = None, **detail: Any) -> Entry:
        """Record what is about no call: watching began or ended, a source went or came back."""
        when = chain.now_text() if at is None else format_instant(at)
        fact = Fact(kind=kind.value, at=when, detail=kept("detail", detail_text(**detail)))
        (entry,) = self._write(lambda connection: chain.append(connection, self.origin, [fact]))
        return entry

    def prune(self) -> int:
        """Remove rows recorded more than `days` ago, all but what keeps the chain verifiable.

        Gives how many. The last removed row of each chain is named, with its hash, in a new row:
        the anchor on which the rest stands.
        """
        if self.days is None:
            return 0
        before = self._cutoff()
        removed = self._write(
            lambda connection: retention.prune(connection, self.origin, before or "")
        )
        if removed:
            with self._lock, database.told(self.path):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def merge(self, other: Path) -> Merged:
        """Take in the rows of another history, whose chains are verified before.

        They keep their origin. Idempotent: what was taken in is left, what came since is added.
        Nothing in OTHER is changed. Raises Refusal (`history_broken`: a chain does not verify;
        `history_forked`: two files go on differently from the same row), Unusable and
        LineclearError as `Search.open`.
        """
        merged = merging.merge(other, self.origin, self._write)
        if merged.rows:
            self.note(
                Kind.MERGED,
                file=kept("store", path_text(other)),
                rows=merged.rows,
                origins=list(merged.origins),
            )
        return merged

    # --- Watchers -------------------------------------------------------------------------------

    def beat(self, watcher: str, owner: str, at: datetime | None = None) -> None:
        """Note that a watcher lives; OWNER is its process as text. No row: it only times gaps."""
        when = chain.now_text() if at is None else format_instant(at)
        self._write(
            lambda connection: connection.execute(
                "INSERT INTO watchers VALUES (?, ?, ?) ON CONFLICT (id)"
                " DO UPDATE SET beat = excluded.beat",
                [watcher, owner, when],
            )
        )

    def watchers(self) -> list[tuple[str, str, str]]:
        """Give (id, owner, last beat) of the watchers that began and did not end."""
        return self._write(
            lambda connection: connection.execute("SELECT id, owner, beat FROM watchers").fetchall()
        )

    def forget_watcher(self, watcher: str) -> bool:
        """Note that a watcher ended; False: another program noted it before."""
        return bool(
            self._write(
                lambda connection: (
                    connection.execute("DELETE FROM watchers WHERE id = ?", [watcher]).rowcount
                )
            )
        )

    # --- Within ---------------------------------------------------------------------------------

    def _observe(self, place: Place) -> list[Entry]:
        """Look at one store; again where the file was replaced by another one meanwhile."""
        while True:
            opened = self._opened
            added = self._looked_at(place)
            if self._opened == opened:
                return added

    def _looked_at(self, place: Place) -> list[Entry]:
        name = path_text(place.store)
        known = self._known_of(place.store)
        now = stamp_text(place.store)
        unknown = any((aid, "uncertain") not in known for aid in place.uncertain)
        if not now or (self._looks.get(name) == now and not unknown):
            return []
        looked = look(place, known, self.mask)
        facts = [fact for fact in looked.facts if self._is_kept(fact)]
        added: list[Entry] = []
        for first in range(0, len(facts), _AT_ONCE):
            part = facts[first : first + _AT_ONCE]
            added += self._write(lambda connection, part=part: self._append(connection, part))  # type: ignore[misc]
        # Only what is recorded may be passed over at the next look.
        known.update((fact.call or "", fact.fact or "") for fact in looked.facts)
        if looked.stamp and self._known.get(place.store) is known:
            self._note_look(name, looked.stamp)
        return added

    def _append(self, connection: Any, facts: list[Fact]) -> list[Entry]:
        return chain.append(connection, self.origin, facts)

    def _note_look(self, name: str, stamp: str) -> None:
        self._write(
            lambda connection: connection.execute(
                "INSERT INTO looks VALUES (?, ?)"
                " ON CONFLICT (store) DO UPDATE SET stamp = excluded.stamp",
                [name, stamp],
            )
        )
        self._looks[name] = stamp

    def _known_of(self, store: Path) -> set[tuple[str, str]]:
        known = self._known.get(store)
        if known is None:
            known = self._write(
                lambda connection: set(
                    connection.execute(
                        "SELECT call, fact FROM entries WHERE store = ? AND +origin = ?",
                        [path_text(store), self.origin],
                    )
                )
            )
            self._known[store] = known
        return known

    def _cutoff(self) -> str | None:
        if self.days is None:
            return None
        return format_instant(datetime.now(UTC) - timedelta(days=self.days))

    def _is_kept(self, fact: Fact) -> bool:
        """Tell whether a fact is new enough: what was removed is not to be found again."""
        cutoff = self._cutoff()
        return cutoff is None or (fact.ended_at or fact.at) >= cutoff

    def _write(self, work: Callable[[Any], T]) -> T:
        """Do WORK in one transaction, in the file that stands there now."""
        with self._lock:
            if self._moved():
                self._close()
                self._open()
            try:
                with database.transaction(self._connection, self.path):
                    return work(self._connection)
            except database.Unusable as why:
                log.info("the history is kept aside: %s", why.sentence)
                identity = self._identity
                self._close()
                kept_as = database.set_aside(self.path, identity)
                if kept_as is not None:
                    self._say(database.kept_sentence(why, kept_as), path_text(kept_as))
                self._open()
                with database.transaction(self._connection, self.path):
                    return work(self._connection)

    def _moved(self) -> bool:
        """Tell whether another file, or none, stands where ours was opened."""
        return database.identity_of(self.path) != self._identity

    def _say(self, sentence: str, kept_as: str) -> None:
        self.notices.append(sentence)
        self._aside.append(kept_as)

    def _open(self) -> None:
        self._connection, self.path = database.connect_or_set_aside(self._wanted, self._say)
        try:
            quick = database.connect(self.path, busy_s=_INTENT_WAITS_S)
        except BaseException:
            self._connection.close()
            raise
        with self._intending:
            self._quick = quick
        try:
            self._identity = database.identity_of(self.path)
            self._known, self._looks = {}, {}
            self._opened += 1
            with database.told(self.path):
                found = self._connection.execute("SELECT origin FROM here").fetchone()
            if found is None:
                with database.transaction(self._connection, self.path):
                    found = self._begin()
            self.origin = str(found[0])
            with database.told(self.path):
                self._looks = dict(self._connection.execute("SELECT store, stamp FROM looks"))
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        # Whatever stands there is opened anew before the next write.
        self._identity = (0, 0)
        self._connection.close()
        with self._intending:
            self._quick.close()

    def _begin(self) -> tuple[str]:
        """Write the first row of a new chain, unless another program was faster."""
        found: tuple[str] | None = self._connection.execute("SELECT origin FROM here").fetchone()
        if found is not None:
            return found
        origin, me = new_nonce(), this_person()
        self._connection.execute("INSERT INTO here VALUES (?)", [origin])
        begun = Fact(
            kind=Kind.BEGUN.value,
            at=chain.now_text(),
            detail=kept("detail", detail_text(host=me.host, uid=me.uid, name=me.name)),
        )
        told = [
            replace(begun, kind=Kind.SET_ASIDE.value, detail=kept("detail", detail_text(file=file)))
            for file in self._aside
        ]
        self._aside = []
        chain.append(self._connection, origin, [begun, *told])
        return (origin,)
