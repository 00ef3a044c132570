"""Budget totals: each run once, sums of what is reported, and never a made-up zero."""

import contextlib
import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lineclear import (
    Action,
    AgentExecutor,
    Allow,
    Budget,
    ExecutionSuspended,
    FileCheckpointHandler,
    Finish,
    Tool,
    Turn,
)
from lineclear.core.checkpoints.model import Counters, Position, Usage
from lineclear.core.checkpoints.starweaver import AgentExecutionNode
from lineclear.core.inbox.operator.settings import SourceSetting
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.totals import Figure, RunTotals, Totals, newest, rows_by_run, totals
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.core.ledger.state import State
from tests.core.inbox.agents import watching


def row(run: str, **said: Any) -> Row:
    folder = Path("/srv/bot")
    known = {"agent": "bot", **said}
    return Row(
        id="0" * 32, system="a3s", state=State.PENDING, source=folder, store=folder, run=run,
        **known,
    )  # fmt: skip


def test_nothing_is_no_zero():
    assert totals([]) == Totals()
    found = totals([row("a"), row("b")])
    assert (found.rows, found.runs) == (2, 2)
    assert found.tokens == Figure(silent=2)


def test_a_run_counts_once_by_its_newest_checkpoint():
    found = totals(
        [
            row("a", counters=Counters(5, 2, None), limits=Counters(10, 20, None)),
            row("a", counters=Counters(3, 4, 100), limits=Counters(10, None, None)),
            row("b", counters=Counters(None, 6, 50), usage=Usage(40, 10, None)),
        ]
    )
    assert (found.rows, found.runs) == (3, 2)
    assert found.iterations == Figure(5, told=1, silent=1, limit=10, limited=1)
    assert found.iterations.whole_limit == 10
    # One of two has no limit: there is none for both together.
    assert found.tool_calls == Figure(8, told=2, limit=20, limited=1)
    assert found.tool_calls.whole_limit is None
    # What the newest does not report is not made up of an older one.
    assert found.tokens == Figure(50, told=1, silent=1)
    assert found.tokens_in == Figure(40, told=1, silent=1)
    assert found.cache == Figure(silent=2)


def test_what_runs_count_is_named_by_those_that_report_it():
    silent = replace(row("c"), system="starweaver")
    found = totals([row("a", counters=Counters(5, 2, None)), row("b"), silent])
    assert found.units == ("turns",)
    counting = replace(silent, run="d", counters=Counters(1, None, None))
    assert totals([row("a", counters=Counters(5)), counting]).units == ("steps", "turns")
    assert totals([silent]).units == ()


def test_rows_that_come_and_go_add_up_to_those_that_are_there():
    chance = random.Random(3)
    running = RunTotals()
    known: dict[str, Row] = {}
    for number in range(400):
        if known and chance.random() < 0.45:
            running.remove(known.pop(chance.choice(sorted(known))))
        else:
            counters = chance.choice([Counters(), Counters(1, chance.randrange(9), None)])
            limits = chance.choice([Counters(), Counters(None, 20, None)])
            system = chance.choice(["a3s", "lineclear"])
            one = row(f"r{number % 5}", counters=counters, limits=limits)
            one = known[str(number)] = replace(one, id=str(number), system=system)
            running.add(one)
        if chance.random() < 0.3:
            assert running.totals() == totals(known.values())
    for one in known.values():
        running.remove(one)
    assert running.totals() == Totals()


def test_all_figures_of_a_run_are_of_one_checkpoint():
    older = row("a", counters=Counters(2, 9, 900), usage=Usage(700, 100, 100))
    newer = row("a", counters=Counters(3, 1, 90), usage=Usage(60, 20, None))
    for found in (totals([older, newer]), totals([newer, older])):
        kinds = (found.tokens_in.used, found.tokens_out.used, found.cache.used)
        assert (found.tool_calls.used, found.tokens.used, kinds) == (1, 90, (60, 20, None))


