"""Real stores for the pictures: a working day of agents, made by the real core."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal
from unittest import mock

from lineclear.core.inbox.deciding.path import operator
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.ledger import ask as asking
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import Limits, Person, Tokens
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.store import Shown, Store

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
"""Checkpoints of other programs."""
STEPS = tuple(
    {
        "action": {
            "tool": tool,
            "tool_input": {"type": "object", "value": given},
            "log": "",
            "tool_call_id": None,
        },
        "observation": seen,
    }
    for tool, given, seen in (
        ("search_customer", {"name": "Ada Lovelace"}, "C-1204, one open order"),
        ("list_orders", {"customer": "C-1204"}, "O-7781: 80.00 EUR, delivered damaged"),
        ("read_policy", {"topic": "refunds"}, "Up to 150 EUR with a person's word."),
    )
)
"""What the refund agent did before it asked."""


START_AND_DIE = """\
import pathlib, sys
from lineclear.core.ledger.start import begin, read_decision
from lineclear.core.ledger.store import Store
with Store.open(pathlib.Path(sys.argv[1])) as store:
    shown = store.read_request(int(sys.argv[2]))
    assert begin(store, shown, read_decision(store, shown))
"""


EXECUTOR = """\
import asyncio, sys
from pathlib import Path
from lineclear import Action, AgentExecutor, Budget, FileCheckpointHandler, Tool, Turn

STORE = Path(sys.argv[1])
PLAN = [
    ("look_up", {"host": "db-3"}, "Which machine is it?"),
    ("read_log", {"host": "db-3", "lines": 4}, "It answers. The log tells why it was paged."),
    ("restart", {"host": "db-3", "service": "postgres", "drain": True}, "Only a restart helps."),
]
LOG = "02:11 checkpoint starting\\n02:12 out of memory\\n02:12 process 811 killed\\n02:13 recovery"

class Model:
    def plan(self, inputs, steps):
        tool, given, said = PLAN[len(steps)]
        action = Action(tool, given, log=said, tool_call_id=f"call_{len(steps) + 1}")
        return Turn(action, tokens_in=4100 + 900 * len(steps), tokens_out=210)

def look_up(host: str) -> str:
    return f"{host}.internal 10.2.0.13, primary"

def read_log(host: str, lines: int) -> str:
    return LOG

def restart(host: str, service: str, drain: bool) -> str:
    return "restarted"

TOOLS = (look_up, read_log, restart)

async def main():
    handler = FileCheckpointHandler(STORE)
    tools = {each.__name__: Tool(each, asks=each is restart) for each in TOOLS}
    limits = Budget(iterations=10, tool_calls=20, tokens=100_000)
    async with AgentExecutor(
        Model(), tools, store=STORE, checkpoints=handler, budget=limits, name="on-call"
    ) as run:
        await run.invoke({"input": "db-3 was paged at 02:12"})

asyncio.run(main())
"""
"""An agent that keeps its run in all three forms, and asks at its third step."""


class Stage:
    """A folder of stores with everything that the pictures show; ages are minutes."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "agents"
        self.locks: list[AgentLock] = []
        self.agents: list[subprocess.Popen[bytes]] = []
        self.calls: dict[str, Shown] = {}
        self.by = operator(Settings())

    def ask(self, agent: str, call: Call, age: float, *, alive: bool = True, lane: int = 1) -> str:
        """Publish a request and give its id; the locks of agents that live are held here."""
        run = self.source / agent
        script = ("python", f"{agent.replace('-', '_')}.py")
        if not alive:
            # It held its lock once: known to be dead, not unknown.
            AgentLock.acquire(run, argv=script).close()
        elif lane == 1:
            self.locks.append(AgentLock.acquire(run, argv=script))
        asked_at = replace(read_now(), wall=read_now().wall - timedelta(minutes=age))
        # Nobody waits an hour for a picture.
        with (
            mock.patch.object(asking, "read_now", return_value=asked_at),
            Store.create(run / str(lane)) as store,
        ):
            asked = ask(store, call)
        assert isinstance(asked, Asked)
        self.calls[asked.shown.aid] = asked.shown
        return asked.shown.aid

    def decide(self, aid: str, verdict: Verdict, by: Person | None = None) -> None:
        """Decide a call, as this operator or as another."""
        shown = self.calls[aid]
        with Store.open(shown.store) as store:
            decide(store, shown, verdict, by or self.by, valid_for_s=900)

    def finish(
        self,
        aid: str,
        outcome: Literal["ok", "error"],
        result: str,
        *,
        verdict: Verdict | None = None,
        by: Person | None = None,
    ) -> None:
        """Approve a call, or give another VERDICT, run it, and record how it ended."""
        self.decide(aid, verdict or Verdict("approve"), by)
        shown = self.calls[aid]
        with Store.open(shown.store) as store:
            found = read_decision(store, shown)
            assert isinstance(found, Verified)
            assert begin(store, shown, found)
            finish(store, shown, outcome, result=result, duration_ms=1240)

    def start(self, aid: str) -> None:
        """Approve a call and start it in a process that is gone before it says how it ended."""
        self.decide(aid, Verdict("approve"))
        shown = self.calls[aid]
        argv = [sys.executable, "-c", START_AND_DIE, str(shown.store), str(shown.seq)]
        subprocess.run(argv, check=True)

    def leave(self, file: str, *place: str) -> None:
        """Put a checkpoint of another program at a place below the source."""
        target = self.source.joinpath(*place)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(DATA / file, target)
        target.chmod(0o600)

    def execute(self) -> None:
        """Start the agent that keeps its run in all three forms."""
        argv = [sys.executable, "-c", EXECUTOR, str(self.source / "on-call")]
        self.agents.append(subprocess.Popen(argv, stderr=subprocess.DEVNULL))

    def close(self) -> None:
        """Let the agents die."""
        for agent in self.agents:
            agent.kill()
            agent.wait()
        for lock in self.locks:
            lock.close()


