"""Scanning: what stands on disk becomes rows, each with its reason, and nothing is read twice."""

import json
import logging
import os
import shutil
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lineclear import Action, AgentExecutor, Allow, Budget, MaxIterationsReached
from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import AmbiguousId, NothingPending, Unreadable
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting
from lineclear.core.inbox.rows.row import Row, row_json
from lineclear.core.inbox.sources import walk
from lineclear.core.inbox.watching import scan
from lineclear.core.inbox.watching.scan import Scanner, StoreRows, find, read_detail, scan_once
from lineclear.core.inbox.watching.store_reading import StoreReader
from lineclear.core.ledger.ask import Asked, ask, withdraw
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict, decide, take_back
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.inbox.agents import Agent, asked, call, watching

BOB = this_person("bob")


def rows_of(*folders: Path, every_closed: bool = False, **said: Any) -> list[Row]:
    settings = watching(*folders, **said)
    return scan_once(settings, settings.sources, every_closed=every_closed)


def only(*folders, **said):
    (row,) = rows_of(*folders, **said)
    return row


def detail_of(row) -> Any:
    return read_detail(row)


def foreign(folder: Path, raw: bytes | None = None) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return badinputs.put(folder / "pending.json", raw)


def say(shown, verdict, **said):
    with Store.open(shown.store) as store:
        return decide(store, shown, Verdict(verdict, **said), BOB, valid_for_s=900.0)


# --- Native stores -----------------------------------------------------------------------------


def test_a_lane_shows_its_call_with_all_that_its_agent_reports(source):
    shown = asked(
        source / "refund-bot" / "1",
        call(arguments={"amount": 120}, iteration=3, tool_calls=4, trace_id="t-1"),
    )
    row = only(source)
    assert (row.id, row.system, row.state) == (shown.aid, "lineclear", State.PENDING)
    assert (row.tool, row.arguments, row.agent) == ("send_refund", {"amount": 120}, "refund-bot")
    assert (row.store, row.source) == (source / "refund-bot" / "1", source)
    assert (row.counters.iteration, row.counters.tool_calls) == (3, 4)
    assert row.counters.tokens is None
    assert (row.seq, row.sha256, row.run) == (1, shown.sha256, "t-1")
    assert row.asked_at == shown.block.created_at
    assert row.path == row.store / ".approvals" / "000001.request.json"


def test_what_an_agent_does_not_report_is_null_not_zero(source):
    asked(source / "refund-bot" / "1")
    row = only(source)
    assert json.loads(row.path.read_bytes())["iteration"] == 0
    assert row_json(row)["iteration"] is None
    assert row_json(row)["tool_calls"] is None


def test_a_plain_store_and_a_source_that_is_a_store_are_found(source):
    asked(source / "plain")
    assert only(source).store == source / "plain"
    assert only(source / "plain").store == source / "plain"


def test_the_run_folders_lock_covers_its_lanes(source):
    with Agent(source / "bot") as agent:
        row = only(source)
        assert (row.process, row.pid) == (Process.ALIVE, agent.pid)
        assert detail_of(row).lock.held is True
    assert only(source).process is Process.DEAD


def test_death_is_seen_without_any_file_changing(source):
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    with Agent(source / "bot"):
        (first,) = scanner.scan_source(setting)
        assert first.rows[0].process is Process.ALIVE
    (second,) = scanner.recheck_live(setting)
    assert second.rows[0].process is Process.DEAD
    assert list(scanner.recheck_live(setting)) == []


def test_a_call_goes_through_its_states(source):
    shown = asked(source / "bot" / "1")
    say(shown, "approve")
    row = only(source)
    assert (row.state, row.decision.verdict) == (State.APPROVED, "approve")
    assert row.lapses_at == row.decision.at + timedelta(seconds=900)
    with Store.open(shown.store) as store:
        verified = read_decision(store, shown)
        assert isinstance(verified, Verified)
        assert begin(store, shown, verified)
        assert only(source).state is State.RUNNING
        finish(store, shown, "ok", result="refund R-88 created")
    row = only(source)
    assert (row.state, row.outcome, row.closed) == (State.DONE, "ok", True)
    assert row.preview == "refund R-88 created"
    assert row.ended_at is not None
    detail = detail_of(row)
    assert detail.result == "refund R-88 created"
    assert detail.records.decision.by.name == "bob"


