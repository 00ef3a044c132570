import json
import re
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    Counters,
    Entry,
    PendingCall,
    Step,
    Usage,
)
from lineclear.core.checkpoints.sniff import FORMATS, read_checkpoint
from lineclear.core.checkpoints.starweaver import NAME, Starweaver
from lineclear.core.checkpoints.warnings import LEVELS, Level, call_warnings
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.foreign import show_foreign
from tests.badinputs import FIXTURES
from tests.core.checkpoints.a3s_samples import raw
from tests.core.checkpoints.starweaver_samples import (
    RUN,
    USAGE,
    approval,
    call,
    deferred,
    deferred_call,
    enveloped,
    starweaver_document,
    state_document,
    waiting_state,
)


def read(state: dict[str, Any] | None = None, **fields: Any) -> Checkpoint:
    return read_checkpoint(raw(starweaver_document(state, **fields)))


def refused(state: dict[str, Any]) -> Unreadable:
    with pytest.raises(Unreadable) as why:
        read(state)
    return why.value


def fixture(name: str) -> Checkpoint:
    return read_checkpoint((FIXTURES / "starweaver" / f"{name}.json").read_bytes())


# --- what waits -------------------------------------------------------------------------------


def test_a_waiting_run_has_a_call_to_decide():
    checkpoint = fixture("v041_waiting_one_approval")
    assert checkpoint.calls == (
        PendingCall(
            tool="shell",
            arguments={"command": "rm -rf build", "timeout": 30},
            tool_id="call_1",
            item="call_1",
            reason="shell commands need approval",
            identity=["run_00000000-0000-4000-8000-000000000002", "call_1"],
        ),
    )
    assert not checkpoint.resumable
    assert checkpoint.counters == Counters(iteration=1, tool_calls=0, tokens=150)
    assert checkpoint.usage == Usage(tokens_in=120, tokens_out=30, cache=0)
    assert checkpoint.trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert checkpoint.warnings == ()


def test_approvals_come_before_deferred_calls_in_the_systems_order():
    state = waiting_state(
        approval("b", "write", {"x": 1}),
        approval("a"),
        batch=[call("a"), call("b", "write", {"x": 1}), call("done", "read"), deferred_call()],
        deferred_tool_returns=[deferred()],
    )
    checkpoint = read(state)
    assert [(c.item, c.kind, c.tool) for c in checkpoint.calls] == [
        ("b", "approval", "write"),
        ("a", "approval", "shell"),
        ("call_d", "deferred", "create_issue"),
    ]
    answered = checkpoint.calls[2]
    assert answered.arguments == {"arguments": {"title": "T"}, "server": "jira"}
    assert answered.native_id == f"deferred_{RUN}_call_d"
    assert all(c.warnings == () for c in checkpoint.calls)


def test_a_deferred_call_without_a_request_shows_the_batchs_arguments():
    bare = deferred()
    del bare["metadata"]["deferred"]
    state = state_document(
        status="waiting",
        pending_tool_calls=[call("call_d", "create_issue", {"title": "T"})],
        deferred_tool_returns=[bare],
    )
    assert read(state).calls[0].arguments == {"title": "T"}
    del state["pending_tool_calls"]
    assert read(state).calls[0].arguments is None
    assert read(state).calls[0].warnings == ("answers_no_call",)


def deferred_alone(batch: list[dict[str, Any]], request: Any = ...) -> Any:
    """The deferred call of a run that waits for nothing else."""
    waits = deferred()
    if request is not ...:
        waits["metadata"]["deferred"] = request
    state = state_document(
        status="waiting", pending_tool_calls=batch, deferred_tool_returns=[waits]
    )
    checkpoint = read(state)
    (shown,) = checkpoint.calls
    assert shown.kind == "deferred"
    return shown, call_warnings(checkpoint, shown)


@pytest.mark.parametrize(
    "name, arguments",
    [("drop_db", {"title": "EVIL"}), ("drop_db", {"title": "T"}), ("create_issue", {"title": "E"})],
)
def test_an_answer_goes_to_the_batchs_call_whatever_the_request_says(name, arguments):
    shown, codes = deferred_alone([call("call_d", name, arguments)])
    assert (shown.tool, codes[0]) == (name, "arguments_differ")
    request = {"arguments": {"title": "T"}, "server": "jira"}
    assert shown.arguments == {
        "call": arguments,
        "request": {"tool": "create_issue", "request": request},
    }


