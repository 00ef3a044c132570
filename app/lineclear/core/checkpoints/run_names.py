"""Which runs a file may be of that cannot be read as a checkpoint."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable

RUN_ID: Final = "run_id"
_INSIDE: Final = ("payload", "state")
"""Objects of a document that name its run again: an envelope's content, the run's state."""
_MENTIONED: Final = re.compile(rb'"run_id"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.){0,400}")')
_PARSED: Final = 4 << 20


def file_stem(run_id: str) -> str:
    """Give the first part of the name under which agents of Lineclear keep a run's checkpoint.

    32 hex digits: nothing of the id gets into a name but a digest.
    """
    return hashlib.sha256(run_id.encode("utf-8", "replace")).hexdigest()[:32]


def runs_in(name: str, raw: bytes, known: Iterable[str] = ()) -> frozenset[str] | None:
    """Give the ids, as `spelled`, of the runs that a file is of; None: it may be of any run.

    What is JSON says it where every checkpoint does. What is none (torn, appended to, ambiguous)
    is believed only where its NAME is the digest of an id that it mentions, or of a KNOWN one.
    """
    document: Json = None
    if len(raw) <= _PARSED:
        try:
            document = jsontext.parse(raw)
        except Unreadable:
            document = None
    said = {spelled(one) for one in _said(document)}
    if said:
        return frozenset(said)
    stem = name.partition(".")[0]
    by_name = {one for one in (*_mentioned(raw), *known) if file_stem(one) == stem}
    return frozenset(map(spelled, by_name)) or None


def _said(document: Json) -> Iterable[str]:
    if not isinstance(document, dict):
        return
    if isinstance(run_id := document.get(RUN_ID), str):
        yield run_id
    for key in _INSIDE:
        yield from _said(document.get(key))


def _mentioned(raw: bytes) -> Iterable[str]:
    for found in set(_MENTIONED.findall(raw)):
        try:
            said = jsontext.parse_value(found.decode("utf-8"))
        except (Unreadable, UnicodeDecodeError):
            continue
        if isinstance(said, str):
            yield said
