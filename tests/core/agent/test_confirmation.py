import asyncio
import functools

import pytest

from lineclear import DecisionRefused, Gate, MayHaveRun
from lineclear.core.agent.confirmation import AMBIGUOUS, ConfirmationGate
from lineclear.core.agent.gate import Gate as RealGate
from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.answers import takes_answer
from lineclear.core.inbox.deciding.path import Origin, may_decide
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.ui.deciding.offers import allowed, offer
from tests.core.agent.conftest import Operator, other_call, until

ARGS = {"command": "ls"}


@pytest.fixture
def gate(source):
    with Gate("code", source, adapter="a3s") as gate:
        yield gate


@pytest.fixture
def confirmations(gate):
    return ConfirmationGate(gate)


async def test_a_yes_is_given_once_the_hand_over_is_recorded(confirmations, operator):
    with operator.later(operator.approve):
        answer = await confirmations.confirm("t1", "bash", ARGS)
    assert answer.document() == {"approved": True, "reason": None}
    assert operator.outcomes() == ["ok"]


async def test_a_no_carries_the_reason_and_the_text_of_a3s(confirmations, operator):
    with operator.later(lambda: operator.deny("not on Fridays")):
        async with confirmations.confirming("t1", "bash", ARGS) as confirmation:
            assert not confirmation.approved
    assert confirmation.response.reason == "not on Fridays"
    assert confirmation.refusal == (
        "Tool 'bash' execution was REJECTED by the user. Reason: not on Fridays. DO NOT retry this"
        " tool call unless the user explicitly asks you to."
    )
    with operator.later(lambda: operator.deny("")):
        async with confirmations.confirming("t2", "bash", ARGS) as confirmation:
            pass
    assert "Reason: No reason provided." in confirmation.refusal
    assert operator.outcomes() == ["denied", "denied"]


async def test_the_request_shows_what_the_host_wants(confirmations, operator):
    with operator.later(operator.approve):
        task = asyncio.get_running_loop().create_task(confirmations.confirm("t1", "bash", ARGS))
        shown = await asyncio.to_thread(operator.wait_for_one)
        await task
    assert shown.call is not None
    assert (shown.call.tool, shown.call.arguments, shown.call.tool_id) == ("bash", ARGS, "t1")
    assert shown.block is not None
    assert shown.block.adapter == "a3s"
    assert shown.block.takes == ("approve", "deny")


async def test_nobody_is_offered_what_the_host_cannot_take(source, confirmations, operator):
    task = asyncio.get_running_loop().create_task(confirmations.confirm("t1", "bash", ARGS))
    await asyncio.to_thread(operator.wait_for_one)
    settings = Settings(sources=(SourceSetting(path=source),))
    (row,) = scan_once(settings, settings.sources)
    may_decide(row, Origin.KEY, "approve", despite=frozenset(row.warnings))
    may_decide(row, Origin.KEY, "deny")
    for verdict in ("modify", "result"):
        with pytest.raises(Refusal, match="takes only yes or no") as refused:
            may_decide(row, Origin.KEY, verdict, despite=frozenset(row.warnings))
        assert refused.value.code == "unsupported"
    assert not takes_answer(row)
    offered = allowed(row, offer(row))
    assert (bool(offered.approve), offered.deny, offered.modify) == (True, True, False)
    assert not offered.answer
    task.cancel()
    await asyncio.wait((task,))


async def test_how_the_tool_ended_is_recorded(confirmations, operator):
    with operator.later(operator.approve):
        async with confirmations.confirming("t1", "bash", ARGS) as confirmation:
            assert confirmation.approved
            assert operator.outcomes() == ["open"]
            await confirmation.finish("a\nb\n")
    with operator.later(operator.approve), pytest.raises(ConnectionError):
        async with confirmations.confirming("t2", "bash", ARGS):
            raise ConnectionError("no route")
    with operator.later(operator.approve):
        async with confirmations.confirming("t3", "bash", ARGS) as confirmation:
            await confirmation.finish("exit code 1", is_error=True)
    assert sorted(operator.outcomes()) == ["error", "error", "ok"]


async def test_a_call_that_was_confirmed_before_is_not_confirmed_again(source, operator):
    with Gate("code", source) as gate, operator.later(operator.approve):
        assert (await ConfirmationGate(gate).confirm("t1", "bash", ARGS)).approved
    # A host that crashed in between and asks the same call again.
    with Gate("code", source) as gate:
        again = await ConfirmationGate(gate).confirm("t1", "bash", ARGS)
        assert not again.approved
        assert again.reason is not None
        assert "may have run" in again.reason