@pytest.mark.parametrize("request_", [None, 3, {"ticket": 7}, {"arguments": {"title": "T"}}])
def test_a_request_that_names_no_other_arguments_is_no_other_call(request_):
    shown, codes = deferred_alone([deferred_call()], request_)
    assert (shown.tool, shown.arguments, codes) == ("create_issue", request_, ())


@pytest.mark.parametrize("batch", [[], [call("other", "create_issue", {"title": "T"})]])
def test_an_answer_to_no_call_of_the_run_is_told(batch):
    shown, codes = deferred_alone(batch)
    assert shown.arguments == {"arguments": {"title": "T"}, "server": "jira"}
    assert codes == ("answers_no_call",)
    assert LEVELS["answers_no_call"] is Level.STOP


def test_what_would_run_is_shown_when_the_request_says_something_else():
    said = approval(arguments={"command": "ls"})
    (shown,) = read(waiting_state(said)).calls
    assert shown.arguments == {"command": "rm -rf build"}
    assert shown.warnings == ("arguments_differ",)
    checkpoint = read(waiting_state(said))
    assert call_warnings(checkpoint, shown)[0] == "arguments_differ"
    assert LEVELS["arguments_differ"] is Level.STOP


@pytest.mark.parametrize(
    "said, ran, differ",
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ({"a": 0.1}, {"a": 0.1}, False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": True}, {"a": 1}, True),
        ({"a": None}, {}, True),
        (None, None, False),
        ("{bad", {"kind": "starweaver_invalid_tool_arguments", "raw": "{bad", "error": "x"}, False),
        (
            {"kind": "starweaver_invalid_tool_arguments", "raw": "{bad", "error": "x"},
            {"kind": "starweaver_invalid_tool_arguments", "raw": "{bad", "error": "x"},
            False,
        ),
    ],
)
def test_arguments_are_compared_by_meaning(said: Any, ran: Any, differ: bool):
    (shown,) = read(waiting_state(approval(arguments=said), batch=[call(arguments=ran)])).calls
    assert ("arguments_differ" in shown.warnings) is differ
    no_json = isinstance(ran, dict) and ran.get("kind") == "starweaver_invalid_tool_arguments"
    assert ("no_json_arguments" in shown.warnings) is no_json


def test_another_tool_name_or_other_reviewed_arguments_differ():
    (renamed,) = read(waiting_state(approval(name="read"))).calls
    assert renamed.tool == "shell"
    assert renamed.warnings == ("arguments_differ",)
    reviewed: dict[str, Any] = {"starweaver.approval_tool_arguments": {"command": "ls"}}
    (tampered,) = read(waiting_state(approval(**reviewed))).calls
    assert tampered.warnings == ("arguments_differ",)
    (sound,) = fixture("v0150_checkpoint_bare").calls
    assert sound.warnings == ()


def test_of_two_calls_with_one_id_the_later_would_run():
    response = {
        "parts": [{"kind": "tool_call", **call(arguments={"command": "first"})}],
        "usage": USAGE,
    }
    batch = [call(arguments={"command": "second"}), call(arguments={"command": "third"})]
    state = waiting_state(
        approval(arguments={"command": "third"}), batch=batch, latest_response=response
    )
    (shown,) = read(state).calls
    assert shown.arguments == {"command": "third"}
    assert shown.warnings == ()
    state["pending_tool_calls"] = []
    (shown,) = read(state).calls
    assert shown.arguments == {"command": "first"}
    assert shown.warnings == ("arguments_differ",)


def test_a_call_marked_by_its_provider_is_found_too():
    part = {"kind": "provider_tool_call", "call": call(), "provider": {"id": "p"}}
    state = waiting_state(batch=[], latest_response={"parts": [part], "usage": USAGE})
    assert read(state).calls[0].arguments == {"command": "rm -rf build"}


def test_a_call_that_is_gone_can_only_be_denied():
    (gone,) = read(waiting_state(batch=[])).calls
    assert gone.warnings == ("call_missing",)
    assert gone.arguments == {"command": "rm -rf build"}
    assert LEVELS["call_missing"] is Level.BLOCKED


def test_arguments_that_are_no_json_are_shown_as_their_text():
    broken = {"kind": "starweaver_invalid_tool_arguments", "raw": "{bad", "error": "x"}
    (shown,) = read(waiting_state(approval(arguments="{bad"), batch=[call(arguments=broken)])).calls
    assert shown.arguments == "{bad"


