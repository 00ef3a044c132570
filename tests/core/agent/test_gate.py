import asyncio
import functools
import json
import os
import threading
from pathlib import Path

import pytest

from lineclear import DecisionRefused, Denied, Gate, MayHaveRun, StoreHeld
from lineclear.core.agent.errors import CallFailed, Expired, NotRun, ResultLost
from lineclear.core.agent.gate import Ticket
from lineclear.core.agent.passage import Settled
from lineclear.core.errors import Unreadable
from lineclear.core.ledger import presence, start
from lineclear.core.ledger.layout import APPROVALS
from lineclear.core.ledger.records import Start
from tests.core.agent.conftest import other_call, until


@pytest.fixture
def gate(source):
    with Gate("refund-bot", source) as gate:
        yield gate


class Tool:
    """A tool that keeps what it was really called with."""

    def __init__(self):
        self.ran: list[tuple[str, object]] = []

    async def send_refund(self, customer: str, amount: float = 1.5) -> str:
        """Send money back.

        More for programmers.
        """
        self.ran.append((customer, amount))
        return f"refunded {amount} to {customer}"


@pytest.fixture
def tool():
    return Tool()


@pytest.fixture
def send_refund(gate, tool):
    return gate.guard(tool.send_refund)


async def test_an_approved_call_runs_once_and_its_outcome_is_durable(
    gate, tool, send_refund, operator, source
):
    seen = []
    with operator.later(lambda: seen.append(operator.approve())):
        assert await send_refund("C-1204") == "refunded 1.5 to C-1204"
    (shown,) = seen
    assert tool.ran == [("C-1204", 1.5)]
    assert shown.store == source / "refund-bot" / "1"
    assert shown.call.tool == "send_refund"
    assert shown.call.arguments == {"customer": "C-1204", "amount": 1.5}
    assert shown.block.agent == "refund-bot"
    assert shown.block.description == "Send money back."
    assert shown.block.tool_schema["properties"]["customer"]["type"] == "string"
    records = operator.records(shown)
    assert records.outcome.outcome == "ok"
    assert records.start.owner.pid == os.getpid()
    assert operator.result(shown) == "refunded 1.5 to C-1204"
    assert not (shown.store / "pending.json").exists()


async def test_the_tool_runs_only_after_its_start_is_on_disk_and_before_its_outcome(
    gate, operator, source
):
    seen: list[str] = []

    @gate.guard
    async def look(aid_holder: str) -> str:
        records = (source / "refund-bot" / "1" / APPROVALS).iterdir()
        seen.extend(record.name.partition(".")[2] for record in records)
        return aid_holder

    with operator.later(operator.approve):
        await look("x")
    assert "start.json" in seen
    assert "outcome.json" not in seen


async def test_a_denial_raises_with_the_operators_words_and_nothing_runs(
    tool, send_refund, operator
):
    deny = operator.later(lambda: operator.deny("wrong customer"))
    with deny, pytest.raises(Denied) as denied:
        await send_refund("C-1")
    assert denied.value.reason == "wrong customer"
    assert "wrong customer" in denied.value.sentence
    assert tool.ran == []
    assert operator.outcomes() == ["denied"]


async def test_a_denial_can_be_given_as_text_for_the_model(gate, tool, operator):
    send_refund = gate.guard(denied="text")(tool.send_refund)
    with operator.later(lambda: operator.deny("too much")):
        assert await send_refund("C-1") == "[DENIED by approval: too much]"
    assert tool.ran == []


