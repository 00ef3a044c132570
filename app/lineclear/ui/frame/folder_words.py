"""What is told of watched folders that are missing or not wholly watched."""

from __future__ import annotations

from collections.abc import Sequence

from lineclear.core.checkpoints.characters.text import visible_sentence
from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.core.places import path_text
from lineclear.language import _, counted, translated
from lineclear.ui import words

_TOLD = 3
"""Folders that are told of with a whole sentence where all of them cannot be read at once."""


def summary(health: Sequence[SourceHealth]) -> str:
    """In a few words, how many of the folders are missing or not wholly watched; "" for none."""
    bad = [one for one in health if not one.ok]
    if not bad:
        return ""
    missing = sum(one.missing for one in bad)
    told = []
    if missing:
        told.append(
            _("the folder is missing")
            if len(health) == 1
            else _("{missing} of {folders} folders missing").format(
                missing=missing, folders=len(health)
            )
        )
    others = len(bad) - missing
    if others:
        told.append(
            counted(
                "{n} folder not wholly watched",
                "{n} folders not wholly watched",
                others,
            )
        )
    return " \u00b7 ".join(told)


def in_short(health: Sequence[SourceHealth]) -> str:
    """The first of those sentences, and how many folders more have one."""
    told = sentences(health)
    if len(told) <= _TOLD:
        return " ".join(told)
    more = len(told) - _TOLD
    rest = counted("{n} more folder is listed.", "{n} more folders are listed.", more)
    return " ".join((*told[:_TOLD], rest))


def sentences(health: Sequence[SourceHealth]) -> list[str]:
    """One sentence for each of them, with the folder as its owner writes it."""
    return [
        visible_sentence(
            translated(one.sentence).replace(path_text(one.path), words.place(one.path)), 300
        )
        for one in health
        if not one.ok and one.sentence
    ]