def test_only_the_newest_closed_call_is_given_unless_all_are_asked_for(source):
    lane = source / "bot" / "1"
    for number in range(3):
        shown = asked(lane, call(arguments={"n": number}))
        with Store.open(lane) as store:
            say(shown, "deny", reason="no")
            finish(store, shown, "denied", result="no")
    asked(lane, call(arguments={"n": 3}))
    assert sorted((row.arguments["n"], row.closed) for row in rows_of(source)) == [
        (2, True),
        (3, False),
    ]
    every = rows_of(source, every_closed=True)
    assert [row.arguments["n"] for row in every] == [0, 1, 2, 3]
    assert detail_of(every[0]).row.arguments == {"n": 0}


def test_an_approval_taken_back_is_withdrawn(source):
    shown = asked(source / "bot" / "1")
    say(shown, "approve")
    with Store.open(shown.store) as store:
        take_back(store, shown, BOB)
    row = only(source)
    assert (row.state, row.outcome, row.closed) == (State.DONE, "withdrawn", True)


def test_an_expired_request_is_made_expired_by_whoever_sees_it(source):
    shown = asked(
        source / "bot" / "1", call(expires_at=datetime.now(UTC) + timedelta(milliseconds=20))
    )
    while datetime.now(UTC) < shown.block.expires_at:
        time.sleep(0.005)
    row = only(source)
    assert (row.state, row.decision.verdict) == (State.EXPIRED, "expired")
    assert list((shown.store / ".approvals").glob("*.decision.json"))


def test_a_request_that_expires_later_is_left_alone(source):
    at = datetime.now(UTC) + timedelta(hours=1)
    asked(source / "bot" / "1", call(expires_at=at))
    row = only(source)
    assert (row.state, row.expires_at) == (State.PENDING, at)


def test_what_a_wrong_clock_let_lapse_stands_again_once_the_clock_is_right(source, monkeypatch):
    shown = asked(source / "bot" / "1")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    with Store.open(shown.store) as store:
        decide(store, shown, Verdict("approve"), BOB, valid_for_s=900)
    right = read_now
    with monkeypatch.context() as wrong:
        ahead = timedelta(hours=1)
        wrong.setattr(scan, "read_now", lambda: replace(right(), wall=right().wall + ahead))
        (first,) = scanner.scan_source(setting)
        assert first.rows[0].state is State.LAPSED
    (second,) = scanner.scan_source(setting)
    assert second.rows[0].state is State.APPROVED
    deadline = time.monotonic() + 10
    # Once read at the right time it is not read again for that.
    while [one for one in scanner.scan_source(setting) if one.rows]:
        assert time.monotonic() < deadline


def test_time_alone_changes_a_row_of_an_unchanged_store(source):
    shown = asked(source / "bot" / "1")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    with Store.open(shown.store) as store:
        decide(store, shown, Verdict("approve"), BOB, valid_for_s=0.15)
    (first,) = scanner.scan_source(setting)
    assert first.rows[0].state is State.APPROVED
    deadline = time.monotonic() + 5
    states: list[State] = []
    while not states and time.monotonic() < deadline:
        states = [row.state for scanned in scanner.scan_source(setting) for row in scanned.rows]
    assert states == [State.LAPSED]


def test_a_damaged_decision_fails_closed(source):
    shown = asked(source / "bot" / "1")
    name = f"000001-{shown.aid}.decision.json"
    badinputs.put(shown.store / ".approvals" / name, b"")
    row = only(source)
    assert (row.state, row.reason_code) == (State.DAMAGED, "empty")


def test_a_request_changed_in_place_is_seen_at_the_next_scan(source):
    shown = asked(source / "bot" / "1")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    path = shown.store / ".approvals" / "000001.request.json"
    path.write_bytes(shown.raw.replace(b"C-1204", b"C-9999"))
    (again,) = scanner.scan_source(setting)
    assert again.rows[0].arguments == {"customer": "C-9999"}
    assert again.rows[0].sha256 != shown.sha256


def test_another_pending_json_than_the_request_is_told(source):
    shown = asked(source / "bot" / "1")
    assert "projection_differs" not in only(source).warnings
    badinputs.put(shown.store / "pending.json", shown.raw.replace(b"C-1204", b"C-9999"))
    row = only(source)
    assert "projection_differs" in row.warnings
    assert row.arguments == {"customer": "C-1204"}
    say(shown, "approve")
    assert "projection_differs" in only(source).warnings


def test_another_programs_checkpoint_in_a_native_store_is_visible(source):
    shown = asked(source / "bot" / "1")
    say(shown, "deny", reason="no")
    with Store.open(shown.store) as store:
        finish(store, shown, "denied", result="no")
    badinputs.put(shown.store / "pending.json")
    stray = next(row for row in rows_of(source) if not row.closed)
    assert (stray.state, stray.reason_code) == (State.STRAY, "projection_differs")


