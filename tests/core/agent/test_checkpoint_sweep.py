"""A run that is stopped at every single boundary, before and after it is kept, and resumed."""

import contextlib
import itertools

import pytest

from lineclear import (
    Action,
    AgentExecutor,
    Allow,
    Deny,
    FileCheckpointHandler,
    FileResumeStore,
    Finish,
    Tool,
    Turn,
)

PLAN = (
    Turn(Action("note", {"text": "a"}, "First.", "t1"), tokens_in=5),
    Turn([Action("pay", {"text": "b"}), Action("note", {"text": "c"})], tokens_in=7, tokens_out=1),
    Turn([Action("pay", {"text": "d"}, tool_call_id="t1"), Action("pay", {"text": "no"})]),
)
BOUNDARIES = 28
"""Of a whole run: its start, 3 for each of 4 answers, 2 for each of 5 calls, 1 for each of 3 waits,
and 2 at its end."""


class Stop(BaseException):
    """Stands for the end of the process."""


class Stopping(FileCheckpointHandler):
    """Ends the process at one boundary."""

    def __init__(self, folder, at: int, *, kept: bool):
        super().__init__(folder)
        self._left = itertools.count(at, -1)
        self._kept = kept

    async def checkpoint(self, checkpoint):
        stop = next(self._left) == 0
        if stop and not self._kept:
            raise Stop
        decision = await super().checkpoint(checkpoint)
        if stop:
            raise Stop
        return decision


class Agent:
    def __init__(self):
        self.asked: list[int] = []

    def plan(self, inputs, steps):
        self.asked.append(len(steps))
        turn = {0: 0, 1: 1, 3: 2}.get(len(steps))
        if turn is not None:
            return PLAN[turn]
        assert len(steps) == 5
        assert [step.action.log for step in steps] == ["First.", "", "", "", ""]
        assert [step.action.tool_call_id for step in steps] == ["t1", None, None, "t1", None]
        return Finish("; ".join(step.observation for step in steps))


def decide(call):
    return Deny("no") if call.arguments["text"] == "no" else Allow()


@pytest.mark.parametrize("kept", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(BOUNDARIES + 1))
async def test_stopped_anywhere_each_call_runs_once_and_nothing_is_lost(source, at, kept):
    store = source / "bot"
    ran: list[str] = []
    agent = Agent()

    def run(text: str) -> str:
        ran.append(text)
        return text.upper()

    tools = {"note": Tool(run, asks=False), "pay": Tool(run)}

    def executor(handler):
        return AgentExecutor(
            agent, tools, store=FileResumeStore(store), checkpoints=handler, approval=decide
        )

    output = ""
    async with executor(Stopping(store, at, kept=kept)) as first:
        with contextlib.suppress(Stop):
            output = await first.invoke("go", run_id="run-1")
    stopped = not output
    handler = FileCheckpointHandler(store)
    if stopped:
        async with executor(handler) as second:
            # The same job given again by its id: taken up, or begun where nothing was kept.
            output = await second.invoke("go", run_id="run-1")
    assert stopped == (at < BOUNDARIES)
    told = output.split("; ")
    assert told[-1] == "[DENIED by approval: no]"
    unsure = [text for text, said in zip("abcd", told, strict=False) if "MAY HAVE RUN" in said]
    assert [said.lower() for said in told[:4] if "MAY" not in said] == [
        text for text in "abcd" if text not in unsure
    ]
    # What a person was asked for is certain; the rest may have run, once.
    assert set(unsure) <= {"a", "c"}
    assert len(ran) == len(set(ran))
    assert set("abcd") - set(unsure) <= set(ran) <= set("abcd")
    # Only an answer that was not kept is asked for again.
    assert len(agent.asked) - len(set(agent.asked)) <= (stopped and not kept)
    last = await handler.load_checkpoint("run-1")
    assert last is not None
    assert last.node == "run_complete"
    assert last.state.usage.input_tokens == 12
    assert last.run_step == 4
    assert not list((store / "v1" / "loop_checkpoints").iterdir())
