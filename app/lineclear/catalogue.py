"""A translation takes the place of an English text only where the same values go into it.

One that asks for a value that is not given, or tells one in another way (`{n:d}` for `{n}`), would
end what was about to show it; one that leaves a value out would keep it from who has to decide.
"""

from __future__ import annotations

import gettext
from collections.abc import Callable, Sequence
from string import Formatter

_TRIED = 200
"""Every rule of plurals that is in use repeats within this."""


def fields(text: str) -> frozenset[str]:
    """Give the fields of a text, as they stand in it: `{n:,}`.

    Raises:
        ValueError: A brace of it stands alone.
    """
    found = (each for each in Formatter().parse(text) if each[1] is not None)
    return frozenset(
        f"{{{name}{f'!{how}' if how else ''}{f':{spec}' if spec else ''}}}"
        for _before, name, spec, how in found
    )


def misfit(asked: Sequence[str], given: str, *, serves: int) -> str:
    """Say why GIVEN cannot be the translation of what is ASKED; "" if it can.

    ASKED: the text, or both of its forms. SERVES: for how many numbers GIVEN stands; one that
    stands for one alone may say it in words.
    """
    if not given.strip():
        return f"{given!r} is empty" if asked[0].strip() else ""
    try:
        there = fields(given)
    except ValueError as why:
        return f"{given!r}: {why}"
    forms = [fields(text) for text in asked]
    if strange := there - frozenset().union(*forms):
        return f"{given!r} has {', '.join(sorted(strange))}, which {asked[-1]!r} has not"
    # What only one of the English forms tells may be left out, but for the number.
    wanted = frozenset.intersection(*forms) | _count_of(forms[-1])
    if len(forms) > 1 and serves <= 1:
        wanted -= _count_of(wanted)
    if missing := wanted - there:
        return f"{given!r} lacks {', '.join(sorted(missing))} of {asked[-1]!r}"
    return ""


def _count_of(found: frozenset[str]) -> frozenset[str]:
    return frozenset(each for each in found if each.strip("{}").partition(":")[0] == "n")


def served(plural: Callable[[int], int], form: int) -> int:
    """Give for how many numbers a form of a text stands, by a language's rule: 0, 1, or more."""
    return sum(plural(number) == form for number in range(1, _TRIED))


class Checked:
    """A catalogue in which only what fits counts; all else stays English."""

    def __init__(self, catalogue: gettext.NullTranslations) -> None:
        self._catalogue = catalogue
        plural = getattr(catalogue, "plural", None)
        self._plural: Callable[[int], int] = plural or (lambda number: int(number != 1))
        self._known: dict[tuple[str, str], bool] = {}
        """Of each translation that was asked for, whether it fits."""

    def gettext(self, text: str) -> str:
        """Give TEXT in this language."""
        given = self._catalogue.gettext(text)
        if given == text or self._fits((text,), given, 1):
            return given
        return text

    def ngettext(self, one: str, many: str, number: int) -> str:
        """Give the form of a text for NUMBER things."""
        given = self._catalogue.ngettext(one, many, number)
        if given in (one, many) or self._fits((one, many), given, number):
            return given
        return one if number == 1 else many

    def _fits(self, asked: tuple[str, ...], given: str, number: int) -> bool:
        key = (asked[0], given)
        known = self._known.get(key)
        if known is None:
            # Where nothing is counted it makes no difference, and there are many such texts.
            serves = served(self._plural, self._plural(number)) if len(asked) > 1 else 1
            known = self._known[key] = not misfit(asked, given, serves=serves)
        return known