def test_a_copied_store_is_refused(source):
    shown = asked(source / "bot" / "1")
    shutil.copytree(shown.store, source / "bot" / "2")
    rows = {row.store.name: row for row in rows_of(source)}
    assert rows["1"].state is State.PENDING
    assert (rows["2"].state, rows["2"].reason_code) == (State.UNREADABLE, "store_moved")


# --- Warnings ----------------------------------------------------------------------------------


def test_a_tool_is_asked_for_the_first_time_once(source):
    lane = source / "bot" / "1"
    shown = asked(lane, call("bash"))
    assert "first_time" in only(source).warnings
    say(shown, "deny", reason="no")
    with Store.open(lane) as store:
        finish(store, shown, "denied", result="no")
    asked(lane, call("bash", {"command": "ls"}))
    asked(source / "bot" / "2", call("bash", {"command": "pwd"}))
    asked(source / "other" / "1", call("bash", {"command": "id"}, agent="other"))
    (source / "bot" / "agent.lock").touch(0o600)
    waiting = {
        row.arguments["command"]: "first_time" in row.warnings
        for row in rows_of(source)
        if not row.closed
    }
    assert waiting == {"ls": False, "pwd": False, "id": True}


def test_only_a_decided_call_makes_a_tool_known_and_it_stays_known(source):
    lane, settings = source / "bot" / "1", watching(source)
    scanner = Scanner(settings)

    def marked() -> list[bool]:
        """By a scanner that goes on, and by a new one."""
        list(scanner.scan_source(settings.sources[0]))
        kept = [row for rows in scanner.stores.values() for row in rows.rows]
        return [
            "first_time" in row.warnings
            for row in (*kept, *rows_of(source))
            if row.state is State.PENDING
        ]

    def closed(shown, verdict: str, outcome) -> None:
        if verdict:
            say(shown, verdict, reason="no")
        with Store.open(lane) as store:
            finish(store, shown, outcome)

    with Store.open(asked(lane, call("bash", {"n": 0})).store) as store:
        shown = store.read_request(1)
        assert withdraw(store, shown)
    bash = asked(lane, call("bash", {"n": 1}))
    assert marked() == [True, True]
    closed(bash, "deny", "denied")
    for number in range(60):
        with Store.open(asked(lane, call("other", {"n": number})).store) as store:
            assert withdraw(store, store.read_request(number + 3))
        asked(lane, call("bash", {"n": number + 2})) if number == 59 else None
    assert marked() == [False, False]


# --- Agents that were started again ------------------------------------------------------------


def taken_later(folder: Path, than: int) -> AgentLock:
    """Take an agent's lock until its file is of a later time than THAN."""
    while True:
        lock = AgentLock.acquire(folder)
        if (folder / "agent.lock").stat().st_mtime_ns > than:
            return lock
        lock.close()


def test_what_an_earlier_process_asked_is_not_awaited_until_it_is_asked_again(source):
    folder, lane = source / "bot", source / "bot" / "1"
    with AgentLock.acquire(folder):
        asked(lane, call("bash"))
        assert only(source).waited_for
    assert only(source).waited_for, "a dead agent has words of its own"
    with taken_later(folder, time.time_ns()):
        assert not only(source).waited_for
        with Store.open(lane) as store:
            assert isinstance(ask(store, call("bash")), Asked)
        row = only(source)
        assert (row.waited_for, row.process, row.pid) == (True, Process.ALIVE, os.getpid())
        with Store.open(lane) as store:
            assert withdraw(store, store.read_request(1))
        assert only(source).pid is None


def test_an_identical_finished_call_is_told(source):
    lane = source / "bot" / "1"
    shown = asked(lane)
    say(shown, "approve")
    with Store.open(lane) as store:
        verified = read_decision(store, shown)
        assert isinstance(verified, Verified)
        begin(store, shown, verified)
        finish(store, shown, "ok", result="done")
    asked(lane)
    row = next(row for row in rows_of(source) if not row.closed)
    assert "repeats_finished_call" in row.warnings
    assert "first_time" not in row.warnings


def test_the_same_call_in_two_stores_are_twins(source):
    asked(source / "a" / "1", call(arguments={"to": "bob"}))
    asked(source / "b" / "1", call(arguments={"to": "bob"}))
    asked(source / "c" / "1", call(arguments={"to": "eve"}))
    marked = {row.store.parent.name: row.warnings[0] == "twin" for row in rows_of(source)}
    assert marked == {"a": True, "b": True, "c": False}


