"""Ids that are one id to whoever wrote them, however they are spelled."""

from __future__ import annotations

import unicodedata


def spelled(name: str) -> str:
    """Give the same text for an id in other case, in another Unicode form, or padded.

    Characters that nobody sees, blanks at the ends among them, tell no two ids apart.
    """
    if name.isascii() and name.isprintable():
        return name.strip().lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(one for one in folded if unicodedata.category(one) not in _UNSEEN).strip()


_UNSEEN = frozenset({"Cc", "Cf"})
