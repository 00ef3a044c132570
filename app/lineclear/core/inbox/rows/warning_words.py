"""A warning of a row as a sentence, with what is known of the call that it is about.

The window and the command line say the same. Names are an agent's or a person's own word: escaped.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.warnings import sentence_of
from lineclear.core.inbox.rows.cautions import (
    DAMAGED_LAUNCH,
    RAN_LATE,
    REPEATS,
    REWRITTEN,
    STRAY_RECORD,
    TWIN,
)
from lineclear.core.inbox.rows.row import Repeated, Row, Twin
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.ledger.calls import Rewritten
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.ended_as import NOT_RUN
from lineclear.core.ledger.records import Outcome, Person
from lineclear.core.ledger.standing_words import told
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, with_values, worded, worded_count
from lineclear.language import marked

NAME_LIMIT: Final = 40
SAME_USER: Final = "same_user"
_TWINS: Final = {
    State.PENDING: marked("The same call of {agent} also waits, asked at {time}."),
    State.APPROVED: marked("The same call of {agent} was approved at {time} and has yet to run."),
    State.HELD: marked("The same call of {agent} was approved at {time} and is held for now."),
    State.LAPSED: marked("The same call of {agent} was approved at {time}, which has lapsed."),
    State.RUNNING: marked("The same call of {agent} runs since {time}."),
    State.UNCERTAIN: marked("The same call of {agent} may have run at {time}."),
}
_TIMELESS: Final = {
    State.PENDING: marked("The same call of {agent} also waits."),
    State.RUNNING: marked("The same call of {agent} runs now."),
    State.UNCERTAIN: marked("The same call of {agent} may have run."),
}
_UNDECIDED: Final = frozenset({State.PENDING, State.LAPSED})
"""States of the other call in which nothing runs of it before a person approves it as well."""


def about(row: Row, code: str, me: Person | None = None) -> str | None:
    """Give the sentence of a warning of ROW; None where the code has none.

    ME is who reads it, and is told "you" of what they themselves decided.
    """
    if code == TWIN and row.twin is not None:
        return twin(row.twin)
    if code == REPEATS and row.repeated is not None:
        return repeats(row.repeated, me, here=row)
    if code == REWRITTEN and row.rewritten is not None:
        return rewritten(row.rewritten)
    if code == RAN_LATE and row.ran_late is not None:
        return ran_late(row.ran_late)
    if code == STRAY_RECORD and row.strays:
        return stray(row.strays)
    if code == DAMAGED_LAUNCH and row.damaged_launches:
        return row.damaged_launches[0]
    return sentence_of(code, run=row.tool is None)


def rewritten(changed: Rewritten) -> str:
    """Say whose file says what by now, and that what the call was started with is shown."""
    said = [changed.sentence]
    if changed.now is not None:
        word = with_values(told(changed.now), masked_line)
        said.append(worded("It says now: {told}.", told=word))
    said.append(worded("What is shown is the decision that the start record holds."))
    return joined(said)


def ran_late(late: Outcome) -> str:
    """Say that a tool ran, and when it ended, whatever its outcome says."""
    at = local_time(late.ended_at)
    if late.outcome == "error":
        return worded("Its tool ran all the same, and failed at {time}.", time=at)
    return worded("Its tool ran all the same, and ended at {time}.", time=at)


def stray(whys: Sequence[str]) -> str:
    """Say of files that count for nothing which they are, the first of them in its own sentence."""
    if len(whys) == 1:
        return joined([whys[0], worded("It counts for nothing.")])
    said = worded_count(
        "{n} file of this call counts for nothing.",
        "{n} files of this call count for nothing.",
        len(whys),
    )
    return joined([whys[0], said])


def runs_as_you(row: Row) -> bool:
    """Tell whether a call's agent runs as the user of this process, whose decisions it can forge.

    The note `same_user`: most agents do, so it stands where the agent is named, not as a banner.
    """
    return row.user is not None and row.user == os.geteuid()


def could_forge(row: Row) -> bool:
    """Tell whether a call's agent could write a decision that counts as that of who reads this."""
    return row.may_answer and runs_as_you(row)


def starts_as_you(row: Row) -> bool:
    """Tell whether the user of this process may start a call's agent again: its own user may."""
    return row.user is None or runs_as_you(row)


def unheard(row: Row) -> str:
    """Say why the word of the user of this process does not count on a call; "" where it does."""
    if row.may_answer:
        return ""
    if runs_as_you(row):
        return worded(
            "You own this agent, so your word does not count here; a colleague who shares its"
            " folder has to answer."
        )
    return worded(
        "You are not listed in the group that this folder is shared with, so your word does not"
        " count here; have yourself added to it."
    )


def twin(other: Twin) -> str:
    """Say what became of the same call, whose it is, and what an approval of this one can do."""
    agent = masked_line(other.agent, NAME_LIMIT)
    if other.at is None:
        said = worded(_TIMELESS.get(other.state, _TIMELESS[State.PENDING]), agent=agent)
    else:
        said = worded(_TWINS[other.state], agent=agent, time=local_time(other.at))
    if other.state in _UNDECIDED:
        can = worded("Approving both can run it twice.")
    else:
        can = worded("Approving this one can run it a second time.")
    return joined([said, can])


def repeats(before: Repeated, me: Person | None, *, here: Row) -> str:
    """Say who decided on the same call, when, and whether it ran then."""
    by, verdict = before.decision.by, before.decision.verdict
    if before.outcome == NOT_RUN and verdict != "result":
        mine = marked("You approved the same call at {time}, and it was not run.")
        other = marked("{who} approved the same call at {time}, and it was not run.")
    elif not before.ran:
        mine = marked("You answered the same call at {time}; its tool did not run.")
        other = marked("{who} answered the same call at {time}; its tool did not run.")
    elif verdict == "modify":
        mine = marked("You approved the same call with changes at {time} and that ran.")
        other = marked("{who} approved the same call with changes at {time} and that ran.")
    elif before.outcome == "error":
        mine = marked("You approved the same call at {time} and it ran, and failed.")
        other = marked("{who} approved the same call at {time} and it ran, and failed.")
    else:
        mine = marked("You approved the same call at {time} and it ran.")
        other = marked("{who} approved the same call at {time} and it ran.")
    told = mine if is_same_person(by, me) else other
    said = worded(told, who=person(by), time=local_time(before.decision.at))
    if before.store == here.store:
        return said
    where = worded("That was in {folder}.", folder=visible_line(path_text(before.store)))
    return joined([said, where])


def person(by: Person) -> str:
    """Name a person, whose name is their own word, by their uid as well, which is a fact."""
    name = masked_line(by.name, NAME_LIMIT)
    if not name:
        return worded("uid {uid}", uid=by.uid)
    return worded("{name} (uid {uid})", name=name, uid=by.uid)


def is_same_person(by: Person | None, me: Person | None) -> bool:
    """Tell whether both are one: the same user of one machine, under the same name."""
    return by is not None and me is not None and by == me
