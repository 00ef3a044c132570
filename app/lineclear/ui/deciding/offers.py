"""What the decision bar offers for a call, and what it says will happen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lineclear.core.checkpoints.warnings import Level, level_of
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.deciding.answers import takes_answer
from lineclear.core.inbox.deciding.path import Origin, may_decide
from lineclear.core.inbox.relaunch.startable import words_needed
from lineclear.core.inbox.rows.cautions import (
    ASK_FOR_WORD,
    HANDED_OVER,
    MAY_BE_RUNNING,
    RESUMED_BEFORE,
    UNREAD_BESIDE,
)
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.rows.warning_words import runs_as_you, starts_as_you, unheard
from lineclear.core.inbox.runs.beside import is_held_back
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.core.typed_commands import on_call
from lineclear.language import _, counted, translated
from lineclear.ui import words
from lineclear.ui.deciding.arming import Act, Need, Readiness
from lineclear.ui.reading.banners import Notice


@dataclass(frozen=True, slots=True)
class Offer:
    """What the decision bar offers for a call, and what it says will happen."""

    sentence: str = ""
    approve: str = ""
    """Label of the approving button; "" when there is none."""
    resumes: bool = False
    """Approving also starts the resume command."""
    deny: bool = False
    modify: bool = False
    answer: bool = False
    """A result can be given in place of a run."""
    doing: str = ""
    """What Enter does after the letter of the approving button, where that is no approval."""
    take_back: bool = False
    taking_back: str = ""
    """What comes of taking it back, said before it is done."""
    resume: str = ""
    """Label of the resume button; "" when there is none."""
    asks: bool = False
    """The resume button asks first whether really nothing runs."""
    resolve: bool = False
    together: str = ""
    """Label of the button that compares all selected calls; "" when there is none."""
    set_command: bool = False
    """Nothing can resume this agent yet: offer to set a command."""


ABOUT_ANSWER = _("Give this result to the agent; the tool does not run.")
MODIFYING = Offer(_("Nothing runs before you have reviewed and approved your changes."))


def modifying(row: Row, *, reviewed: bool, flagged: bool) -> Offer:
    """What changed arguments can be given, before and in their review: as the call itself."""
    if not reviewed:
        return MODIFYING
    plain = _offer_approval(row, words.name(row.agent))
    if flagged:
        told, label = _("It gets your changes and what is flagged."), _("Approve anyway")
    else:
        told, label = _("It gets your changes."), _("Approve with changes")
        if plain.resumes:
            label = _("Approve changes and resume")
    return Offer(f"{plain.sentence} {told}", label, resumes=plain.resumes)


ANSWERING = _("Nothing is given before you have reviewed it.")
"""What the bar says while an answer is being written."""


def answering(row: Row, *, reviewed: bool, flagged: bool) -> Offer:
    """What an answer in place of a run can be given, before and in its review."""
    if not reviewed:
        return Offer(ANSWERING)
    agent = words.name(row.agent)
    if not row.waited_for:
        told = _("The tool does not run. {agent} gets this when it asks again.").format(agent=agent)
    elif row.process in (Process.ALIVE, Process.ELSEWHERE) and row.system == "lineclear":
        told = _("{agent} gets this at once; the tool does not run.").format(agent=agent)
    else:
        told = _("The tool does not run. {agent} gets this when it is resumed.").format(agent=agent)
    label = _("Answer anyway") if flagged or stop_codes(row) else _("Give this answer")
    return Offer(told, label, doing=_("give this answer"))


def held(offer: Offer, decided: int, together: int, others: str = "") -> Offer:
    """OFFER on one of TOGETHER calls that are handed over at once; DECIDED of them are done.

    OTHERS names those that are still to be decided beside it.
    """
    if together <= 1:
        return offer
    told = counted(
        "Held until {n} call of this run is decided ({decided} done).",
        "Held until all {n} calls of this run are decided ({decided} done).",
        together,
        decided=decided,
    )
    if others:
        told = _("{told} Still to decide: {others}.").format(told=told, others=others)
    return replace(
        offer,
        sentence=f"{ABOUT_ANSWER} {told}" if offer.answer and not offer.approve else told,
        resumes=False,
    )


_OVER = _("This is over: nothing is left to decide.")
_NOTHING_TO_DO = {
    State.RUNNING: _("It runs: there is nothing to decide until it ends."),
    State.UNREADABLE: _("It cannot be decided. File shows what is there."),
    State.DAMAGED: _("It cannot be decided. File shows what is there."),
    State.STRAY: _("Nothing here asks for a decision. File shows what is there."),
}


_RESUMES = {
    State.APPROVED: _("This starts {agent} again, and it runs what was approved."),
    State.LAPSED: _("This starts {agent} again, and it asks anew."),
    State.DENIED: _("This starts {agent} again, and it reads the denial."),
    State.EXPIRED: _("This starts {agent} again, and it reads that the time was over."),
}
_GOES_ON = _("This starts {agent} again, and it goes on from here.")
"""What a resume starts, for a run that stopped with nothing to decide."""


def _no_command(row: Row) -> str:
    return _("Lineclear knows no command yet that resumes {agent}.").format(
        agent=words.name(row.agent)
    )


NOTING = _("Nothing is approved yet: your note waits for your approval.")


def noted(offer: Offer, note: str, *, reaches: bool = False) -> Offer:
    """OFFER while a note waits to go with an approval; REACHES: its agent gets the note, too."""
    if not note or not offer.approve:
        return offer
    kept = _("Your note is kept, not sent: \u201c{note}\u201d.")
    told = _("The agent gets your note: \u201c{note}\u201d.") if reaches else kept
    said = told.format(note=words.name(note, "", 60))
    return replace(offer, sentence=f"{offer.sentence} {said}".strip())


def too_long(row: Row) -> str:
    """Why arguments are not edited here, and with which command they are."""
    file = "--arguments-file FILE"
    command = on_call("modify", row.id[:8], file, folders=(row.store,))
    return _("These arguments are too long to edit here; use: `{command}`").format(command=command)


def denying(row: Row) -> str:
    """What a denial will do, while its reason is being typed."""
    if row.system != "lineclear":
        return _("Nothing runs. The agent reads this text only when it is resumed from here.")
    return _("The agent gets this text instead of a result; nothing runs.")


def stop_codes(row: Row) -> tuple[str, ...]:
    """The warnings that an approval must name."""
    return tuple(code for code in row.warnings if level_of(code) is Level.STOP)


def blocked_codes(row: Row) -> tuple[str, ...]:
    """The warnings that leave no approval at all."""
    return tuple(code for code in row.warnings if level_of(code) is Level.BLOCKED)


def offer(
    row: Row, decided: int = 0, together: int = 1, others: str = "", *, word: bool = False
) -> Offer:
    """Give what can be done with ROW in its state.

    TOGETHER is how many calls its checkpoint holds, of which DECIDED have their decision: the
    agent gets the answers to all of them at once; OTHERS names the rest beside ROW. WORD: the
    operator is being asked whether they know that nothing runs. To whom nobody listens here, only
    starting an agent of their own is offered.
    """
    offered = _offer(row, decided, together, others, word=word)
    if not starts_as_you(row):
        offered = replace(offered, set_command=False)
    says = offered.deny or offered.answer or offered.take_back or offered.resolve
    if row.may_answer or not says:
        return offered
    if offered.resume and runs_as_you(row):
        return replace(offered, take_back=False, taking_back="")
    return Offer(translated(unheard(row)))


def _offer(row: Row, decided: int, together: int, others: str, *, word: bool) -> Offer:
    agent = words.name(row.agent)
    if row.state is State.PENDING:
        offered = _offer_pending(row, agent)
        gives = offered.approve or offered.answer
        return held(offered, decided, together, others) if gives else offered
    if row.state in (State.APPROVED, State.HELD):
        return _offer_decided(row, together, word=word)
    if row.state is State.LAPSED and row.system != "lineclear" and not row.closed:
        # Its agent asks nothing again by itself.
        return Offer(take_back=True)
    if row.state in (State.LAPSED, State.RESUMABLE, State.DENIED, State.EXPIRED):
        if row.closed:
            return Offer(_OVER)
        if row.process in (Process.ALIVE, Process.ELSEWHERE):
            return Offer(_("{agent} lives and goes on by itself.").format(agent=agent))
        return _offer_resume(row, word=word)
    if row.state is State.UNCERTAIN:
        return Offer(
            sentence=_("No program tries this again. Say what you found, or leave it."),
            resolve=True,
        )
    return Offer(_NOTHING_TO_DO.get(row.state, _OVER))


def _offer_decided(row: Row, together: int, *, word: bool) -> Offer:
    running = row.process in (Process.ALIVE, Process.ELSEWHERE)
    after = "" if word else _taking_back(row, together)
    if not running and row.state is State.APPROVED:
        return replace(_offer_resume(row, word=word), take_back=True, taking_back=after)
    told = "" if running or row.resumable_by else _no_command(row)
    return Offer(told, take_back=True, taking_back=after, set_command=bool(told))


def _taking_back(row: Row, together: int) -> str:
    if row.system == "lineclear":
        return _("Taking it back ends this call: nothing runs, and the agent has to ask again.")
    if together > 1:
        return _("Taking it back voids every decision of its run: all its calls are asked anew.")
    return _("Taking it back lets you decide anew.")


def with_taking_back(offer: Offer) -> Offer:
    """OFFER with what comes of taking back as the last part of its sentence."""
    if not (offer.take_back and offer.taking_back):
        return offer
    return replace(offer, sentence=f"{offer.sentence} {offer.taking_back}".strip(), taking_back="")


def _offer_resume(row: Row, *, word: bool) -> Offer:
    if not starts_as_you(row):
        assert row.user is not None
        who = words.user_name(row.user)
        return Offer(_("Only {user}, whose agent it is, can start it again.").format(user=who))
    if not row.resumable_by:
        return Offer(_no_command(row), set_command=True)
    if is_held_back(row):
        # By what says the state line, or a banner.
        return Offer(_("It cannot be resumed yet."))
    needed = words_needed(row)
    agent = words.name(row.agent)
    if not needed:
        return Offer(_RESUMES.get(row.state, _GOES_ON).format(agent=agent), resume=_("Resume"))
    if not word:
        told = _("Before {agent} is started again you are asked what only you can know.")
        return Offer(told.format(agent=agent), resume=_("Resume\u2026"), asks=True)
    # Only the operator can know.
    return _offer_on_word(needed, run=row.tool is None)


def _offer_on_word(needed: frozenset[str], *, run: bool) -> Offer:
    """What a resume needs the operator's word for; banners say what is known of that."""
    if UNREAD_BESIDE in needed:
        told = _("Resume it only if you know that nothing runs, and what waits in that file.")
        return Offer(told, resume=_("Resume despite that"))
    if RESUMED_BEFORE in needed:
        told = _("Resume it only if what it did then may be done again.")
        if MAY_BE_RUNNING not in needed:
            return Offer(told, resume=_("Resume again"))
        told = _("Resume it only if you know that nothing runs, and that it may be done again.")
        return Offer(told, resume=_("Nothing runs: resume again"))
    if HANDED_OVER not in needed:
        return Offer(ASK_FOR_WORD, resume=_("Nothing runs: resume"))
    if MAY_BE_RUNNING in needed:
        told = f"{words.warning(HANDED_OVER, run=run)} {ASK_FOR_WORD}"
        return Offer(told, resume=_("Nothing runs or ran: resume"))
    told = _("Start it again only if you know that it did not run.")
    return Offer(told, resume=_("It did not run: resume"))


