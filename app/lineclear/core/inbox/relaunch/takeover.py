"""Taking over a run that another program left, for an agent of ours to go on with.

Its program's checkpoint is never written or removed: the run goes on in a folder of its own beside
it, which is a store of ours. What keeps a relaunch from starting keeps this from starting too.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.characters.text import reveal
from lineclear.core.errors import LineclearError, NothingPending, Refusal
from lineclear.core.inbox.deciding.path import operator
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.relaunch.copies import only_start
from lineclear.core.inbox.relaunch.launch_number import free_number
from lineclear.core.inbox.relaunch.startable import (
    refuse_beside_running,
    refuse_elsewhere,
    refuse_unless_resumable,
    rows_beside,
    word_for,
)
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.beside import run_of
from lineclear.core.inbox.runs.run_name import name_of
from lineclear.core.ledger import foreign
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import Commit, sync_folder
from lineclear.core.ledger.folders import refuse_others
from lineclear.core.ledger.going_lock import going_on
from lineclear.core.ledger.layout import APPROVALS, launch_log_name, taken_over_folder
from lineclear.core.ledger.liveness import Process, current_owner, process_of
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.records import Launch, Start, new_nonce
from lineclear.core.ledger.start import begin_resumed, refuse_taken
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.takeovers import (
    NOT_TAKEN_UP,
    is_taken_up,
    record_not_taken_up,
    record_taken_up,
)
from lineclear.core.ledger.worker import starting, working
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

CLAIMED_RUN: Final = "LINECLEAR_CLAIMED_RUN"
"""Environment variable by which a claimed relaunch tells its command which run it claimed."""
Hand = Callable[[Path, str], None]
"""Puts a run, by its id, into a folder of ours."""
_PATIENCE_S: Final = 2.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A run of another program's store that is to go on in a folder of ours."""

    folder: Path
    taken_up: Callable[[], None]
    """To be called once its agent has really loaded it; raises as `finish`."""


def take_over(
    store: Path,
    runs: Collection[str],
    settings: Settings,
    hand: Hand,
    argv: Sequence[str],
    *,
    kept: ExitStack,
    claimed: str | None = None,
    despite: frozenset[str] = frozenset(),
) -> TakeOver | None:
    """Make the folder in which a run of another program's store goes on; None: no such store.

    RUNS are the ids that an agent of ours can take up; the one written last is meant. CLAIMED is
    the run that a relaunch has claimed for this very process: that has given its word already, and
    records how it ends. Otherwise ARGV, this command, is recorded with the operator's word, and
    that it goes on with the run is told until KEPT is closed: where its agent has not taken it up
    by then, it is recorded why, and the run can be resumed again.
    Raises what `relaunch` raises but for the command, and StoreHeld.
    """
    with ExitStack() as own:
        opened = own.enter_context(Store.open(store))
        if opened.native or not runs:
            return None
        if claimed is not None:
            return TakeOver(_claimed(opened, claimed, hand), _nothing)
        rows = rows_beside(opened)
        row = _newest(rows, store, runs)
        shown = _shown(opened, rows, row.id)
        folder = folder_of(opened, shown)
        _refuse_taken_over(row, folder)
        refuse_unless_resumable(row)
        word_for(row, despite)
        if opened.owner_uid != os.geteuid():
            raise Refusal(
                worded(
                    "{store} belongs to user {uid}: only that user can resume it.",
                    store=path_text(store),
                    uid=opened.owner_uid,
                ),
                code="owner",
            )
        _refuse_in_place(opened, shown, folder)
        opened.begin_foreign_ledger()
        opened.commit("request", None, row.id, shown.raw)
        own.enter_context(working(opened))
        with starting(opened), only_start(shown, settings) as seen:
            refuse_elsewhere(shown, seen, despite)
            own.enter_context(going_on(name_of(shown), store))
            _begin(opened, shown, settings, argv, despite)
        own.enter_context(_until_taken_up(opened, shown, folder))
        with _not_run_unless_handed(opened, shown):
            _handed(opened, shown, hand)
        # Whatever comes of it once it is taken up is told there.
        kept.push(own.pop_all())
        return TakeOver(folder, lambda: record_taken_up(opened, shown, folder))


def _nothing() -> None:
    """Leave it to the relaunch to record what comes of it."""


@contextmanager
def _until_taken_up(store: Store, shown: Shown, folder: Path) -> Iterator[None]:
    """Record, where its agent never took the run up, why that was."""
    why = "Its agent ended before it took the run up."
    try:
        yield
    except LineclearError as failed:
        why = failed.sentence
        raise
    except BaseException:
        why = "It was stopped before its agent took the run up."
        raise
    finally:
        try:
            _settle(store, shown, folder, why)
        except (LineclearError, OSError) as failed:
            _log.warning("How a take-over ended is not recorded yet: %s", failed)


@contextmanager
def _not_run_unless_handed(store: Store, shown: Shown) -> Iterator[None]:
    """Record, where a run could not be put into its folder, that nothing of it ran.

    Whatever stands there then is not looked at: its agent was not even made.
    """
    try:
        yield
    except LineclearError as why:
        finish(store, shown, "error", result=reveal(why.sentence), code=NOT_TAKEN_UP)
        raise


def _settle(store: Store, shown: Shown, folder: Path, why: str) -> None:
    if store.known_records(None, shown.aid).outcome is not None:
        return
    position = shown.checkpoint.position
    if position is not None and is_taken_up(folder, position.run_id):
        record_taken_up(store, shown, folder)
        return
    record_not_taken_up(store, shown, folder, why, patience_s=_PATIENCE_S)


