"""Text from an agent made visible: nothing dropped, everything odd becomes a token, reversible.

A token is the code point between white square brackets, as in U+202E. A line feed is shown as a
return mark and a line feed, a tab as an arrow; the four characters that this needs are
themselves shown as tokens, so that no text can imitate one. So is what is drawn as an ASCII
character where it misleads. What is written from right to left stands between Unicode's isolates,
so that what surrounds it keeps its order; isolates of the text itself are tokens.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lineclear.core.checkpoints.characters.misleading import misleading
from lineclear.core.checkpoints.characters.pieces import PIECE, pieces_of
from lineclear.core.checkpoints.characters.scripts import mixes_in_word

LONG_LINE: Final = 2_000
"""Characters of one shown line above which `long_line` is raised."""
MANY_LINES: Final = 200
"""Lines above which `many_lines` is raised."""
PADDING: Final = 40
"""Blanks in a row that push what follows out of sight."""

_SHORT: Final = 64
"""Characters that are escaped one by one as fast as at once."""
_MARKERS: Final = "⟦⟧⇥⏎"
_PADDING: Final = re.compile(rf"[ \t\n]{{{PADDING}}}")
_PLAIN: Final = bytes([*range(0x20, 0x7F), *b"\n\t"])
_BLANKS: Final = bytes.maketrans(b"\n\t", b"  ")
# Drawn as nothing, although their category is that of letters, marks or signs.
_BLANK_LETTERS: Final = frozenset(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164),
        *(0xFFA0, 0xFFFC, 0x16FE4, 0x1D159),
    ]
)
_ELLIPSIS: Final = "…"

_ISOLATE: Final = "\u2067"
_ISOLATED: Final = "\u2069"
_RTL: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHT_TO_LEFT: Final = re.compile(f"[{_RTL}]")
_RIGHT_TO_LEFT_WORD: Final = re.compile(f"[{_RTL}]+")
_RIGHT_TO_LEFT_WORDS: Final = re.compile(f"[{_RTL}]+(?:[ ,.]{{1,2}}[{_RTL}]+)*")
_TOKEN: Final = re.compile(rf"⟦U\+([0-9A-F]{{4,6}})⟧|⏎\n|⇥|{_ISOLATE}([ ,.{_RTL}]+){_ISOLATED}")
_STRONG: Final = re.compile(f"[A-Za-z{_RTL}]")

# Joiners and emoji selectors where they belong: they hide nothing and stand in ordinary text.
_JOINERS: Final = "\u200c\u200d\ufe0f"
_EMOJI: Final = (
    "#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ce\u23d0-\u23ff\u24c2"
    "\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINING: Final = (
    "\u0620-\u074f\u0750-\u077f\u08a0-\u08c9\u0900-\u0dff\u0e80-\u0eff\u1000-\u109f\u1780-\u17b3"
)
_FITTING_JOINER: Final = re.compile(
    rf"(?<=[{_EMOJI}])\ufe0f"
    rf"|(?<=[\ufe0f{_EMOJI}])\u200d(?=[{_EMOJI}])"
    rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
)


@dataclass(frozen=True, slots=True)
class VisibleText:
    """Text that is safe to show as plain text, and the warning codes it raised."""

    text: str
    flags: tuple[str, ...]


def visible(text: str) -> VisibleText:
    """Escape what hides, reorders or imitates; a line feed is shown as a mark and a line feed.

    The flags are those of `flags_of`.
    """
    return VisibleText(_shown(text), flags_of(text))


def flags_of(text: str) -> tuple[str, ...]:
    """Name what makes a text hard to read or hides in it, sorted, each once.

    combining (more than 4 marks in a row), control, crlf, invisible, joiner, long_line (over
    2,000 characters), many_lines (over 200), marker_char, mixed_scripts (within one word,
    or what is drawn as ASCII and misleads), odd_space, padding (40 blanks in a row), rtl.
    """
    flags = set()
    if _is_padded(text):
        flags.add("padding")
    if _has_long_line(text):
        flags.add("long_line")
    if len(text) >= MANY_LINES and text.count("\n") >= MANY_LINES:
        flags.add("many_lines")
    if not _is_plain(text):
        flags |= _character_flags(text)
    return tuple(sorted(flags))


def visible_line(text: str, limit: int = 0) -> str:
    """`visible` on one line (line feeds become marks only); a limit > 0 elides the middle.

    What is elided leaves an ellipsis; the end is kept, as the end of a path says most. The
    result is at most `limit` characters long and never ends inside a token.
    """
    if limit <= 0:
        return _one_line(text)
    if len(text) <= 2 * limit:
        line = _one_line(text)
        if len(line) <= limit:
            return line
        head = tail = line
    else:
        head, tail = _one_line(text[:limit]), _one_line(text[-limit:])
    front = (limit - 1) // 2
    back = limit - 1 - front
    return _front(head, front) + _ELLIPSIS + _back(tail, back)


def visible_sentence(text: str, limit: int = 0) -> str:
    """Escape a sentence of core as `visible_line` does, but nothing in it a second time.

    Names in it were escaped when it was made. Not for an agent's own words, which could then
    imitate a token.
    """
    return visible_line(reveal(text.replace("⏎\n", "\n").replace("⏎", "\n")), limit)


def reveal(text: str) -> str:
    """Undo `visible`: gives back exactly the text that was escaped."""
    return _TOKEN.sub(_revealed, text)


def token(character: str) -> str:
    """Write one character as its code point between the token brackets."""
    return f"⟦U+{ord(character):04X}⟧"


# --- escaping ---------------------------------------------------------------------------------


class _Table(dict[int, str]):
    """What `str.translate` puts for each code point, worked out when first met."""

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        shown = character if _flag_of(character) in ("", "rtl", "mark") else token(character)
        self[code_point] = shown
        return shown


_TABLE: Final = _Table({ord("\n"): "⏎\n", ord("\t"): "⇥"})


def _is_plain(text: str) -> bool:
    # Bytes are searched and translated several times faster than text is matched.
    return text.isascii() and not text.encode("ascii").translate(None, _PLAIN)


def _is_padded(text: str) -> bool:
    if len(text) < PADDING:
        return False
    if text.isascii():
        return b" " * PADDING in text.encode("ascii").translate(_BLANKS)
    return _PADDING.search(text) is not None


def _has_long_line(text: str) -> bool:
    start = 0
    while len(text) - start > LONG_LINE:
        # From the furthest end of a line within the limit: most of the text is jumped over.
        end = text.rfind("\n", start, start + LONG_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def _shown(text: str) -> str:
    if text.isascii():
        return _shown_plainly(text)
    found = misleading(text)
    if not found:
        shown = _shown_plainly(text)
    else:
        pieces: list[str] = []
        done = 0
        for start, end in found:
            between = text[done:start]
            short = len(between) < _SHORT and between.isascii()
            pieces.append(between.translate(_TABLE) if short else _shown_plainly(between))
            pieces += map(token, text[start:end])
            done = end
        pieces.append(_shown_plainly(text[done:]))
        shown = "".join(pieces)
    return shown if _RIGHT_TO_LEFT.search(text) is None else _isolated(shown)


def _isolated(shown: str) -> str:
    """Put what is written from right to left between isolates, word by word among others.

    Without them digits and signs beside it would change their places, and with them its order.
    """
    return "\n".join(map(_isolated_line, shown.split("\n")))


def _isolated_line(line: str) -> str:
    first = _STRONG.search(line)
    if first is None or _RIGHT_TO_LEFT.match(line, first.start()) is None:
        return _RIGHT_TO_LEFT_WORD.sub(_between_isolates, line)
    return _RIGHT_TO_LEFT_WORDS.sub(_between_isolates, line)


def _between_isolates(found: re.Match[str]) -> str:
    return f"{_ISOLATE}{found[0]}{_ISOLATED}"


def unisolated(shown: str) -> str:
    """Give what is shown without the isolates around what is written from right to left."""
    return shown if shown.isascii() else shown.replace(_ISOLATE, "").replace(_ISOLATED, "")


def _shown_plainly(text: str) -> str:
    if len(text) <= PIECE:
        return _shown_piece(text)
    pieces = []
    start = 0
    while start < len(text):
        end = start + PIECE
        # Never between a letter and its marks: how many there are decides how they are shown.
        while end < len(text) and _flag_of(text[end]) == "mark":
            end += 1
        pieces.append(_shown_piece(text[start:end]))
        start = end
    return "".join(pieces)


def _shown_piece(text: str) -> str:
    if _is_plain(text):
        return text.replace("\t", "⇥").replace("\n", "⏎\n")
    piled = _piled_marks(set(text))
    if piled is None:
        return text.translate(_TABLE)
    pieces = piled.split(text)
    pieces[::2] = [piece.translate(_TABLE) for piece in pieces[::2]]
    pieces[1::2] = ["".join(map(token, piece)) for piece in pieces[1::2]]
    return "".join(pieces)


def _piled_marks(distinct: set[str]) -> re.Pattern[str] | None:
    """Give a pattern for more than 4 combining marks in a row, if there are any marks."""
    marks = "".join(sorted(c for c in distinct if _flag_of(c) == "mark"))
    return re.compile(f"([{marks}]{{5,}})") if marks else None


def _character_flags(text: str) -> set[str]:
    distinct: set[str] = set()
    for piece in pieces_of(text):
        distinct.update(piece)
    flags = {_flag_of(character) for character in distinct}
    flags -= {"", "mark"}
    piled = _piled_marks(distinct)
    if piled is not None and piled.search(text):
        flags.add("combining")
    if "\r" in distinct and text.count("\r") == text.count("\r\n"):
        flags.add("crlf")
        if not any(_flag_of(c) == "control" for c in distinct if c != "\r"):
            flags.discard("control")
    if "invisible" in flags:
        _settle_joiners(text, distinct, flags)
    if mixes_in_word(text) or misleading(text):
        flags.add("mixed_scripts")
    return flags


def _settle_joiners(text: str, distinct: set[str], flags: set[str]) -> None:
    """Say `joiner` instead of `invisible` where all that hides is a joiner in its place."""
    present = sum(text.count(joiner) for joiner in _JOINERS if joiner in distinct)
    if not present:
        return
    fitting = sum(1 for _ in _FITTING_JOINER.finditer(text))
    if fitting:
        flags.add("joiner")
    hidden = {c for c in distinct if _flag_of(c) == "invisible"}
    if fitting == present and hidden <= set(_JOINERS):
        flags.discard("invisible")


@lru_cache(maxsize=8192)
def _flag_of(character: str) -> str:
    """Name the warning that one character raises by itself; `mark`: only in a long row."""
    if " " <= character <= "~" or character in "\n\t":
        return ""
    if character in _MARKERS:
        return "marker_char"
    code_point = ord(character)
    category = unicodedata.category(character)
    if category == "Cc":
        return "control"
    hidden = (
        category in ("Cf", "Co", "Cs", "Cn", "Zl", "Zp")
        or code_point in _BLANK_LETTERS
        or 0xFE00 <= code_point <= 0xFE0F
        or 0xE0100 <= code_point <= 0xE01EF
    )
    if hidden:
        return "invisible"
    if category == "Zs":
        return "odd_space"
    if category in ("Mn", "Me"):
        return "mark"
    return "rtl" if unicodedata.bidirectional(character) in ("R", "AL") else ""


_PLAINLY: Final = {"⇥": "\t", "⏎\n": "\n"}


# --- one line, and back -----------------------------------------------------------------------


def _one_line(text: str) -> str:
    return _shown(text).replace("\n", "")


def _front(line: str, length: int) -> str:
    piece = line[:length]
    opened = piece.rfind("⟦")
    if opened >= 0 and "⟧" not in piece[opened:]:
        piece = piece[:opened]
    opened = piece.rfind(_ISOLATE)
    if opened > piece.rfind(_ISOLATED):
        # What stays of the word ends in its place; of nothing of it, nothing stays.
        kept = piece[: length - 1]
        piece = kept + _ISOLATED if len(kept) > opened + 1 else kept[:opened]
    return piece


def _back(line: str, length: int) -> str:
    piece = line[len(line) - length :]
    closed = piece.find("⟧")
    if closed >= 0 and "⟦" not in piece[:closed]:
        piece = piece[closed + 1 :]
    if _begins_within_isolates(piece):
        kept = piece if len(piece) < length else piece[1:]
        # As in front: of a word of which no letter is left, nothing stays.
        piece = kept.removeprefix(_ISOLATED)
        if piece == kept and _begins_within_isolates(kept):
            piece = _ISOLATE + kept
    return piece


def _begins_within_isolates(piece: str) -> bool:
    ended = piece.find(_ISOLATED)
    return ended >= 0 and not 0 <= piece.find(_ISOLATE) < ended


def _revealed(found: re.Match[str]) -> str:
    if found[1]:
        code_point = int(found[1], 16)
        return chr(code_point) if code_point <= 0x10FFFF else found[0]
    return found[2] or _PLAINLY[found[0]]