@pytest.mark.parametrize(
    "approvals, more",
    [
        ([approval("")], []),
        ([approval("a"), approval("a")], []),
        ([approval("a")], [deferred("a")]),
        ([approval("b")], [deferred("")]),
        ([approval("b")], [deferred("d"), deferred("d")]),
        # A decision may name a call as approval_<run>_<call>, too.
        ([approval("c1"), approval("approval_run_1_c1")], []),
        ([approval("approval_run_1_c1")], [deferred("c1")]),
    ],
)
def test_calls_that_no_decision_could_tell_apart_are_refused(
    approvals: list[dict[str, Any]], more: list[dict[str, Any]]
):
    why = refused(waiting_state(*approvals, deferred_tool_returns=more))
    assert why.code == "ambiguous_call_ids"
    assert str(why).endswith(".")


def test_a_longer_id_that_names_no_other_call_is_an_id():
    ids = ["approval_run_1_c1", "c2", "approval_run_2_c2"]
    found = read(waiting_state(*map(approval, ids))).calls
    assert [one.item for one in found] == ids
    assert found[0].identity == ["run_1", "c1"]


def test_repeated_ids_of_calls_that_are_over_do_not_matter():
    state = state_document(
        status="running", pending_approval_tool_returns=[approval("a"), approval("a")]
    )
    assert read(state).calls == ()


@pytest.mark.parametrize("name, code", [("", "tool_name"), ("x" * 129, "tool_name")])
def test_a_tool_name_nobody_could_read_is_refused(name: str, code: str):
    assert refused(waiting_state(approval(name=name), batch=[call(name=name)])).code == code


def test_too_many_keys_in_one_call_are_refused():
    many = {f"k{n}": 0 for n in range(20_001)}
    state = waiting_state(approval(arguments=many), batch=[call(arguments=many)])
    assert refused(state).code == "too_many_keys"
    many.popitem()
    assert read(waiting_state(approval(arguments=many), batch=[call(arguments=many)])).calls


def test_many_calls_cost_what_they_are():
    ids = [f"call_{n}" for n in range(3_000)]
    state = waiting_state(*map(approval, ids), batch=[call(one) for one in ids])
    assert len(read(state).calls) == 3_000


def test_an_enveloped_checkpoint_has_the_same_calls():
    document = starweaver_document(waiting_state())
    assert read_checkpoint(raw(enveloped(document))).calls == read(waiting_state()).calls


# --- what does not wait -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "status, resumable",
    [
        ("starting", True),
        ("running", True),
        ("waiting", True),
        ("completed", False),
        ("failed", True),
        ("cancelled", False),
    ],
)
def test_a_run_that_is_not_over_is_resumable_once_it_does_not_run(status: str, resumable: bool):
    checkpoint = read(state_document(status=status))
    assert checkpoint.resumable is resumable
    assert checkpoint.calls == ()
    assert checkpoint.position is not None
    assert checkpoint.position.status == status


@pytest.mark.parametrize(
    "status, resumable",
    [
        ("starting", True),
        ("running", True),
        ("waiting", True),
        ("failed", True),
        ("completed", False),
        ("cancelled", False),
    ],
)
def test_a_suspended_run_is_resumable_unless_it_is_over(status: str, resumable: bool):
    metadata = {"lineclear": {"suspended": "the operator said so"}}
    checkpoint = read(state_document(status=status), metadata=metadata)
    assert checkpoint.resumable is resumable
    assert checkpoint.position is not None
    assert checkpoint.position.suspended == "the operator said so"


def test_a_run_suspended_at_its_very_end_has_yet_to_end():
    document = state_document(status="completed")
    ended = read(document, node="run_complete")
    assert (ended.resumable, ended.unfinished) == (False, False)
    metadata = {"lineclear": {"suspended": "look at the answer first"}}
    stopped = read(document, node="run_complete", metadata=metadata)
    assert (stopped.resumable, stopped.unfinished) == (True, True)


def test_a_suspended_run_with_calls_waits_for_them():
    checkpoint = read(waiting_state(), metadata={"lineclear": {"suspended": "approval"}})
    assert len(checkpoint.calls) == 1
    assert not checkpoint.resumable


