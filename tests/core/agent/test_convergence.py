import pytest

from lineclear import Action, AgentExecutor, Budget, Finish, NotConverging, Tool
from lineclear.core.agent.convergence import REMEMBERED, Convergence
from lineclear.core.checkpoints.a3s import LoopConvergenceState
from tests.core.agent.test_executor import Echo, Script, say


def test_calls_are_remembered_by_digest_and_end_never_by_their_arguments():
    guards = Convergence()
    guards.remember("pay", {"to": "bob", "secret": "s3cret"}, is_error=False)
    guards.remember("pay", {"to": "bob"}, is_error=True)
    first, second = guards.state.recent_tool_signatures
    assert "s3cret" not in first
    assert first.startswith("pay:")
    assert first.endswith(" => ok")
    assert second.endswith(" => error")
    # Order of keys and spelling of numbers do not make another call.
    assert guards.times_made("pay", {"secret": "s3cret", "to": "bob"}) == 1
    assert guards.times_made("pay", {"to": "carol"}) == 0
    assert guards.times_made("payee", {"to": "bob"}) == 0


def test_eight_calls_are_remembered():
    guards = Convergence()
    for number in range(REMEMBERED + 3):
        guards.remember("look", number, is_error=False)
    assert len(guards.state.recent_tool_signatures) == 8
    assert [guards.times_made("look", number) for number in (2, 3, 10)] == [0, 1, 1]


def test_what_is_no_json_is_a_call_like_any_other():
    guards = Convergence()
    for arguments in (float("nan"), "\ud800", {"x": {1, 2}}):
        guards.remember("odd \ud800", arguments, is_error=False)
        assert guards.times_made("odd \ud800", arguments) == 1


def test_other_counters_stay_as_they_are():
    state = LoopConvergenceState.from_document({"continuation_count": 3, "later": [1]})
    guards = Convergence(state)
    guards.malformed()
    guards.stop_repeat("a", 1)
    assert guards.state.document() == {
        **LoopConvergenceState().document(),
        "parse_error_count": 1,
        "continuation_count": 3,
        "guarded_duplicate_signature": guards.state.guarded_duplicate_signature,
        "guarded_duplicate_count": 1,
        "later": [1],
    }
    guards.pass_guards()
    assert guards.state == state


def test_only_the_same_call_twice_in_a_row_counts_up():
    guards = Convergence()
    assert [guards.stop_repeat("a", 1), guards.stop_repeat("a", 1)] == [1, 2]
    assert guards.stop_repeat("a", 2) == 1
    guards.pass_guards()
    assert guards.stop_repeat("a", 2) == 1


# --- in a run ---------------------------------------------------------------------------------


def executor(agent, tool, budget):
    return AgentExecutor(agent, {"echo": Tool(tool, asks=False)}, budget=budget)


async def test_without_a_limit_equal_calls_are_made():
    echo = Echo()
    agent = Script(*[say("a")] * 9)
    assert await executor(agent, echo, Budget()).invoke("x") == "done"
    assert len(echo.ran) == 9


async def test_a_model_that_changes_its_approach_goes_on():
    echo = Echo()
    agent = Script(say("a"), say("a"), say("b"), say("a"), say("c"))
    assert await executor(agent, echo, Budget(same_calls=1)).invoke("x") == "done"
    assert echo.ran == ["a", "b", "c"]
    assert "called 1 times with identical arguments" in agent.seen[-1][1]


async def test_a_repeat_uses_none_of_the_budget_and_asks_nobody():
    echo, asked = Echo(), []

    def decide(call):
        from lineclear import Allow

        asked.append(call.arguments)
        return Allow()

    run = AgentExecutor(
        Script(say("a"), say("a"), say("b")),
        {"echo": echo},
        approval=decide,
        budget=Budget(same_calls=1, tool_calls=2),
    )
    assert await run.invoke("x") == "done"
    assert asked == [{"text": "a"}, {"text": "b"}]


async def test_sound_calls_between_malformed_ones_reset_the_count():
    bad = Action("stat", '{"path": ')

    def stat(path: str, depth: int) -> str:
        return path

    class Model:
        turns = (bad, Action("stat", {"path": "/", "depth": 1}), bad, bad)

        def plan(self, inputs, steps):
            return self.turns[len(steps)] if len(steps) < 4 else Finish("done")

    run = AgentExecutor(Model(), {"stat": Tool(stat, asks=False)}, budget=Budget(parse_errors=1))
    with pytest.raises(NotConverging, match="2 times in a row; at most 1"):
        await run.invoke("x")
