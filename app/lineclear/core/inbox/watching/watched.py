"""One source under watch: who listens to it, how its walks go, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lineclear.core.inbox.operator.settings import SourceSetting
from lineclear.core.inbox.sources.hints import Listener
from lineclear.core.inbox.watching.scanned import StoreRows
from lineclear.core.ledger import presence

_IDLE_SHARE = 0.012
"""Part of one core that the walks of an idle inbox may take."""
_POLLING_SHARE = 0.10
"""The same for sources whose changes only a walk shows."""
_BRISK_SHARE = 0.5
"""The same for a walk that looks for what may have been missed."""


@dataclass(slots=True)
class Watched:
    """One source that is watched, and how that fares."""

    setting: SourceSetting
    root: str
    """Where the source leads: the folder that is listened to and walked."""
    listener: Listener | None = None
    listening: bool = False
    began_at: float = 0.0
    failures: int = 0
    retry_at: float = 0.0
    trouble: str = ""
    """Why the system tells nothing of this source, in words."""
    identity: tuple[int, int] | None = None
    here: presence.Presence | None = None
    next_walk: float = 0.0
    """When the next walk is due, monotonic seconds."""
    brisk: bool = True
    """The next or present walk looks for what may have been missed."""
    walk: Iterator[StoreRows | None] | None = None
    walk_began: float = 0.0
    resume_at: float = 0.0
    scanned: bool = False
    """A walk has come to its end."""
    hinted: bool = False
    """An event came since the last walk ended."""
    deaf_walks: int = 0
    deaf_listeners: int = 0
    polled: bool = False
    """Only walks show changes here: by choice, or because the system tells nothing."""

    @property
    def dead(self) -> bool:
        """Nobody listens although somebody should."""
        if self.polled or self.identity is None:
            return False
        return self.listener is None or not self.listener.alive

    @property
    def due(self) -> float:
        """When there is something to do."""
        walk = self.next_walk if self.walk is None else self.resume_at
        return min(walk, self.retry_at) if self.dead else walk

    @property
    def share(self) -> float:
        """Part of one core that a walk may take."""
        if self.brisk:
            return _BRISK_SHARE
        return _POLLING_SHARE if self.polled else _IDLE_SHARE

    def begin_anew(self, root: str, identity: tuple[int, int] | None) -> None:
        """Forget what was wrong: what stands at ROOT is another folder, or none."""
        self.scanned = self.scanned and root == self.root
        self.root, self.identity, self.polled = root, identity, self.setting.polling
        self.failures, self.retry_at, self.trouble = 0, 0.0, ""
        self.deaf_walks = self.deaf_listeners = 0
        self.walk_now()

    def walk_now(self) -> None:
        """Walk from the beginning, soon and briskly."""
        self.walk, self.next_walk, self.brisk = None, 0.0, True
