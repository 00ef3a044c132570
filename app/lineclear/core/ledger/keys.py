"""Which requests bear which call_key: read once per process, not once per ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_MENTION = re.compile(rb'"call_key"\s*:\s*"([0-9a-f]{64})"')


class KeyIndex:
    """Grows with what is new. It gives candidates: an argument may imitate the key's text."""

    def __init__(self) -> None:
        self._seqs: dict[str, list[int]] = {}
        self._read: set[int] = set()
        self._unreadable: set[int] = set()

    def candidates(
        self, key: str, seqs: Iterable[int], read: Callable[[int], bytes | None]
    ) -> list[int]:
        """Give those of SEQS whose request may bear KEY, newest first.

        READ gives a request's bytes, or None where they cannot be read: such a request may bear
        any key.
        """
        known = set(seqs)
        for seq in sorted(known - self._read):
            raw = read(seq)
            if raw is None:
                self._unreadable.add(seq)
            else:
                for match in _MENTION.finditer(raw):
                    self._seqs.setdefault(match[1].decode(), []).append(seq)
            self._read.add(seq)
        mentioned = self._unreadable.union(self._seqs.get(key, ()))
        return sorted(known & mentioned, reverse=True)