def resumed(offer: Offer, pid: int | None, *, ended: bool) -> Offer:
    """OFFER while a resume goes on, by process PID, or after one ENDED: never a second one."""
    if pid is not None:
        told = _("It is being resumed. Output shows what it says.")
        return replace(offer, sentence=told, resume="", asks=False, set_command=False)
    if ended and offer.resume in (_("Resume"), _("Resume\u2026")):
        return replace(
            offer, sentence=_("The last resume ended before it came to this. See Output.")
        )
    return offer


def _offer_pending(row: Row, agent: str) -> Offer:
    if row.kind == "deferred":
        if blocked_codes(row):
            return Offer(sentence=_("This call cannot be answered. File shows what is there."))
        return Offer(ABOUT_ANSWER, answer=True, set_command=not row.resumable_by)
    offered = _offer_approval(row, agent)
    return replace(offered, answer=bool(offered.approve) and takes_answer(row))


def _offer_approval(row: Row, agent: str) -> Offer:
    if blocked_codes(row):
        return Offer(sentence=_("This call cannot be approved. It can be denied."), deny=True)
    approve = _("Approve anyway") if stop_codes(row) else ""
    foreign = row.system != "lineclear"
    if not row.waited_for:
        return Offer(
            _(
                "{agent} was started again since it asked this. It runs it when it asks again."
            ).format(agent=agent),
            approve or _("Record approval"),
            deny=True,
            modify=True,
        )
    if row.process is Process.ALIVE and not foreign:
        return Offer(
            _("{agent} is waiting and runs it at once.").format(agent=agent),
            approve or _("Approve"),
            deny=True,
            modify=True,
        )
    if row.process is Process.ELSEWHERE and not foreign:
        return Offer(
            _("{agent} waits on another machine and runs it when your answer gets there.").format(
                agent=agent
            ),
            approve or _("Approve"),
            deny=True,
            modify=True,
        )
    if row.process is Process.DEAD and row.resumable_by and starts_as_you(row):
        return Offer(
            _starts_again(row, agent),
            approve or _("Approve and resume"),
            resumes=True,
            deny=True,
            modify=True,
        )
    if row.process is Process.DEAD and not foreign:
        return Offer(
            _nothing_runs(row, agent),
            approve or _("Approve"),
            deny=True,
            modify=True,
            set_command=True,
        )
    told = (
        _(
            "Whether this agent reads Lineclear's answers is not known. It takes effect when you"
            " resume it from here."
        )
        if foreign
        else _(
            "Whether {agent} still runs cannot be told. It takes effect when it asks again."
        ).format(agent=agent)
    )
    return Offer(
        told,
        approve or _("Record approval"),
        deny=True,
        modify=True,
        set_command=not row.resumable_by,
    )


