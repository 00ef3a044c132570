"""Strict JSON: what is refused, how number text is kept, and writing equal to serde's bytes."""

from __future__ import annotations

from lineclear.core.checkpoints.model import Json


class ExactFloat(float):
    """A float that keeps the text it was read from, so that writing gives the same bytes."""

    text: str


def parse(raw: bytes, *, max_depth: int = 127, max_keys: int = 20_000) -> dict[str, Json]:
    """Parse one JSON object, or raise Unreadable with a reason code (`duplicate_key`, `nul`, ...)."""
    raise NotImplementedError


def parse_value(text: str) -> Json:
    """Parse any JSON value that a person typed (`modify --arguments`), as strictly as `parse`."""
    raise NotImplementedError


def pretty(value: Json) -> bytes:
    """Write as serde_json's `to_vec_pretty` does: 2 spaces, raw non-ASCII, no newline at the end."""
    raise NotImplementedError


def compact(value: Json) -> bytes:
    """Write as serde_json's `to_vec` does; refuses (ValueError) what serde cannot read back."""
    raise NotImplementedError


def canonical(value: Json) -> bytes:
    """Write sorted, compact and ASCII, for digests over meaning (`call_key`); never for file identity."""
    raise NotImplementedError