REFUND_SCHEMA = {
    "type": "object",
    "properties": {
        "customer": {"type": "string", "description": "Number of the customer"},
        "order": {"type": "string"},
        "amount": {"type": "number", "minimum": 0},
        "currency": {"enum": ["EUR", "USD", "GBP"]},
        "reason": {"type": "string"},
        "notify": {"type": "boolean"},
    },
    "required": ["customer", "order", "amount", "currency"],
}


def call(tool: str, arguments: object, agent: str, **more: Any) -> Call:
    """A call with the counters that most agents report."""
    known = Call(
        tool,
        arguments,
        agent,
        iteration=3,
        tool_calls=4,
        tokens=31_200,
        limits=Limits(iteration=10, tool_calls=20, tokens=100_000),
        usage=Tokens(tokens_in=29_000, tokens_out=2_200),
    )
    return replace(known, **more)


def day(stage: Stage) -> dict[str, str]:
    """A working day: some wait, some are dead, one may have run; ids by the scenes' names."""
    known: dict[str, str] = {}
    known |= _earlier(stage)
    known |= _waiting(stage)
    known |= _stopped(stage)
    return known


def nothing(stage: Stage) -> dict[str, str]:
    """A quiet inbox."""
    stage.source.mkdir(parents=True)
    return {}


def _earlier(stage: Stage) -> dict[str, str]:
    """What is over, so that tools are known and Finished is not empty."""
    done = stage.ask("indexer", call("reindex", {"table": "orders"}, "indexer"), 48)
    stage.finish(done, "ok", "12,408 rows in 1.2 s")
    for agent, tool, arguments in (
        ("refund-bot", "send_refund", {"customer": "C-1188", "amount": 35.0}),
        ("ci", "bash", {"command": "make test"}),
        ("reports", "run_sql", {"sql": "select count(*) from orders"}),
        ("mailer", "send_mail", {"to": "b@example.org", "subject": "Invoice 2290"}),
    ):
        before = stage.ask(agent, call(tool, arguments, agent), 95, alive=agent != "mailer")
        stage.finish(before, "ok", "Done.")
    failed = stage.ask("crawler", call("fetch", {"url": "https://example.org/feed"}, "crawler"), 33)
    stage.finish(failed, "error", "ConnectionError: the name cannot be resolved")
    return {"done": done, "failed": failed}


def _waiting(stage: Stage) -> dict[str, str]:
    refund = {
        "customer": "C-1204",
        "order": "O-7781",
        "amount": 120.5,
        "currency": "EUR",
        "reason": "delivered damaged",
        "notify": True,
    }
    hosts = "".join(f"127.0.0.{n} service-{n}.internal\n" for n in range(1, 255))
    note = "paid\u202e001$\u202c in full"
    deploy = {"service": "checkout", "version": "2026.11.4", "production": True}
    asked = call(
        "send_refund",
        refund,
        "refund-bot",
        steps=STEPS,
        inputs={"input": "Ticket 4411"},
        tool_schema=REFUND_SCHEMA,
    )
    near = {"iteration": 9, "tool_calls": 18}
    sql = "select sum(amount) from orders where day = '2026-11-28'"
    mail = {"to": "a@example.org", "subject": "Invoice 2291"}
    build = {"command": "rm -rf build/ && make release"}
    hosts_file = {"path": "/etc/hosts", "content": hosts}
    return {
        "mail": stage.ask("mailer", call("send_mail", mail, "mailer"), 26, alive=False),
        "query": stage.ask("reports", call("run_sql", {"sql": sql}, "reports"), 11, lane=2),
        "deploy": stage.ask("deployer", call("deploy", deploy, "deployer"), 7),
        "refund": stage.ask("refund-bot", asked, 3, lane=2),
        "hidden": stage.ask(
            "billing", call("post_note", {"invoice": "2291", "note": note}, "billing"), 2.2
        ),
        "hosts": stage.ask("ops", call("write_file", hosts_file, "ops", **near), 1.2),
        "bash": stage.ask("ci", call("bash", build, "ci"), 0.4, lane=2),
    }


def _stopped(stage: Stage) -> dict[str, str]:
    """What needs a person in another way."""
    label = {"order": "O-7781", "carrier": "DHL"}
    uncertain = stage.ask("shipper", call("create_label", label, "shipper"), 19, alive=False)
    stage.start(uncertain)
    approved = stage.ask(
        "archiver", call("archive", {"year": 2024, "tables": 12}, "archiver"), 41, alive=False
    )
    stage.decide(approved, Verdict("approve", note="Agreed with the data team."))
    stage.leave("badinputs/files/dup_key_args.json", "legacy", "pending.json")
    rounds = "v1/loop_checkpoints/id_cnVuLW1lZGl1bS00MA.json"
    stage.leave(f"fixtures/a3s/store_layout/{rounds}", "coder", *rounds.split("/"))
    return {"uncertain": uncertain, "approved": approved}