def test_the_last_call_of_a_budget_is_told(source):
    from lineclear.core.ledger.records import Limits

    asked(source / "a" / "1", call(tool_calls=5, limits=Limits(tool_calls=5)))
    asked(source / "b" / "1", call(arguments={}, tool_calls=4, limits=Limits(tool_calls=5)))
    # Iterations are numbered from 0: the second one of two is the last.
    asked(source / "c" / "1", call(arguments=[1], iteration=1, limits=Limits(iteration=2)))
    asked(source / "d" / "1", call(arguments=[2], iteration=0, limits=Limits(iteration=2)))
    told = {row.store.parent.name: "last_of_budget" in row.warnings for row in rows_of(source)}
    assert told == {"a": True, "b": False, "c": True, "d": False}


async def test_what_is_told_to_be_the_last_call_is_the_last_that_its_agent_makes(source):
    """Of an executor's own: it asks no more, and ends."""
    warned: list[bool] = []

    class Agent:
        def plan(self, inputs, steps):
            return Action("pay", {"amount": len(steps)})

    def looked(_call):
        (row,) = (row for row in rows_of(source) if not row.closed)
        warned.append("last_of_budget" in row.warnings)
        return Allow()

    tools = {"pay": lambda amount: "paid"}
    budget = Budget(iterations=3)
    async with AgentExecutor(
        Agent(), tools, store=source / "bot", approval=looked, budget=budget
    ) as agent:
        with pytest.raises(MaxIterationsReached):
            await agent.invoke("go")
    assert warned == [False, False, True]


def test_an_old_call_is_told(source, monkeypatch):
    asked(source / "bot" / "1")
    assert "old" not in only(source).warnings
    now = read_now()
    later = replace(now, wall=now.wall + timedelta(hours=4, seconds=30))
    monkeypatch.setattr(scan, "read_now", lambda: later)
    assert "old" in only(source).warnings


def test_a_source_that_others_can_write_makes_every_store_in_it_unsafe(source):
    asked(source / "bot" / "1")
    source.chmod(0o777)
    assert "writable_by_others" in only(source).warnings
    source.chmod(0o1777)
    assert "writable_by_others" not in only(source).warnings


# --- Foreign stores ----------------------------------------------------------------------------


def test_a_foreign_checkpoint_is_a_row_of_its_system(source):
    path = foreign(source / "shop" / "bot-7")
    row = only(source)
    assert (row.system, row.state, row.process) == ("lc-agents", State.PENDING, Process.UNKNOWN)
    assert (row.agent, row.asked_at, row.path) == ("bot-7", None, path)
    assert (row.counters.iteration, row.counters.tool_calls, row.counters.tokens) == (1, 1, None)
    assert "foreign" in row.warnings
    assert len(row.id) == 32
    assert not (source / "shop" / "bot-7" / ".approvals").exists()


def test_a_foreign_checkpoint_written_anew_is_a_new_row(source):
    path = foreign(source / "bot")
    before = only(source)
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(1, 1))
    assert only(source).id != before.id
    with pytest.raises(Unreadable):
        detail_of(before)


def test_a_decided_foreign_call_outlives_its_file(source):
    path = foreign(source / "bot")
    detail = detail_of(only(source))
    say(detail.shown, "deny", reason="wrong")
    row = only(source)
    assert (row.state, row.closed, row.decision.native) == (
        State.DENIED,
        False,
        {"Deny": {"reason": "wrong"}},
    )
    path.unlink()
    row = only(source)
    assert (row.state, row.closed, row.tool) == (State.DENIED, True, "send_money")
    assert detail_of(row).shown.raw == badinputs.encoded()


def test_a_claimed_checkpoint_is_shown_under_its_store(source):
    from lineclear.core.ledger import foreign as foreign_ledger

    foreign(source / "bot")
    detail = detail_of(only(source))
    say(detail.shown, "approve")
    with Store.open(source / "bot") as store:
        claimed = foreign_ledger.claim(store, detail.shown)
    row = only(source)
    assert (row.id, row.store, row.claimed) == (detail.row.id, source / "bot", True)
    assert "claimed" in row.warnings
    assert row.path == claimed.checkpoint
    badinputs.put(claimed.checkpoint, badinputs.encoded(tool_name="next_tool"))
    rows = {row.tool: row for row in rows_of(source) if not row.closed}
    assert (rows["next_tool"].store, rows["next_tool"].claimed) == (source / "bot", False)
    assert rows["next_tool"].state is State.PENDING
    assert detail_of(rows["next_tool"]).shown.call.tool == "next_tool"


CHECKPOINTS = [one for one in badinputs.LC_AGENTS if one.type == "PendingApproval"]


