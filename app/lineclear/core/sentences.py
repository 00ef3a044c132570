"""English sentences that keep what they were made of, so that a window can say them otherwise.

Core speaks English: what it writes, logs and hands to agents and programs is the text itself. A
window finds the wording in it, with the values apart, and tells that in its reader's language
(`lineclear.language.translated`). Values are filled in and never interpreted: an agent may have
written them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self


class Sentence(str):
    """A text in English, or a part of one, with its wording and the values that went into it."""

    __slots__ = ("many", "number", "values", "wording")

    wording: str
    """What a catalogue knows it by: English, with `{fields}`; of a plural, the form for one."""
    many: str
    """The form for more than one; "" where nothing is counted."""
    number: int
    """How many; it is the field `n`."""
    values: Mapping[str, Any]
    """By the names of the fields; one may be a `Sentence` itself."""

    def __new__(
        cls, wording: str, values: Mapping[str, Any], many: str = "", number: int = 1
    ) -> Self:
        """Raises KeyError for a field without a value."""
        form = many if many and number != 1 else wording
        made = super().__new__(cls, form.format(**values))
        made.wording, made.values, made.many, made.number = wording, values, many, number
        return made

    def __reduce__(self) -> tuple[type[Sentence], tuple[str, Mapping[str, Any], str, int]]:
        """Copied and pickled whole."""
        return Sentence, (self.wording, self.values, self.many, self.number)


def worded(wording: str, /, **values: str | float) -> Sentence:
    """Make a sentence of a WORDING, which is a literal, and of values by the names of its fields.

    It goes into the catalogue from here.
    """
    return Sentence(wording, values)


def worded_count(one: str, many: str, number: int, /, **values: str | float) -> Sentence:
    """Make the form of a sentence for NUMBER things, with `{n}` and the other VALUES."""
    return Sentence(one, {**values, "n": number}, many, number)


def joined(parts: Iterable[str], by: str = " ") -> str:
    """Put texts together that are told one after the other; what is empty is left out."""
    told = [part for part in parts if part]
    if not any(isinstance(part, Sentence) for part in told):
        return by.join(told)
    if len(told) == 1:
        return told[0]
    between = by.replace("{", "{{").replace("}", "}}")
    # No catalogue knows such a wording: it is told as it is, with its parts in another language.
    wording = between.join(f"{{part{place}}}" for place in range(len(told)))
    return Sentence(wording, {f"part{place}": part for place, part in enumerate(told)})