def test_a_failed_run_tells_where_it_stopped():
    position = fixture("v041_run_failed").position
    assert position is not None
    assert (position.run_id, position.checkpoint_id) == ("run_failed", "ckpt_fail")
    assert (position.node, position.status, position.step) == ("run_failed", "failed", 3)
    assert position.conversation_id == "conv_11111111-1111-4111-8111-111111111111"
    assert position.cursors == (
        ("Request attempt", 3),
        ("Validation attempt", 0),
        ("Stream cursor", 12),
        ("Message cursor", 0),
    )
    assert position.suspended is None
    assert fixture("v041_run_failed").resumable


def test_a_run_before_its_tool_asks_for_nothing():
    checkpoint = fixture("v041_tool_call_before")
    assert checkpoint.calls == ()
    assert checkpoint.resumable
    assert checkpoint.position is not None
    assert checkpoint.position.node == "tool_call"
    assert ("Tool call batch", "tool_batch_1") in checkpoint.position.cursors


def test_what_is_not_reported_is_none_and_never_zero():
    usage = {key: USAGE[key] for key in ("requests", "input_tokens", "output_tokens")}
    state = state_document(usage={**usage, "total_tokens": 150})
    checkpoint = read(state)
    assert checkpoint.counters == Counters(iteration=1, tool_calls=None, tokens=150)
    assert checkpoint.usage == Usage(120, 30, None)
    assert read().counters == Counters(1, 2, 150)
    assert read().usage == Usage(120, 30, 12)


def test_the_trace_is_that_of_the_evidence_or_of_the_metadata():
    assert read().trace_id == "trace-1"
    bare = starweaver_document(metadata={"trace_id": "trace-2"})
    del bare["resume"]["trace_context"]
    assert read_checkpoint(raw(bare)).trace_id == "trace-2"
    bare["metadata"] = {"trace_id": 2}
    assert read_checkpoint(raw(bare)).trace_id is None


def test_what_is_odd_in_the_document_is_warned_of():
    assert read(revision=1).warnings == ("extra_field",)
    assert read(state_document(run_step=2**53)).warnings == ("big_number",)
    checkpoint = fixture("v041_numbers_extremes_structured_null")
    assert checkpoint.warnings == ("big_number",)


# --- steps and transcript ---------------------------------------------------------------------


def test_every_finished_call_of_a_long_run_is_a_step():
    checkpoint = fixture("v041_waiting_medium_40_steps")
    assert len(checkpoint.steps) == 40
    first = checkpoint.steps[0]
    assert (first.tool, first.log, first.tool_call_id) == ("read", "step 0", "call_000")
    assert first.tool_input["path"] == "src/f0.rs"
    assert json.loads(first.observation) == {"out": "line 0\n" * 8}
    assert [c.tool for c in checkpoint.calls] == ["git_push"]


def response(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts), "usage": USAGE}


def request(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts)}


def returned(call_id: str, content: Any, *, is_error: bool = False) -> dict[str, Any]:
    return {
        "kind": "tool_return",
        "tool_call_id": call_id,
        "name": "shell",
        "content": content,
        "is_error": is_error,
    }


def test_results_of_the_batch_at_hand_are_steps_and_what_waits_is_none():
    batch = [call("done", "read", {"path": "a"}), call("call_1")]
    parts = [{"kind": "text", "text": "both"}, *({"kind": "tool_call", **one} for one in batch)]
    done = returned("done", "contents")
    del done["kind"]
    state = waiting_state(
        approval(),
        batch=batch,
        message_history=[response(*parts)],
        pending_tool_returns=[done, approval()],
    )
    assert read(state).steps == (Step("read", {"path": "a"}, "contents", "both", "done"),)