def test_the_newest_is_told_by_its_system_before_the_clock_of_any_file():
    late, early = datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)

    def at(counters, when, written=None, seq=None):
        stood = None if written is None else Position("a", written_ms=written)
        return row("a", counters=counters, file_time=when, position=stood, seq=seq)

    for first, last in (
        # The order of turns, then the time that the system wrote, then what only grows.
        (at(Counters(1, 1, 5), late, 9), at(Counters(2, 1, 5), early, 8)),
        (at(Counters(1, 1, 5), late, 8), at(Counters(1, 1, 4), early, 9)),
        (at(Counters(1, 1, 5), late), at(Counters(1, 2, 5), early)),
        (at(Counters(1, 1, None), late), at(Counters(1, 1, 5), early)),
        (at(Counters(), early), at(Counters(), late)),
        (at(Counters(), None, seq=3), at(Counters(), None, seq=4)),
    ):
        assert newest([first, last]) is last
        assert newest([last, first]) is last


def test_a_copy_in_the_same_bytes_is_the_same_run():
    running = RunTotals()

    def at(folder, bytes_, tokens=100, run="run-1", **said):
        here = Path("/srv") / folder
        one = row(run, position=Position(run), sha256=bytes_, counters=Counters(4, 2, tokens))
        return replace(one, id=f"{folder}{tokens}", store=here, source=here, **said)

    first, copy, further = at("one", "a"), at("two", "a"), at("three", "b", 150)
    for number, one in enumerate((first, copy), 1):
        running.add(one)
        found = running.totals()
        assert (found.rows, found.runs, found.tokens.used) == (number, 1, 100)
    # One that went further may be another run of the same name.
    running.add(further)
    assert (running.totals().runs, running.totals().tokens.used) == (2, 250)
    assert totals([first, copy, further]) == running.totals()
    running.remove(first)
    assert running.totals() == totals([copy, further])
    running.remove(copy)
    assert running.totals() == totals([further])
    # Bytes without a name say nothing, and a name is told however it is spelled.
    assert totals([at("one", "a", run=""), at("two", "a", run="")]).runs == 2
    assert totals([at("one", "a"), at("two", "a", run="RUN-1 ")]).runs == 1
    # Read as another system's in one place, and with the limits that only its own agent knows.
    ours = replace(at("one", "a", system="lineclear"), limits=Counters(10, None, None))
    for both in ([ours, at("two", "a")], [at("two", "a"), ours]):
        found = totals(both)
        assert (found.runs, found.tokens.used, found.units) == (1, 100, ("iterations",))
        assert found.iterations == Figure(4, told=1, limit=10, limited=1)


UNIQUE = "3ff09ab5-3b44-4f7a-989b-e93d405819f6"


def in_folder(folder: str, counters: Counters, run: str = UNIQUE, **said: Any) -> Row:
    here = Path("/srv") / folder
    known = {"position": Position(run), "sha256": folder, "limits": Counters()}
    found = row(run, agent=folder, counters=counters)
    return replace(found, id=folder, store=here, source=here, **{**known, **said})


def test_a_run_with_an_id_of_its_own_counts_once_wherever_it_went_on():
    older = in_folder("one", Counters(2, 3, 100), limits=Counters(10, None, None))
    newer = in_folder("two", Counters(3, 4, None), run=f" {UNIQUE.upper()}")
    for rows in ([older, newer], [newer, older]):
        found = totals(rows)
        assert (found.runs, found.iterations.used, found.tool_calls.used) == (1, 3, 4)
        # What the newer one does not tell is not hidden by it.
        assert (found.tokens.used, found.iterations.limit) == (100, 10)
    # A call that waits names its run without a position.
    waits = in_folder("three", Counters(4, 5, 120), position=None, system="lineclear")
    assert (totals([older, newer, waits]).runs, totals([older, waits]).tokens.used) == (1, 120)
    # A word that anybody may choose is no such id, nor is one that was typed.
    for name in ("nightly", "00000000-0000-0000-0000-000000000000"):
        one, two = (in_folder(at, Counters(1, 1, 7), run=name) for at in ("one", "two"))
        assert (totals([one, two]).runs, totals([one, two]).tokens.used) == (2, 14)