@pytest.mark.parametrize("fixture", CHECKPOINTS, ids=lambda one: one.name)
def test_every_fixture_is_a_row(source, fixture):
    foreign(source / "bot", fixture.raw)
    row = only(source)
    if not fixture.loads:
        assert row.state is State.UNREADABLE
        assert row.reason_code
        assert row.reason
        return
    assert row.state is State.PENDING
    detail = detail_of(row)
    assert detail.raw == fixture.raw
    assert jsontext.compact(row.arguments, max_depth=256)


# --- Hostile input -----------------------------------------------------------------------------


@pytest.mark.parametrize("bad", badinputs.FILES, ids=lambda one: one.name)
def test_a_hostile_file_is_a_row_with_its_reason(source, bad):
    foreign(source / "bot", bad.raw)
    row = only(source)
    if bad.reason_code is not None:
        assert (row.state, row.reason_code) == (State.UNREADABLE, bad.reason_code)
        assert row.reason
        assert row.reason.isprintable()
        assert len(row.id) == 64
        assert detail_of(row).raw == bad.raw
    else:
        assert row.state is State.PENDING
        beside = {"first_time", "foreign"} | ({"too_deep_for_writer"} & set(row.warnings))
        assert set(row.warnings) - beside == bad.flags
        assert detail_of(row).raw == bad.raw


NO_ROW = {"only_tmp"}
SHOWN = {"tmp_leftover", "name_newline", "name_bytes", "name_long", "mtime_future", "mtime_1970"}
MADE = [
    place
    for place in badinputs.PLACES
    # Root may read what nobody may: that one has a test of its own.
    if place.name in badinputs.SPECIAL and place.name != "mode_000"
]


@pytest.mark.parametrize("place", MADE, ids=lambda one: one.name)
def test_a_hostile_place_never_hides_its_neighbour(source, place):
    try:
        store = badinputs.make_special(place.name, source)
    except badinputs.CannotMake as why:
        pytest.skip(str(why))
    foreign(source / "zz-neighbour", badinputs.encoded(tool_name="neighbour"))
    rows = rows_of(source)
    assert any(row.tool == "neighbour" for row in rows)
    mine = [row for row in rows if row.store == store]
    if place.name in NO_ROW:
        assert mine == []
        return
    (row,) = mine
    assert json.loads(jsontext.compact(row_json(row)))["id"] == row.id
    if place.name == "symlink_dir":
        assert (row.state, row.reason_code) == (State.UNREADABLE, "symlink")
    elif place.reason_code is not None:
        assert (row.state, row.reason_code) == (State.UNREADABLE, place.reason_code)
        assert row.reason
        assert detail_of(row).shown is None
    else:
        assert place.name in SHOWN | {"case_variant"}
        assert (row.state, row.tool) == (State.PENDING, "send_money")


def test_a_linked_store_is_shown_where_its_target_is_a_source(source, tmp_path):
    target = tmp_path / "elsewhere"
    foreign(target)
    (source / "link").symlink_to(target)
    rows = rows_of(source, target)
    assert [(row.store, row.state) for row in rows] == [(target, State.PENDING)]


def test_a_source_that_is_itself_a_link_is_followed(source, tmp_path):
    asked(source / "bot" / "1")
    (tmp_path / "link").symlink_to(source)
    row = only(tmp_path / "link")
    assert (row.state, row.source) == (State.PENDING, tmp_path / "link")


def test_a_linked_ledger_is_refused(source, tmp_path):
    foreign(source / "bot")
    (tmp_path / "other").mkdir(mode=0o700)
    (source / "bot" / ".approvals").symlink_to(tmp_path / "other")
    assert only(source).state is State.UNREADABLE


def test_a_folder_that_is_no_text_is_escaped(source):
    store = Path(os.fsdecode(os.fsencode(source) + b"/bot-\xff"))
    foreign(store)
    row = only(source)
    assert (row.state, row.agent) == (State.PENDING, "bot-\\xff")
    assert row_json(row)["store"].endswith("bot-\\xff")
    assert detail_of(row).shown is not None


def test_one_store_that_trips_the_program_does_not_stop_the_others(source, monkeypatch, caplog):
    foreign(source / "a")
    foreign(source / "b", badinputs.encoded(tool_name="sound"))
    real = Store.open

    def trip(path, **said):
        if path.name == "a":
            raise ZeroDivisionError
        return real(path, **said)

    monkeypatch.setattr(Store, "open", trip)
    rows = {row.store.name: row for row in rows_of(source)}
    assert (rows["a"].state, rows["a"].reason_code) == (State.UNREADABLE, "internal")
    assert rows["b"].state is State.PENDING
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_a_store_that_is_rewritten_all_the_time_is_always_one_whole_version(source):
    path = foreign(source / "bot")
    versions = [badinputs.encoded(arguments={"n": n, "pad": "x" * 4000 * n}) for n in range(4)]
    for number in range(200):
        fresh = path.with_name("pending.json.tmp")
        badinputs.put(fresh, versions[number % 4])
        fresh.replace(path)
        row = only(source)
        assert row.arguments["pad"] == "x" * 4000 * row.arguments["n"]