def _newest(rows: Sequence[Row], store: Path, runs: Collection[str]) -> Row:
    names = {spelled(run) for run in runs}
    found = [row for row in rows if run_of(row) in names and row.path is not None]
    if not found:
        raise NothingPending(worded("No run of {store} can be taken over.", store=path_text(store)))
    return max(found, key=lambda row: (not row.closed, _written(row)))


def _written(row: Row) -> float:
    return 0.0 if row.file_time is None else row.file_time.timestamp()


def _shown(store: Store, rows: Iterable[Row], aid: str) -> Shown:
    for row in rows:
        if row.id != aid or row.path is None:
            continue
        for shown in foreign.show_foreign(row.path, store=store):
            if shown.aid == aid:
                return shown
    raise NothingPending(worded("Run {run} is not there any more.", run=aid[:8]))


def _begin(
    store: Store, shown: Shown, settings: Settings, argv: Sequence[str], despite: frozenset[str]
) -> None:
    """Record whose word it is and that it starts, after one more look."""
    rows = rows_beside(store)
    row = next((one for one in rows if one.id == shown.aid), None)
    if row is None:
        raise NothingPending(worded("Run {run} is not there any more.", run=shown.aid[:8]))
    refuse_unless_resumable(row)
    refuse_beside_running(row, rows)
    word = word_for(row, despite)
    named = store.names()
    launches = store.records(None, shown.aid, named=named).launches
    for launch in launches:
        if launch.owner is not None and process_of(launch.owner) is Process.ALIVE:
            raise Refusal(
                worded("It was started already, as process {pid}.", pid=launch.owner.pid),
                code="alive",
            )
    foreign.claim(store, shown)
    n = free_number(store, None, shown.aid, launches, named)
    told: dict[str, Any] = {"despite": tuple(sorted(word))} if word else {}
    launch = Launch(
        v=1,
        nonce=new_nonce(),
        **store.bound(shown.aid),
        n=n,
        by=operator(settings),
        at=read_now().wall,
        argv=tuple(argv),
        cwd=path_text(Path.cwd()),
        log=launch_log_name(seq=None, aid=shown.aid, n=n),
        owner=current_owner(),
        **told,
    )
    won = store.commit("launch", None, shown.aid, launch.encode(), n) is Commit.WON
    if not won or not begin_resumed(store, shown, launch):
        refuse_taken(store, shown.aid)
        raise Refusal(worded("Another relaunch of this run came first."), code="alive")


def _claimed(store: Store, aid: str, hand: Hand) -> Path:
    records = store.known_records(None, aid)
    start = records.start
    if (
        not isinstance(start, Start)
        or records.outcome is not None
        or process_of(start.owner) is not Process.ALIVE
    ):
        raise Refusal(
            worded("Run {run} is claimed by no relaunch that is going on.", run=aid[:8]),
            code="not_claimed",
        )
    return _handed(store, _shown(store, rows_beside(store), aid), hand)


def _handed(store: Store, shown: Shown, hand: Hand) -> Path:
    """Give the folder of a run, which stays the same whenever the run is tried again."""
    position, folder = shown.checkpoint.position, folder_of(store, shown)
    assert position is not None
    if not os.path.lexists(folder):
        # A kill leaves it whole or not at all.
        draft = store.path / APPROVALS / folder.name
        if os.path.lexists(draft):
            refuse_others(draft.lstat(), draft)
        hand(draft, position.run_id)
        name = folder.name
        try:
            os.rename(name, name, src_dir_fd=store.ledger_fd, dst_dir_fd=store.root_fd)
        except OSError as why:
            raise Refusal(
                worded(
                    "The run cannot be put into {path}: {why}; look what stands there, move it away"
                    " and try again.",
                    path=path_text(folder),
                    why=oserrors.reason(why),
                ),
                code="not_a_folder",
            ) from why
        sync_folder(store.root_fd)
    refuse_others(folder.lstat(), folder)
    return folder


def _refuse_in_place(store: Store, shown: Shown, folder: Path) -> None:
    """Raise for what stands where a run is to go on, and is no folder that an agent of ours left.

    StoreRefused, Unreadable, or Refusal (`symlink`, `not_a_folder`).
    """
    position = shown.checkpoint.position
    assert position is not None
    for path in (folder, store.path / APPROVALS / folder.name):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue
        refuse_others(found, path)
        if not stat.S_ISDIR(found.st_mode):
            raise Refusal(
                worded(
                    "{path} stands where this run is to go on, and is no folder; look what it is,"
                    " move it away and try again.",
                    path=path_text(path),
                ),
                code="symlink" if stat.S_ISLNK(found.st_mode) else "not_a_folder",
            )
    # Raises where it cannot be read.
    is_taken_up(folder, position.run_id)


def folder_of(store: Store, shown: Shown) -> Path:
    """Give the folder in which an agent of ours goes on with a run, whether it does or not."""
    assert shown.file is not None
    return taken_over_folder(store.path, foreign.foreign_aid(shown.file, ""))


def _refuse_taken_over(row: Row, folder: Path) -> None:
    if row.closed and os.path.lexists(folder):
        raise Refusal(
            worded(
                "This run was taken over before, and goes on in {folder}; name that"
                " folder instead.",
                folder=path_text(folder),
            ),
            code="started",
        )