def test_what_claims_another_runs_id_lowers_nothing():
    chance = random.Random(5)
    own = in_folder("one", Counters(5, 6, 1_000), limits=Counters(10, 20, 2_000))
    for claims, runs, tokens in (
        # Further, but with fewer tokens, or with room to spare: another run, whatever it says.
        (in_folder("two", Counters(9, 9, 1)), 2, 1_001),
        (in_folder("two", Counters(9, 9, 5_000), limits=Counters(None, None, 10**9)), 2, 6_000),
        (in_folder("two", Counters(9, 9, None)), 1, 1_000),
        (in_folder("two", Counters(9, 9, 5_000)), 1, 5_000),
    ):
        found = totals([own, claims])
        assert (found.runs, found.tokens.used) == (runs, tokens)
        assert found.tokens.limit is not None
        assert found.tokens.limit >= 2_000
    running = RunTotals()
    running.add(own)
    for number in range(200):
        before = running.totals()
        figures = (chance.choice([None, chance.randrange(2_000)]) for _ in range(3))
        running.add(in_folder(str(number), Counters(*figures)))
        now = running.totals()
        for name in ("iterations", "tool_calls", "tokens"):
            assert getattr(now, name).used >= getattr(before, name).used


def test_a_run_that_was_taken_over_is_one_with_what_it_was_taken_from():
    left = in_folder("bot", Counters(1, 2, 50), run="nightly")
    lane = replace(
        in_folder("x", Counters(2, 3, 60), run="nightly", position=None, system="lineclear"),
        store=Path("/srv/bot/resumed-0a1b2c3d"),
        run_folder=Path("/srv/bot/resumed-0a1b2c3d"),
    )
    running = RunTotals()
    for one in (left, lane):
        running.add(one)
    found = running.totals()
    assert (found.rows, found.runs, found.tokens.used, found.units) == (2, 1, 60, ("iterations",))
    assert running.of_run(left) == [left, lane]
    assert totals([left, replace(lane, store=Path("/srv/bot/other"))]).runs == 2
    assert totals([left, replace(lane, run="weekly")]).runs == 2


def test_two_agents_that_call_their_runs_the_same_have_two():
    tokens = Counters(None, None, 100)
    found = totals([row("run-1", counters=tokens), row("run-1", agent="other", counters=tokens)])
    assert (found.runs, found.tokens.used) == (2, 200)


def test_per_run():
    found = rows_by_run([row("a", counters=Counters(1, 2, 3)), row("b"), row("a")])
    assert {run: len(rows) for (_, _, run), rows in found.items()} == {"a": 2, "b": 1}


def test_runs_of_one_name_in_two_folders_are_two():
    tokens = Counters(None, None, 100)
    elsewhere = replace(row("run-1", counters=tokens), store=Path("/srv/two/bot"))
    assert totals([row("run-1", counters=tokens), elsewhere]).tokens.used == 200


def test_lanes_of_one_agent_tell_of_one_run():
    folder = Path("/srv/bot")
    lanes = [replace(row("t"), store=folder / lane, run_folder=folder) for lane in "12"]
    assert totals(lanes).runs == 1


async def test_what_a_run_has_used_never_goes_back_whichever_checkpoint_tells(source):
    """One run, stopped at each boundary and at each call that waits: requests and checkpoints."""
    store = source / "bot"

    class Agent:
        def plan(self, inputs, steps):
            if len(steps) == 4:
                return Turn(Finish("done"), tokens_in=1)
            asked = Action("pay", {"amount": len(steps)})
            return Turn([Action("fail", {}), asked], tokens_in=5, tokens_out=2)

    def fail():
        raise ValueError("no")

    def executor():
        return AgentExecutor(
            Agent(),
            {"pay": lambda amount: "paid", "fail": Tool(fail, asks=False)},
            store=store,
            approval=lambda call: Allow(),
            budget=Budget(iterations=5),
            checkpoints=FileCheckpointHandler(
                store, suspend_at=AgentExecutionNode, suspend_for_approval=True
            ),
        )

    seen: list[tuple[Counters, Totals]] = []
    told_by = set()
    output = None
    while output is None:
        async with executor() as agent:
            with contextlib.suppress(ExecutionSuspended):
                output = await (agent.resume() if seen else agent.invoke("x", run_id="R"))
        found = scan_once(watching(source), (SourceSetting(path=source),))
        rows = [row for row in found if not row.closed]
        told_by |= {(row.tool, row.position is None) for row in rows}
        if rows:
            (one,) = rows
            seen.append((one.counters, totals(rows)))
    assert output == "done"
    assert told_by == {("pay", True), (None, False)}
    for counters, summed in seen:
        assert summed.iterations.used == counters.iteration
    for name in ("iteration", "tool_calls", "tokens"):
        figures = [getattr(counters, name) or 0 for counters, _ in seen]
        assert figures == sorted(figures)
    assert seen[-1][0] == Counters(2, 4, 15)