async def test_two_live_requests_with_one_tool_id_are_both_refused(confirmations, operator):
    loop = asyncio.get_running_loop()
    first = loop.create_task(confirmations.confirm("t1", "bash", ARGS))
    await asyncio.to_thread(operator.wait_for_one)
    second = await confirmations.confirm("t1", "bash", {"command": "rm -rf /"})
    assert (second.approved, second.reason) == (False, AMBIGUOUS)
    assert (await first).reason == AMBIGUOUS
    assert operator.outcomes() == ["withdrawn"]
    # Neither stands in the way of a later one.
    with operator.later(operator.approve):
        assert (await confirmations.confirm("t1", "bash", ARGS)).approved


async def test_an_approval_that_meets_a_second_request_runs_nothing(source, operator, monkeypatch):
    """The first request is admitted in the same moment in which the second comes."""
    admitted, go_on = asyncio.Event(), asyncio.Event()
    ask = RealGate.ask

    async def slow(self, *given, **named):
        ticket = await ask(self, *given, **named)
        admitted.set()
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        return ticket

    monkeypatch.setattr(RealGate, "ask", slow)
    with Gate("code", source) as gate, operator.later(operator.approve):
        confirmations = ConfirmationGate(gate)
        first = asyncio.get_running_loop().create_task(confirmations.confirm("t1", "bash", ARGS))
        await admitted.wait()
        assert not (await confirmations.confirm("t1", "bash", ARGS)).approved
        go_on.set()
        assert (await first).reason == AMBIGUOUS
    assert operator.outcomes() == ["error"]


async def test_different_tool_ids_wait_side_by_side(confirmations, operator):
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(confirmations.confirm(f"t{n}", "bash", ARGS)) for n in range(3)]
    for shown in await asyncio.to_thread(operator.wait_for, 3):
        assert shown.call is not None
        operator.decide(shown, "deny" if shown.call.tool_id == "t1" else "approve", **_said(shown))
    assert [(await task).approved for task in tasks] == [True, False, True]


def _said(shown) -> dict[str, str]:
    return {"reason": "no"} if shown.call.tool_id == "t1" else {}


async def test_time_says_no(gate, operator):
    answer = await ConfirmationGate(gate, expires_after=0.05).confirm("t1", "bash", ARGS)
    assert (answer.approved, answer.reason) == (False, "Nobody decided in time.")
    assert operator.outcomes() == ["expired"]


async def test_a_cancelled_host_withdraws(confirmations, operator):
    task = asyncio.get_running_loop().create_task(confirmations.confirm("t1", "bash", ARGS))
    await asyncio.to_thread(operator.wait_for_one)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert operator.outcomes() == ["withdrawn"]


async def test_changed_arguments_are_refused_and_asked_again(confirmations, operator):
    def insist():
        last = None
        for _ in range(3):
            shown = until(functools.partial(other_call, operator, last), "a new request")
            operator.decide(shown, "modify", arguments={"command": "pwd"})
            last = shown.aid

    with operator.later(insist), pytest.raises(DecisionRefused, match="as it was asked"):
        await confirmations.confirm("t1", "bash", ARGS)


async def test_what_is_no_json_is_never_asked(confirmations, operator):
    with pytest.raises(TypeError, match="not JSON"):
        await confirmations.confirm("t1", "bash", {"when": object()})
    assert operator.open_calls() == []


HOST = """
import asyncio, sys
from lineclear import Gate
from lineclear.core.agent.confirmation import ConfirmationGate

async def main():
    with Gate("code", sys.argv[1]) as gate:
        async with ConfirmationGate(gate).confirming("t1", "bash", {"command": "ls"}):
            print("running", flush=True)
            sys.stdin.readline()

asyncio.run(main())
"""


async def test_a_host_that_died_while_its_tool_ran_asks_a_person(source, operator: Operator, start):
    host = start(HOST, source)
    operator.approve()
    assert host.line() == "running"
    host.kill()
    with Gate("code", source) as gate, pytest.raises(MayHaveRun):
        await ConfirmationGate(gate).confirm("t1", "bash", ARGS)
    assert operator.outcomes() == ["open"]