async def test_modified_arguments_are_what_runs(tool, send_refund, operator):
    def modify():
        shown = operator.wait_for_one()
        operator.decide(shown, "modify", arguments={"customer": "C-2", "amount": 0.25})

    with operator.later(modify):
        assert await send_refund("C-1", amount=99.0) == "refunded 0.25 to C-2"
    assert tool.ran == [("C-2", 0.25)]
    assert type(tool.ran[0][1]) is float


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({"customer": "C-1", "amount": "much"}, "amount"),
        ({"customer": "C-1", "sum": 1}, "sum"),
        ({"amount": 1.0}, "customer"),
        (["C-1", 1.0], "object"),
    ],
)
async def test_modified_arguments_that_do_not_fit_are_refused_before_the_start(
    send_refund, operator, arguments, why, caplog
):
    def modify_badly_then_approve():
        first = operator.wait_for_one()
        operator.decide(first, "modify", arguments=arguments)
        second = until(functools.partial(other_call, operator, first.aid), "again")
        assert second.block is not None
        assert second.block.again_of == first.aid
        assert operator.records(first).outcome.code == "invalid_arguments"
        assert why in operator.records(first).outcome.preview
        assert not isinstance(operator.records(first).start, Start)
        operator.approve(second)

    with operator.later(modify_badly_then_approve):
        assert await send_refund("C-1") == "refunded 1.5 to C-1"
    assert why in caplog.text


async def test_after_three_refused_decisions_the_agent_gives_up(tool, send_refund, operator):
    def modify_badly():
        last = ""
        for _ in range(3):
            shown = until(functools.partial(other_call, operator, last), "a new request")
            operator.decide(shown, "modify", arguments={"nonsense": 1})
            last = shown.aid

    with operator.later(modify_badly), pytest.raises(DecisionRefused) as refused:
        await send_refund("C-1")
    assert refused.value.code == "invalid_arguments"
    assert tool.ran == []
    assert operator.outcomes() == ["refused"] * 3


async def test_a_result_from_the_operator_is_returned_without_a_run(gate, operator):
    ran = []

    @gate.guard
    async def count_users(group: str) -> int:
        ran.append(group)
        return 1

    def answer():
        operator.decide(operator.wait_for_one(), "result", result=41)

    with operator.later(answer):
        assert await count_users("all") == 41
    assert ran == []
    assert operator.outcomes() == ["ok"]


async def test_a_result_that_does_not_fit_the_function_is_refused(gate, operator):
    @gate.guard
    async def count_users(group: str) -> int:
        return len(group)

    def answer():
        first = operator.wait_for_one()
        operator.decide(first, "result", result="many")
        second = until(functools.partial(other_call, operator, first.aid), "again")
        assert operator.records(first).outcome.code == "invalid_result"
        operator.approve(second)

    with operator.later(answer):
        assert await count_users("all") == 3


async def test_a_look_that_fails_for_a_moment_is_repeated(
    send_refund, operator, monkeypatch, caplog
):
    read_decision = start.read_decision
    failures = [Unreadable("open_failed", "Too many open files.")] * 2

    def flaky(*arguments):
        if failures:
            raise failures.pop()
        return read_decision(*arguments)

    monkeypatch.setattr(start, "read_decision", flaky)
    with operator.later(operator.approve):
        await send_refund("C-1")
    assert caplog.text.count("refund-bot will look again: Too many open files.") == 1


async def test_an_expired_call_is_not_run(gate, tool, operator):
    send_refund = gate.guard(expires_after=0.2)(tool.send_refund)
    with pytest.raises(Expired):
        await send_refund("C-1")
    assert tool.ran == []
    assert operator.outcomes() == ["expired"]


async def test_a_tool_error_is_recorded_and_raised_as_it_is(gate, operator):
    @gate.guard
    async def fail(why: str) -> str:
        raise ConnectionError(why)

    with operator.later(operator.approve), pytest.raises(ConnectionError, match="no route"):
        await fail("no route")
    assert operator.outcomes() == ["error"]


# --- stopping ---------------------------------------------------------------------------------


async def test_cancelling_while_waiting_withdraws_the_request(send_refund, tool, operator):
    task = asyncio.get_running_loop().create_task(send_refund("C-1"))
    shown = (await asyncio.to_thread(operator.wait_for))[0]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert operator.records(shown).outcome.outcome == "withdrawn"
    assert not (shown.store / "pending.json").exists()
    assert tool.ran == []


