"""Lines broken to fit a width, each piece inside its own line's margin.

A piece never begins where a line of its own would: text of an agent cannot imitate what stands
around it by making Qt wrap it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

GUTTER = "\u2502 "
"""Stands before each line of a text that is shown line by line."""
GOES_ON = "    \u2506 "
"""Stands before each further piece of any other line."""
COLUMNS_LEAST = 24
_GUTTERED = re.compile(" *(?:\u2502|\u2506) ")
_BLANKS = re.compile(" *")
_NOT_ONE_CELL = re.compile("[^ -~]")


def hang(line: str, columns: int = 80) -> str:
    """What stands before every further piece of a line: its gutter, or its indent and a mark."""
    found = _GUTTERED.match(line)
    if found is not None and found.end() <= columns // 2:
        return found.group()
    blanks = _BLANKS.match(line)
    indent = 0 if blanks is None else min(blanks.end(), columns // 2 - len(GOES_ON))
    return " " * max(0, indent) + GOES_ON


def breaks(line: str, columns: int, cells: Callable[[str], float]) -> list[tuple[int, int]]:
    """Where LINE is broken into pieces of at most COLUMNS cells: start and end of each.

    CELLS tells how many cells a character takes. All pieces but the first leave room for `hang`.
    A break is at a blank where that wastes little, and never in a token.
    """
    columns = max(columns, COLUMNS_LEAST)
    if len(line) <= columns and line.isascii():
        return [(0, len(line))]
    room = columns - len(hang(line, columns))
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(line) or not found:
        end = _fitting(line, start, room if found else columns, cells)
        found.append((start, end))
        start = end
    return found


def _fitting(line: str, start: int, room: int, cells: Callable[[str], float]) -> int:
    end = _reach(line, start, room, cells)
    if end >= len(line):
        return end
    opened = line.rfind("\u27e6", start, end)
    if opened > start and line.find("\u27e7", opened, end) < 0:
        end = opened
    blank = line.rfind(" ", start, end)
    if blank > start + room * 2 // 3 and line[start:blank].strip():
        end = blank + 1
    return max(end, start + 1)


def _reach(line: str, start: int, room: int, cells: Callable[[str], float]) -> int:
    end = min(start + room, len(line))
    if line[start:end].isascii():
        return end
    # Of most lines nearly all characters take one cell each: only the others are looked at.
    left = float(room)
    for found in _NOT_ONE_CELL.finditer(line, start, end):
        place = found.start()
        if place - start > left:
            break
        left -= cells(line[place]) - 1
        if place - start + 1 > left:
            return place
    return min(end, start + int(left))
