"""Write the table of characters that are drawn as ASCII ones, from Unicode's confusables.

    python3 packaging/confusables.py confusables.json

The file is the one in the package confusable-homoglyphs, which holds Unicode's confusables.txt
(UTS #39) as JSON: for each character, those it is confused with. What compatibility decomposition
(NFKC) makes ASCII is added: full-width, mathematical and Roman letters and digits. So are small
capitals, of which Unicode has only those that are small letters too.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

APART = "\u2116\u00b8\u2026"
"""The sign for numbers, the cedilla, and what stands for a part that is cut out."""
FRAMED = ("<super>", "<sub>", "<circle>", "<square>", "<fraction>", "<compat> 0028")
SMALL_CAPITAL = re.compile("LATIN LETTER SMALL CAPITAL ([A-Z])")
TARGET = Path("app/lineclear/core/checkpoints/characters/confusables.py")
HEAD = '''"""Characters that are drawn as ASCII ones are; packaging/confusables.py writes this.

Source: Unicode's confusables (UTS #39) as in confusable-homoglyphs 3.3.1, what NFKC makes ASCII,
and small capitals. Data (c) Unicode, Inc., under the Unicode License V3
(https://www.unicode.org/license.txt).
"""

from typing import Final

DRAWN_AS: Final[dict[str, str]] = {
'''


def table(confusables: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    """Give for each character beyond ASCII what it is drawn as, where that is ASCII."""
    found: dict[str, str] = {}
    for code_point in range(0x80, 0x110000):
        character = chr(code_point)
        # Marks and what hides are told in other ways; what is raised, lowered or framed shows it.
        if unicodedata.category(character)[0] in "MZC" or character in APART:
            continue
        if unicodedata.decomposition(character).startswith(FRAMED):
            continue
        drawn = [one["c"] for one in confusables.get(character, ()) if _counts(character, one["c"])]
        plain = unicodedata.normalize("NFKC", character)
        drawn += [plain] if plain.isascii() else []
        capital = SMALL_CAPITAL.fullmatch(unicodedata.name(character, ""))
        drawn += [capital[1]] if capital is not None and not drawn else []
        if drawn and drawn[0].strip():
            found[character] = min(drawn, key=len)
    return found


def _counts(character: str, drawn: str) -> bool:
    """Tell whether a confusion is with one sign of ASCII, or, of punctuation, with several."""
    several = unicodedata.category(character).startswith("P")
    return drawn.isascii() and (len(drawn) == 1 or several)


def written(drawn: dict[str, str]) -> str:
    """Give the table as Python, by what is drawn, in lines that fit."""
    by_target: dict[str, str] = {}
    for character, target in drawn.items():
        by_target[target] = by_target.get(target, "") + character
    lines = []
    for target, characters in sorted(by_target.items()):
        line = ""
        found = []
        for escape in map(_escape, characters):
            if len(line) + len(escape) > 86:
                found.append(line)
                line = ""
            line += escape
        found.append(line)
        if len(found) == 1:
            lines.append(f'    {json.dumps(target)}: "{line}",')
        else:
            lines.append(f"    {json.dumps(target)}: (")
            lines += [f'        "{one}"' for one in found]
            lines.append("    ),")
    return HEAD + "\n".join(lines) + "\n}\n" + digits()


def digits() -> str:
    """Give the digits beyond ASCII, whose tens stand together, as the inside of a class."""
    zeros = [chr(n) for n in range(0x80, 0x110000) if unicodedata.decimal(chr(n), None) == 0]
    spans = [f"{_escape(zero)}-{_escape(chr(ord(zero) + 9))}" for zero in zeros]
    lines = [f'    "{"".join(spans[n : n + 4])}"' for n in range(0, len(spans), 4)]
    text = "\n".join(lines)
    return f"\nDIGITS: Final = (\n{text}\n)\n"


def _escape(character: str) -> str:
    code_point = ord(character)
    return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"


if __name__ == "__main__":
    data = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    TARGET.write_text(written(table(data)), "utf-8")