# --- Walking -----------------------------------------------------------------------------------


def test_depth_is_the_sources_own(source):
    foreign(source / "a" / "b" / "c")
    setting = SourceSetting(path=source, depth=2)
    assert scan_once(Settings(sources=(setting,)), [setting]) == []
    setting = SourceSetting(path=source, depth=3)
    assert len(scan_once(Settings(sources=(setting,)), [setting])) == 1


def test_a_source_in_a_source_has_its_rows_once(source):
    foreign(source / "inner" / "bot")
    rows = rows_of(source, source / "inner")
    assert [row.source for row in rows] == [source / "inner"]


def test_an_unchanged_store_is_not_read_again(source, monkeypatch):
    for number in range(5):
        foreign(source / f"f{number}")
        asked(source / f"n{number}" / "1", call(arguments={"n": number}))
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    assert len(list(scanner.scan_source(setting))) == 10
    deadline = time.monotonic() + 5
    while any(not read.quiet for read in scanner._sources[source].known.values()):
        assert time.monotonic() < deadline
        assert list(scanner.scan_source(setting)) == []
    monkeypatch.setattr(Store, "open", lambda *_: pytest.fail("read again"))
    assert list(scanner.scan_source(setting)) == []


def test_changes_within_one_tick_of_the_file_systems_clock_are_not_lost(source):
    path = foreign(source / "bot")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    for number in range(50):
        status = path.stat()
        path.write_bytes(badinputs.encoded(arguments={"n": 100 + number}))
        # As if the file system's clock had not ticked.
        os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
        list(scanner.scan_source(setting))
        (row,) = scanner.stores[source / "bot"].rows
        assert row.arguments == {"n": 100 + number}


def test_a_vanished_store_takes_its_rows_along(source):
    foreign(source / "a")
    foreign(source / "b")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    shutil.rmtree(source / "a")
    (gone,) = scanner.scan_source(setting)
    assert (gone.store, gone.rows) == (source / "a", ())
    (source / "b" / "pending.json").unlink()
    emptied = scanner.scan_store(setting, source / "b")
    assert emptied == StoreRows(source / "b", ())
    assert scanner.health()[0].calls == 0


def test_a_missing_source_keeps_its_rows_and_says_so(source):
    foreign(source / "a")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    (health,) = scanner.health()
    assert (health.ok, health.stores, health.calls) == (True, 1, 1)
    source.rename(source.with_name("moved"))
    assert list(scanner.scan_source(setting)) == []
    (health,) = scanner.health()
    assert not health.ok
    assert "is missing since" in health.sentence
    assert "its call is shown as last seen and cannot be decided" in health.sentence
    assert health.missing
    row = scanner.stores[source / "a"].rows[0]
    with pytest.raises(Unreadable):
        detail_of(row)
    source.with_name("moved").rename(source)
    assert list(scanner.scan_source(setting)) == []
    assert scanner.health()[0].ok


def test_a_store_that_is_read_while_its_source_goes_stays_as_it_was(source, monkeypatch):
    foreign(source / "a")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    before = scanner.stores[source / "a"]
    badinputs.put(source / "a" / "pending.json", badinputs.encoded(tool_name="other"))
    read = StoreReader.read

    def late(*said):
        source.rename(source.with_name("moved"))
        return read(*said)

    monkeypatch.setattr(StoreReader, "read", late)
    assert list(scanner.scan_source(setting)) == []
    assert scanner.stores[source / "a"] is before
    monkeypatch.undo()
    assert list(scanner.scan_source(setting)) == []
    assert scanner.health()[0].missing
    source.with_name("moved").rename(source)
    (now,) = scanner.scan_source(setting)
    assert [row.tool for row in now.rows] == ["other"]


def test_a_source_that_a_link_replaced_is_not_well_until_it_is_followed(source, tmp_path):
    foreign(source / "a")
    foreign(tmp_path / "disk" / "b")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    source.rename(source.with_name("moved"))
    source.symlink_to(tmp_path / "disk")
    assert list(scanner.scan_source(setting)) == []
    (health,) = scanner.health()
    assert not health.ok
    assert "another folder took its place just now" in health.sentence
    scanner.settle({source: str(tmp_path / "disk")})
    gone, found = scanner.scan_source(setting)
    assert (gone.store, gone.rows) == (source / "a", ())
    assert found.store == tmp_path / "disk" / "b"
    (health,) = scanner.health()
    assert (health.ok, health.stores, health.calls) == (True, 1, 1)


