"""One agent run: what the model says, and what was done so far."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lineclear.core.agent.convergence import Convergence
from lineclear.core.agent.plainjson import plain, refuse_unless_json, storable_arguments
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.a3s import LoopConvergenceState, VerificationReport
from lineclear.core.checkpoints.lc_agents import (
    AgentAction,
    AgentStep,
    ToolInput,
)
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.records import Limits, Tokens


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call that the model wants.

    `tool_input` is any JSON; a text that is itself a JSON object is taken as that object, as
    models often write arguments so.
    """

    tool: str
    tool_input: Json
    log: str = ""
    tool_call_id: str | None = None

    @property
    def storable(self) -> bool:
        """Whether a checkpoint can hold it as it is, and not only describe it."""
        try:
            refuse_unless_json(self.arguments, "it")
        except TypeError:
            return False
        names = (self.tool, self.tool_call_id or "")
        return all(jsontext.storable(name) == name for name in names)

    @property
    def arguments(self) -> Json:
        """What the tool is to be called with."""
        if isinstance(self.tool_input, str) and self.tool_input.lstrip().startswith("{"):
            try:
                return jsontext.parse_value(self.tool_input)
            except Unreadable:
                return self.tool_input
        return self.tool_input

    @property
    def malformed(self) -> bool:
        """Whether the arguments were to be a JSON object, and are none."""
        return isinstance(self.arguments, str) and self.arguments.lstrip().startswith("{")


