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
from lineclear.core.ledger.decide import Verdict, decide, resolve, take_back
from lineclear.core.ledger.endings import bound_decision, this_person
from lineclear.core.ledger.liveness import Process, current_owner
from lineclear.core.ledger.outcome import finish, make_outcome
from lineclear.core.ledger.records import (
    Person,
    Revocation,
    Revoked,
    Start,
    VerdictName,
    new_nonce,
)
from lineclear.core.ledger.start import Observed, Unfit, Verified, begin, read_decision
from lineclear.core.ledger.state import observe
from lineclear.core.ledger.store import Store
from tests.core.ledger.steps import refund

AGENT, OPERATOR, STRANGER, OPERATORS = 64711, 64712, 64713, 64700
COLLEAGUE, UNLISTED = 64714, 64715
LISTED = frozenset({OPERATOR, COLLEAGUE, 0})
"""What the system's list of the group says here; UNLISTED is in it for the kernel only."""


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
            with Store.create(self.path, operators=LISTED, group=OPERATORS) as store:
                return act(store)

        return as_user(AGENT, [OPERATORS], run)

    def operator(self, act: Callable[[Store], Any], uid: int = OPERATOR) -> Any:
        def run() -> Any:
            with Store.open(self.path, operators=LISTED) as store:
                return act(store)

        return as_user(uid, [OPERATORS], run)

    def unlisted(self, act: Callable[[Store], Any]) -> Any:
        """Run ACT as who is in the group for the kernel, with the list as the system gives it."""

        def run() -> Any:
            with Store.open(self.path) as store:
                return act(store)

        return as_user(UNLISTED, [OPERATORS], run)

    def records(self) -> list[str]:
        return sorted(path.name for path in (self.path / ".approvals").iterdir())

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


def takes_back(store: Store, name: str = "someone") -> Any:
    take_back(store, newest(store), this_person(name))
    return "taken back"


def takes_back_as_its_agent(store: Store) -> Any:
    """Take back under the agent's own name."""
    return takes_back(store, agent_of(store))


def agent_of(store: Store) -> str:
    block = newest(store).block
    assert block is not None
    return str(block.agent)


def gives_up(store: Store) -> Any:
    """Tell whose word holds the start slot: its agent's, or a person's, and under what name."""
    shown = newest(store)
    records = store.known_records(shown.seq, shown.aid)
    assert isinstance(records.start, Revoked)
    return [records.given_up, records.start.revoked.by.name]


def forges_start(store: Store) -> Any:
    shown = newest(store)
    start = Start(
        v=1,
        nonce=new_nonce(),
        **store.bound(shown.aid),
        owner=current_owner(),
        at=read_now().wall,
        decision={},
    )
    return store.commit("start", shown.seq, shown.aid, start.encode()).value


def forges_outcome(store: Store) -> Any:
    shown = newest(store)
    outcome = make_outcome(store, shown, "ok", "never happened")
    return store.commit("outcome", shown.seq, shown.aid, outcome.encode()).value


def settles(store: Store) -> Any:
    return resolve(store, newest(store), "ran", this_person("someone"), note="seen").outcome


def dies_running(store: Store) -> Any:
    """Begin the call; the process ends with no outcome."""
    shown = newest(store)
    found = read_decision(store, shown)
    assert isinstance(found, Verified)
    return begin(store, shown, found)


def forges_revocation(by: int, name: str = "alice") -> Callable[[Store], Any]:
    def act(store: Store) -> Any:
        shown = newest(store)
        person = Person(uid=by, name=name, host="desk")
        word = Revocation(by=person, at=read_now().wall)
        revoked = Revoked(v=1, nonce=new_nonce(), **store.bound(shown.aid), revoked=word)
        return store.commit("start", shown.seq, shown.aid, revoked.encode()).value

    return act


def forges_settlement(by: int) -> Callable[[Store], Any]:
    def act(store: Store) -> Any:
        shown = newest(store)
        person = Person(uid=by, name="alice", host="desk")
        said: dict[str, Any] = {"resolution": "ran", "by": person}
        outcome = make_outcome(store, shown, "resolved", "forged result", **said)
        return store.commit("outcome", shown.seq, shown.aid, outcome.encode()).value

    return act


