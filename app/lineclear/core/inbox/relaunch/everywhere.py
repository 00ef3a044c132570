"""One fresh look at every watched folder, for what may be told of a run by any of them.

Folders are told apart by what they are, never by how their paths are spelled.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.rows.building import NATIVE_SYSTEM
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.beside import run_of
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.store import Store
from lineclear.core.places import path_text
from lineclear.core.sentences import worded


def every_folder(sources: Iterable[SourceSetting]) -> tuple[SourceSetting, ...]:
    """Give the sources that are not paused by their real paths, each folder once."""
    found: dict[tuple[int, int] | str, SourceSetting] = {}
    for source in sources:
        if source.paused:
            continue
        path = os.path.realpath(source.path)
        found.setdefault(_identity(path) or path, source.model_copy(update={"path": Path(path)}))
    return tuple(found.values())


def look_everywhere(store: Path, settings: Settings) -> list[Row]:
    """Give all rows of the watched folders as they stand now, those of STORE among them.

    Their paths are real ones. STORE may lie in no watched folder.
    """
    sources = every_folder((*settings.sources, SourceSetting(path=store)))
    return scan_once(settings, sources)


def same_folder(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one folder."""
    return one == other or (_identity(one) is not None and _identity(one) == _identity(other))


def row_in(rows: Iterable[Row], row_id: str, store: Path) -> Row | None:
    """Give the row of a call or run in a store, None where it is not there any more."""
    return next((row for row in rows if row.id == row_id and same_folder(row.store, store)), None)


def refuse_launched(row: Row, rows: Sequence[Row]) -> None:
    """Raise Refusal (`alive`) where an agent of ours was started elsewhere to go on with its run.

    It may not have taken its lock yet, by which its run is seen to go on.
    """
    run = run_of(row)
    for other in rows if run else ():
        if other.system != NATIVE_SYSTEM or other.closed or run_of(other) != run:
            continue
        if same_folder(other.store, row.store):
            continue
        with Store.open(other.store) as store:
            launches = store.records(other.seq, other.id).launches
        for launch in launches:
            if launch.owner is not None and process_of(launch.owner) is Process.ALIVE:
                raise Refusal(
                    worded(
                        "Its run goes on already, since it was started as process {pid} in"
                        " {store}.",
                        pid=launch.owner.pid,
                        store=path_text(other.store),
                    ),
                    code="alive",
                )


def _identity(path: str | Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
