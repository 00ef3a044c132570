from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.sniff import FORMATS, read_checkpoint
from lineclear.core.checkpoints.starweaver import (
    AgentCheckpoint,
    AgentHitlError,
    AgentHitlResults,
    AgentRunState,
    hitl_results,
    read_approval_decision,
)
from lineclear.core.errors import Unreadable
from tests.core.checkpoints.a3s_samples import TEXTS, VALUES, raw
from tests.core.checkpoints.starweaver_samples import (
    RUN,
    approval,
    call,
    deferred,
    starweaver_checkpoints,
    starweaver_document,
    state_document,
    waiting_state,
)

APPROVED = {"decision": "approved"}
DENIED = {"decision": "denied", "reason": "no"}
DONE = {"deferred_id": f"deferred_{RUN}_d", "status": "completed", "response": {"ok": True}}
DECISIONS: dict[str, Json] = {"b": APPROVED, "a": DENIED, "d": DONE}


def three(**fields: Any) -> dict[str, Any]:
    """A run that waits for two approvals and a deferred call."""
    return waiting_state(
        approval("b"),
        approval("a"),
        batch=[call("a"), call("b")],
        deferred_tool_returns=[deferred("d")],
        **fields,
    )


def state(document: dict[str, Any] | None = None) -> AgentRunState:
    return AgentRunState.from_document(three() if document is None else document)


def code_of(results: dict[str, Any], document: dict[str, Any] | None = None) -> str | None:
    try:
        AgentHitlResults.from_document(results).ensure_answers(state(document))
    except AgentHitlError as refused:
        return refused.code
    return None


def complete(**fields: Any) -> dict[str, Any]:
    return {
        "approvals": {"a": DENIED, "b": APPROVED},
        "deferred_results": {"results": [DONE]},
        **fields,
    }


# --- put together -----------------------------------------------------------------------------


def test_all_decisions_make_the_complete_results():
    assert hitl_results(state(), DECISIONS).document() == complete()


def test_the_window_needs_to_know_no_system_for_it():
    checkpoint = read_checkpoint(raw(starweaver_document(three())))
    system = FORMATS[checkpoint.system]
    assert system.together
    natives = {
        c.item: system.native_decision(c, "result", arguments={"status": "failed"})
        if c.kind == "deferred"
        else system.native_decision(c, "approve")
        for c in checkpoint.calls
    }
    assert system.results(checkpoint, natives) == {
        "approvals": {"a": APPROVED, "b": APPROVED},
        "deferred_results": {"results": [{"deferred_id": f"deferred_{RUN}_d", "status": "failed"}]},
    }
    del natives["a"]
    with pytest.raises(AgentHitlError) as refused:
        system.results(checkpoint, natives)
    assert refused.value.code == "missing_decisions"


@given(st.permutations(list(DECISIONS.items())))
def test_results_follow_from_the_decisions_and_not_from_their_order(pairs: list[tuple[str, Json]]):
    assert hitl_results(state(), dict(pairs)).encode() == hitl_results(state(), DECISIONS).encode()


def test_empty_parts_are_omitted():
    one = state(waiting_state())
    assert hitl_results(one, {"call_1": DENIED}).document() == {"approvals": {"call_1": DENIED}}
    answered = state(state_document(status="waiting", deferred_tool_returns=[deferred("d")]))
    assert hitl_results(answered, {"d": DONE}).document() == {
        "deferred_results": {"results": [DONE]}
    }


@pytest.mark.parametrize("missing", ["a", "b", "d"])
def test_every_call_has_to_be_decided(missing: str):
    some = {key: value for key, value in DECISIONS.items() if key != missing}
    with pytest.raises(AgentHitlError) as refused:
        hitl_results(state(), some)
    assert refused.value.code == "missing_decisions"
    assert f"{missing}'" in str(refused.value)


def test_a_decision_on_something_else_is_refused():
    with pytest.raises(AgentHitlError) as refused:
        hitl_results(state(), {**DECISIONS, "x": APPROVED})
    assert refused.value.code == "unknown_approval"
    assert "'x'" in str(refused.value)


@pytest.mark.parametrize(
    "decisions",
    [
        {**DECISIONS, "a": "approved"},
        {**DECISIONS, "a": {"decision": "Approved"}},
        {**DECISIONS, "a": {}},
        {**DECISIONS, "a": DONE},
        {**DECISIONS, "d": APPROVED},
        {**DECISIONS, "d": {**DONE, "status": "done"}},
    ],
)
def test_what_is_not_in_the_systems_form_is_refused(decisions: dict[str, Json]):
    with pytest.raises(Unreadable):
        hitl_results(state(), decisions)


def test_an_answer_to_another_call_is_refused():
    other = {**DONE, "deferred_id": "deferred_run_2_d"}
    with pytest.raises(AgentHitlError) as refused:
        hitl_results(state(), {**DECISIONS, "d": other})
    assert refused.value.code == "unknown_deferred"


def test_an_id_that_looks_like_an_approvals_is_still_found():
    odd = f"approval_{RUN}_x"
    waits = state(waiting_state(approval(odd), batch=[call(odd)]))
    results = hitl_results(waits, {odd: APPROVED})
    assert results.document() == {"approvals": {f"approval_{RUN}_{odd}": APPROVED}}