def test_the_transcript_has_every_part_in_order():
    history = [
        {
            **request(
                {"kind": "system_prompt", "text": "be good"},
                {
                    "kind": "user_prompt",
                    "content": [
                        {"kind": "text", "text": "look"},
                        {"kind": "cache_point"},
                        {"kind": "image_url", "url": "https://a.test/x.png"},
                        {"kind": "binary", "data": [1], "media_type": "image/png"},
                        {
                            "kind": "resource_ref",
                            "uri": "mem://1",
                            "media_type": "text/plain",
                            "resource_type": "document",
                        },
                    ],
                },
                {"kind": "instruction", "text": "be brief"},
            ),
            "instructions": "as asked",
        },
        response(
            {"kind": "thinking", "text": "hm"},
            {"kind": "text", "text": "Deleting."},
            {"kind": "tool_call", **call()},
            {"kind": "native_tool_call", "tool_type": "web_search", "payload": {"q": 1}},
            {"kind": "compaction", "summary": "short"},
        ),
        request(
            returned("call_1", {"out": 1}, is_error=True),
            {"kind": "retry_prompt", "text": "again", "tool_call_id": "call_1"},
        ),
    ]
    document = starweaver_document(state_document(message_history=history))
    assert FORMATS[NAME].transcript(document) == (
        Entry("system", "text", "as asked", message=1),
        Entry("system", "text", "be good", message=1),
        Entry("user", "text", "look", message=1),
        Entry("user", "media", "https://a.test/x.png", message=1),
        Entry("user", "media", "image/png", message=1),
        Entry("user", "media", "mem://1", message=1),
        Entry("system", "text", "be brief", message=1),
        Entry("assistant", "thinking", "hm", message=2),
        Entry("assistant", "text", "Deleting.", message=2),
        Entry(
            "assistant",
            "call",
            tool="shell",
            call_id="call_1",
            content={"command": "rm -rf build"},
            message=2,
        ),
        Entry("assistant", "call", tool="web_search", content={"q": 1}, message=2),
        Entry("assistant", "other", "short", message=2),
        Entry(
            "tool",
            "result",
            '{"out":1}',
            tool="shell",
            call_id="call_1",
            content={"out": 1},
            is_error=True,
            message=3,
        ),
        Entry("retry", "text", "again", call_id="call_1", message=3),
    )
    assert FORMATS[NAME].transcript(enveloped(document)) == FORMATS[NAME].transcript(document)


def test_every_part_of_the_systems_own_print_is_told():
    checkpoint = fixture("v041_waiting_medium_40_steps")
    entries = FORMATS[NAME].transcript(checkpoint.document)
    assert {entry.message for entry in entries} == set(range(1, 83))
    assert {entry.kind for entry in entries} == {"text", "thinking", "call", "result", "media"}


def test_sections_tell_what_the_run_is_part_of_and_what_it_used():
    sections = {
        s.title: dict(s.facts)
        for s in FORMATS[NAME].sections(fixture("v0150_checkpoint_bare").document)
    }
    assert sections["Run"] == {"Parent run": "run_parent", "Parent task": "task_1"}
    assert sections["Used so far"]["Requests to the model"] == 1
    assert "Output so far" not in sections
    ended = starweaver_document(state_document(output="done", structured_output=None))
    found = {s.title: dict(s.facts) for s in FORMATS[NAME].sections(ended)}
    assert found["Output so far"] == {"Output": "done"}
    assert found["Run"] == {"Span": "span-1"}


# --- verdicts ---------------------------------------------------------------------------------


def test_verdicts_in_the_systems_own_form():
    system = Starweaver()
    asked = PendingCall("shell", {}, "call_1", "call_1")
    assert system.native_decision(asked, "approve") == {"decision": "approved"}
    assert system.native_decision(asked, "approve", text="ok") == {
        "decision": "approved",
        "reason": "ok",
    }
    assert system.native_decision(asked, "deny") == {"decision": "denied"}
    assert system.native_decision(asked, "deny", text="no") == {
        "decision": "denied",
        "reason": "no",
    }
    assert system.native_decision(asked, "modify", arguments={"a": 1}, text="n") == {
        "decision": "approved",
        "reason": "n",
        "override_arguments": {"a": 1},
    }
    with pytest.raises(ValueError, match="cannot replace the arguments by null"):
        system.native_decision(asked, "modify", arguments=None)
    for verdict in ("modify", "expired", "Approve"):
        with pytest.raises(ValueError, match="knows no verdict"):
            system.native_decision(asked, verdict)
    with pytest.raises(ValueError, match="takes an approval or a denial"):
        system.native_decision(asked, "result", arguments={"status": "completed"})