def _starts_again(row: Row, agent: str) -> str:
    if row.suspended is not None:
        told = _("{agent} suspended itself until this is decided. This starts it again.")
        return told.format(agent=agent)
    return _("The agent died{when}. This starts it again.").format(when=_when_died(row))


def _nothing_runs(row: Row, agent: str) -> str:
    told = _("The agent died{when}. Nothing runs until someone resumes {agent}.")
    if row.suspended is not None:
        told = _("{agent} suspended itself until this is decided. Nothing runs until a resume.")
    return told.format(when=_when_died(row), agent=agent)


def _when_died(row: Row) -> str:
    return words.when_died(row, datetime.now(UTC))


def allowed(row: Row, offer: Offer, *, editable: bool = True) -> Offer:
    """Take from OFFER what the one rule of all decisions forbids, and say why."""
    if not row.may_answer:
        return offer
    takes_changes = row.takes is None or "modify" in row.takes
    offer = replace(offer, modify=offer.modify and editable and takes_changes)
    stops = frozenset(stop_codes(row))
    gives = "result" if offer.answer and not offer.approve else "approve"
    try:
        may_decide(row, Origin.CLICK, gives, despite=stops)
    except LineclearError as why:
        offer = replace(
            offer, approve="", modify=False, answer=False, sentence=translated(why.sentence)
        )
    try:
        may_decide(row, Origin.CLICK, "deny")
    except LineclearError:
        offer = replace(offer, deny=False)
    return offer


