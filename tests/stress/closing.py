"""The steps that close a call which somebody may be starting, explored in every order.

Two processes of one lane want different calls, or the same; an operator approves, denies and takes
back; any process may be killed between two steps, and a power loss keeps any subset of the changes
that were not synced. It models what the code does around `withdrawn`, `refused` and `revoked`:
first the start slot, then the outcome.

Slots of request i: ("req", i), ("dec", token), ("start", token), ("out", token), each created
once. A token is (i, call, process, incarnation): the request's identity.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

Slot = tuple[Any, ...]
Files = tuple[tuple[Slot, tuple[Any, tuple[Any, ...]]], ...]
"""Slot → (what stands, what may stand after a power loss)."""

MUTANTS = {
    "withdraw_unfenced": "the outcome withdrawn is written while an approval could be started on",
    "refuse_unfenced": "the outcome refused is written while the approval could be started on",
    "take_back_unfenced": "taking back writes the outcome without winning the start slot",
    "adopt_any": "an open request of another call is adopted",
    "start_unsynced": "the tool runs before the start record is durable",
}
CLOSING = ("deny", "withdrawn")


@dataclass(frozen=True)
class Process:
    """One agent process: what it wants, where it stands, which request it looks at."""

    wants: str
    at: str = "look"
    i: int = 0
    token: Slot | None = None
    says: str = ""
    life: int = 0


@dataclass(frozen=True)
class Desk:
    """The operator: at which step, for which request."""

    at: str = "idle"
    token: Slot | None = None
    says: str = ""


@dataclass(frozen=True)
class World:
    """Everything at one moment."""

    files: Files = ()
    agents: tuple[Process, ...] = ()
    desk: Desk = Desk()
    kills: int = 1
    losses: int = 1
    ran: tuple[Slot, ...] = ()
    approved: frozenset[Slot] = frozenset()


class Explorer:
    """Walks all states; MUTANT breaks one rule."""

    def __init__(
        self, mutant: str = "", *, requests: int = 1, kills: int = 1, losses: int = 0
    ) -> None:
        self.mutant = mutant
        self.requests = requests
        self.kills = kills
        self.losses = losses

    def run(self, wants: tuple[str, str]) -> tuple[int, str | None]:
        """Give the number of states and the first violation."""
        start = World(
            agents=tuple(Process(call) for call in wants), kills=self.kills, losses=self.losses
        )
        seen = {start}
        queue = deque([start])
        while queue:
            world = queue.popleft()
            for following in self.steps(world):
                if following in seen:
                    continue
                seen.add(following)
                wrong = violation(following)
                if wrong is not None:
                    return len(seen), wrong
                queue.append(following)
        return len(seen), None

    def steps(self, world: World) -> Iterator[World]:
        for p, agent in enumerate(world.agents):
            if agent.at == "dead":
                yield move(world, p, replace(agent, at="look", life=agent.life + 1))
                continue
            for files, ran, moved in self.agent_steps(world, p, agent):
                yield replace(move(world, p, moved), files=files, ran=ran)
            if world.kills and agent.at not in ("done", "uncertain"):
                dead = Process(agent.wants, "dead", life=agent.life)
                yield replace(move(world, p, dead), kills=world.kills - 1)
        for files, desk, approved in self.desk_steps(world):
            yield replace(world, files=files, desk=desk, approved=approved)
        if world.losses:
            dead_all = tuple(Process(a.wants, "dead", life=a.life) for a in world.agents)
            for files in after_power_loss(world.files):
                yield replace(
                    world, files=files, agents=dead_all, desk=Desk(), losses=world.losses - 1
                )

    # One state machine, read from top to bottom: split up, its order could not be seen.
    def agent_steps(  # noqa: C901, PLR0912, PLR0915
        self, world: World, p: int, agent: Process
    ) -> Iterator[tuple[Files, tuple[Slot, ...], Process]]:
        files, token = world.files, agent.token
        now = dict(files)

        def stands(kind: str) -> Any:
            found = now.get((kind, token))
            return found[0] if found else None

        def to(at: str, **changes: Any) -> tuple[Files, tuple[Slot, ...], Process]:
            return files, world.ran, replace(agent, at=at, **changes)

        def write(kind: str, value: Any, at: str, **changes: Any) -> Any:
            return put(files, (kind, token), value), world.ran, replace(agent, at=at, **changes)

        match agent.at:
            case "look":
                numbers = [slot[1] for slot in now if slot[0] == "req"]
                newest = max(numbers, default=0)
                found = now[("req", newest)][0] if newest else None
                if found is not None and ("out", found) not in now:
                    yield to("facts", i=newest, token=found)
                elif newest < self.requests:
                    yield to("publish", i=newest + 1)
                else:
                    yield to("done")
            case "publish":
                mine = (agent.i, agent.wants, p, agent.life)
                if ("req", agent.i) in now:
                    yield to("look")
                else:
                    published = put(files, ("req", agent.i), mine)
                    yield published, world.ran, replace(agent, at="synced ask", token=mine)
            case "synced ask":
                yield sync(files), world.ran, replace(agent, at="wait")
            case "facts":
                assert token is not None
                start = stands("start")
                if stands("out") is not None:
                    yield to("look")
                elif start == "revoked":
                    yield to("end", says="withdrawn")
                elif start is not None:
                    owner = world.agents[start[0]]
                    if owner.life != start[1] or owner.at == "dead":
                        yield sync(files), world.ran, replace(agent, at="uncertain")
                elif token[1] == agent.wants or self.mutant == "adopt_any":
                    yield sync(files), world.ran, replace(agent, at="wait")
                else:
                    yield to("withdraw")
            case "withdraw":
                if stands("dec") is None:
                    yield write("dec", "withdrawn", "synced withdrawal")
                else:
                    yield to("close", says="withdrawn")
            case "synced withdrawal":
                yield sync(files), world.ran, replace(agent, at="close", says="withdrawn")
            case "close":
                unfenced = {"withdrawn": "withdraw_unfenced", "refused": "refuse_unfenced"}
                if (
                    stands("start") == "revoked"
                    or stands("dec") in CLOSING
                    or self.mutant == unfenced[agent.says]
                ):
                    yield to("end")
                elif stands("start") is None:
                    yield write("start", "revoked", "synced fence")
                else:
                    yield to("facts")
            case "synced fence":
                yield sync(files), world.ran, replace(agent, at="end")
            case "wait":
                if stands("out") is not None or stands("start") is not None:
                    yield to("facts")
                elif stands("dec") == "approve":
                    yield sync(files), world.ran, replace(agent, at="begin")
                    yield to("close", says="refused")  # it lapsed for this process
                elif stands("dec") is not None:
                    says = "denied" if stands("dec") == "deny" else "withdrawn"
                    yield sync(files), world.ran, replace(agent, at="end", says=says)
            case "begin":
                if stands("start") is None:
                    at = "run" if self.mutant == "start_unsynced" else "synced start"
                    yield write("start", (p, agent.life), at)
                else:
                    yield to("facts")
            case "synced start":
                yield sync(files), world.ran, replace(agent, at="run")
            case "run":
                assert token is not None
                ran = tuple(sorted((*world.ran, token)))
                yield files, ran, replace(agent, at="end", says="ok")
            case "end":
                if stands("out") is None:
                    yield write("out", agent.says, "synced end")
                else:
                    yield to("synced end")
            case "synced end":
                assert token is not None
                finished = agent.says == "ok" and token[1] == agent.wants
                following = "done" if finished or agent.says == "denied" else "look"
                yield sync(files), world.ran, replace(agent, at=following, token=None, says="")

    def desk_steps(  # noqa: C901, PLR0912
        self, world: World
    ) -> Iterator[tuple[Files, Desk, frozenset[Slot]]]:
        files, desk, approved = world.files, world.desk, world.approved
        now = dict(files)
        match desk.at:
            case "idle":
                for slot, (token, _) in files:
                    if slot[0] == "req" and ("dec", token) not in now:
                        yield files, Desk("shown", token), approved
                    elif slot[0] == "req" and now[("dec", token)][0] == "approve":
                        yield files, Desk("take back", token), approved
            case "shown":
                for verdict in ("approve", "deny"):
                    slot = ("dec", desk.token)
                    assert desk.token is not None
                    if slot in now:
                        yield sync(files), Desk(), approved
                    else:
                        given = approved | {desk.token} if verdict == "approve" else approved
                        yield put(files, slot, verdict), Desk("synced decision"), given
            case "synced decision" | "synced end":
                yield sync(files), Desk(), approved
            case "take back":
                slot = ("start", desk.token)
                if ("out", desk.token) in now:
                    yield files, Desk(), approved
                elif self.mutant == "take_back_unfenced" and slot not in now:
                    yield files, replace(desk, at="end"), approved
                elif slot not in now:
                    yield put(files, slot, "revoked"), replace(desk, at="synced fence"), approved
                else:
                    yield files, Desk(), approved
            case "synced fence":
                yield sync(files), replace(desk, at="end"), approved
            case "end":
                slot = ("out", desk.token)
                after = files if slot in now else put(files, slot, "withdrawn")
                yield after, replace(desk, at="synced end"), approved


def violation(world: World) -> str | None:
    """Tell which promise is broken."""
    now = {slot: value for slot, (value, _) in world.files}
    for token in set(world.ran):
        if world.ran.count(token) > 1:
            return f"S1: {token} ran twice"
        if token not in world.approved:
            return f"S2: {token} ran, and nobody approved it"
        if ("start", token) not in now and ("out", token) not in now:
            return f"S6: {token} ran, and no record says so"
    for slot, value in now.items():
        if slot[0] != "out":
            continue
        if value == "ok" and slot[1] not in world.ran:
            return f"S5: {slot[1]} is said to have run"
        if value != "ok" and slot[1] in world.ran:
            return f"S5: {slot[1]} ran and is said to be {value}"
    for agent in world.agents:
        if agent.at == "run" and agent.token is not None and agent.token[1] != agent.wants:
            return f"S2: a process that wants {agent.wants} runs {agent.token}"
        if agent.at == "uncertain" and ("start", agent.token) not in now:
            return "S8: a call is said to have started, and its start record is gone"
    return None


def move(world: World, p: int, agent: Process) -> World:
    return replace(world, agents=(*world.agents[:p], agent, *world.agents[p + 1 :]))


def put(files: Files, slot: Slot, value: Any) -> Files:
    return tuple(sorted((*files, (slot, (value, (None, value)))), key=repr))


def sync(files: Files) -> Files:
    return tuple((slot, (value, (value,))) for slot, (value, _) in files)


def after_power_loss(files: Files) -> Iterator[Files]:
    for kept in product(*(may for _, (_, may) in files)):
        left = [
            (slot, (value, (value,)))
            for (slot, _), value in zip(files, kept, strict=True)
            if value is not None
        ]
        yield tuple(left)
