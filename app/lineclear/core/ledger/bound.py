"""Is a record where it was written: of this call, in this folder? A moved one says nothing here.

Whoever owns a folder may rename what others wrote out of it, and the ledger of a shared store takes
what any member puts there. What that makes of each kind, told with the file's name:

- an outcome or a launch: nobody's, as a stranger's file is. The real one is kept beside it.
- a decision: one that cannot be followed. The agent refuses it and asks anew.
- a revocation: it revokes nothing, but its name is the start's, so nothing can start any more. A
  denial stands all the same; else the agent asks anew.
- a start that the agent's own user wrote: it may be the real one, moved with its call by that user.
  So it still says that something may have run, and a person settles that.
- a start of anybody else: as a revocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.ledger.records import BoundRecord
from lineclear.core.sentences import worded

STRAY: Final = frozenset({"owner", "stray"})
"""Codes of an outcome or a launch that says nothing of the call by whose name it is called."""
NO_OUTCOME: Final = STRAY | {"absent"}
START_TAKEN: Final = frozenset({"owner", "by_uid", "start_taken"})
"""Codes of what holds a start's name and started nothing: nothing else can start either."""
NO_START: Final = START_TAKEN | {"absent"}
WRONG_FOLDER: Final = "wrong_folder"


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where records are read."""

    store: Path
    store_id: str | None
    folder: int
    """Inode number of the store's folder."""

    def misplaced(self, record: BoundRecord, aid: str, name: str) -> tuple[str, str] | None:
        """Tell why a record is none of call AID here, None if it is.

        Codes: wrong_aid, wrong_store, wrong_folder.
        """
        shown = visible_line(name)
        if record.aid != aid:
            return "wrong_aid", worded(
                "{name} was written for call {call}, so it does not count for this one; look who"
                " put it here, and remove it.",
                name=shown,
                call=record.aid[:8],
            )
        if record.store_id != self.store_id:
            return "wrong_store", worded(
                "{name} was written for a call of another store, so it does not count here; look"
                " who put it here, and remove it.",
                name=shown,
            )
        if record.folder != self.folder:
            return WRONG_FOLDER, worded(
                "{name} was written in another folder than {path}, so it does not count here: it"
                " came with a copy, or somebody moved it.",
                name=shown,
                path=visible_line(str(self.store)),
            )
        return None
