"""Where a text holds characters that are drawn as ASCII ones are, and so mislead.

The characters are those of Unicode's confusables (UTS #39). Whether one misleads depends on where
it stands: within an ASCII word, a number, an option, an address or a path it does, and so does a
name whose every letter is confused with ASCII. A sentence in any script does not, nor do its own
quotes, dashes and full-width signs.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lineclear.core.checkpoints.characters.confusables import DIGITS, DRAWN_AS
from lineclear.core.checkpoints.characters.pieces import pieces_of

_DRAWN: Final = {character: drawn for drawn, all_of in DRAWN_AS.items() for character in all_of}
_IDEOGRAPHIC_STOPS: Final = "\u3002\uff61"
"""Read as dots in the names of hosts."""
_OVERLAYS: Final = "\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20e5\u20e6\u20ea\u20eb"
_ENCLOSING: Final = "\u0488\u0489\u1abe\u20dd-\u20e0\u20e2\u20e4\ua670-\ua672"
_KEYCAP: Final = "\u20e3"
_ENCLOSED_SIGNS: Final = "\u2100-\u2bff\u3030-\u303f\U0001f000-\U0001faff\ufe0f"
"""Signs and emoji: what is drawn around one is part of the picture."""
_SIGNS: Final = _IDEOGRAPHIC_STOPS + "".join(
    character
    for character, drawn in _DRAWN.items()
    if not (character.isalnum() and drawn.isalnum()) and not character.isdigit()
)
_LETTERS: Final = frozenset(_DRAWN) - frozenset(_SIGNS)

_HELD: Final = frozenset(_DRAWN).union(
    _IDEOGRAPHIC_STOPS,
    (
        chr(n)
        for first, last in re.findall("(.)-(.)", DIGITS)
        for n in range(ord(first), ord(last) + 1)
    ),
    map(chr, (*range(0x300, 0x370), *range(0x20D0, 0x20F1))),
    map(chr, (0x488, 0x489, 0x1ABE, *range(0xA670, 0xA673))),
)
"""A set is searched several times faster than a class of characters beyond 16 bits."""
_CLAUSE: Final = re.compile(r"[^\n;|&`]+")
_WORD: Final = re.compile(r"\S+")
_SIGN: Final = re.compile(f"[{re.escape(_SIGNS)}]")
_SEGMENT: Final = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")
_MARK: Final = re.compile(
    rf"[{_OVERLAYS}]|(?<=[!-@\[-`{{-~])[\u0300-\u036f]"
    rf"|(?<![{_ENCLOSED_SIGNS}])[{_ENCLOSING}]|(?<![{_ENCLOSED_SIGNS}0-9#*]){_KEYCAP}"
)
_DIGIT: Final = re.compile(f"[{DIGITS}]")
_LONGEST_KEPT: Final = 40
"""Characters of a word whose places are kept: texts say the same words again."""
_ASCII: Final = re.compile(r"[A-Za-z0-9]")
_ASCII_LETTER: Final = re.compile(r"[A-Za-z]")
_ADDRESS: Final = re.compile(r"://|\w@\w")
_PLACE: Final = re.compile(r"[/@]|\\(?![\"\\])|\w[.:=]\w|^[\"'(\[]*-")
_ROOTED: Final = re.compile(r"^[\"'(\[]*(?:[.~]{0,2}/|[A-Za-z]:\\)")
_TECHNICAL: Final = re.compile(r"(?:^|\s)--?[A-Za-z]|[$<>{}]|\\(?![\"\\])")

_Span = tuple[int, int]
_CJK: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
_FULL_WIDTH: Final = frozenset({"FULLWIDTH", "HALFWIDTH"})
_PROSE_OF_CJK: Final = "\uff0c\u3002\uff61\uff01\uff1f\uff1a\uff1b\uff08\uff09\uff5e\u3014\u3015"
_EXCLAIMING: Final = "\u203c\u2047\u2048\u2049"
_HYPHENS: Final = "\u2010\u2011\u2012\u2043\u2212"
_EN_DASH: Final = "\u2013"
_QUOTES: Final = frozenset({"'", "''", "'''", "<", ">", ","})
_DOTLESS_I: Final = "\u0131"


def drawn_as(character: str) -> str:
    """Give the ASCII that a character is drawn as, "" where it is drawn as none."""
    return _DRAWN.get(character, "")


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known of the clause in which a word stands."""

    scripts: frozenset[str]
    """Of letters that are confused with no ASCII ones."""
    technical: bool
    words: bool
    """It has more than one."""

    @property
    def cjk(self) -> bool:
        return not self.scripts.isdisjoint(_CJK)


def misleading(text: str) -> tuple[tuple[int, int], ...]:
    """Give start and end of each run of characters that mislead, in order and apart."""
    if text.isascii() or _holds_none(text):
        return ()
    return _all_in(text)


def _holds_none(text: str) -> bool:
    # In short calls: while one runs, no other thread does.
    return all(map(_HELD.isdisjoint, pieces_of(text)))


@lru_cache(maxsize=4)
def _all_in(text: str) -> tuple[tuple[int, int], ...]:
    # Kept, as what shows a text and what warns of it ask one after the other.
    found: list[_Span] = []
    for part in _CLAUSE.finditer(text):
        clause = part.group()
        if not clause.isascii() and not _holds_none(clause):
            found.extend(_in_clause(clause, part.start()))
    return tuple(_joined(sorted(found)))