def test_answers_to_deferred_calls_in_the_systems_own_form():
    system = Starweaver()
    asked = PendingCall("jira", {}, "d", "d", kind="deferred", native_id="deferred_run_1_d")
    answer = {"status": "completed", "response": {"key": "JIRA-1"}}
    assert system.native_decision(asked, "result", arguments=answer) == {
        "deferred_id": "deferred_run_1_d",
        **answer,
    }
    assert system.native_decision(
        asked, "result", arguments={"status": "cancelled"}, text="not now"
    ) == {
        "deferred_id": "deferred_run_1_d",
        "status": "cancelled",
        "metadata": {"note": "not now"},
    }
    for verdict in ("approve", "deny", "modify"):
        with pytest.raises(ValueError, match="takes an answer"):
            system.native_decision(asked, verdict, arguments={})
    for wrong in (
        MISSING,
        None,
        "completed",
        {},
        {"status": "running"},
        {"status": "Completed"},
        {"status": 1},
        {"status": ["completed"]},
        {"status": "completed", "deferred_id": "other"},
    ):
        with pytest.raises(ValueError, match="An answer"):
            system.native_decision(asked, "result", arguments=wrong)


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, belongs",
    [
        ("0123456789abcdef0123456789abcdef.checkpoint.json", True),
        ("run 1\n.checkpoint.json", True),
        (".checkpoint.json", False),
        (".tmp.1.checkpoint.json", False),
        ("run.checkpoint.json.tmp", False),
        ("run.json", False),
        ("pending.json", False),
    ],
)
def test_files_are_found_by_their_names(name: str, belongs: bool):
    (rule,) = FORMATS[NAME].files
    assert rule.folder == ()
    assert rule.max_bytes == 16 << 20
    assert (re.fullmatch(rule.pattern, name) is not None) is belongs


def test_a_file_on_disk_is_shown_call_by_call(tmp_path: Path):
    path = tmp_path / "run_1.checkpoint.json"
    tmp_path.chmod(0o700)
    batch = [call("a"), call("b")]
    path.write_bytes(
        raw(starweaver_document(waiting_state(approval("a"), approval("b"), batch=batch)))
    )
    shown = show_foreign(path)
    assert [one.item for one in shown] == ["a", "b"]
    assert len({one.aid for one in shown}) == 2
    assert [one.call and one.call.tool for one in shown] == ["shell", "shell"]
    path.write_bytes(raw(starweaver_document(state_document(status="failed"))))
    (stopped,) = show_foreign(path)
    assert stopped.call is None
    assert stopped.checkpoint.resumable
    assert jsontext.canonical(stopped.checkpoint.document)


@pytest.mark.parametrize("key", ["checkpoint_id", "node", "resume", "state", "run_id"])
def test_one_missing_field_is_named_instead_of_the_system_doubted(key: str):
    document = starweaver_document()
    del document[key]
    with pytest.raises(Unreadable) as why:
        read_checkpoint(raw(document))
    assert why.value.code == "missing_field"
    assert f"'{key}'" in str(why.value)


def test_caches_that_are_not_told_are_no_zero():
    document = json.loads(json.dumps(starweaver_document()))
    for usage in (document["state"]["usage"], document["resume"]["usage"]):
        usage.pop("cache_write_tokens", None)
        usage["cache_read_tokens"] = 7
    checkpoint = read_checkpoint(json.dumps(document).encode())
    sections = FORMATS[checkpoint.system].sections(checkpoint.document)
    used = next(dict(one.facts) for one in sections if one.title == "Used so far")
    assert used.keys() == {"Requests to the model", "Tokens read from a cache"}
    assert used["Tokens read from a cache"] == 7


# --- what each answer took --------------------------------------------------------------------


def test_each_answer_tells_its_tokens():
    assert fixture("v041_waiting_medium_40_steps").spent == (150,) * 41


def test_without_a_count_of_every_answer_there_is_none():
    document = json.loads(
        (FIXTURES / "starweaver" / "v041_waiting_medium_40_steps.json").read_bytes()
    )
    answers = [one for one in document["state"]["message_history"] if "usage" in one]
    del answers[3]["usage"]
    assert read_checkpoint(raw(document)).spent == ()
    assert fixture("v041_run_start").spent == ()


def test_cache_figures_that_our_agent_has_not_are_not_shown_as_zeros():
    known = {"tokens_in": 5, "tokens_out": 1, "cache": None}
    usage = {**USAGE, "cache_read_tokens": 0, "cache_write_tokens": 0}
    for block, told in (({"usage": known}, False), ({"usage": {**known, "cache": 0}}, True)):
        document = starweaver_document(state_document(usage=usage))
        document["metadata"] = {"lineclear": {"run": block}}
        checkpoint = read_checkpoint(json.dumps(document).encode())
        facts = dict(FORMATS[checkpoint.system].sections(checkpoint.document)[-1].facts)
        assert ("Tokens read from a cache" in facts) is told
        assert ("Tokens written to a cache" in facts) is told
