"""Calls and runs are known again in other folders and sources, under whatever spelling."""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.rows.row import Row, row_json
from lineclear.core.inbox.runs.answered import told
from lineclear.core.inbox.watching.feed import Feed
from lineclear.core.inbox.watching.scan import StoreRows, read_detail, scan_once
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import VerdictName
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.inbox.rows.test_stopped_runs import WORD, command, until
from tests.core.inbox.runs.test_beside import asked, failed, rows, run_row, say, waiting

HANDED = "handed_over_before"


@pytest.fixture
def elsewhere(tmp_path):
    folder = tmp_path / "others"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def settings(source, elsewhere):
    """Both folders are watched, and what resumes their agents ends well."""
    made = command(source, "-c", "print('ran')")
    (launch,) = made.launch
    made = made.model_copy(
        update={
            "sources": (*made.sources, SourceSetting(path=elsewhere)),
            "launch": (launch, LaunchSetting(source=elsewhere, argv=launch.argv)),
        }
    )
    save(made)
    return made


def only(settings: Settings, store: Path) -> Row:
    (row,) = [row for row in rows(settings) if row.store == store]
    return row


def answered(
    settings: Settings, folder: Path, verdict: VerdictName = "approve", **said: Any
) -> Row:
    """Answer the one call that waits in a folder, and let its agent take it."""
    row = only(settings, folder)
    say(row, settings, verdict, **said)
    run_claimed(row.store, row.id, settings)
    return row


# --- The same call -----------------------------------------------------------------------------

SPELLINGS = {
    "a copy": ("run_1", "call_1"),
    "its longer id": ("run_1", "approval_run_1_call_1"),
    "in capitals": ("RUN_1", "Call_1"),
    "padded": ("run_1 ", "call_1 "),
    "in wide letters": ("run_1", "\uff43all_1"),
    "with what nobody sees": ("run_1", "call\u200b_1"),
    "all of that": ("RUN_1", "Approval_Run_1_\uff23ALL_1 "),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("watched", ["source", "elsewhere"])
def test_a_call_that_ran_in_one_folder_is_known_in_every_other(
    request, settings, source, watched, spelling
):
    waiting(source / "web", asked())
    first = answered(settings, source / "web")
    copy = request.getfixturevalue(watched) / "copy"
    waiting(copy, asked(*spelling))
    row = only(settings, copy)
    assert row.warnings == (HANDED, "foreign")
    assert row.answered is not None
    assert (row.answered.id, row.answered.store) == (first.id, source / "web")
    name, at = row.answered.decision.by.name, local_time(row.answered.decision.at)
    where = f"Answered before in {source / 'web'}: approved by {name} at {at}."
    assert told(row.answered) == where
    with pytest.raises(Refusal) as refused:
        decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings)
    assert refused.value.code == HANDED
    assert where in refused.value.sentence
    say(row, settings)
    assert only(settings, copy).state is State.APPROVED
    # It was given with the decision, and is not asked for again.
    relaunch(read_detail(only(settings, copy)), settings)


def test_the_json_of_a_row_tells_of_the_answer(settings, source, elsewhere):
    waiting(source / "web", asked())
    first = answered(settings, source / "web")
    assert row_json(first)["answered_before"] is None
    waiting(elsewhere / "copy", asked())
    row = only(settings, elsewhere / "copy")
    assert row.answered is not None
    decision = row.answered.decision
    assert row_json(row)["answered_before"] == {
        "id": first.id,
        "store": str(source / "web"),
        "verdict": "approve",
        "by": decision.by.name,
        "by_uid": decision.by.uid,
        "at": decision.model_dump(mode="json")["at"],
        "handed_over": True,
    }


@pytest.mark.parametrize(
    "raw",
    [asked("run_2"), asked("run_1", "call_2"), asked("run_1", "call_1", path="/srv")],
    ids=["another run", "another call", "other arguments"],
)
def test_another_call_is_not_it(settings, source, elsewhere, raw):
    waiting(source / "web", asked())
    answered(settings, source / "web")
    waiting(elsewhere / "copy", raw)
    row = only(settings, elsewhere / "copy")
    assert (HANDED in row.warnings, row.answered) == (False, None)