async def test_cancelling_a_running_tool_is_an_error_in_the_ledger(gate, operator):
    running = asyncio.Event()

    @gate.guard
    async def hang(x: int) -> str:
        running.set()
        await asyncio.Event().wait()
        return "never"

    task = asyncio.get_running_loop().create_task(hang(1))
    await asyncio.to_thread(operator.approve)
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert operator.outcomes() == ["error"]


async def test_a_call_that_was_taken_back_is_asked_anew(gate, tool, operator, monkeypatch):
    # The agent is held before its look, so that the approval can be taken back in time.
    from lineclear.core.agent import passage as module

    first_look = threading.Event()
    go_on = threading.Event()
    advance = module.Passage.advance

    def held(self):
        first_look.set()
        assert go_on.wait(20)
        return advance(self)

    monkeypatch.setattr(module.Passage, "advance", held)
    send_refund = gate.guard(tool.send_refund)

    def take_back_then_approve():
        assert first_look.wait(20)
        first = operator.approve()
        operator.take_back(first)
        go_on.set()
        second = until(functools.partial(other_call, operator, first.aid), "again")
        assert operator.records(first).outcome.outcome == "withdrawn"
        operator.approve(second)

    with operator.later(take_back_then_approve):
        await send_refund("C-1")
    assert tool.ran == [("C-1", 1.5)]


# --- many at once -----------------------------------------------------------------------------


async def test_eight_coroutines_of_one_gate_wait_side_by_side_in_lanes(
    gate, tool, send_refund, operator, source
):
    def decide_all():
        waiting = operator.wait_for(8)
        assert len({shown.store for shown in waiting}) == 8
        for shown in reversed(waiting):
            if shown.call.arguments["customer"] in ("C-3", "C-5"):
                operator.deny("no", shown)
            else:
                operator.approve(shown)

    with operator.later(decide_all):
        ended = await asyncio.gather(
            *(send_refund(f"C-{n}") for n in range(8)), return_exceptions=True
        )
    assert [isinstance(end, Denied) for end in ended] == [n in (3, 5) for n in range(8)]
    assert [end for end in ended if isinstance(end, str)] == [
        f"refunded 1.5 to C-{n}" for n in range(8) if n not in (3, 5)
    ]
    assert sorted(tool.ran) == [(f"C-{n}", 1.5) for n in range(8) if n not in (3, 5)]
    lanes = sorted(p.name for p in (source / "refund-bot").iterdir() if p.is_dir())
    assert lanes == [str(n) for n in range(1, 9)]


async def test_a_sequential_agent_stays_in_its_first_lane(send_refund, operator, source):
    for n in range(3):
        with operator.later(operator.approve):
            await send_refund(f"C-{n}")
    assert [p.name for p in (source / "refund-bot").iterdir() if p.is_dir()] == ["1"]
    assert operator.outcomes() == ["ok", "ok", "ok"]


async def test_equal_calls_at_once_are_two_requests(tool, send_refund, operator):
    def approve_both():
        for shown in operator.wait_for(2):
            operator.approve(shown)

    with operator.later(approve_both):
        await asyncio.gather(send_refund("C-1"), send_refund("C-1"))
    assert len(tool.ran) == 2


def test_threads_of_one_gate_wait_side_by_side(gate, operator):
    ran = []

    @gate.guard
    def wipe(disk: str) -> str:
        ran.append(disk)
        return f"wiped {disk}"

    results: dict[str, str] = {}
    threads = [threading.Thread(target=lambda d=d: results.__setitem__(d, wipe(d))) for d in "abcd"]
    for thread in threads:
        thread.start()
    for shown in operator.wait_for(4):
        operator.approve(shown)
    for thread in threads:
        thread.join(20)
    assert results == {d: f"wiped {d}" for d in "abcd"}
    assert sorted(ran) == list("abcd")


async def test_a_sync_function_refuses_to_block_an_event_loop(gate, operator):
    @gate.guard
    def wipe(disk: str) -> str:
        return disk

    with pytest.raises(RuntimeError, match=r"asyncio\.to_thread"):
        wipe("a")
    assert operator.open_calls() == []
    with operator.later(operator.approve):
        assert await asyncio.to_thread(wipe, "a") == "a"