def test_a_default_source_that_no_agent_made_yet_is_well(home):
    settings = Settings()
    scanner = Scanner(settings)
    assert list(scanner.scan_source(settings.sources[0])) == []
    (health,) = scanner.health()
    assert health.ok
    assert "No agent has left anything" in health.sentence


def test_events_on_any_path_lead_to_the_store(source):
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    shown = asked(source / "bot" / "1")
    for path in (
        source / "bot",
        source / "bot" / "1",
        source / "bot" / "1" / "pending.json",
        source / "bot" / "1" / ".approvals" / "000001.request.json",
    ):
        fresh = Scanner(Settings(sources=(setting,)))
        (scanned,) = fresh.scan_changed(setting, str(path))
        assert [row.id for row in scanned.rows] == [shown.aid]
    assert list(scanner.scan_changed(setting, str(source / ".watched" / "x"))) == []
    assert list(scanner.scan_changed(setting, "/etc/passwd")) == []


def test_an_event_below_a_link_leads_nowhere(source, tmp_path):
    foreign(tmp_path / "target" / "bot")
    (source / "link").symlink_to(tmp_path / "target")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    assert list(scanner.scan_changed(setting, str(source / "link" / "bot" / "pending.json"))) == []


def test_a_deleted_folder_takes_all_stores_below_along(source):
    for number in range(3):
        foreign(source / "team" / f"b{number}")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    assert len(list(scanner.scan_source(setting))) == 3
    shutil.rmtree(source / "team")
    gone = list(scanner.scan_changed(setting, str(source / "team")))
    assert len(gone) == 3
    assert all(scanned.rows == () for scanned in gone)


def test_a_configured_command_makes_rows_resumable(source):
    asked(source / "bot" / "1", call(agent="bot"))
    assert only(source).resumable_by is None
    launch = (LaunchSetting(agent="bot", argv=("/bin/true",)),)
    assert only(source, launch=launch).resumable_by == "settings"


# --- Finding -----------------------------------------------------------------------------------


def test_find_takes_an_id_or_a_long_enough_prefix(source):
    shown = asked(source / "bot" / "1")
    rows = rows_of(source)
    assert find(rows, shown.aid).id == shown.aid
    assert find(rows, shown.aid[:8].upper()).id == shown.aid
    with pytest.raises(AmbiguousId, match="at least 8"):
        find(rows, shown.aid[:7])
    with pytest.raises(NothingPending):
        find(rows, "0" * 8 if not shown.aid.startswith("0" * 8) else "1" * 8)
    other = replace(rows[0], id=shown.aid[:8] + "0" * 24)
    with pytest.raises(AmbiguousId, match="2 calls"):
        find([*rows, other], shown.aid[:8])


def test_a_forged_outcome_hides_no_older_call(source):
    lane = source / "bot" / "1"
    shown = asked(lane, call(arguments={"n": 1}))
    with Store.open(lane) as store:
        say(shown, "deny", reason="no")
        finish(store, shown, "denied", result="no")
    asked(lane, call(arguments={"n": 2}))
    outcome = lane / ".approvals" / f"000001-{shown.aid}.outcome.json"
    rows = rows_of(source)
    assert sorted(row.closed for row in rows) == [False, True]
    second = next(row for row in rows if not row.closed)
    say(detail_of(second).shown, "deny", reason="no")
    with Store.open(lane) as store:
        finish(store, detail_of(second).shown, "denied", result="no")
    assert [row.arguments["n"] for row in rows_of(source)] == [2]
    badinputs.put(outcome, b"{}")
    states = {row.arguments["n"]: row.state for row in rows_of(source)}
    assert states == {1: State.DAMAGED, 2: State.DONE}


def test_new_launch_settings_reach_rows_that_were_read_before(source):
    lane = source / "bot" / "1"
    shown = asked(lane, call(agent="bot"))
    with Store.open(lane) as store:
        say(shown, "deny", reason="no")
        finish(store, shown, "denied", result="no")
    asked(lane, call("other", agent="bot"))
    settings = watching(source)
    scanner = Scanner(settings)
    list(scanner.scan_source(settings.sources[0]))
    launch = (LaunchSetting(agent="bot", argv=("/bin/true",)),)
    scanner.apply(settings.model_copy(update={"launch": launch}))
    (again,) = scanner.scan_source(settings.sources[0])
    assert [row.resumable_by for row in again.rows] == ["settings", "settings"]


