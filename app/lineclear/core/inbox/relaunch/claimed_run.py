"""The detached worker that resumes another program's agent: claim, start, run, record."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lineclear.core.errors import LineclearError, NothingPending, Refusal
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, launch_for
from lineclear.core.inbox.relaunch import handed_files, output_log
from lineclear.core.inbox.relaunch.command import environment, filled, no_command, start_folder
from lineclear.core.inbox.relaunch.copies import only_start
from lineclear.core.inbox.relaunch.startable import (
    refuse_beside_running,
    refuse_elsewhere,
    refuse_going_elsewhere,
    refuse_lapsed,
    refuse_open,
    rows_beside,
    word_for,
)
from lineclear.core.inbox.relaunch.takeover import CLAIMED_RUN, folder_of
from lineclear.core.inbox.relaunch.worker_word import begin_to_start, refusing, say_started
from lineclear.core.inbox.rows.cautions import ASK_FOR_WORD, MAY_BE_RUNNING
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.rows.warning_words import person
from lineclear.core.inbox.runs.run_name import name_of
from lineclear.core.inbox.sources.walk import own_names
from lineclear.core.ledger import foreign, handover
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.ended_as import UNTOUCHED
from lineclear.core.ledger.going_lock import going_on
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.outcome import finish, make_outcome
from lineclear.core.ledger.records import Launch, Revoked, Start
from lineclear.core.ledger.start import (
    Observed,
    Unfit,
    Verified,
    Waiting,
    begin,
    begin_resumed,
    read_decision,
    refuse_taken,
)
from lineclear.core.ledger.store import Shown, Store
from lineclear.core.ledger.takeovers import NOT_BEGUN, is_taken_up
from lineclear.core.ledger.worker import pass_on, starter_of, starting, working
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

_DRAIN_S = 2.0
"""How long output is read after a command ended whose children hold its end of the pipe."""
_SIGNALLED = 128


def run_claimed(store: Path, aid: str, settings: Settings) -> int:
    """Do the detached work for a foreign store: claim, start, run, wait, record.

    Gives the command's exit code. What it prints is passed on, and its end stands in the outcome.
    A denied call is resumed too, so that its agent learns of the denial; its outcome is `denied`.
    Raises what `relaunch` raises, and what claiming raises.
    """
    with refusing(os.environ), Store.open(store) as opened:
        shown = _find(opened, aid)
        agent = path_text(store.name)
        setting = launch_for(settings, agent=agent, store=store)
        if setting is None:
            raise no_command(agent, store)
        with working(opened) as held, ExitStack() as kept:
            with starting(opened), only_start(shown, settings) as seen:
                refuse_going_elsewhere(shown, seen)
                going = kept.enter_context(going_on(name_of(shown), store))
                command = _Command(opened, setting, held, going, seen)
                begin_to_start(os.environ)
                ready = _start(command, _find(opened, aid))
            return _run(command, ready)


@dataclass(frozen=True, slots=True)
class _Command:
    """What resumes the agents of a store, and the locks that it holds together with us."""

    store: Store
    setting: LaunchSetting
    held: AgentLock | None
    going: AgentLock | None
    """That of its run, where no process above us holds it."""
    seen: Sequence[Row]
    """What all folders hold, while no copy of the run can be started by anybody else."""


@dataclass(frozen=True, slots=True)
class _Started:
    """A command whose start is committed: its end is the outcome of ENDS."""

    ends: Sequence[Shown]
    argv: tuple[str, ...]
    told: dict[str, str]
    checkpoint: Path
    """Where the file stood when the command was started."""


def _start(command: _Command, shown: Shown) -> _Started:
    if shown.call is None:
        return _start_run(command, shown)
    if handover.takes_together(shown):
        return _start_together(command, shown)
    return _start_one(command, shown)


def _look_again(command: _Command, aid: str, calls: Sequence[Shown]) -> None:
    """Raise Refusal for what came since the relaunch of AID began: CALLS are to be handed over."""
    store = command.store
    rows = rows_beside(store)
    launches = store.records(None, aid).launches
    despite = frozenset(code for one in launches if _goes_on(one) for code in one.despite)
    for call in calls:
        row = next((one for one in rows if one.id == call.aid), None)
        if row is None:
            raise NothingPending(worded("Call {call} is not there any more.", call=call.aid[:8]))
        refuse_lapsed(row)
        refuse_open(row)
        refuse_beside_running(row, rows)
        word_for(row, despite)
        refuse_elsewhere(call, command.seen, despite)


def _start_one(command: _Command, shown: Shown) -> _Started:
    store = command.store
    verified = _verified(store, shown)
    _look_again(command, shown.aid, (shown,))
    handed = handed_files.hand(verified.decision_raw)
    claimed = foreign.claim(store, shown)
    try:
        if not _win(store, shown, verified):
            told = worded("Another relaunch of this call came first.")
            raise Refusal(told, code=_code_of_started(store, shown.aid))
    except LineclearError:
        with suppress(LineclearError):
            foreign.put_back(store, claimed)
        raise
    argv = filled(command.setting, claimed.folder, shown.aid, claimed.checkpoint)
    ends = () if verified.decision.verdict == "deny" else (shown,)
    return _Started(ends, argv, handed, claimed.checkpoint)


def _start_together(command: _Command, shown: Shown) -> _Started:
    """Resume a run that takes the decisions on all its calls at once: each call is started."""
    store = command.store
    ready = handover.hand_over(store, shown)
    if ready is None:
        for row in rows_beside(store):
            if row.id == shown.aid:
                refuse_lapsed(row)
        raise Refusal(worded("Not every call of this run is decided yet."), code="held")
    verified = [(call, _verified(store, call)) for call in ready.calls]
    _look_again(command, shown.aid, ready.calls)
    own = next(one for call, one in verified if call.aid == shown.aid)
    handed = handed_files.hand(own.decision_raw, _results(shown, verified))
    claimed = foreign.claim(store, shown)
    started = _win_together(store, verified)
    argv = filled(command.setting, claimed.folder, shown.aid, claimed.checkpoint)
    return _Started(started, argv, handed, claimed.checkpoint)


def _results(shown: Shown, verified: Sequence[tuple[Shown, Verified]]) -> bytes:
    """Put together what the verified decisions say, whatever stands in the ledger by now."""
    decided = {call.item: one.decision.native for call, one in verified}
    return handover.results_of(shown, decided)


def _win_together(store: Store, verified: Sequence[tuple[Shown, Verified]]) -> tuple[Shown, ...]:
    """Take the place of the only relaunch of every call of a run; give those that were started.

    Any of them may have been taken back meanwhile: then none runs.
    """
    started: list[Shown] = []
    denied = [(shown, one) for shown, one in verified if one.decision.verdict == "deny"]
    try:
        # Starts before outcomes: a kill in between is seen.
        for shown, one in verified:
            if one.decision.verdict != "deny":
                _refuse_second(store, shown.aid, won=_win(store, shown, one))
                started.append(shown)
        if not started:
            started.append(_begin_denied(store, *denied[0]))
        for shown, one in denied:
            _win(store, shown, one)
    except LineclearError:
        for shown in started:
            with suppress(LineclearError):
                why = "Not started: the run was not resumed."
                finish(store, shown, "error", code=NOT_BEGUN, result=why)
        raise
    return tuple(started)


def _begin_denied(store: Store, shown: Shown, verified: Verified) -> Shown:
    """Start a run all of whose calls were denied: none of them starts, and it goes on once."""
    run = handover.run_of_calls(shown)
    store.commit("request", None, run.aid, run.raw)
    _refuse_second(store, run.aid, won=begin_resumed(store, run, verified.decision))
    return run


def _refuse_second(store: Store, aid: str, *, won: bool) -> None:
    if won:
        return
    refuse_taken(store, aid)
    told = worded("Another relaunch of this run came first.")
    raise Refusal(told, code=_code_of_started(store, aid))


def _code_of_started(store: Store, aid: str) -> str:
    """Tell whether what took the start slot goes on (`alive`), or is over (`started`)."""
    records = store.known_records(None, aid)
    start = records.start
    if records.outcome is not None or not isinstance(start, Start):
        return "started"
    lives = starter_of(store, start) is not Process.DEAD
    return "alive" if lives else "started"


def _start_run(command: _Command, shown: Shown) -> _Started:
    """Resume a run that left nothing to approve, on an operator's recorded word."""
    store = command.store
    if not shown.checkpoint.resumable:
        raise Refusal(
            worded("This run stopped nowhere from where it could go on."), code="not_resumable"
        )
    launches = store.records(None, shown.aid).launches
    ours = next((one for one in launches if _runs_on_word(one)), None)
    if ours is None:
        raise Refusal(ASK_FOR_WORD, code=MAY_BE_RUNNING)
    _look_again(command, shown.aid, (shown,))
    claimed = foreign.claim(store, shown)
    _refuse_second(store, shown.aid, won=begin_resumed(store, shown, ours))
    argv = filled(command.setting, claimed.folder, shown.aid, claimed.checkpoint)
    return _Started((shown,), argv, {CLAIMED_RUN: shown.aid}, claimed.checkpoint)