# --- names for calls --------------------------------------------------------------------------


async def test_a_call_of_the_same_key_never_runs_again(source, tool, operator):
    def key(customer, amount=1.5):
        return f"refund {customer}"

    with Gate("refund-bot", source) as gate, operator.later(operator.approve):
        first = await gate.guard(key=key)(tool.send_refund)("C-1")
    with Gate("refund-bot", source) as gate:
        again = gate.guard(key=key)(tool.send_refund)
        assert await again("C-1") == first
        with operator.later(operator.approve):
            await again("C-2")
    assert tool.ran == [("C-1", 1.5), ("C-2", 1.5)]


async def test_the_same_key_at_the_same_time_runs_once(gate, tool, operator):
    send_refund = gate.guard(key="one")(tool.send_refund)
    with operator.later(operator.approve):
        assert len(set(await asyncio.gather(*(send_refund("C-1") for _ in range(4))))) == 1
    assert tool.ran == [("C-1", 1.5)]


async def test_a_keyed_call_that_failed_says_so_again_without_running(source, operator):
    ran = []

    async def fail(x: int) -> int:
        ran.append(x)
        raise ConnectionError("no route")

    refused = pytest.raises(ConnectionError)
    with Gate("bot", source) as gate, operator.later(operator.approve), refused:
        await gate.guard(key="k")(fail)(1)
    failed = pytest.raises(CallFailed, match="ConnectionError: no route")
    with Gate("bot", source) as gate, failed:
        await gate.guard(key="k")(fail)(1)
    assert ran == [1]


async def test_a_keyed_result_that_cannot_be_given_back_is_told(source, operator):
    async def connect(x: int):
        return object()

    with Gate("bot", source) as gate, operator.later(operator.approve):
        await gate.guard(key="k")(connect)(1)
    lost = pytest.raises(ResultLost, match="does not run again")
    with Gate("bot", source) as gate, lost:
        await gate.guard(key="k")(connect)(1)