def test_the_newest_ended_call_follows_its_agents_process(source):
    with Agent(source / "bot") as agent:
        setting = SourceSetting(path=source)
        scanner = Scanner(Settings(sources=(setting,)))
        (row,) = rows_of(source)
        with Store.open(row.store) as store:
            shown = detail_of(row).shown
            say(shown, "deny", reason="no")
            finish(store, shown, "denied", result="no")
        (first,) = scanner.scan_source(setting)
        assert (first.rows[0].closed, first.rows[0].process) == (True, Process.ALIVE)
        agent.kill()
        (second,) = scanner.recheck_live(setting)
        assert second.rows[0].process is Process.DEAD


def as_nobody(source: Path, look: Callable[[], Any]) -> Any:
    """Give what LOOK gives to a user who may not read everything, and owns the source."""
    if os.geteuid() != 0:
        return look()
    for folder in source.parents:
        # The folders of this test run, which are root's alone.
        if folder.stat().st_mode & 0o077 == 0:
            folder.chmod(0o755)
    for path in (*source.rglob("*"), source):
        os.lchown(path, 65534, 65534)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of forking beside threads; this child only reads and leaves.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            os.write(writer, json.dumps(look()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        found = json.load(answer)
    os.waitpid(child, 0)
    return found


def test_a_file_that_may_not_be_read_is_a_row(source):
    store = badinputs.make_special("mode_000", source)
    found = as_nobody(source, lambda: [row_json(row) for row in rows_of(source)])
    assert [(row["state"], row["reason_code"], row["store"]) for row in found] == [
        ("unreadable", "no_permission", str(store))
    ]


def test_a_folder_that_cannot_be_listed_is_told(source):
    foreign(source / "closed" / "bot")
    (source / "closed").chmod(0)
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))

    def look():
        rows = list(scanner.scan_source(setting))
        (health,) = scanner.health()
        return len(rows), health.ok, health.sentence

    rows, ok, sentence = as_nobody(source, look)
    assert (rows, ok) == (0, False)
    assert sentence == f"{source}/closed cannot be looked into: Permission denied."


def test_a_root_that_goes_away_during_a_walk_takes_no_rows_along(source):
    for number in range(60):
        foreign(source / f"bot{number:02}")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    assert len(list(scanner.scan_source(setting))) == 60
    steps = scanner.steps(setting)
    assert next(steps) is None
    source.rename(source.with_name("aside"))
    assert [step for step in steps if step is not None] == []
    assert len(scanner.stores) == 60
    assert list(scanner.scan_source(setting)) == []
    assert not scanner.health()[0].ok


def test_a_system_that_keeps_its_files_some_folders_deep_is_found_and_followed(source):
    store = source / "work" / ".agent"
    shutil.copytree(badinputs.FIXTURES / "a3s" / "store_layout", store)
    for path in (store, *store.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    rows = rows_of(source)
    assert {row.store for row in rows} == {store}
    assert {row.path.parent for row in rows if row.path is not None} == {
        store / "v1" / "loop_checkpoints"
    }
    assert {row.state for row in rows} == {State.RESUMABLE, State.UNREADABLE}
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    gone = next(row for row in rows if row.state is State.RESUMABLE)
    assert gone.path is not None
    gone.path.unlink()
    (scanned,) = scanner.scan_changed(setting, str(gone.path))
    assert gone.id not in {row.id for row in scanned.rows}
    shutil.rmtree(store / "v1")
    (scanned,) = scanner.scan_changed(setting, str(store / "v1" / "loop_checkpoints"))
    assert (scanned.store, scanned.rows) == (store, ())


def test_a_whole_disk_is_no_source(source, monkeypatch):
    for number in range(9):
        foreign(source / f"bot{number}")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    assert len(list(scanner.scan_source(setting))) == 9
    monkeypatch.setattr(walk, "MAX_FOLDERS", 5)
    assert list(scanner.scan_source(setting)) == []
    (health,) = scanner.health()
    assert not health.ok
    assert "not a whole disk" in health.sentence
    assert health.calls == 9


@pytest.mark.parametrize("name", ["agent.lock", "run.json"])
def test_a_folder_that_becomes_a_lane_later_is_read_again(source, name):
    asked(source / "bot" / "1")
    setting = SourceSetting(path=source)
    scanner = Scanner(Settings(sources=(setting,)))
    list(scanner.scan_source(setting))
    deadline = time.monotonic() + 5
    while not scanner._sources[source].known[str(source / "bot" / "1")].quiet:
        assert time.monotonic() < deadline
        list(scanner.scan_source(setting))
    assert scanner.stores[source / "bot" / "1"].rows[0].run == str(source / "bot" / "1")
    badinputs.put(source / "bot" / name, b"")
    (again,) = scanner.scan_source(setting)
    assert again.rows[0].run == str(source / "bot")
