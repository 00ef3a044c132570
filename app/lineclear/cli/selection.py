"""Which settings, rows and call a command is about."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from lineclear.core.errors import LineclearError, NothingPending
from lineclear.core.inbox.operator.settings import Settings, SourceSetting, load
from lineclear.core.inbox.relaunch.everywhere import every_folder, row_in
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.watching import scan


def settings_for(options: argparse.Namespace) -> Settings:
    """Read the settings; `--source` folders replace the configured ones and must exist."""
    settings = load()
    if not options.sources:
        return settings
    sources = tuple(SourceSetting(path=folder) for folder in folders_of(options))
    return settings.model_copy(update={"sources": sources})


def folders_of(options: argparse.Namespace) -> tuple[Path, ...]:
    """Give the `--source` folders; raises LineclearError (`source_missing`)."""
    folders = [_absolute(folder) for folder in options.sources or ()]
    for folder in folders:
        if not folder.is_dir():
            raise LineclearError(f"{folder} is no folder.", code="source_missing")
    # One folder named twice would give each of its calls twice.
    return tuple(dict.fromkeys(folders))


def _absolute(folder: str) -> Path:
    path = os.path.abspath(folder)  # noqa: PTH100
    # POSIX keeps two slashes at its head, which name nothing else on the systems that we run on.
    return Path(f"/{path.lstrip('/')}" if path.startswith("//") else path)


def looking_into(settings: Settings) -> Settings:
    """Give settings whose sources are the configured ones too, beside those that were given."""
    sources = (*settings.sources, *load().sources)
    return settings.model_copy(update={"sources": every_folder(sources)})


def rows_of(settings: Settings, *, every_closed: bool = False) -> list[Row]:
    """Scan all sources once, oldest call first."""
    return scan.scan_once(settings, settings.sources, every_closed=every_closed)


def find_row(settings: Settings, prefix: str) -> Row:
    """Find the call that an id or a prefix of it names, closed ones last."""
    try:
        return scan.find(rows_of(settings), prefix)
    except NothingPending:
        return scan.find(rows_of(settings, every_closed=True), prefix)


def detail_of(options: argparse.Namespace) -> tuple[Settings, Detail]:
    """Read the settings and, afresh, the call that `options.id` names."""
    settings = settings_for(options)
    row = find_row(settings, options.id)
    if options.sources and not row.closed:
        row = _beside_all_watched(settings, row)
    return settings, scan.read_detail(row)


def _beside_all_watched(settings: Settings, row: Row) -> Row:
    """Give a call of the `--source` folders with what the configured ones know of it.

    A copy that was answered there, or an open call of its run, counts wherever one looks.
    """
    watched = looking_into(settings)
    found = row_in(scan.scan_once(watched, watched.sources), row.id, row.store)
    if found is None:
        return row
    # The paths stay as they were given.
    return replace(
        row,
        warnings=found.warnings,
        answered=found.answered,
        resumed=found.resumed,
        elsewhere=found.elsewhere,
        reason_code=found.reason_code,
        reason=found.reason,
    )
