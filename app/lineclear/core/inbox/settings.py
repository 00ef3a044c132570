"""settings.json: which folders are watched, how agents are relaunched, who the operator is."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


def home() -> Path:
    """The folder of settings and history: $LINECLEAR_HOME, else the platform's config folder."""
    raise NotImplementedError


class SourceSetting(BaseModel):
    """One watched root directory."""

    model_config = ConfigDict(extra="allow")
    path: Path
    paused: bool = False
    polling: bool = False
    depth: int = Field(default=4, ge=1, le=16)


class LaunchSetting(BaseModel):
    """A resume command for a source or an agent; nothing in it comes from a checkpoint."""

    model_config = ConfigDict(extra="allow")
    source: Path | None = None
    agent: str | None = None
    argv: tuple[str, ...] = Field(min_length=1)
    """Absolute program path first; only {store}, {aid} and {checkpoint} are replaced."""
    cwd: Path | None = None
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables added to the allow-listed ones."""


class Settings(BaseModel):
    """The whole settings file; unknown keys are kept."""

    model_config = ConfigDict(extra="allow")
    v: int = 1
    sources: tuple[SourceSetting, ...] = ()
    launch: tuple[LaunchSetting, ...] = ()
    operator: str | None = None
    valid_live_s: float = 15 * 60.0
    valid_dead_s: float = 7 * 86400.0
    letters: bool = True
    """Single-letter shortcuts in the window."""
    after_decision: str = "stay"
    """`stay` or `next`."""


def load(folder: Path | None = None) -> Settings:
    """Read the settings; absent: defaults with the default source; damaged: LineclearError naming the file."""
    raise NotImplementedError


def save(settings: Settings, folder: Path | None = None) -> None:
    """Write the settings whole and durable, unknown keys kept."""
    raise NotImplementedError


def default_source() -> Path:
    """$LINECLEAR_HOME/agents, else <user data>/lineclear/agents."""
    raise NotImplementedError