def test_a_denial_elsewhere_is_told_and_needs_no_word(settings, source, elsewhere):
    waiting(source / "web", asked())
    answered(settings, source / "web", "deny", reason="no")
    waiting(elsewhere / "copy", asked())
    row = only(settings, elsewhere / "copy")
    assert row.warnings == ("foreign",)
    assert row.answered is not None
    assert told(row.answered).startswith(f"Answered before in {source / 'web'}: denied by ")
    decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings)


def test_an_answer_to_an_older_call_of_a_folder_counts_as_well(settings, source, elsewhere):
    path = waiting(source / "web", asked())
    answered(settings, source / "web")
    path.unlink()
    waiting(source / "web", asked("run_1", "call_9", path="/opt"), "later")
    answered(settings, source / "web")
    waiting(elsewhere / "copy", asked())
    assert HANDED in only(settings, elsewhere / "copy").warnings


def test_of_two_that_were_both_approved_the_second_needs_the_word_to_start(
    settings, source, elsewhere
):
    for folder in (source / "web", elsewhere / "copy"):
        waiting(folder, asked())
    for folder in (source / "web", elsewhere / "copy"):
        decide(
            read_detail(only(settings, folder)),
            Verdict("approve"),
            Origin.CLICK,
            settings,
            despite=frozenset({"twin"}),
        )
    first = only(settings, source / "web")
    assert run_claimed(first.store, first.id, settings) == 0
    second = only(settings, elsewhere / "copy")
    assert (second.state, second.warnings) == (State.APPROVED, (HANDED,))
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(second), settings)
    assert refused.value.code == HANDED
    assert str(source / "web") in refused.value.sentence
    relaunch(read_detail(second), settings, despite=frozenset({HANDED}))
    until(lambda: all(row.store != second.store for row in rows(settings)))


def of_no_name(folder: Path, **fields: Any) -> None:
    folder.mkdir(mode=0o700)
    badinputs.put(folder / "pending.json", badinputs.encoded(**fields))


@pytest.mark.parametrize(
    "fields, code", [({"trace_id": "r-1", "tool_id": "t"}, HANDED),
                     ({"trace_id": None, "tool_id": ""}, "repeats_finished_call")]
)  # fmt: skip
def test_a_copy_of_a_call_without_a_name_repeats_one_that_ran(
    settings, source, elsewhere, fields, code
):
    of_no_name(source / "bot", **fields)
    # An agent that ran its call takes its checkpoint away.
    argv = (sys.executable, "-c", "import os, sys; os.unlink(sys.argv[1])", "{checkpoint}")
    taking = tuple(one.model_copy(update={"argv": argv}) for one in settings.launch)
    answered(settings.model_copy(update={"launch": taking}), source / "bot")
    of_no_name(elsewhere / "copy", **fields)
    assert set(only(settings, elsewhere / "copy").warnings) == {code, "foreign"}


def test_an_id_that_may_be_anybodys_makes_two_calls_no_one(settings, source, elsewhere):
    of_no_name(source / "bot", trace_id=None, tool_id="call_1", iteration=1)
    answered(settings, source / "bot")
    of_no_name(elsewhere / "copy", trace_id=None, tool_id="call_1", iteration=2)
    assert only(settings, elsewhere / "copy").answered is None


# --- The same run ------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["run_1", "RUN_1", "run_1 "])
@pytest.mark.parametrize("watched", ["source", "elsewhere"])
def test_a_run_is_not_resumed_while_a_call_of_it_is_open_in_any_folder(
    request, settings, source, watched, run
):
    failed(source / "web")
    other = request.getfixturevalue(watched) / "other"
    path = waiting(other, asked(run))
    row = run_row(settings)
    (call_row,) = [one for one in rows(settings) if one.tool]
    sentence = (
        f"It cannot be resumed while shell ({call_row.id[:8]}) is open in {other};"
        " decide that first."
    )
    assert (row.reason_code, row.reason) == ("request_open", sentence)
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings, despite=WORD)
    assert (refused.value.code, refused.value.sentence) == ("request_open", sentence)
    path.unlink()
    assert run_row(settings).reason is None