def readiness(state: Readiness, lines_below: int = 0) -> str:
    """Why an act is not ready yet; "" when it is."""
    if state.need in (Need.READY, Need.NO_CALL):
        return ""
    if state.need is Need.OFF_SCREEN:
        return _("Look at this window first.")
    if state.need is Need.IDLE:
        return _("Nobody touched this window for two minutes. Read it again.")
    if state.need is Need.END:
        if lines_below > 0:
            return counted(
                "{n} line below not seen \u00b7 End",
                "{n} lines below not seen \u00b7 End",
                lines_below,
            )
        return _("Not all of it was seen \u00b7 End")
    if state.need is Need.MASKED:
        return _("A masked place was not shown \u00b7 Show (F8, then Space)")
    if state.need is Need.FLAG:
        return _("A flagged place was not seen yet \u00b7 F8")
    return _("Ready in a moment\u2026")


DOING = {Act.APPROVE: _("approve"), Act.RESUME: _("resume"), Act.DENY: _("deny")}


def doing(act: Act, offer: Offer) -> str:
    """What an act does, in words that follow "to"."""
    if act is Act.APPROVE and offer.doing:
        return offer.doing
    return DOING[act]


def press_enter(act: Act, offer: Offer) -> str:
    """What is said while the letter is armed: all that Enter will do."""
    told = doing(act, offer)
    if act is Act.APPROVE and offer.resumes:
        told = _("approve and start the agent again")
    return _("Press Enter to {doing} \u00b7 Esc to cancel").format(doing=told)


def started(row: Row) -> str:
    """What is said of an agent that was started again, whichever call is in view."""
    return _("{agent} was started again.").format(agent=words.name(row.agent))


def failed_apart(row: Row, why: str, *, resume: bool) -> str:
    """What is said of an act that failed while another call is in view; RESUME: to start it."""
    if resume:
        return _("{agent} was not started: {text}").format(agent=words.name(row.agent), text=why)
    return _("{tool} was not decided: {text}").format(
        tool=words.name(row.tool, _("The call")), text=why
    )


def unwritten(notice: Notice | None) -> str:
    """What is said of a held word whose call froze; NOTICE tells why that was."""
    text = _("Your word was not written.")
    return text if notice is None else f"{text} {notice.text}"


def left(row: Row, *, apart: bool) -> str:
    """What is said of a held word whose call is not listed any more; APART: of another call."""
    if not apart:
        return unwritten(None)
    return _("Your word on {tool} of {agent} was not written: it is not shown any more.").format(
        tool=words.name(row.tool, _("The call")), agent=words.name(row.agent)
    )


def overtaken(row: Row, *, apart: bool) -> str:
    """What is said of a held approval that a warning came before; APART: of another call."""
    if not apart:
        return _("Your word was not written: the call has a red warning now.")
    return _("Your word on {tool} of {agent} was not written: it has a red warning now.").format(
        tool=words.name(row.tool, _("The call")), agent=words.name(row.agent)
    )