def reads_revocation(store: Store) -> Any:
    shown = newest(store)
    try:
        return type(store.reader.start(shown.seq, shown.aid)).__name__
    except LineclearError as why:
        return [why.code, why.sentence.partition(" ")[2]]


def reads_outcome(store: Store) -> Any:
    shown = newest(store)
    try:
        return store.reader.outcome(shown.seq, shown.aid).outcome
    except LineclearError as why:
        return [why.code, why.sentence.partition(" ")[2]]


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
    named = Scene(folder / "named")
    return told | who_gave_up(named) | in_anothers_name(named)


def who_gave_up(scene: Scene) -> dict[str, Any]:
    """A name is a claim: the uid tells an agent that gives up from who takes back."""
    told: dict[str, Any] = {}
    scene.agent(asks)
    scene.operator(says("approve"))
    scene.operator(takes_back_as_its_agent)
    told["taken back in the agent's name"] = scene.operator(gives_up)
    scene.agent(asks)
    scene.operator(says("approve"))
    scene.operator(forges_revocation(OPERATOR, "refund-bot"))
    told["written in the agent's name"] = scene.operator(gives_up)
    scene.agent(reads)
    scene.agent(asks)
    scene.operator(says("approve"))
    told["agent gives up as alice"] = scene.agent(forges_revocation(AGENT))
    told["given up as seen"] = scene.operator(gives_up)
    told["taking back what was given up"] = scene.operator(takes_back)
    scene.agent(reads)
    return told


def in_anothers_name(scene: Scene) -> dict[str, Any]:
    """What is said in the name of another, or by who is no operator."""
    told: dict[str, Any] = {}

    def approved() -> None:
        scene.agent(asks)
        scene.operator(says("approve"))

    approved()
    told["forged revocation"] = scene.operator(forges_revocation(OPERATOR), COLLEAGUE)
    told["revocation as read"] = scene.operator(reads_revocation)
    told["revocation as seen"] = scene.operator(state)
    told["taking back over it"] = scene.operator(takes_back)
    told["agent reads that revocation"] = scene.agent(reads)
    scene.agent(closes)
    told["call after that revocation"] = scene.operator(state)

    approved()
    told["own revocation"] = scene.operator(takes_back, COLLEAGUE)
    told["revocation read by the agent"] = scene.agent(reads_revocation)

    # Killed before it told the outcome: the agent does, and still names who took it back.
    approved()
    scene.operator(forges_revocation(COLLEAGUE), COLLEAGUE)
    told["agent tells who took it back"] = scene.agent(reads)
    told["outcome of that as read"] = scene.operator(reads_outcome)

    for who, forger in (("colleague", COLLEAGUE), ("agent", AGENT)):
        approved()
        act = forges_settlement(AGENT if who == "agent" else OPERATOR)
        told[f"{who} forges a settlement"] = (
            scene.agent(act) if who == "agent" else scene.operator(act, forger)
        )
        told[f"{who}'s settlement as read"] = scene.agent(reads_outcome)
        told[f"agent after {who}'s settlement"] = scene.agent(reads)
        told[f"runs after {who}'s settlement"] = scene.agent(runs)
        told[f"seen after {who}'s settlement"] = scene.operator(state)
        told[f"settling after {who}'s settlement"] = scene.operator(settles)

    approved()
    before = scene.records()
    told["unlisted"] = [scene.unlisted(act) for act in (says("deny"), takes_back, settles)]
    told["agent takes back"] = scene.agent(takes_back)
    scene.agent(dies_running)
    told["agent settles"] = scene.agent(settles)
    told["unlisted settles"] = scene.unlisted(settles)
    told["written by those"] = [one for one in scene.records() if one not in before]
    told["stray in the slot"] = scene.unlisted(forges_settlement(UNLISTED))
    told["operator settles"] = scene.operator(settles)
    told["settled as read"] = scene.agent(reads_outcome)
    told["second settlement"] = scene.operator(settles, COLLEAGUE)
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
