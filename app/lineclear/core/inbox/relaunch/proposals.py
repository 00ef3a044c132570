"""A run's own `resume.toml`: a command that it proposes, and that only an operator makes count.

The file is untrusted. Trusting it copies exactly what was shown (program, arguments, folder,
environment) into the operator's settings, for this run's folder alone; what the file says later
changes nothing. It holds `argv` (a list, an absolute program first), and may hold `cwd` and a table
`env`.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from pydantic import ValidationError

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, fault_of
from lineclear.core.ledger.layout import LANE_NAME
from lineclear.core.sentences import with_values, worded

NAME = "resume.toml"
_MAX_BYTES = 64 << 10
_KEYS = frozenset({"argv", "cwd", "env"})


def folder_of(store: Path) -> Path:
    """Give the run folder of a store: that of a lane, else the store itself."""
    return store.parent if LANE_NAME.fullmatch(store.name) else store


def read_proposal(store: Path) -> LaunchSetting | None:
    """Give the command that the run of STORE proposes, None where it proposes none.

    Its `source` is the run's folder, so that it counts for nothing else. Raises Unreadable:
    `damaged` for a file that says no such thing, `owner` when it is not the folder's owner's, and
    what reading a file raises.
    """
    folder = folder_of(store)
    path = folder / NAME
    try:
        owner = folder.stat().st_uid
        raw = read_file(os.fspath(path), owners=frozenset({owner}), max_bytes=_MAX_BYTES).raw
    except FileNotFoundError:
        return None
    except Unreadable as why:
        if why.code == "absent":
            return None
        raise
    except OSError as why:
        raise Unreadable(
            "open_failed", worded("{path} cannot be looked at.", path=str(path)), path
        ) from why
    return _parsed(raw, folder, path)


def trusted(settings: Settings, proposal: LaunchSetting) -> Settings:
    """Give SETTINGS with PROPOSAL as the command of its run, in the place of an earlier one."""
    kept = tuple(
        one
        for one in settings.launch
        if (one.agent, one.source) != (proposal.agent, proposal.source)
    )
    return settings.model_copy(update={"launch": (proposal, *kept)})


def accepted(settings: Settings, proposal: LaunchSetting) -> LaunchSetting | None:
    """Give the command that stands in SETTINGS for the run of PROPOSAL alone, None for none."""
    return next(
        (
            one
            for one in settings.launch
            if (one.agent, one.source) == (proposal.agent, proposal.source)
        ),
        None,
    )


def same_command(one: LaunchSetting, other: LaunchSetting) -> bool:
    """Whether both start the same program, in the same folder, with the same environment."""
    return (one.argv, one.cwd, one.env) == (other.argv, other.cwd, other.env)


def _parsed(raw: bytes, folder: Path, path: Path) -> LaunchSetting:
    try:
        document = tomllib.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as why:
        raise _damaged(path, str(why)) from why
    unknown = sorted(document.keys() - _KEYS)
    if unknown:
        raise _damaged(path, worded("{name} is none of argv, cwd and env", name=unknown[0]))
    cwd = document.get("cwd")
    if cwd is not None and not (isinstance(cwd, str) and os.path.isabs(cwd)):
        raise _damaged(path, worded("cwd must be an absolute path"))
    try:
        return LaunchSetting.model_validate({**document, "source": folder})
    except ValidationError as why:
        first = why.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _damaged(
            path,
            worded("{place}: {fault}", place=place, fault=fault_of(first)),
        ) from why


def _damaged(path: Path, why: str) -> Unreadable:
    return Unreadable(
        "damaged",
        worded(
            "{path} proposes no command: {why}.",
            path=visible_line(str(path)),
            why=with_values(why, lambda text: visible_line(text, 200)),
        ),
        path,
    )