def test_a_call_of_another_run_elsewhere_holds_nothing_back(settings, source, elsewhere):
    failed(source / "web")
    waiting(elsewhere / "other", asked("run_2"))
    assert (run_row(settings).reason, run_row(settings).elsewhere) == (None, None)


def test_an_approved_call_is_not_resumed_while_another_of_its_run_waits_elsewhere(
    settings, source, elsewhere
):
    waiting(source / "web", asked())
    waiting(elsewhere / "other", asked("run_1", "call_2", path="/srv"))
    say(only(settings, source / "web"), settings)
    row = only(settings, source / "web")
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings)
    assert refused.value.code == "request_open"
    assert str(elsewhere / "other") in refused.value.sentence
    say(only(settings, elsewhere / "other"), settings, "deny", reason="no")
    relaunch(read_detail(only(settings, source / "web")), settings)


def test_a_run_that_was_started_elsewhere_goes_on_there(settings, source, elsewhere, tmp_path):
    go = tmp_path / "go"
    program = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(.02)"
    first, second = (one.model_copy(update={"argv": (*one.argv[:-1], program)})
                     for one in settings.launch)  # fmt: skip
    settings = settings.model_copy(update={"launch": (first, second)})
    save(settings)
    failed(source / "web")
    failed(elsewhere / "copy")
    relaunch(read_detail(only(settings, source / "web")), settings, despite=WORD)
    try:
        until(lambda: only(settings, source / "web").state is State.RUNNING)
        with pytest.raises(Refusal) as refused:
            relaunch(read_detail(only(settings, elsewhere / "copy")), settings, despite=WORD)
        assert refused.value.code == "alive"
        assert str(source / "web") in refused.value.sentence
    finally:
        go.touch()
    until(lambda: [row.store.name for row in rows(settings)] == ["copy"])


def test_the_worker_looks_at_all_folders_once_more(settings, source, elsewhere):
    failed(source / "web")
    row = run_row(settings)
    waiting(elsewhere / "other", asked())
    with pytest.raises(Refusal) as refused:
        run_claimed(row.store, row.id, settings)
    assert refused.value.code == "request_open"
    assert not list((source / "web").glob(".approvals/*.start.json"))


# --- Step by step, as a window is told ---------------------------------------------------------


def test_a_waiting_copy_changes_with_the_answer_to_the_other(settings, source, elsewhere):
    waiting(source / "web", asked())
    waiting(elsewhere / "copy", asked())
    scanned = {row.store: row for row in scan_once(settings, settings.sources)}
    feed = Feed()
    both = [StoreRows(store, (row,)) for store, row in scanned.items()]
    feed.update([StoreRows(one.store, _unmarked(one)) for one in both])
    say(scanned[source / "web"], settings)
    decided = only(settings, source / "web")
    run_claimed(decided.store, decided.id, settings)
    (after,) = [one for one in scan_once(settings, settings.sources) if one.closed]
    before = only(settings, elsewhere / "copy").answered
    assert before is not None
    diff = feed.update([StoreRows(after.store, (after,), (before,))])
    changed = {row.store: row for row in diff.changed}
    assert HANDED in changed[elsewhere / "copy"].warnings
    diff = feed.update([StoreRows(after.store)])
    assert [row.answered for row in diff.changed] == [None]


def _unmarked(one: StoreRows) -> tuple[Row, ...]:
    return tuple(read_detail(row).row for row in one.rows)


def test_many_copies_of_one_call_cost_no_look_at_all_of_them(settings, source):
    waiting(source / "web", asked())
    row = only(settings, source / "web")
    count, feed = 20_000, Feed()
    for number in range(count):
        place = Path(f"/srv/{number}")
        feed.update([StoreRows(place, (_at(row, place, f"{number:032x}"),))])
    began = time.process_time()
    for number in range(count, count + 100):
        place = Path(f"/srv/{number}")
        feed.update([StoreRows(place, (_at(row, place, f"{number:032x}"),))])
    assert time.process_time() - began < 1.0


def _at(row: Row, place: Path, row_id: str) -> Row:
    return replace(row, id=row_id, store=place)
