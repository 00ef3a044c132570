"""When the operator is told of what waits, and what: pure logic over rows, sight and time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from itertools import islice

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.deciding import offers
from lineclear.ui.desktop import alert_words

BURST_S = 1.5
"""New calls within this time after the first are one burst, and one notification."""
APART_S = 15.0
"""The least time between two notifications: a stream of calls is told in steps."""
LATER_S = 15 * 60.0
EXPIRES_SOON = timedelta(minutes=5)
LOOK_S = 5.0
"""How often it is looked whether silence is over."""
REMEMBERED = 100_000
"""What was told is remembered of so many calls, so that a folder that comes back is no news."""


class Cause(Enum):
    """Why a call is told of; each once for a call."""

    NEW = auto()
    STOP = auto()
    """It carries a warning that stands in the way of an approval."""
    EXPIRES = auto()
    MAY_HAVE_RUN = auto()


@dataclass(frozen=True, slots=True)
class Alert:
    """One notification; names in it are escaped for the eye, not yet for markup."""

    title: str
    body: str
    urgent: bool = False
    """It stays on the screen until somebody looks."""
    corrects: bool = False
    """It only makes true what stands, since something of that is over: no bell, no new pop-up."""


class Alerts:
    """Gathers what happens while nobody looks, and tells it in as few notifications as it can.

    Args:
        waiting: The rows that wait for an answer now.
        attended: Whether somebody has the window before the eyes: then nothing is told.
        quiet: Whether the operator wants silence; what happens meanwhile is told after it.
        tell: Show this in the place of what stands.
        withdraw: Nothing that was told of waits any more.
        clock: Seconds that go on while the machine sleeps.
        now: The time by which calls expire.
    """

    def __init__(
        self,
        *,
        waiting: Callable[[], Iterable[Row]],
        attended: Callable[[], bool],
        quiet: Callable[[], bool],
        tell: Callable[[Alert], None],
        withdraw: Callable[[], None],
        clock: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._waiting = waiting
        self._attended = attended
        self._quiet = quiet
        self._tell = tell
        self._withdraw = withdraw
        self._clock = clock
        self._now = now
        self._complete = False
        self._open: dict[str, Row] = {}
        """Calls that wait or may have run, by id."""
        self._ends: list[tuple[datetime, str]] = []
        self._news: dict[Cause, dict[str, None]] = {cause: {} for cause in Cause}
        self._told: dict[Cause, dict[str, None]] = {cause: {} for cause in Cause}
        self._about: set[str] = set()
        """The calls of the last notification that are still open."""
        self._named: dict[Cause, set[str]] = {cause: set() for cause in Cause}
        """Those of them that it named apart from all that wait."""
        self._unsettled: dict[str, None] = {}
        """Calls that may have run, as was told: named until they are settled or somebody looks."""
        self._untrue: float | None = None
        """Since when it says more than what is still so."""
        self.standing = False
        """A notification was told, and neither closed nor withdrawn since."""
        self._causes: frozenset[Cause] = frozenset()
        self._since: float | None = None
        """When the burst began that is gathered now."""
        self._last: float | None = None
        self._silent_until: float | None = None

    # --- What happens ---------------------------------------------------------------------------

    def take(self, diff: Diff) -> None:
        """Take in what changed; what waited before the first scan was complete is no news."""
        for row in (*diff.added, *diff.changed):
            self._row(row)
        for row_id in diff.removed:
            self._over(row_id)
        self._complete = self._complete or diff.complete
        self.step()

    def returned(self, row_ids: Iterable[str]) -> None:
        """Calls that were put off wait again: news, told once more."""
        for row_id in row_ids:
            self._told[Cause.NEW].pop(row_id, None)
            if row_id in self._open:
                self._happened(row_id, Cause.NEW)
        self.step()

    def _row(self, row: Row) -> None:
        if row.closed or row.state not in (State.PENDING, State.UNCERTAIN):
            self._over(row.id)
            return
        before = self._open.get(row.id)
        if before is not None and before.state is not row.state:
            self._over(row.id)
        self._open[row.id] = row
        if row.state is State.UNCERTAIN:
            self._happened(row.id, Cause.MAY_HAVE_RUN)
            return
        self._happened(row.id, Cause.NEW)
        if offers.stop_codes(row):
            self._happened(row.id, Cause.STOP)
        elif row.id in self._named[Cause.STOP]:
            self._named[Cause.STOP].discard(row.id)
            self._outdated()
        if row.expires_at is not None and (before is None or before.expires_at != row.expires_at):
            heapq.heappush(self._ends, (row.expires_at, row.id))

    def _happened(self, row_id: str, cause: Cause) -> None:
        if row_id in self._told[cause]:
            return
        if not self._complete:
            self._told[cause][row_id] = None
            return
        self._news[cause][row_id] = None
        if self._since is None:
            self._since = self._clock()

    def _over(self, row_id: str) -> None:
        """A call is decided, withdrawn or gone."""
        self._unsettled.pop(row_id, None)
        if self._open.pop(row_id, None) is not None:
            for news in self._news.values():
                news.pop(row_id, None)
            self._outdate(row_id)

    def _outdate(self, row_id: str) -> None:
        """What stands does not say it of this call any more."""
        if row_id in self._about:
            self._about.discard(row_id)
            for named in self._named.values():
                named.discard(row_id)
            self._outdated()

    def _outdated(self) -> None:
        if self._untrue is None:
            self._untrue = self._clock()

    # --- What the operator does -----------------------------------------------------------------

    def seen(self) -> None:
        """The window is looked at: what happened is known, and nothing needs to stand."""
        self._expire()
        self._know()
        self._silent_until = None
        self._unsettled.clear()
        self._take_down()

    def later(self) -> None:
        """Say nothing for 15 minutes, but of calls that expire: later would be too late."""
        self._silent_until = self._clock() + LATER_S
        self.closed()

    def closed(self) -> None:
        """The notification is gone: closed by hand, or its time was over."""
        self.standing = False

    def review(self) -> str:
        """The call to show first, as things stand now: what was told of, else the oldest."""
        if Cause.MAY_HAVE_RUN in self._causes:
            row = self._first(State.UNCERTAIN, lambda row: row.started_at)
            if row is not None:
                return row.id
        rows = list(self._waiting())
        if Cause.EXPIRES in self._causes:
            rows = [row for row in rows if row.expires_at is not None] or rows
            rows.sort(key=lambda row: _instant(row.expires_at))
        else:
            rows.sort(key=lambda row: _instant(row.asked_at or row.file_time))
        return rows[0].id if rows else ""

    def _first(self, state: State, when: Callable[[Row], datetime | None]) -> Row | None:
        rows = [row for row in self._open.values() if row.state is state]
        return min(rows, key=lambda row: _instant(when(row)), default=None)

    def _know(self) -> None:
        for cause, news in self._news.items():
            if news:
                told = self._told[cause]
                told.update(news)
                news.clear()
                for oldest in list(islice(told, max(len(told) - REMEMBERED, 0))):
                    del told[oldest]
        self._since = None

    def _take_down(self) -> None:
        if self.standing:
            self.standing = False
            self._withdraw()

    # --- Telling --------------------------------------------------------------------------------

    def due(self) -> float | None:
        """Seconds until `step` has something to look at; None: not before something happens."""
        waits = []
        if self._ends:
            left = (self._ends[0][0] - EXPIRES_SOON - self._now()).total_seconds()
            waits.append(min(max(left, 0.0), LATER_S))
        if self._silent_until is not None:
            waits.append(max(self._silent_until - self._clock(), 0.0))
        if self._since is not None:
            held = self._silenced() or self._quiet()
            waits.append(LOOK_S if held else max(self._opens() - self._clock(), 0.0))
        if self.standing and self._untrue is not None:
            waits.append(max(self._untrue + BURST_S - self._clock(), 0.0))
        return min(waits, default=None)

    def step(self) -> None:
        """Look at the clock: withdraw what is over, tell what is due."""
        if self._attended():
            self.seen()
            return
        if not self._about:
            self._take_down()
        self._expire()
        if self._silent_until is not None and not self._silenced():
            self._silent_until = None
            self._remind()
        if self._may_tell():
            if any(self._news.values()):
                self._tell_now()
            self._know()
        self._correct()

    def _may_tell(self) -> bool:
        if self._since is None or self._quiet() or self._clock() < self._opens():
            return False
        return not self._silenced() or bool(self._news[Cause.EXPIRES])

    def _silenced(self) -> bool:
        return self._silent_until is not None and self._clock() < self._silent_until

    def _opens(self) -> float:
        """When what was gathered may be told."""
        opens = self._clock() if self._since is None else self._since + BURST_S
        return opens if self._last is None else max(opens, self._last + APART_S)

    def _expire(self) -> None:
        """Calls come into their last 5 minutes."""
        now = self._now()
        while self._ends and self._ends[0][0] <= now + EXPIRES_SOON:
            ends, row_id = heapq.heappop(self._ends)
            row = self._open.get(row_id)
            if row is None or row.state is not State.PENDING or row.expires_at != ends:
                continue
            if ends > now:
                self._ending(row_id)

    def _ending(self, row_id: str) -> None:
        # Also of a call that waited before the window opened.
        if row_id not in self._told[Cause.EXPIRES]:
            self._news[Cause.EXPIRES][row_id] = None
            if self._since is None:
                self._since = self._clock()

    def _remind(self) -> None:
        for row in self._waiting():
            self._news[Cause.NEW][row.id] = None
        self._news[Cause.MAY_HAVE_RUN].update(self._unsettled)
        if (self._news[Cause.NEW] or self._unsettled) and self._since is None:
            self._since = self._clock() - BURST_S

    def _tell_now(self) -> None:
        rows = list(self._waiting())
        # What is told takes the place of what stands: else a deadline would hide for good that a
        # call may have run.
        self._unsettled.update(self._news[Cause.MAY_HAVE_RUN])
        apart = {**self._news, Cause.MAY_HAVE_RUN: self._unsettled, Cause.STOP: _red(rows)}
        uncertain = self._rows(self._unsettled)
        if not rows and not uncertain:
            return
        self._causes = frozenset(cause for cause, named in apart.items() if named)
        self._named = {cause: set(named) for cause, named in apart.items()}
        self._about = {row.id for row in (*rows, *uncertain)}
        self._last = self._clock()
        self.standing, self._untrue = True, None
        self._tell(self._alert(rows, apart))

    def _correct(self) -> None:
        """Let what stands say only what is still so, once what is over has come to a rest."""
        untrue = self._untrue
        if not self.standing or untrue is None or self._clock() < untrue + BURST_S:
            return
        self._untrue = None
        rows = list(self._waiting())
        if not rows and not self._rows(self._named[Cause.MAY_HAVE_RUN]):
            # What else was told of is put off.
            self._take_down()
            return
        self._named[Cause.STOP] = set(_red(rows))
        self._causes = frozenset(cause for cause in self._causes if self._named[cause])
        self._about.update(row.id for row in rows)
        self._tell(replace(self._alert(rows, self._named), corrects=True))

    def _rows(self, ids: Iterable[str]) -> list[Row]:
        return [self._open[row_id] for row_id in ids if row_id in self._open]

    def _alert(self, rows: list[Row], apart: Mapping[Cause, Iterable[str]]) -> Alert:
        """Say how many wait, and of the calls APART what they are told of for."""
        now = self._now()
        uncertain = self._rows(apart[Cause.MAY_HAVE_RUN])
        ending, flagged = self._rows(apart[Cause.EXPIRES]), self._rows(apart[Cause.STOP])
        parts: list[tuple[str, str]] = []
        if uncertain:
            parts.append((alert_words.may_have_run(len(uncertain)), alert_words.agents(uncertain)))
        if ending:
            soonest = min(row.expires_at for row in ending if row.expires_at is not None)
            left = (soonest - now).total_seconds()
            parts.append((alert_words.expiring(len(ending), left), alert_words.agents(ending)))
        red = alert_words.flagged(len(flagged)) if flagged else ""
        if rows:
            parts.append((alert_words.waiting(len(rows)), alert_words.agents(rows)))
        (title, who), *others = parts
        rest = (
            (red, *(other for other, _ in others)) if others else (alert_words.oldest(rows, now),)
        )
        body = alert_words.joined((who, *rest) if others else (red, who, *rest))
        return Alert(title, body, urgent=bool(uncertain or ending or flagged))


def _red(rows: Iterable[Row]) -> list[str]:
    """The calls that are told apart for a red warning: all that wait, also those told of before."""
    return [row.id for row in rows if offers.stop_codes(row)]


def _instant(at: datetime | None) -> float:
    return float("inf") if at is None else at.timestamp()