def _runs_on_word(launch: Launch) -> bool:
    """Tell whether this launch is going on, and its operator said that nothing else does."""
    return MAY_BE_RUNNING in launch.despite and _goes_on(launch)


def _goes_on(launch: Launch) -> bool:
    return launch.owner is not None and process_of(launch.owner) is Process.ALIVE


def _win(store: Store, shown: Shown, verified: Verified) -> bool:
    """Take the place of the only relaunch of a call.

    Nothing may start on a denial, but nothing is left to happen either: its outcome is the fence.
    """
    decision = verified.decision
    if decision.verdict != "deny":
        return begin(store, shown, verified)
    said = f"[DENIED by approval: {decision.reason or ''}]"
    outcome = make_outcome(store, shown, "denied", said)
    return store.commit("outcome", shown.seq, shown.aid, outcome.encode()) is Commit.WON


def put_back(detail: Detail) -> None:
    """Give a claimed checkpoint that was not started back to its store.

    Raises Refusal: `not_claimed`, `started`, `changed`, `gone`, `superseded` (a newer checkpoint
    stands there); NotConfirmed.
    """
    shown = detail.shown
    if not detail.row.claimed or shown is None or shown.path is None:
        raise Refusal(worded("This call is not claimed for a relaunch."), code="not_claimed")
    with Store.open(shown.store) as store:
        foreign.put_back(store, foreign.Claimed(shown.path.parent, shown.path, shown))


