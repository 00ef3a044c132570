"""English sentences that keep what they were made of, so that a window can say them otherwise.

Core speaks English: what it writes, logs and hands to agents and programs is the text itself. A
window finds the wording in it, with the values apart, and tells that in its reader's language
(`lineclear.language.translated`). Values are filled in and never interpreted: an agent may have
written them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self


class Sentence(str):
    """A text in English, or a part of one, with its wording and the values that went into it."""

    __slots__ = ("ends", "many", "number", "values", "wording")

    wording: str
    """What a catalogue knows it by: English, with `{fields}`; of a plural, the form for one."""
    many: str
    """The form for more than one; "" where nothing is counted."""
    number: int
    """How many; it is the field `n`."""
    values: Mapping[str, Any]
    """By the names of the fields; one may be a `Sentence` itself."""
    ends: bool
    """Whether it is told with the full stop that its wording has."""

    def __new__(
        cls,
        english: str,
        wording: str,
        values: Mapping[str, Any],
        many: str = "",
        number: int = 1,
        *,
        ends: bool = True,
    ) -> Self:
        """Take the ENGLISH text, and what it was made of."""
        made = super().__new__(cls, english)
        made.wording, made.values, made.many, made.number = wording, values, many, number
        made.ends = ends
        return made

    def __copy__(self) -> Self:
        """Give itself: nothing in it changes."""
        return self

    def __deepcopy__(self, _known: dict[int, Any]) -> Self:
        """Give itself: nothing in it changes."""
        return self

    def otherwise(
        self, english: str, *, values: Mapping[str, Any] | None = None, ends: bool | None = None
    ) -> Sentence:
        """Give it with another ENGLISH text, VALUES or ending, and the same wording."""
        return Sentence(
            english,
            self.wording,
            self.values if values is None else values,
            self.many,
            self.number,
            ends=self.ends if ends is None else ends,
        )


def worded(wording: str, /, **values: str | float) -> Sentence:
    """Make a sentence of a WORDING, which is a literal, and of values by the names of its fields.

    It goes into the catalogue from here. Raises KeyError for a field without a value.
    """
    return Sentence(wording.format(**values), wording, values)


def worded_count(one: str, many: str, number: int, /, **values: str | float) -> Sentence:
    """Make the form of a sentence for NUMBER things, with `{n}` and the other VALUES."""
    filled = {**values, "n": number}
    english = (one if number == 1 else many).format(**filled)
    return Sentence(english, one, filled, many, number)


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
    values = {f"part{place}": part for place, part in enumerate(told)}
    return Sentence(by.join(told), wording, values)


def with_values(text: str, change: Callable[[str], str]) -> str:
    """Give a text through CHANGE, which escapes or masks: its own English, and each value in it."""
    english = change(text)
    if not isinstance(text, Sentence):
        return english
    values = {
        name: with_values(value, change) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    return text.otherwise(english, values=values)


def continued(sentence: str) -> str:
    """Give a sentence as it stands behind a colon: in English, its first letter is a small one."""
    english = sentence[:1].lower() + sentence[1:]
    if not isinstance(sentence, Sentence):
        return english
    return sentence.otherwise(english)


def within(sentence: str) -> str:
    """Give a sentence as it stands within another one: without its full stop."""
    english = sentence.rstrip(".")
    return sentence.otherwise(english, ends=False) if isinstance(sentence, Sentence) else english
