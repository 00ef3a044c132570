"""An agent, an operator and a stranger with uids of their own, on one store; run as root.

python -m tests.core.ledger.two_users FOLDER: prints one JSON object of what each of them saw.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lineclear.core.errors import LineclearError
from lineclear.core.ledger.ask import Asked, ask, withdraw
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import commit
from lineclear.core.ledger.decide import Verdict, decide, take_back
from lineclear.core.ledger.endings import bound_decision, this_person
from lineclear.core.ledger.liveness import Process, current_owner
from lineclear.core.ledger.outcome import finish, make_outcome
from lineclear.core.ledger.records import Start, VerdictName, new_nonce
from lineclear.core.ledger.start import Observed, Unfit, Verified, begin, read_decision
from lineclear.core.ledger.state import observe
from lineclear.core.ledger.store import Store
from tests.core.ledger.steps import refund

AGENT, OPERATOR, STRANGER, OPERATORS = 64711, 64712, 64713, 64700


def as_user(uid: int, groups: list[int], act: Callable[[], Any]) -> Any:
    """Run ACT in a child process of that user; its answer, or the code of its error."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        os.setgroups(groups)
        os.setgid(uid)
        os.setuid(uid)
        os.umask(0o077)
        try:
            answer = act()
        except LineclearError as why:
            answer = why.code
        except OSError as why:
            answer = type(why).__name__
        except BaseException:  # noqa: BLE001
            answer = traceback.format_exc()
        os.write(theirs, json.dumps(answer).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        answer = json.loads(pipe.read())
    os.waitpid(pid, 0)
    return answer


def modes(folder: Path) -> dict[str, list[Any]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        name = path.name.split(".", 1)[1] if path.name.startswith("000001-") else path.name
        found[name] = [oct(status.st_mode & 0o7777), status.st_uid, status.st_gid]
    return found


class Scene:
    """The acts, each run as its user."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "agents" / "refund-bot"

    def agent(self, act: Callable[[Store], Any]) -> Any:
        def run() -> Any:
            operators = frozenset({OPERATOR, 0})
            with Store.create(self.path, operators=operators, group=OPERATORS) as store:
                return act(store)

        return as_user(AGENT, [OPERATORS], run)

    def operator(self, act: Callable[[Store], Any]) -> Any:
        def run() -> Any:
            with Store.open(self.path) as store:
                return act(store)

        return as_user(OPERATOR, [OPERATORS], run)

    def stranger(self) -> Any:
        def run() -> Any:
            with Store.open(self.path) as store:
                return store.native

        return as_user(STRANGER, [], run)


def asks(store: Store) -> Any:
    answer = ask(store, refund())
    assert isinstance(answer, Asked)
    return answer.block.seq


def newest(store: Store) -> Any:
    return store.read_request(max(seq for seq, _ in store.calls() if seq is not None))


def says(verdict: VerdictName) -> Callable[[Store], Any]:
    def act(store: Store) -> Any:
        person = this_person("someone")
        return decide(store, newest(store), Verdict(verdict), person, valid_for_s=900).verdict

    return act


def reads(store: Store) -> Any:
    found = read_decision(store, newest(store))
    if isinstance(found, Unfit):
        return found.code
    if isinstance(found, Observed):
        return found.outcome.outcome if found.outcome else "observed"
    return type(found).__name__


def runs(store: Store) -> Any:
    shown = newest(store)
    found = read_decision(store, shown)
    assert isinstance(found, Verified)
    return begin(store, shown, found) and finish(store, shown, "ok", result="done")


def forges_approval(store: Store) -> Any:
    shown = newest(store)
    person, now = this_person("someone"), read_now()
    decision = bound_decision(
        store, shown, "approve", person, now=now, valid_for_s=900, nonce=new_nonce()
    )
    return store.commit("decision", shown.seq, shown.aid, decision.encode()).value


def state(store: Store) -> Any:
    return observe(store, newest(store).seq, None, read_now(), lock=Process.ALIVE)[1].state


def closes(store: Store) -> Any:
    return withdraw(store, newest(store)) or finish(store, newest(store), "refused", code="x")


def takes_back(store: Store) -> Any:
    take_back(store, newest(store), this_person("someone"))
    return "taken back"


def forges_start(store: Store) -> Any:
    shown = newest(store)
    start = Start(v=1, nonce=new_nonce(), owner=current_owner(), at=read_now().wall, decision={})
    return store.commit("start", shown.seq, shown.aid, start.encode()).value


def forges_outcome(store: Store) -> Any:
    shown = newest(store)
    outcome = make_outcome("ok", "never happened")
    return store.commit("outcome", shown.seq, shown.aid, outcome.encode()).value


def forges_request(store: Store) -> Any:
    shown = newest(store)
    assert shown.seq is not None
    assert store.ledger_fd is not None
    name = f"{shown.seq + 1:06d}.request.json"
    return commit(store.ledger_fd, name, shown.raw, mode=0o640).value


def removes(name: str) -> Callable[[Store], Any]:
    def act(store: Store) -> Any:
        (store.path / name).unlink()
        return "removed"

    return act


def rehearse(folder: Path) -> None:
    """Load what is imported late: the other users may not be allowed to read this interpreter."""
    with Store.create(folder, group=0) as store:
        asks(store)
        says("approve")(store)
        runs(store)
        state(store)


def main(folder: Path) -> dict[str, Any]:
    with TemporaryDirectory() as stage:
        rehearse(Path(stage) / "rehearsal")
    scene = Scene(folder)
    told: dict[str, Any] = {"asked": scene.agent(asks), "stranger": scene.stranger()}
    told["operator sees"] = scene.operator(state)
    told["approved"] = scene.operator(says("approve"))
    told["modes"] = modes(folder)
    told["agent reads"] = scene.agent(reads)
    told["operator removes request"] = scene.operator(removes(".approvals/000001.request.json"))
    told["operator removes pending"] = scene.operator(removes("pending.json"))
    told["ran"] = scene.agent(runs)
    told["operator sees after"] = scene.operator(state)

    scene.agent(asks)
    told["agent approves itself"] = scene.agent(says("approve"))
    told["agent forges an approval"] = scene.agent(forges_approval)
    told["agent reads its own approval"] = scene.agent(reads)
    told["operator sees its approval"] = scene.operator(state)
    scene.agent(closes)

    scene.agent(asks)
    scene.operator(says("approve"))
    told["taken back"] = scene.operator(takes_back)
    told["agent reads a taken back one"] = scene.agent(reads)

    scene.agent(asks)
    told["withdrawn"] = scene.agent(closes)
    told["operator sees withdrawn"] = scene.operator(state)

    scene.agent(asks)
    scene.operator(says("approve"))
    told["operator forges"] = [scene.operator(forges_outcome), scene.operator(forges_start)]
    told["agent reads forged start"] = scene.agent(reads)
    told["operator sees forged"] = scene.operator(state)
    told["operator forges request"] = scene.operator(forges_request)
    told["agent sees forged request"] = scene.agent(state)
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