def _find(store: Store, aid: str) -> Shown:
    """Find the checkpoint of a call where it was left, or where it was claimed before."""
    paths = [store.path / name for name in own_names(os.fspath(store.path))]
    for path in (*foreign.claimed_checkpoints(store), *paths):
        try:
            every = foreign.show_foreign(path, store=store)
        except LineclearError:
            # Another file of the store; the one that is looked for says its own trouble below.
            continue
        for shown in every:
            if shown.aid == aid:
                return shown
    # Its bytes may still stand there, as a call that waits for a decision again.
    start = store.known_records(None, aid).start
    if isinstance(start, Revoked):
        who, at = person(start.revoked.by), local_time(start.revoked.at)
        raise Refusal(
            worded(
                "{who} took the decision on call {call} back at {at}; nothing was started.",
                who=who,
                call=aid[:8],
                at=at,
            ),
            code="taken_back",
        )
    raise NothingPending(
        worded(
            "{path} holds no checkpoint of call {call} any more.",
            path=path_text(store.path),
            call=aid[:8],
        )
    )


def _verified(store: Store, shown: Shown) -> Verified:
    known = store.known_records(None, shown.aid)
    if known.decision is None and not known.damaged:
        raise Refusal(worded("This call is not decided yet."), code="not_decided")
    match read_decision(store, shown):
        case Verified() as verified:
            if verified.decision.verdict in ("expired", "withdrawn"):
                raise Refusal(
                    worded("The call is {verdict}.", verdict=verified.decision.verdict),
                    code="closed",
                )
            return verified
        case Waiting():
            raise Refusal(worded("This call is not decided yet."), code="not_decided")
        case Unfit(code=code, sentence=sentence):
            raise Refusal(sentence, code=code)
        case Observed():
            told = worded("This call was started or ended already.")
            raise Refusal(told, code=_code_of_started(store, shown.aid))


def _run(command: _Command, started: _Started) -> int:
    """Run the command to its end, and record that; outcomes of denied calls stand already."""
    ends, argv = started.ends, started.argv
    store, setting = command.store, command.setting
    # Windows shares no lock with what is started: there our own end counts for both.
    shared = () if os.name == "nt" else (command.held, command.going)
    began = time.monotonic()
    source, sink = os.pipe()
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            close_fds=True,
            pass_fds=[held.descriptor for held in shared if held is not None],
            cwd=start_folder(setting),
            env={**environment(setting, os.environ), **started.told},
        )
    except OSError as why:
        os.close(source)
        sentence = f"{path_text(argv[0])} could not be started: {why.strerror}."
        for shown in ends:
            finish(store, shown, "error", result=sentence, exit_code=output_log.NOT_STARTED)
        raise Refusal(sentence, code="no_program") from why
    finally:
        os.close(sink)
    say_started(os.environ)
    told = ([path_text(part) for part in argv], [path_text(store.path)])
    for held, words in zip(shared, told, strict=False):
        if held is not None:
            pass_on(held, child.pid, words)
    tail = _Tail()
    reader = threading.Thread(target=tail.follow, args=(source,), daemon=True)
    reader.start()
    code = child.wait()
    # Children of the command may hold its output open for ever; its own words are in by now.
    reader.join(_DRAIN_S)
    for shown in ends:
        finish(
            store,
            shown,
            "ok" if code == 0 else "error",
            result=tail.text(),
            code=UNTOUCHED if code == 0 and _is_untouched(store, shown, started) else None,
            exit_code=code,
            duration_ms=round((time.monotonic() - began) * 1000),
        )
    return code if code >= 0 else _SIGNALLED - code


def _is_untouched(store: Store, shown: Shown, started: _Started) -> bool:
    """Tell whether the checkpoint stands there as it was, and no agent of ours took the run up."""
    position = shown.checkpoint.position
    try:
        if position is not None and is_taken_up(folder_of(store, shown), position.run_id):
            return False
        foreign.verify_file(store, replace(shown, path=started.checkpoint))
    except LineclearError:
        return False
    return True


class _Tail:
    """Passes output on and remembers its end."""

    def __init__(self) -> None:
        self._held = b""

    def follow(self, source: int) -> None:
        """Read until all writers have closed their end, then close ours."""
        while chunk := os.read(source, 1 << 16):
            self._held = (self._held + chunk)[-output_log.TAIL :]
            # Nobody may be left who reads it; the outcome still says how it ended.
            with suppress(OSError):
                os.write(1, chunk)
        os.close(source)

    def text(self) -> str:
        """Give the end as text; bytes that are no UTF-8 become U+FFFD."""
        return self._held.decode("utf-8", "replace")
