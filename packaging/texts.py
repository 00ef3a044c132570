#!/usr/bin/env python3
"""Gather the texts that people read, and make what translators send usable.

    texts.py                  write resources/locale/lineclear.pot, and compile every language
    texts.py --check          only say what is out of date or wrong; the exit code says whether
    texts.py --add LANGUAGE   begin a language, as resources/locale/LANGUAGE/LC_MESSAGES
    texts.py --pseudo DIR     a catalogue of accented, longer texts, to look at the window in

`packaging/dev.py texts` runs it with what it needs.
"""

from __future__ import annotations

import argparse
import gettext
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from lineclear.catalogue import misfit, served

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "app"
LOCALE = ROOT / "resources" / "locale"
TEMPLATE = LOCALE / "lineclear.pot"
DOMAIN = "lineclear"
PSEUDO = "qps"
"""A language that nobody speaks."""
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "counted": (1, 2),
    "marked": None,
    "marked_pair": (1, 2),
    "worded": None,
    "worded_count": (1, 2),
}
"""What marks a text, in `lineclear.language` and for core: names, and which arguments are texts."""
HEADER = """\
# The texts of Lineclear that people read.
# Made from the sources by `packaging/dev.py texts`."""
NOTES = ("TRANSLATORS:",)
"""How a comment above a text begins that is meant for translators."""
_FIELD = re.compile(r"\{\{|\}\}|\{[^{}]*\}|&(?=\w)")
"""What stays as it is in every language: `{fields}`, doubled braces, marks of a key."""
_ACCENTED = str.maketrans(
    "aAbBcCdDeEgGhHiIjJlLnNoOrRsStTuUwWyYzZ",
    "áÅƀßçÇđÐéÉğĜĥĤíÎĵĴļĻñÑöØřŘšŠťŢûÜŵŴýÝžŽ",
)
_LONGER = 0.4
"""How much longer the texts of other languages are taken to be."""
_PADDING = "łörem ípšum đölör šít ámét çönšéçťéťûr "


# --- What the sources say -------------------------------------------------------------------------


def gathered() -> Catalog:
    """Give every text of the sources, in the order of the files."""
    catalog = Catalog(project="lineclear", domain=DOMAIN, header_comment=HEADER, fuzzy=False)
    for path in sorted(SOURCES.rglob("*.py")):
        place = path.relative_to(SOURCES.parent).as_posix()
        found = extract_from_file("python", path, KEYWORDS, NOTES, strip_comment_tags=True)
        for line, message, comments, context in found:
            # Without the number of the line: it would change with every edit above it.
            catalog.add(message, None, [(place, line)], auto_comments=comments, context=context)
    return catalog


def template(catalog: Catalog) -> bytes:
    """Give the template's file: the same for the same texts, whenever it is made."""
    made = io.BytesIO()
    write_po(made, catalog, width=100, include_lineno=False, sort_by_file=True)
    dropped = (
        "POT-Creation-Date",
        "PO-Revision-Date",
        "Last-Translator",
        "Language-Team",
        "Generated-By",
        "Report-Msgid-Bugs-To",
    )
    lines = made.getvalue().decode("utf-8").splitlines(keepends=True)
    kept = (each for each in lines if not each.startswith(tuple(f'"{name}:' for name in dropped)))
    return "".join(kept).encode()


# --- Languages ------------------------------------------------------------------------------------


def languages() -> Iterator[tuple[str, Path]]:
    """Give each language that there is, with its file."""
    for path in sorted(LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}.po")):
        yield path.parts[-3], path


def read(language: str, path: Path) -> Catalog:
    """Give a language's catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=language, domain=DOMAIN, abort_invalid=True)


def compiled(catalog: Catalog) -> bytes:
    """Give a catalogue as programs read it, without what is not certain yet."""
    made = io.BytesIO()
    write_mo(made, catalog)
    return made.getvalue()


def forms(text: object) -> tuple[str, ...]:
    """Give a text's forms: one, or those of its plural."""
    return tuple(map(str, text)) if isinstance(text, tuple | list) else (str(text),)


