"""Long checkpoints that are parsed already, by the digest of their bytes.

The bytes are read from disk at every look all the same, and compared by what they are: only the
work of parsing the same bytes again is spared.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakValueDictionary

from lineclear.core.checkpoints.model import Checkpoint

_LONG: Final = 128 << 10
"""Bytes from which it takes less time to tell that they are known than to parse them."""
_MOST: Final = 4
_known: WeakValueDictionary[str, Checkpoint] = WeakValueDictionary()
"""What somebody still holds: a pane that shows it, a command that decides on it."""
_held: deque[Checkpoint] | None = None


def parsed(raw: bytes, parse: Callable[[bytes], Checkpoint]) -> Checkpoint:
    """Give what PARSE makes of these bytes, once while it is held; raises what that raises."""
    if len(raw) < _LONG:
        return parse(raw)
    digest = hashlib.sha256(raw).hexdigest()
    checkpoint = _known.get(digest)
    if checkpoint is None:
        checkpoint = _known[digest] = parse(raw)
    if _held is not None:
        _held.append(checkpoint)
    return checkpoint


@contextmanager
def held() -> Iterator[None]:
    """Hold the last few long ones until it is left: for one act that looks at one several times."""
    global _held  # noqa: PLW0603  (one act at a time, in a process of its own)
    _held = deque(maxlen=_MOST)
    try:
        yield
    finally:
        _held = None
