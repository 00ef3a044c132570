"""The language of what people read: one catalogue, chosen when the window starts.

The English text is its own key. Values go into a text by name (`_("By {who}").format(who=...)`), so
that a translation may order them anew; text from an agent is only ever such a value. What is
written to disk, sent to an agent or read by a program is not translated.
"""

from __future__ import annotations

import gettext
import os
import struct
from pathlib import Path

from lineclear.catalogue import Checked
from lineclear.core.sentences import Sentence

DOMAIN = "lineclear"
OWN_FOLDER = "LINECLEAR_LOCALE"
"""An environment variable: a folder of catalogues to use in place of the shipped ones."""


def folder() -> Path:
    """Give where catalogues are looked for, as `<language>/LC_MESSAGES/lineclear.mo`."""
    if own := os.environ.get(OWN_FOLDER):
        return Path(own)
    package = Path(__file__).parent
    shipped = package / "resources" / "locale"
    # A checkout keeps them beside the source root: app/lineclear -> resources.
    return shipped if shipped.is_dir() else package.parent.parent / "resources" / "locale"


def catalogue() -> gettext.NullTranslations:
    """Give the catalogue that LANGUAGE, LC_ALL, LC_MESSAGES or LANG asks for; else English."""
    try:
        return gettext.translation(DOMAIN, folder(), fallback=True)
    except (OSError, ValueError, struct.error):
        # A window in English shows what waits; a damaged catalogue must not take it away.
        return gettext.NullTranslations()


def name() -> str:
    """Give the language that the environment asks for and a catalogue is there of; "" for none."""
    found = gettext.find(DOMAIN, folder())
    return Path(found).parts[-3] if found else ""


class _Chosen:
    """The catalogue of this process."""

    catalogue: gettext.NullTranslations | Checked = gettext.NullTranslations()


def choose() -> None:
    """Take the catalogue that the environment asks for.

    The window does, before anything of it is imported: its constants are made of such texts. The
    command line and agents do not, they stay English: what they say is also read by programs.
    """
    _Chosen.catalogue = Checked(catalogue())


def _(text: str) -> str:
    """Give TEXT in the language of this process."""
    # For no text, gettext gives the head of the catalogue.
    return _Chosen.catalogue.gettext(text) if text else ""


def ngettext(one: str, many: str, number: int) -> str:
    """Give the form of a text for NUMBER things."""
    return _Chosen.catalogue.ngettext(one, many, number)


def marked(text: str) -> str:
    """Give TEXT as it is: it goes into the catalogue, and is translated where it is shown."""
    return text


def marked_pair(one: str, many: str) -> tuple[str, str]:
    """Give both forms of a text as they are, for `counted` where they are shown."""
    return one, many


class _Grouped(int):
    """A number that is told as `1,284`, where its place in a text does not say how."""

    def __format__(self, spec: str) -> str:
        return format(int(self), spec or ",")


def counted(one: str, many: str, number: int, **values: object) -> str:
    """Give the form of a text for NUMBER things, with `{n}` and the other VALUES filled in.

    A number of a thousand and more is told in groups of three, wherever it stands.
    """
    return ngettext(one, many, number).format(n=_Grouped(number), **values)


def translated(text: str) -> str:
    """Give TEXT of core in the language of this process, where it is a sentence of its own.

    What is none is given as it is: the words of an agent, of an operator, of the system.
    """
    if not isinstance(text, Sentence):
        return text
    values = {
        name: translated(value) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    wording = ngettext(text.wording, text.many, text.number) if text.many else _(text.wording)
    if wording in (text.wording, text.many) and values == text.values:
        # Nothing of it is translated: core knows best how its English reads where it stands.
        return str(text)
    try:
        said = wording.format(**values)
    except (LookupError, ValueError, TypeError, AttributeError):
        # A sentence whose values do not fit must not take away what happened.
        return str(text)
    return said if text.ends else said.rstrip(".\u3002")