def _joined(spans: list[_Span]) -> list[_Span]:
    joined: list[_Span] = []
    end = -1
    for span in spans:
        if span[0] > end:
            joined.append(span)
        else:
            joined[-1] = (joined[-1][0], max(span[1], end))
        end = joined[-1][1]
    return joined


def _in_clause(clause: str, start: int) -> list[_Span]:
    around = _Around(
        frozenset(map(_script, filter(_is_distinct, set(clause)))),
        _TECHNICAL.search(clause) is not None,
        len(clause.split(None, 2)) > 1,
    )
    found: list[_Span] = []
    for part in _WORD.finditer(clause):
        word = part.group()
        if not word.isascii() and not _HELD.isdisjoint(word):
            look = _in_short_word if len(word) <= _LONGEST_KEPT else _in_word
            at = start + part.start()
            found += [(at + first, at + last) for first, last in look(word, around)]
    return found


@lru_cache(maxsize=8192)
def _in_short_word(word: str, around: _Around) -> list[_Span]:
    return _in_word(word, around)


def _in_word(word: str, around: _Around) -> list[_Span]:
    plain = _ASCII.search(word) is not None
    address = _ADDRESS.search(word) is not None
    place = address or _ROOTED.search(word) is not None or (plain and bool(_PLACE.search(word)))
    found = [part.span() for part in _MARK.finditer(word)]
    for part in _SIGN.finditer(word):
        at = part.start()
        if address or _misleads(word, at, around, place=place):
            found.append((at, at + 1))
    for part in _SEGMENT.finditer(word):
        segment = part.group()
        if not segment.isascii() and not _HELD.isdisjoint(segment):
            odd = _odd_in(segment, around, place=place, plain=plain)
            if odd:
                at = part.start()
                these = re.compile(f"[{''.join(odd)}]+")
                found += [(at + n.start(), at + n.end()) for n in these.finditer(segment)]
    return found


def _odd_in(segment: str, around: _Around, *, place: bool, plain: bool) -> set[str]:
    """Give the letters and digits of one name or number that mislead there."""
    characters = set(segment)
    distinct = {_script(c) for c in characters if _is_distinct(c)}
    if not place and not distinct.isdisjoint(_CJK):
        return set()
    odd = {c for c in characters if _is_styled(c)}
    if place or plain:
        odd |= {c for c in characters if _DIGIT.match(c)}
    letters = {c for c in characters & _LETTERS if not c.isdecimal()}
    if _ASCII_LETTER.search(segment):
        if place or not distinct - {"LATIN"}:
            odd |= letters
        if not place and (around.words or "LATIN" in around.scripts):
            odd.discard(_DOTLESS_I)
    elif not distinct:
        odd |= {c for c in letters if place or not _belongs(_script(c), around)}
    return odd


def _belongs(script: str, around: _Around) -> bool:
    """Tell whether a word that could be ASCII stands among others of its own script."""
    if script in _FULL_WIDTH:
        return around.cjk
    if script in ("ROMAN", "SMALL"):
        return around.words
    return script in around.scripts or (script in _CJK and around.cjk)


def _misleads(word: str, at: int, around: _Around, *, place: bool) -> bool:
    """Tell whether a sign misleads where it stands."""
    sign = word[at]
    before, after = word[at - 1 : at], word[at + 1 : at + 2]
    touched = bool(_ASCII.match(before) or _ASCII.match(after))
    drawn = _DRAWN.get(sign, ".")
    if sign in _PROSE_OF_CJK:
        if sign in _IDEOGRAPHIC_STOPS and not touched:
            return False
        return place or not around.cjk
    if drawn in _QUOTES and _script(sign) not in (*_FULL_WIDTH, "GREEK"):
        return around.technical and not (before.isalpha() and after.isalpha())
    if drawn == "-" and _script(sign) not in _FULL_WIDTH:
        return _dash_misleads(sign, before, after, around, place=place)
    if drawn.isalnum() and unicodedata.category(sign)[0] == "S" and sign != "\u2223":
        return bool(_ASCII_LETTER.match(before) and _ASCII_LETTER.match(after))
    if set(drawn) == {"."} and len(drawn) > 1:
        return place and touched and bool(after)
    if sign in _EXCLAIMING or unicodedata.category(sign) == "So":
        return place and touched
    own = any(c and not c.isascii() and c.isalnum() for c in (before, after))
    return (touched and not (own and _script(sign) in _CJK)) or not own


def _dash_misleads(sign: str, before: str, after: str, around: _Around, *, place: bool) -> bool:
    first = not (before and before not in "\"'([")
    if first and not after:
        return False
    touched = bool(_ASCII.match(before) or _ASCII.match(after))
    if sign == _EN_DASH and not first and around.words and not place:
        return False
    return touched or (first and sign in _HYPHENS and place) or before == "-" or after == "-"


@lru_cache(maxsize=8192)
def _is_distinct(character: str) -> bool:
    """Tell whether a letter is confused with no ASCII one."""
    return not character.isascii() and character.isalpha() and character not in _DRAWN


@lru_cache(maxsize=8192)
def _is_styled(character: str) -> bool:
    """Tell whether a letter or digit is one of ASCII in another design: bold, script, Kelvin."""
    tag = unicodedata.decomposition(character)
    return character in _DRAWN and (
        tag.startswith("<font>") or (len(tag) == 4 and character.isalpha())
    )


@lru_cache(maxsize=8192)
def _script(character: str) -> str:
    """Give the first word of a character's name, which tells its script."""
    return unicodedata.name(character, "?").split()[0]
