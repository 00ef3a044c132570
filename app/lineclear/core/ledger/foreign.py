"""Ledgers of foreign stores: another program writes the checkpoint and knows nothing of us."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lineclear.core.checkpoints.fileread import FileBytes
from lineclear.core.ledger.store import Shown, Store


def foreign_aid(file: FileBytes, item: str) -> str:
    """First 32 hex of SHA-256 over the file's digest, identity and the item's id."""
    raise NotImplementedError


def show_foreign(path: Path) -> list[Shown]:
    """Read a foreign checkpoint file once and give each call in it; raises Unreadable."""
    raise NotImplementedError


def verify_file(store: Store, shown: Shown) -> None:
    """Raise Refusal (`changed`, `gone`) unless the checkpoint file is still the one SHOWN."""
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed lc-agents checkpoint: the folder that the resumed agent gets as its store."""

    folder: Path
    checkpoint: Path
    shown: Shown


def claim(store: Store, shown: Shown) -> Claimed:
    """Move pending.json into `.approvals/claimed/<aid>/` and verify that it is what was SHOWN.

    Raises Refusal (`changed`, `gone`, `superseded`): a mismatch is put back, never over another.
    """
    raise NotImplementedError


def put_back(store: Store, claimed: Claimed) -> None:
    """Give a claimed checkpoint back to its store by link; raises Refusal (`superseded`)."""
    raise NotImplementedError
