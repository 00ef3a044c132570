"""settings.json: which folders are watched, how agents are relaunched, who the operator is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticSerializationError

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.inbox.operator import own_files
from lineclear.core.inbox.operator.quiet_hours import checked as checked_hours
from lineclear.core.ledger.clock import MAX_VALID_S
from lineclear.core.ledger.layout import left_in
from lineclear.core.places import absolute, default_source, home, path_text
from lineclear.core.sentences import joined, within, worded

__all__ = [
    "LaunchSetting",
    "Settings",
    "SourceSetting",
    "default_source",
    "home",
    "load",
    "save",
    "settings_path",
]

FILE_NAME = "settings.json"
VERSION = 1
_MAX_BYTES = 4 << 20
_OWN_RESUME = frozenset({"resume", "{store}", "--agent"})
_ENV_NAME = re.compile(r"[^=\x00]+")


def _check_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    if not os.path.isabs(argv[0]):
        raise ValueError(
            worded("the program must be an absolute path, for example /usr/bin/python3")
        )
    if any("\x00" in part for part in argv):
        raise ValueError(worded("an argument cannot hold a NUL"))
    return argv


def _check_env(env: dict[str, str]) -> dict[str, str]:
    for name, value in env.items():
        if not _ENV_NAME.fullmatch(name) or "\x00" in value:
            raise ValueError(worded("an environment name cannot be empty or hold '=' or a NUL"))
    return env


AbsolutePath = Annotated[Path, AfterValidator(absolute)]


class SourceSetting(BaseModel):
    """One watched root directory."""

    model_config = ConfigDict(extra="allow")
    path: AbsolutePath
    """`~` is expanded."""
    paused: bool = False
    polling: bool = False
    """Look every 2 s instead of waiting for events: for network and sync folders."""
    depth: int = Field(default=4, ge=1, le=16)
    """How many folders below `path` a store may stand."""


class LaunchSetting(BaseModel):
    """A resume command for a source or an agent; nothing in it comes from a checkpoint."""

    model_config = ConfigDict(extra="allow")
    source: AbsolutePath | None = None
    agent: str | None = None
    argv: Annotated[tuple[str, ...], AfterValidator(_check_argv)] = Field(min_length=1)
    """Absolute program path first; only {store}, {aid} and {checkpoint} are replaced."""
    cwd: AbsolutePath | None = None
    env: Annotated[dict[str, str], AfterValidator(_check_env)] = Field(default_factory=dict)
    """Environment variables added to the allow-listed ones."""


def _default_sources() -> tuple[SourceSetting, ...]:
    return (SourceSetting(path=default_source()),)


class Settings(BaseModel):
    """The whole settings file; unknown keys are kept."""

    model_config = ConfigDict(extra="allow")
    v: int = VERSION
    sources: tuple[SourceSetting, ...] = Field(default_factory=_default_sources)
    """Absent: the default source; an empty list: nothing is watched."""
    launch: tuple[LaunchSetting, ...] = ()
    operator: str | None = Field(default=None, max_length=200)
    valid_live_s: float = Field(default=15 * 60.0, gt=0, le=MAX_VALID_S)
    """How long an approval holds while its agent lives, seconds."""
    valid_dead_s: float = Field(default=7 * 86400.0, gt=0, le=MAX_VALID_S)
    """How long an approval holds when its agent is dead or unknown, seconds."""
    history_days: int | None = Field(default=None, ge=1, le=36_500)
    """How long the history keeps a row, days; None: for ever."""
    ledger_days: int | None = Field(default=None, ge=1, le=36_500)
    """From which age on closed calls are offered for removal from the stores, days; None: never.

    Nothing is ever removed before it was shown and somebody said so.
    """
    letters: bool = True
    """Single-letter shortcuts in the window."""
    after_decision: Literal["stay", "next"] = "stay"
    hold_s: Literal[0, 3, 5] = 0
    """Seconds in which a word given in the window can be taken back before anything is written."""
    presence: bool = True
    """Colleagues who watch the same folder are told which call is read here."""
    quiet_hours: Annotated[str, AfterValidator(checked_hours)] | None = None
    """No notification from the first to the second, local time, as "22:00-07:00"; None: never."""
    theme: Literal["system", "light", "dark", "high-contrast"] = "system"
    row_height: Literal[24, 28, 40] = 28
    """Pixels of one row of the table."""
    reduced_motion: bool = False
    """Nothing moves by itself: the line that shows how far a button is stands still."""


def settings_path(folder: Path | None = None) -> Path:
    """Where the settings stand; the file may be absent."""
    return (home() if folder is None else folder) / FILE_NAME


def load(folder: Path | None = None) -> Settings:
    """Read the settings; absent: defaults with the default source.

    Raises LineclearError (`settings_damaged`, `settings_unreadable`) naming the file.
    """
    path = settings_path(folder)
    raw = read_raw(path)
    return Settings() if raw is None else parse(raw, path)


def save(settings: Settings, folder: Path | None = None) -> None:
    """Write the settings whole and durable, unknown keys kept.

    A file that stands there and cannot be understood is left alone: LineclearError
    (`settings_damaged`). Raises LineclearError (`settings_unwritable`) and NotConfirmed.
    """
    path = settings_path(folder)
    standing = read_raw(path)
    if standing is not None:
        parse(standing, path)
    write_raw(encoded(settings, path), path)


def encoded(settings: Settings, path: Path) -> bytes:
    """Give the text of the file; raises LineclearError (`settings_unwritable`)."""
    try:
        # What was never set stays absent, so that later defaults apply.
        document = settings.model_dump(mode="json", exclude_unset=True)
        return jsontext.pretty({"v": settings.v, **document}) + b"\n"
    except (PydanticSerializationError, ValueError) as why:
        raise LineclearError(
            worded("The settings were not saved: {path} can hold UTF-8 text only.", path=str(path)),
            code="settings_unwritable",
        ) from why


def write_raw(raw: bytes, path: Path) -> None:
    """Put these bytes in the file's place, durable; LineclearError (`settings_unwritable`)."""
    # A settings file kept elsewhere through a symlink stays a symlink.
    target = Path(os.path.realpath(path))
    try:
        own_files.write(target, raw)
    except OSError as why:
        raise LineclearError(
            worded(
                "The settings were not saved: {folder}: {why}.",
                folder=str(target.parent),
                why=why.strerror or str(why),
            ),
            code="settings_unwritable",
        ) from why


