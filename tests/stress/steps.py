"""The steps of the ledger, one by one: what stands before each and what must hold after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from lineclear.core.errors import LineclearError
from lineclear.core.ledger.ask import Call, open_request
from lineclear.core.ledger.layout import PENDING
from lineclear.core.ledger.records import Outcome, VerdictName
from lineclear.core.ledger.store import Store
from tests.stress.acting import (
    Place,
    agent,
    brief,
    operator,
    payment,
    resolver,
    run_tool,
    run_tool_and_die,
    taker_back,
    withdrawer,
)

BIG = "x" * ((1 << 20) + 1)
"""A result that does not fit into its outcome record."""
REFUSED = ("unfit no_permission",)
"""A decision that this user may not read is refused, and the call is asked anew."""
Judge = Callable[[Place, "str | None"], Iterator[str]]


@dataclass(frozen=True)
class Step:
    """One step under fault: what stands before it, the step, and what must hold after it."""

    prepare: Callable[[Place], None]
    act: Callable[[Place], str]
    judge: Judge
    clean: str
    """What it tells when nothing goes wrong."""
    first: Callable[[Place], str] | None = None
    """What another process did just before and was killed in, right after its link."""


def judged(step: Step, place: Place, told: str | None) -> list[str]:
    """Give what does not hold; a store that cannot even be read does not hold either."""
    try:
        return list(step.judge(place, told))
    except LineclearError as why:
        return [why.sentence]


# --- What must hold ----------------------------------------------------------------------------


def expect(actual: object, *allowed: object) -> Iterator[str]:
    if actual not in allowed:
        yield f"{actual!r}, not {' or '.join(map(repr, allowed))}"


def ended(place: Place) -> list[Outcome | None]:
    """The outcome of each call, oldest first."""
    with Store.open(place.store) as store:
        return [store.records(seq, aid).outcome for seq, aid in store.calls()]


def payees(place: Place) -> list[str]:
    """To whom each run of the tool paid."""
    return [line.split()[1] for line in place.ran()]


def pending_is_the_open_request(place: Place) -> Iterator[str]:
    with Store.open(place.store) as store:
        shown = open_request(store)
    projected = place.store / PENDING
    if shown is None:
        if projected.exists():
            yield "pending.json shows a closed call"
    elif not projected.exists() or projected.read_bytes() != shown.raw:
        yield "pending.json is not the open request"


def runs_once_after(place: Place) -> Iterator[str]:
    """Nobody decided yet: the call waits visibly, is approved, and runs exactly once."""
    yield from expect(agent(place, payment()), "waiting")
    yield from pending_is_the_open_request(place)
    yield from expect(operator(place, "approve", "carol"), "recorded approve")
    yield from expect(agent(place, payment()), "ended ok: paid")
    yield from expect(len(place.ran()), 1)
    yield from pending_is_the_open_request(place)


def judge_publish(place: Place, told: str | None) -> Iterator[str]:
    yield from expect(len(place.ran()), 0)
    yield from runs_once_after(place)


def judge_decide(verdict: VerdictName) -> Judge:
    """What the operator was told stays true, and only an approval runs."""

    def judge(place: Place, told: str | None) -> Iterator[str]:
        other: VerdictName = "approve" if verdict == "deny" else "deny"
        second = operator(place, other, "bob")
        if told == f"recorded {verdict}":
            yield from expect(second, f"already {verdict} by alice")
        else:
            yield from expect(second, f"already {verdict} by alice", f"recorded {other}")
        stands = verdict if second.startswith("already") else other
        after = agent(place, payment())
        if stands == "approve":
            yield from expect(after, "ended ok: paid")
            yield from expect(payees(place), ["bob"])
        elif stands == "modify":
            yield from expect(after, "ended ok: paid")
            yield from expect(payees(place), ["dave"])
        else:
            yield from expect(after, "ended denied: no")
            yield from expect(len(place.ran()), 0)

    return judge


def judge_run(place: Place, told: str | None) -> Iterator[str]:
    """At most once; told or recorded means done; what is uncertain stays so until resolved."""
    yield from judge_end(place, told, "paid", "bob")


def judge_big_result(place: Place, told: str | None) -> Iterator[str]:
    yield from judge_end(place, told, brief(BIG), "bob")


def judge_run_modified(place: Place, told: str | None) -> Iterator[str]:
    yield from judge_end(place, told, "paid", "dave")


def judge_end(place: Place, told: str | None, result: str, payee: str) -> Iterator[str]:
    before = len(place.ran())
    (outcome,) = ended(place)
    if outcome is not None and outcome.outcome == "ok":
        yield from expect(before, 1)
    if told == f"ended ok: {result}":
        yield from expect(outcome and outcome.outcome, "ok")
    after = agent(place, payment(), result=BIG if result == brief(BIG) else "paid")
    yield from expect(set(payees(place)) - {payee}, set())
    if after == "uncertain":
        yield from expect(agent(place, payment()), "uncertain")
        yield from expect(len(place.ran()), before)
        yield from expect(resolver(place, "not_run", "carol"), "resolved not_run")
        after = agent(place, payment())
        yield from expect(after, "ended resolved: [NOT RUN: not_run says carol]")
        yield from expect(len(place.ran()), before)
    elif told in REFUSED:
        yield from expect(after, "waiting")
        yield from expect(len(place.ran()), 0)
    elif after == f"ended error: {result}":
        # The tool itself failed, and that is on record.
        yield from expect(told, f"ended error: {result}")
    else:
        yield from expect(after, f"ended ok: {result}")
        yield from expect(len(place.ran()), 1)
    yield from pending_is_the_open_request(place)


def judge_withdraw(place: Place, told: str | None) -> Iterator[str]:
    """Withdrawn stays withdrawn: the same call asked again is another request."""
    after = agent(place, payment())
    yield from expect(after, "waiting")
    outcomes = [outcome and outcome.outcome for outcome in ended(place)]
    if told == "withdrawn":
        yield from expect(outcomes, ["withdrawn", None])
    else:
        yield from expect(outcomes, ["withdrawn", None], [None])
    yield from runs_once_after(place)


def judge_deny(place: Place, told: str | None) -> Iterator[str]:
    yield from expect(agent(place, payment()), "waiting" if told in REFUSED else "ended denied: no")
    yield from expect(len(place.ran()), 0)
    yield from pending_is_the_open_request(place)


def judge_observed(place: Place, told: str | None) -> Iterator[str]:
    """Nobody was told of the decision: it may be lost, but only before anything came of it."""
    before = len(place.ran())
    after = agent(place, payment())
    if told is None and after == "waiting":
        yield from expect(before, 0)
    elif told == "ended denied: no" or after == "ended denied: no":
        yield from expect(after, "ended denied: no")
        yield from expect(len(place.ran()), 0)
    elif after == "uncertain":
        yield from expect(told, None)
        yield from expect(len(place.ran()), before)
    else:
        yield from expect(after, "ended ok: paid")
        yield from expect(len(place.ran()), 1)
    yield from pending_is_the_open_request(place)


def judge_expire(place: Place, told: str | None) -> Iterator[str]:
    yield from expect(agent(place, expiring()), "ended expired: no")
    yield from expect(operator(place, "approve", "bob"), "nothing")
    yield from expect(len(place.ran()), 0)


def judge_other_call(place: Place, told: str | None) -> Iterator[str]:
    """The approved call of before never runs; the new one waits and is decided by itself."""
    yield from expect(agent(place, payment("carol")), "waiting")
    yield from pending_is_the_open_request(place)
    yield from expect(place.ran(), [])
    yield from expect(operator(place, "approve", "dave"), "recorded approve")
    yield from expect(agent(place, payment("carol")), "ended ok: paid")
    yield from expect([line.split()[1] for line in place.ran()], ["carol"])


def judge_take_back(place: Place, told: str | None) -> Iterator[str]:
    """Taken back means that it never runs; else it runs once or is known as withdrawn."""
    after = agent(place, payment())
    if told == "taken back":
        # A withdrawn call is asked anew: this is a new request, not the approved one.
        yield from expect(after, "waiting")
    else:
        yield from expect(after, "waiting", "ended ok: paid")
    yield from expect(len(place.ran()), 1 if after == "ended ok: paid" else 0)
    outcomes = [outcome and outcome.outcome for outcome in ended(place)]
    if after == "waiting":
        yield from expect(outcomes, ["withdrawn", None])
    else:
        yield from expect(outcomes, ["ok"])
    yield from pending_is_the_open_request(place)


def judge_resolve(place: Place, told: str | None) -> Iterator[str]:
    before = place.ran()
    second = resolver(place, "not_run", "bob")
    if told == "resolved ran":
        # Nothing is open any more, or what stands is told.
        yield from expect(second, "nothing")
    after = agent(place, payment())
    if second == "resolved not_run":
        yield from expect(after, "ended resolved: [NOT RUN: not_run says bob]")
    else:
        yield from expect(second, "nothing", "refused already_decided")
        yield from expect(after, "ended resolved: ran says alice")
    yield from expect(place.ran(), before)
    yield from pending_is_the_open_request(place)


# --- The steps ---------------------------------------------------------------------------------


def expiring() -> Call:
    return payment(expires_at=datetime(2020, 1, 1, tzinfo=UTC))


def nothing(place: Place) -> None:
    place.store.mkdir(mode=0o700)


def published(place: Place) -> None:
    must(agent(place, payment()), "waiting")


def approved(place: Place) -> None:
    published(place)
    must(operator(place, "approve", "alice"), "recorded approve")


def modified(place: Place) -> None:
    published(place)
    must(operator(place, "modify", "alice"), "recorded modify")


def denied(place: Place) -> None:
    published(place)
    must(operator(place, "deny", "alice"), "recorded deny")


def uncertain(place: Place) -> None:
    """An approved call whose agent died with the tool done and no outcome."""
    approved(place)
    child = os.fork()
    if child == 0:
        try:
            agent(place, payment(), run_tool_and_die)
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    must(agent(place, payment()), "uncertain")


def must(told: str, expected: str) -> None:
    if told != expected:
        raise AssertionError(f"cannot prepare: {told}")


def pay(place: Place) -> str:
    return agent(place, payment())


def approve(place: Place) -> str:
    return operator(place, "approve", "alice")


def deny(place: Place) -> str:
    return operator(place, "deny", "alice")


def native_steps() -> dict[str, Step]:

    return {
        "publish": Step(nothing, pay, judge_publish, "waiting"),
        "approve": Step(published, approve, judge_decide("approve"), "recorded approve"),
        "deny": Step(published, deny, judge_decide("deny"), "recorded deny"),
        "modify": Step(
            published,
            lambda place: operator(place, "modify", "alice"),
            judge_decide("modify"),
            "recorded modify",
        ),
        "run-modified": Step(modified, pay, judge_run_modified, "ended ok: paid"),
        "big-result": Step(
            approved,
            lambda place: agent(place, payment(), result=BIG),
            judge_big_result,
            f"ended ok: {brief(BIG)}",
        ),
        "withdraw": Step(
            published,
            lambda place: withdrawer(place, payment()),
            judge_withdraw,
            "withdrawn",
        ),
        "run": Step(approved, pay, judge_run, "ended ok: paid"),
        "hear-denial": Step(denied, pay, judge_deny, "ended denied: no"),
        "expire": Step(
            nothing, lambda place: agent(place, expiring()), judge_expire, "ended expired: no"
        ),
        "other-call": Step(
            approved, lambda place: agent(place, payment("carol")), judge_other_call, "waiting"
        ),
        "take-back": Step(
            approved, lambda place: taker_back(place, "alice"), judge_take_back, "taken back"
        ),
        "resolve": Step(
            uncertain,
            lambda place: resolver(place, "ran", "alice"),
            judge_resolve,
            "resolved ran",
        ),
    }


def careless_steps() -> dict[str, Step]:
    """Steps that break a rule, so that the judges are seen to notice."""

    def run_first(place: Place) -> str:
        with Store.open(place.store) as store:
            shown = open_request(store)
        if shown is not None and shown.call is not None:
            run_tool(place, shown, shown.call.arguments)
        return agent(place, payment(), lambda place, shown, arguments: None)

    def tell_first(place: Place) -> str:
        (place.folder / "told").touch()
        return operator(place, "approve", "alice")

    def judge_told(place: Place, told: str | None) -> Iterator[str]:
        early = "recorded approve" if (place.folder / "told").exists() else None
        return judge_decide("approve")(place, told or early)

    return {
        "careless-run": Step(approved, run_first, judge_run, "ended ok: paid"),
        "careless-approve": Step(published, tell_first, judge_told, "recorded approve"),
    }


def steps_after_a_kill() -> dict[str, Step]:
    """An agent acts on a decision whose operator was killed before it was durable."""

    return {
        "observe-approval": Step(published, pay, judge_observed, "ended ok: paid", approve),
        "observe-denial": Step(published, pay, judge_observed, "ended denied: no", deny),
    }
