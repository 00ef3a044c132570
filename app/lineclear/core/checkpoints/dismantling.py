"""Large JSON values that nobody needs any more are freed step by step.

Python frees a value whole as its last reference goes, and no other thread runs meanwhile: 0.1 to
0.3 s for the document of a file of 16 MB.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from lineclear.core.checkpoints.model import Json

_AT_ONCE: Final = 1_000
"""Items that are freed in one step."""
_OURS: Final = 2
"""References to what a local name alone holds: that name, and the one that is asked with."""


def dismantle(values: list[Json]) -> None:
    """Free VALUES, of which the list keeps none; what others hold too stays as it is."""
    while values:
        value = values.pop()
        if type(value) is list:
            if sys.getrefcount(value) == _OURS:
                _dismantle_list(value, values)
        elif type(value) is dict and sys.getrefcount(value) == _OURS:
            _dismantle_dict(value, values)


def let_go(items: list[Any]) -> None:
    """Empty a list that is needed no more, some items at a time."""
    while items:
        del items[-_AT_ONCE:]


def _dismantle_list(items: list[Json], rest: list[Json]) -> None:
    while items:
        last = items[-_AT_ONCE:]
        del items[-_AT_ONCE:]
        rest += [item for item in last if type(item) in (list, dict)]


def _dismantle_dict(members: dict[str, Json], rest: list[Json]) -> None:
    while members:
        value = members.popitem()[1]
        if type(value) in (list, dict):
            rest.append(value)