def read_raw(path: Path) -> bytes | None:
    """Give the file's bytes, None where there is no file.

    Raises LineclearError (`settings_damaged` for one that is too large, `settings_unreadable`).
    """
    # A person may keep the file elsewhere, through a symlink; whatever it is, reading never hangs.
    try:
        return read_file(os.path.realpath(path), max_bytes=_MAX_BYTES, others_may_write=True).raw
    except Unreadable as why:
        if why.code == "absent":
            return None
        if why.code == "too_large":
            raise _damaged(path, worded("it is larger than 4 MiB")) from why
        raise LineclearError(
            worded(
                "The settings in {path} cannot be read: {why}",
                path=visible_line(str(path)),
                why=why.sentence,
            ),
            code="settings_unreadable",
        ) from why


def _damaged(path: Path, why: str, *, newer: bool = False) -> SettingsDamaged:
    return SettingsDamaged(path, why, newer=newer)


class SettingsDamaged(LineclearError):
    """A settings file that cannot be understood; `why` is the reason alone."""

    def __init__(self, path: Path, why: str, *, newer: bool = False) -> None:
        self.told = worded(
            "The settings in {path} cannot be understood: {why}.",
            path=visible_line(str(path)),
            why=why,
        )
        """The sentence without what to do."""
        help_ = (
            worded("Use the later version.")
            if newer
            else worded(
                "Mend the file, or keep it aside and begin anew: `lineclear config keep-aside`."
            )
        )
        super().__init__(joined((self.told, help_)), code="settings_damaged")
        self.why = why
        self.newer = newer
        """A later version of this program wrote it: it is sound, and not ours to move."""


def fault_of(error: ErrorDetails) -> str:
    """Say what is wrong at the place of an error, in the words of who refused it."""
    raised = error.get("ctx", {}).get("error")
    return raised.args[0] if isinstance(raised, ValueError) else str(error["msg"])


def parse(raw: bytes, path: Path) -> Settings:
    """Understand the file's bytes; raises SettingsDamaged."""
    try:
        document = jsontext.parse(raw)
    except Unreadable as why:
        raise _damaged(path, within(why.sentence)) from why
    version = document.get("v", VERSION)
    if isinstance(version, int) and version > VERSION:
        told = worded(
            "it is of version {version}, this program knows {known}",
            version=version,
            known=VERSION,
        )
        raise _damaged(path, told, newer=True)
    try:
        settings = Settings.model_validate_json(raw, strict=True)
    except ValidationError as why:
        first = why.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or worded("the file")
        raise _damaged(
            path,
            worded("{place}: {fault}", place=place, fault=fault_of(first)),
        ) from why
    for number, source in enumerate(document.get("sources", ())):
        # Relative to whatever folder the program was started in would be a guess.
        if not os.path.isabs(os.path.expanduser(source["path"])):
            raise _damaged(
                path, worded("sources.{number}.path must be an absolute path", number=number)
            )
    return settings


def launch_for(settings: Settings, *, agent: str, store: Path) -> LaunchSetting | None:
    """Give the resume command of the agent of a store: the entry that says most about it.

    An entry that names an agent counts before one that names only a source; of two sources the
    deeper one counts. An entry that names neither is for nothing. A run that was taken over by
    `lineclear resume {store}` goes on by the same command of the agent that left it.
    """
    left = left_in(store)
    best: tuple[tuple[bool, int], LaunchSetting] | None = None
    for entry in settings.launch:
        if entry.agent is None and entry.source is None:
            continue
        if entry.agent is not None and entry.agent != agent:
            again = left is not None and entry.agent == path_text(left.name)
            if not again or not _OWN_RESUME.issubset(entry.argv):
                continue
        if entry.source is not None and not store.is_relative_to(entry.source):
            continue
        depth = 0 if entry.source is None else len(entry.source.parts)
        rank = (entry.agent is not None, depth)
        if best is None or rank > best[0]:
            best = (rank, entry)
    return None if best is None else best[1]
