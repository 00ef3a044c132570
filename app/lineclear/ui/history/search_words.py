"""What the page says of a search that cannot be understood, or may mean something else."""

from __future__ import annotations

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.history.query import Doubt, Query, ways_of
from lineclear.language import _

_LONGEST = 200


def not_understood(query: Query) -> str:
    """Name the words that were not understood, and how the field of the first is written."""
    said = _("Not understood: {wrong}").format(
        wrong=visible_line(" ".join(query.wrong), _LONGEST),
    )
    ways = ways_of(query.wrong[0])
    return f"{said}. {_write(ways)}" if ways else said


def doubtful(query: Query) -> str:
    """Say what words may mean for which nothing was found; "" where there are none."""
    return " ".join(map(_doubtful, query.doubts))


def _doubtful(doubt: Doubt) -> str:
    if not doubt.near:
        return _write(ways_of(doubt.word))
    name = visible_line(doubt.word.lstrip("-").partition(":")[0], 40)
    said = _("{name}: is no field; {other}: is one.").format(name=name, other=doubt.near)
    return f"{said} {_write(ways_of(f'{doubt.near}:'))}"


def _write(ways: tuple[str, ...]) -> str:
    *first, last = ways
    if not first:
        return _("Write for example {way}.").format(way=last)
    return _("Write {ways} or {way}.").format(ways=", ".join(first), way=last)