def test_the_same_key_in_two_threads_runs_once(gate, operator):
    ran = []

    @gate.guard(key="once")
    def wipe(disk: str) -> str:
        ran.append(disk)
        return "wiped"

    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(wipe("a"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    operator.approve()
    for thread in threads:
        thread.join(20)
    assert results == ["wiped"] * 3
    assert ran == ["a"]


def test_what_cannot_be_guarded_is_told_at_once(gate):
    def generator():
        yield 1

    async def asynchronous():
        yield 1

    for wrong in (generator, asynchronous, staticmethod(generator), "name"):
        with pytest.raises(TypeError, match="guarded"):
            gate.guard(wrong)


async def test_the_call_id_is_given_as_idempotency_key(gate, operator):
    @gate.guard
    async def pay(amount: int, *, idempotency_key: str) -> str:
        return idempotency_key

    seen = []
    with operator.later(lambda: seen.append(operator.approve())):
        given = await pay(5)
    assert given == seen[0].aid
    assert seen[0].call.arguments == {"amount": 5}
    with pytest.raises(TypeError, match="given by Lineclear"):
        await pay(5, idempotency_key="mine")


# --- the folder -------------------------------------------------------------------------------


def test_a_second_gate_of_the_name_is_told_who_holds_it_and_the_cure(gate, source):
    with pytest.raises(StoreHeld, match="instance='2'") as held:
        Gate("refund-bot", source)
    assert held.value.pid == os.getpid()
    with Gate("refund-bot", source, "2") as other:
        assert other.folder == source / "refund-bot@2"


def test_the_default_source_follows_the_home(home):
    with Gate("bot") as gate:
        assert gate.folder == home / "lineclear" / "agents" / "bot"
        info = json.loads((gate.folder / "run.json").read_bytes())
        assert info["agent"] == "bot"
    first = info["run_id"]
    with Gate("bot"):
        assert json.loads((gate.folder / "run.json").read_bytes())["run_id"] == first


@pytest.mark.parametrize("name", ["", "Refund", "../x", "a/b", ".hidden", "a" * 65, "a@b", "bot\n"])
def test_a_name_that_is_no_folder_name_is_refused(name, source):
    with pytest.raises(ValueError, match="folder name"):
        Gate(name, source)
    assert list(source.iterdir()) == []


# --- for adapters -----------------------------------------------------------------------------


async def test_ask_gives_a_ticket_or_what_settled_it(gate, operator):
    with operator.later(operator.approve):
        ticket = await gate.ask("bash", {"command": "ls"}, tool_id="call_1", key="t:1")
    assert isinstance(ticket, Ticket)
    assert ticket.arguments == {"command": "ls"}
    assert operator.outcomes() == ["open"]
    await ticket.finish("ok", "a\nb")
    assert operator.outcomes() == ["ok"]
    again = await gate.ask("bash", {"command": "ls"}, tool_id="call_1", key="t:1")
    assert again == Settled("ok", "a\nb", ticket.aid, recorded=True)


async def test_arguments_that_are_no_json_are_refused_before_asking(gate, send_refund, operator):
    for bad in (float("nan"), 2**64, ("a",), {1: 2}, "\ud800", b"x", Path("x"), "a\0b"):
        with pytest.raises(TypeError):
            await send_refund(bad)
        with pytest.raises(TypeError):
            await gate.ask("tool", {"x": bad})
    with pytest.raises(TypeError):
        await gate.ask("t" * 129, {})
    assert operator.outcomes() == []


# --- telling the person -----------------------------------------------------------------------


@pytest.fixture
def _soon(monkeypatch):
    monkeypatch.setattr("lineclear.core.agent.waiting.NOTICE_S", 0.1)


@pytest.mark.usefixtures("_soon")
async def test_after_two_seconds_the_agent_says_that_it_waits(
    send_refund, operator, source, caplog
):

    def approve_when_said():
        shown = operator.wait_for_one()
        until(lambda: caplog.messages or None, "the notice")
        operator.approve(shown)
        return shown

    with operator.later(approve_when_said):
        await send_refund("C-1")
    (message,) = caplog.messages
    assert message.startswith(
        "refund-bot waits for a person: send_refund. Answer in Lineclear, or: lineclear approve "
    )
    assert f"no window watches {source}" in message
    assert caplog.records[0].levelname == "WARNING"


@pytest.mark.usefixtures("_soon")
async def test_the_notice_names_no_missing_window_where_one_watches(home, operator, caplog):
    source = home / "lineclear" / "agents"
    operator.source = source
    with Gate("bot") as gate:

        @gate.guard
        async def ping(x: int) -> int:
            return x

        watcher = presence.announce(source)
        assert watcher is not None
        seen = []

        def approve_when_said():
            shown = operator.wait_for_one()
            until(lambda: caplog.messages or None, "the notice")
            seen.append(operator.approve(shown))

        with operator.later(approve_when_said):
            await ping(1)
        watcher.close()
    assert caplog.messages == [
        (
            "bot waits for a person: ping. Answer in Lineclear, or: lineclear approve "
            f"{seen[0].aid[:8]}"
        )
    ]


# --- settled by a person ----------------------------------------------------------------------


async def test_not_run_is_told_apart_from_denied(source, operator, start):
    child = start(
        """
        import asyncio, sys
        from lineclear import Gate
        gate = Gate("bot", sys.argv[1])

        @gate.guard(key="once")
        async def pay(amount: int) -> str:
            print("running", flush=True)
            sys.stdin.readline()
            return "paid"

        asyncio.run(pay(5))
        """,
        source,
    )
    shown = operator.approve()
    assert child.line() == "running"
    child.kill()

    async def pay(amount: int) -> str:
        raise AssertionError("it must never run again")

    with Gate("bot", source) as gate:
        guarded = gate.guard(key="once")(pay)
        with pytest.raises(MayHaveRun) as uncertain:
            await guarded(5)
        assert uncertain.value.aid == shown.aid
        operator.resolve(shown, "not_run", "no such payment")
        with pytest.raises(NotRun) as not_run:
            await guarded(5)
        assert not_run.value.note == "no such payment"
    assert operator.outcomes() == ["resolved"]
