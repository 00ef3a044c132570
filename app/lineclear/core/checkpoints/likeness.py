"""By what a call is known again in another folder, in another file, or under another spelling."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.model import Checkpoint, Json, PendingCall


class Likeness(NamedTuple):
    """Equal for two calls that are the same one, wherever they stand."""

    digest: str
    named: bool
    """By its run and its own id; False: by nothing but the bytes that it stands in."""


def likeness(checkpoint: Checkpoint, call: PendingCall, same: str) -> Likeness:
    """Tell what a call is known again by; SAME is a digest over its tool and arguments.

    Where its system names no run, an id of the call's own may be anybody's: then only a copy of
    the whole file is the same call.
    """
    said = call.identity
    named = isinstance(said, list) and bool(said) and isinstance(said[0], str) and said[0] != ""
    if named:
        text = jsontext.canonical([same, *map(_spelled, said)])
    else:
        text = f"{checkpoint.sha256}\n{call.item}".encode()
    return Likeness(hashlib.sha256(text).hexdigest()[:32], named)


def _spelled(part: Json) -> Json:
    return spelled(part) if isinstance(part, str) else part
