"""The desktop's activation tokens: by one of these a program may come to the front."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Final

VARIABLE: Final = "XDG_ACTIVATION_TOKEN"
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,512}")


def valid_token(text: object) -> str:
    """An activation token as desktops make them: printable and short; "" for anything else."""
    return text if isinstance(text, str) and _TOKEN.fullmatch(text) else ""


@contextlib.contextmanager
def carried(token: str) -> Iterator[None]:
    """Let Qt find TOKEN when the window asks for the front; no child inherits it."""
    if token:
        # Where Qt's Wayland plugin looks for it; there is no call that would take one.
        os.environ[VARIABLE] = token
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)