@dataclass(frozen=True, slots=True)
class Finish:
    """The model's answer, a text or any other JSON, which is given as its text; the run ends."""

    output: Json


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the model with the tokens that it took, where they are known."""

    next: Action | Sequence[Action] | Finish
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache: int | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """What becomes of an action that a checkpoint can only describe: it is never made."""

    refusal: str
    """What the model is told, as it is where the action itself is at hand."""
    malformed: bool
    """Whether its arguments were to be a JSON object, and are none."""


@dataclass(frozen=True, slots=True)
class StepMark:
    """What the form of a step has no place for."""

    round: int
    """The iteration in which the call was made, from 0."""
    call_id: str
    """Names the call within its run, whether or not the model named it."""
    is_error: bool | None
    """Whether the model was told of an error; None where that is not known any more."""


@dataclass(slots=True)
class Run:
    """How far a run has come."""

    inputs: dict[str, Json]
    trace_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    steps: list[AgentStep] = field(default_factory=list)
    """With the number text that was read, if any."""
    iteration: int = 0
    """The round that is going on, from 0."""
    tool_calls: int = 0
    tokens: int | None = None
    usage: Tokens = field(default_factory=Tokens)
    ordinal: int = 0
    """Calls that were ever asked for; with the trace id it names each one."""
    remaining: list[Action] = field(default_factory=list)
    """Actions of this round that are still to be done."""
    marks: list[StepMark] = field(default_factory=list)
    """One for each step."""
    taken: set[str] = field(default_factory=set)
    """The ids of all calls of the run."""
    batch: list[tuple[str, Action]] = field(default_factory=list)
    """All actions of the round that is going on, each with its id; empty between rounds. One that
    has ended is there as it was carried out."""
    current: Action | None = None
    """The action that is being carried out, as the hooks made it."""
    answered: int = 0
    """Answers that the model gave."""
    took: dict[int, Tokens] = field(default_factory=dict)
    """What each of them took, by its number from 0, where it is known."""
    output: str | None = None
    """The model's last word."""
    limits: Limits | None = None
    """What its executor's budget allows."""
    agent: str | None = None
    """The name of its executor."""
    guards: Convergence = field(default_factory=Convergence)
    guards_before: LoopConvergenceState | None = None
    """What they had counted when the call began that is being carried out."""
    reports: list[VerificationReport] = field(default_factory=list)
    """Verification reports of a run that was taken over from a3s."""
    passed: set[str] = field(default_factory=set)
    """Boundaries at which a resumed run stood, and which it need not report once more."""
    losses: dict[str, Loss] = field(default_factory=dict)
    """Of the actions of this round that no checkpoint holds, by the id of the call."""
    restored: bool = False
    """Whether the actions of this round were read from a checkpoint: those of `losses` are then
    only described."""
    begun: set[int] = field(default_factory=set)
    """Calls of this round, by ordinal, whose tools began without a request that fences them."""
    fenced: int = 0
    """Up to this ordinal an earlier process had come, of which no checkpoint tells: a call that no
    request fences is not made again."""
    requested: bool = False
    """Whether a request of this round was published: a resume may take the round up from there."""
    noted: bool = False
    """Whether the checkpoint that it was taken up from is of a kind that is not written now: then
    it is noted of each tool that it begins."""
    _told: list[AgentStep] = field(default_factory=list)

    @property
    def done(self) -> int:
        """How many calls were ever asked for and have come to their end."""
        return self.ordinal - (self.current is not None)

    @property
    def next_may_have_run(self) -> bool:
        """Whether an earlier process began the tool of the call that is next."""
        return self.ordinal + 1 in self.begun

    @property
    def current_id(self) -> str:
        """The id of the action that is being carried out, or was last."""
        return self._current_in_batch[0]

    @property
    def done_in_round(self) -> int:
        """How many calls of the round that is going on have come to their end."""
        return len(self.batch) - len(self.remaining) - (self.current is not None)

    @property
    def wanted(self) -> Action:
        """The action that is being carried out, or was last, as the model wants it."""
        return self._current_in_batch[1]

    def loss_of_next(self) -> Loss | None:
        """Give the loss of the call that is next, where only its description is left."""
        if not self.restored or not self.remaining:
            return None
        return self.losses.get(self.batch[-len(self.remaining)][0])

    @property
    def _current_in_batch(self) -> tuple[str, Action]:
        return self.batch[len(self.batch) - len(self.remaining) - 1]

    def begin_round(self, actions: Sequence[Action]) -> None:
        """Take up what the model wants next."""
        self.batch = []
        self.begun = set()
        self.losses = {}
        self.restored = self.requested = False
        for number, action in enumerate(actions, self.ordinal + 1):
            self.batch.append((self.free_id(action.tool_call_id or "", number), action))
        self.remaining = list(actions)

    def free_id(self, wanted: str, number: int) -> str:
        """Give call NUMBER, from 1, the id that is WANTED, or another if that is empty or taken.

        Two calls of one id could not be told apart, in a checkpoint or by a person.
        """
        call_id = jsontext.storable(wanted)
        if not call_id or call_id in self.taken:
            call_id = f"call_{number}"
        while call_id in self.taken:
            call_id += "_"
        self.taken.add(call_id)
        return call_id

    def begin_call(self) -> Action:
        """Take the next action of the round."""
        self.current = action = self.remaining.pop(0)
        self.guards_before = self.guards.state
        self.ordinal += 1
        self.tool_calls += 1
        return action

    def end_round(self) -> None:
        """Stand between two rounds."""
        self.batch = []
        self.losses = {}
        self.iteration += 1

    def count(self, turn: Turn) -> None:
        """Add a turn's tokens."""
        parts = (turn.tokens_in, turn.tokens_out)
        if any(part is not None for part in parts):
            self.tokens = (self.tokens or 0) + sum(part or 0 for part in parts)
        self.took[self.answered] = Tokens(
            tokens_in=turn.tokens_in, tokens_out=turn.tokens_out, cache=turn.cache
        )
        self.answered += 1
        self.usage = Tokens(
            tokens_in=_sum(self.usage.tokens_in, turn.tokens_in),
            tokens_out=_sum(self.usage.tokens_out, turn.tokens_out),
            cache=_sum(self.usage.cache, turn.cache),
        )

    def add_step(
        self, action: Action, arguments: Json, observation: str, *, is_error: bool | None
    ) -> None:
        """Keep what was done with what arguments, and what came back; the call has ended.

        Whatever a model wrote, the step can be written to a checkpoint.
        """
        self.marks.append(StepMark(self.iteration, self.current_id, is_error))
        done = Action(action.tool, arguments, action.log, action.tool_call_id)
        self.batch[len(self.batch) - len(self.remaining) - 1] = (self.current_id, done)
        self.current = None
        self.guards_before = None
        arguments = storable_arguments(arguments)
        call_id = action.tool_call_id
        kind: Literal["string", "object"] = "string" if isinstance(arguments, str) else "object"
        self.steps.append(
            AgentStep(
                action=AgentAction(
                    tool=jsontext.storable(action.tool),
                    tool_input=ToolInput(type=kind, value=arguments),
                    log=jsontext.storable(action.log),
                    tool_call_id=None if call_id is None else jsontext.storable(call_id),
                ),
                observation=jsontext.storable(observation),
            )
        )

    def told_steps(self) -> tuple[AgentStep, ...]:
        """Give the steps as the agent's own code gets them: with plain numbers."""
        for step in self.steps[len(self._told) :]:
            asked = step.action.tool_input
            asked = asked.model_copy(update={"value": plain(asked.value)})
            action = step.action.model_copy(update={"tool_input": asked})
            self._told.append(step.model_copy(update={"action": action}))
        return tuple(self._told)


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