# --- what the system takes --------------------------------------------------------------------


def test_complete_results_are_taken_under_either_key():
    assert code_of(complete()) is None
    keyed = {f"approval_{RUN}_a": DENIED, "b": APPROVED}
    assert code_of(complete(approvals=keyed)) is None


@pytest.mark.parametrize(
    "results, code",
    [
        (complete(approvals={"a": DENIED}), "missing_decisions"),
        (complete(deferred_results={}), "missing_decisions"),
        ({}, "missing_decisions"),
        (complete(approvals={"a": DENIED, "b": APPROVED, "c": DENIED}), "unknown_approval"),
        (
            complete(approvals={"a": DENIED, "b": APPROVED, f"approval_{RUN}_a": APPROVED}),
            "duplicate_decision",
        ),
        (complete(deferred_results={"results": [DONE, DONE]}), "duplicate_decision"),
        (
            complete(deferred_results={"results": [DONE, {**DONE, "deferred_id": "d"}]}),
            "unknown_deferred",
        ),
        (
            complete(deferred_results={"results": [{**DONE, "status": "waiting"}]}),
            "deferred_not_terminal",
        ),
    ],
)
def test_incomplete_or_odd_results_are_refused(results: dict[str, Any], code: str):
    assert code_of(results) == code


def test_a_run_that_does_not_wait_takes_none():
    assert code_of(complete(), three() | {"status": "running"}) == "not_waiting"
    assert code_of({}, state_document(status="waiting")) == "no_pending_hitl"


def test_a_missing_call_can_be_denied_and_not_approved():
    gone = waiting_state(batch=[])
    assert code_of({"approvals": {"call_1": DENIED}}, gone) is None
    assert code_of({"approvals": {"call_1": APPROVED}}, gone) == "missing_tool_call"


def test_many_ids_are_told_in_a_short_sentence():
    ids = [f"c{n}" for n in range(40)]
    many = waiting_state(*map(approval, ids), batch=[call(one) for one in ids])
    with pytest.raises(AgentHitlError) as refused:
        hitl_results(state(many), {})
    assert str(refused.value) == "There is no decision on 'c0', 'c1', 'c10' and 37 more."


def test_null_arguments_replace_nothing():
    decision = read_approval_decision({"decision": "approved", "override_arguments": None})
    assert decision.document() == APPROVED


@given(
    st.fixed_dictionaries(
        {"decision": st.just("approved")},
        optional={
            "decided_by": TEXTS,
            "reason": TEXTS,
            "override_arguments": VALUES.filter(lambda value: value is not None),
            "metadata": st.dictionaries(TEXTS, VALUES, min_size=1, max_size=2),
        },
    )
    | st.fixed_dictionaries(
        {"decision": st.just("denied")},
        optional={
            "decided_by": TEXTS,
            "reason": TEXTS,
            "metadata": st.dictionaries(TEXTS, VALUES, min_size=1, max_size=2),
        },
    )
)
def test_every_decision_survives_both_ways(document: dict[str, Any]):
    assert read_approval_decision(document).document() == document


@st.composite
def waiting_checkpoints(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a checkpoint of a run that waits for at least one approval or result."""
    document = draw(starweaver_checkpoints())
    state = document["state"]
    state["status"] = document["resume"]["status"] = "waiting"
    ids = draw(st.lists(TEXTS.filter(bool), min_size=1, max_size=5, unique=True))
    split = draw(st.integers(0, len(ids)))
    state["pending_approval_tool_returns"] = [approval(call_id) for call_id in ids[:split]]
    state["deferred_tool_returns"] = [deferred(call_id) for call_id in ids[split:]]
    state["pending_tool_calls"] = [call(call_id) for call_id in ids]
    for key in ("pending_approval_tool_returns", "deferred_tool_returns"):
        if not state[key]:
            del state[key]
    return document


@given(waiting_checkpoints(), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_every_waiting_run_shows_its_calls_and_takes_all_decisions_at_once(
    document: dict[str, Any], random: Random
):
    written = AgentCheckpoint.from_document(document)
    checkpoint = read_checkpoint(written.encode())
    asked = [part.tool_call_id for part in written.state.pending_approval_tool_returns]
    elsewhere = [part.tool_call_id for part in written.state.deferred_tool_returns]
    assert [one.item for one in checkpoint.calls] == [*asked, *elsewhere]
    assert not checkpoint.resumable
    system = FORMATS[checkpoint.system]
    natives = {}
    for one in random.sample(checkpoint.calls, len(checkpoint.calls)):
        if one.kind == "deferred":
            said = {"status": "completed", "response": {"n": 1}}
            natives[one.item] = system.native_decision(one, "result", arguments=said, by="bob")
        else:
            verdict = random.choice(["approve", "deny"])
            natives[one.item] = system.native_decision(one, verdict, by="bob")
    results = system.results(checkpoint, natives)
    AgentHitlResults.from_document(results).ensure_answers(written.state)
    missing = dict(natives)
    del missing[random.choice(checkpoint.calls).item]
    with pytest.raises(AgentHitlError) as refused:
        system.results(checkpoint, missing)
    assert refused.value.code == "missing_decisions"