def wrong(catalog: Catalog) -> Iterator[str]:
    """Say what is wrong with the translations of a catalogue: such a text stays English."""
    plural = gettext.c2py(catalog.plural_expr)
    for message in catalog:
        if not message.id:
            continue
        asked = forms(message.id)
        for form, text in enumerate(forms(message.string)):
            if text and (why := misfit(asked, text, serves=served(plural, form))):
                yield why


def problems() -> list[str]:
    """Say what is out of date or wrong."""
    found = []
    catalog = gathered()
    if not TEMPLATE.is_file() or TEMPLATE.read_bytes() != template(catalog):
        found.append(f"{TEMPLATE.relative_to(ROOT)} is out of date: run packaging/dev.py texts")
    for language, path in languages():
        known = read(language, path)
        found += [f"{language}: {each}" for each in wrong(known)]
        ready = path.with_suffix(".mo")
        if not ready.is_file() or ready.read_bytes() != compiled(known):
            found.append(f"{language} is not compiled: run packaging/dev.py texts")
    return found


def write_all() -> None:
    """Write the template, and every language by it."""
    catalog = gathered()
    LOCALE.mkdir(parents=True, exist_ok=True)
    TEMPLATE.write_bytes(template(catalog))
    print(f"{TEMPLATE.relative_to(ROOT)}: {len(catalog)} texts")
    for language, path in languages():
        known = read(language, path)
        known.update(catalog)
        with path.open("wb") as file:
            write_po(file, known, width=100, include_lineno=False, sort_by_file=True)
        path.with_suffix(".mo").write_bytes(compiled(known))
        told = sum(bool(each.id and each.string and not each.fuzzy) for each in known)
        print(f"{path.relative_to(ROOT)}: {told} of {len(known)} translated")


def add(language: str) -> None:
    """Begin a language; one that is there stays."""
    path = LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            new = Catalog(locale=language, domain=DOMAIN, project="lineclear", fuzzy=False)
            write_po(file, new)
    write_all()


# --- A language that nobody speaks ----------------------------------------------------------------


def accented(text: str) -> str:
    """Give TEXT in brackets, accented and longer, with its fields as they are."""
    parts, end = [], 0
    for kept in _FIELD.finditer(text):
        parts += [text[end : kept.start()].translate(_ACCENTED), kept.group()]
        end = kept.end()
    parts.append(text[end:].translate(_ACCENTED))
    words = len(_FIELD.sub("", text))
    more = (_PADDING * (words // len(_PADDING) + 1))[: max(1, round(words * _LONGER))].rstrip()
    # In front of the brackets' inner side, so that a cut end shows.
    return f"⟪{''.join(parts)} {more}⟫"


def pseudo(folder: Path, *, without: frozenset[str] = frozenset()) -> Path:
    """Write a compiled catalogue of such texts into FOLDER, but for those WITHOUT; its path."""
    catalog = gathered()
    made = Catalog(locale="en", domain=DOMAIN)
    for message in catalog:
        if message.id and not without.intersection(forms(message.id)):
            texts = tuple(accented(each) for each in forms(message.id))
            made.add(message.id, texts if message.pluralizable else texts[0])
    target = folder / PSEUDO / "LC_MESSAGES" / f"{DOMAIN}.mo"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(compiled(made))
    return target


def main(argv: list[str]) -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--add", metavar="LANGUAGE")
    what.add_argument("--pseudo", metavar="DIR")
    options = parser.parse_args(argv)
    if options.pseudo:
        target = pseudo(Path(options.pseudo))
        print(f"{target}: LINECLEAR_LOCALE={options.pseudo} LANGUAGE={PSEUDO} lineclear-inbox")
        return 0
    if options.add:
        add(options.add)
    elif not options.check:
        write_all()
    found = problems()
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
