import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.checkpoints.a3s import (
    MAX_BYTES,
    NAME,
    A3s,
    LoopCheckpoint,
    file_name,
    legacy_file_name,
    run_id_of,
)
from lineclear.core.checkpoints.model import Counters, Entry, Head, PendingCall, Step, Usage
from lineclear.core.checkpoints.sniff import FORMATS, read_checkpoint, read_checkpoint_head
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.foreign import show_foreign
from tests.badinputs import FIXTURES
from tests.core.checkpoints.a3s_samples import LOOP_CHECKPOINTS, a3s_document, raw

LAYOUT = FIXTURES / "a3s" / "store_layout"


def refused_of(document: dict[str, Any], name: str | None = None) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        read_checkpoint(raw(document), name=name)
    return refused.value


# --- normalised -------------------------------------------------------------------------------


def test_a_run_between_rounds_is_resumable_with_nothing_to_approve():
    checkpoint = read_checkpoint(raw(a3s_document()))
    assert checkpoint.system == "a3s"
    assert checkpoint.resumable
    assert checkpoint.calls == ()
    assert checkpoint.counters == Counters(iteration=1, tool_calls=1, tokens=15)
    assert checkpoint.limits == Counters()
    assert checkpoint.usage == Usage(tokens_in=10, tokens_out=5, cache=4)
    assert checkpoint.position is not None
    assert checkpoint.position.run_id == "run-1"
    assert checkpoint.position.conversation_id == "session-1"
    assert checkpoint.position.step == 1
    assert checkpoint.position.written_ms == 1_700_000_000_000
    assert checkpoint.position.suspended is None
    assert checkpoint.warnings == ()
    assert checkpoint.document == a3s_document()


@pytest.mark.parametrize(
    "read, write, cache", [(None, None, None), (0, None, 0), (None, 7, 7), (3, 4, 7)]
)
def test_cache_tokens_are_none_only_where_none_are_told(read: Any, write: Any, cache: int | None):
    usage = a3s_document()["total_usage"]
    usage |= {"cache_read_tokens": read, "cache_write_tokens": write}
    checkpoint = read_checkpoint(raw(a3s_document(total_usage=usage)))
    assert checkpoint.usage == Usage(10, 5, cache)


def test_a_round_is_a_step():
    (step,) = read_checkpoint(raw(a3s_document())).steps
    assert step == Step("bash", {"command": "ls"}, "a\nb\n", "Looking.", "t1")


def test_every_round_of_a_long_run_is_a_step_in_order():
    checkpoint = read_checkpoint(
        (FIXTURES / "a3s/medium_40_rounds_binding_reports.json").read_bytes()
    )
    assert len(checkpoint.steps) == 40
    assert [step.tool for step in checkpoint.steps[:4]] == ["read", "grep", "edit", "bash"]
    assert [step.tool_call_id for step in checkpoint.steps] == [f"toolu_{n:03}" for n in range(40)]
    assert checkpoint.steps[3].tool_input["limit"] == 150
    assert checkpoint.steps[39].observation == "line 39\n" * 10
    assert checkpoint.steps[39].log == "step 39"


def use(call_id: str, name: str = "bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"id": call_id}}


def result(call_id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": None}


def test_results_find_their_calls_whatever_the_order():
    messages = [
        {"role": "user", "content": [result("lost", "of a compacted call")]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "two"}, use("a"), use("b", "read")],
        },
        {"role": "user", "content": [result("b", "B"), result("a", "A"), result("a", "again")]},
        {"role": "assistant", "content": [use("a", "write")]},
        {"role": "user", "content": [result("a", "A2")]},
        {"role": "assistant", "content": [use("waits")]},
    ]
    checkpoint = read_checkpoint(raw(a3s_document(messages=messages)))
    assert [(step.tool, step.observation, step.log) for step in checkpoint.steps] == [
        ("read", "B", ""),
        ("bash", "A", "two"),
        ("write", "A2", ""),
    ]


def test_the_transcript_has_every_block_in_order():
    blocks = [{"type": "text", "text": "a"}, image := {"type": "image", "source": SOURCE}]
    messages = [
        {"role": "user", "content": [image, {"type": "text", "text": "look"}]},
        {"role": "assistant", "content": [use("t1")], "reasoning_content": "hm"},
        {"role": "user", "content": [{**result("t1", blocks), "is_error": True}]},
    ]
    document = a3s_document(messages=messages)
    assert FORMATS["a3s"].transcript(document) == (
        Entry("user", "media", "image/png", message=1),
        Entry("user", "text", "look", message=1),
        Entry("assistant", "thinking", "hm", message=2),
        Entry("assistant", "call", tool="bash", call_id="t1", content={"id": "t1"}, message=2),
        Entry("user", "result", "a", call_id="t1", content=blocks, is_error=True, message=3),
    )


SOURCE = {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def test_guards_reports_and_binding_are_told():
    document = json.loads(
        (FIXTURES / "a3s/medium_40_rounds_binding_reports.json").read_text("utf-8")
    )
    sections = FORMATS["a3s"].sections(document)
    assert sections[0].title == "Convergence guards"
    guards = dict(sections[0].facts)
    assert guards["Recent tool calls"] == document["convergence"]["recent_tool_signatures"]
    assert guards["Stuck at that answer"] is True
    reports = [section for section in sections if section.title == "Verification report"]
    assert [dict(section.facts)["Subject"] for section in reports] == [
        report["subject"] for report in document["verification_reports"]
    ]
    assert sections[-1].title == "Capabilities it was admitted with"
    assert dict(sections[-1].facts)["codeCatalogGeneration"] == 3


def test_guards_of_later_versions_are_told_by_their_own_names():
    convergence = {**a3s_document()["convergence"], "verifier_spent": True}
    sections = FORMATS["a3s"].sections(a3s_document(convergence=convergence))
    assert ("verifier_spent", True) in sections[0].facts


def test_what_is_odd_in_the_document_is_warned_of():
    assert read_checkpoint(raw(a3s_document(shard=1))).warnings == ("extra_field",)
    assert read_checkpoint(raw(a3s_document(turn=2**53))).warnings == ("big_number",)


def test_answers_to_a_confirmation_are_yes_or_no():
    system, call = A3s(), PendingCall("bash", {})
    assert system.native_decision(call, "approve") == {"approved": True, "reason": None}
    assert system.native_decision(call, "deny", text="no") == {"approved": False, "reason": "no"}
    for verdict in ("modify", "result", "expired"):
        with pytest.raises(ValueError, match="a3s knows no verdict"):
            system.native_decision(call, verdict, arguments={})
    assert system.arguments_path() == ()
    assert not system.claim_by_rename
    assert not system.together


# --- telling it apart -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["run_id", "session_id", "turn", "messages", "total_usage", "checkpoint_ms"]
)
def test_one_missing_field_is_named_instead_of_the_system_doubted(key: str):
    refused = refused_of(a3s_document(**{key: ...}))
    assert refused.code == "missing_field"
    assert f"'{key}'" in str(refused)


def test_an_encrypted_one_is_called_encrypted():
    with pytest.raises(Unreadable) as refused:
        read_checkpoint(b"A3SE\x01" + os.urandom(80), name="id_cnVuLTE.json")
    assert refused.value.code == "encrypted"


def test_some_session_file_is_no_checkpoint():
    session = {"schema_version": 1, "session": {"id": "s"}, "messages": [], "run_records": []}
    assert refused_of(session).code == "unknown_system"


# --- names ------------------------------------------------------------------------------------


def test_names_are_those_of_the_systems_store():
    found = sorted((LAYOUT / "v1" / "loop_checkpoints").iterdir())
    assert len(found) == 6
    for path in found:
        run_id = json.loads(path.read_bytes())["run_id"]
        assert file_name(run_id) == path.name
        assert run_id_of(path.name) == run_id


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_run_has_one_name_and_every_name_one_run(run_id: str):
    name = file_name(run_id)
    assert re.fullmatch(r"id_[A-Za-z0-9_-]*\.json", name)
    assert run_id_of(name) == run_id


@pytest.mark.parametrize(
    "name",
    [
        "id_cnVuLTE=.json",
        "id_cnVuLTF.json",  # the same bytes, other spare bits
        "id_c.json",
        "id__w.json",  # not UTF-8
        "id_cnVu LTE.json",
        "ID_cnVuLTE.json",
        "id_cnVuLTE.json\n",
        "cnVuLTE.json",
        "id_cnVuLTE.json.1.2.3.tmp",
    ],
)
def test_no_other_name_is_a_runs(name: str):
    assert run_id_of(name) is None


def test_legacy_names_are_lossy():
    assert legacy_file_name("run-1") == "run-1.json"
    assert legacy_file_name("a/b\\c..d") == "a_b_c_d.json"
    assert legacy_file_name("../../etc") == "____etc.json"
    assert legacy_file_name("a/b") == legacy_file_name("a_b")


def test_a_file_under_the_name_of_another_run_is_refused():
    document = a3s_document()
    assert read_checkpoint(raw(document), name=file_name("run-1")).resumable
    assert read_checkpoint(raw(document), name="run-1.json").resumable
    for name in (file_name("run-2"), "run-2.json", "id_cnVuLTF.json"):
        refused = refused_of(document, name)
        assert refused.code == "key_mismatch"
        assert "It holds run 'run-1'" in str(refused)
    # Two runs share this one; the payload tells which it is.
    for run_id in ("a/b", "a_b"):
        assert read_checkpoint(raw(a3s_document(run_id=run_id)), name="a_b.json").resumable


@pytest.mark.parametrize(
    "folder, name, belongs",
    [
        (("v1", "loop_checkpoints"), "id_cnVuLTE.json", True),
        (("v1", "loop_checkpoints"), "id_.json", True),
        (("v1", "loop_checkpoints"), "run-1.json", False),
        (("v1", "loop_checkpoints"), "id_cnVuLTE.json.1.2.3.tmp", False),
        (("loop_checkpoints",), "run-1.json", True),
        (("loop_checkpoints",), "6d0c1f0e-3d55-4f59-8f0b-8f0b0c3a1f10.json", True),
        (("loop_checkpoints",), "id_cnVuLTE.json", False),
        (("loop_checkpoints",), ".tmp.json", False),
        (("loop_checkpoints",), "run-1.json.tmp", False),
        ((), "pending.json", False),
        (("v1", "sessions"), "id_cnVuLTE.json", False),
    ],
)
def test_files_are_found_where_the_system_keeps_them(
    folder: tuple[str, ...], name: str, belongs: bool
):
    rules = [rule for rule in FORMATS[NAME].files if rule.folder == folder]
    assert any(re.fullmatch(rule.pattern, name) for rule in rules) is belongs
    assert all(rule.max_bytes == MAX_BYTES == 268_435_456 for rule in rules)


def test_a_store_on_disk_is_shown_run_by_run(tmp_path: Path):
    current = tmp_path / "v1" / "loop_checkpoints"
    legacy = tmp_path / "loop_checkpoints"
    for folder in (current, legacy):
        folder.mkdir(parents=True, mode=0o700)
    places = {
        current / file_name("run-1"): "run-1",
        legacy / "old.json": "old",
    }
    for path, run_id in places.items():
        path.write_bytes(raw(a3s_document(run_id=run_id)))
        (shown,) = show_foreign(path)
        assert shown.store == tmp_path
        assert shown.call is None
        assert shown.checkpoint.position is not None
        assert shown.checkpoint.position.run_id == run_id
    moved = current / file_name("run-2")
    moved.write_bytes(raw(a3s_document()))
    with pytest.raises(Unreadable) as refused:
        show_foreign(moved)
    assert refused.value.code == "key_mismatch"


# --- heads ------------------------------------------------------------------------------------


def test_the_head_of_a_large_file_tells_its_run_and_turn():
    printed = (FIXTURES / "a3s/medium_40_rounds_binding_reports.json").read_bytes()
    system = FORMATS[NAME]
    head = Head("run-medium-40", "session-1", 40)
    assert system.read_head(printed[:4096]) == head
    assert system.read_head(printed) == head
    end = printed.index(b'"messages"') + len(b'"messages"')
    assert system.read_head(printed[:end]) == head
    for cut in range(end):
        assert system.read_head(printed[:cut]) is None


@pytest.mark.parametrize(
    "document",
    [
        a3s_document(schema_version=2),
        a3s_document(schema_version=True),
        a3s_document(turn=-1),
        a3s_document(turn=1.0),
        a3s_document(turn=True),
        a3s_document(run_id=1),
        a3s_document(session_id=...),
        {"messages": [], **a3s_document()},
    ],
)
def test_what_a_head_does_not_tell_is_left_to_the_whole(document: dict[str, Any]):
    assert FORMATS[NAME].read_head(raw(document)) is None


@pytest.mark.parametrize(
    "prefix",
    [
        b"",
        b"A3SE\x01",
        b"[",
        b'{"run_id":"a","run_id":"b","session_id":"s","turn":1,"messages":[',
        b'{"run_id":"\\u0000","session_id":"s","turn":1,"messages":[',
        b'{"run_id":"\\ud800","session_id":"s","turn":1,"messages":[',
        b'{"run_id":"\xff","session_id":"s","turn":1,"messages":[',
        b'{"run_id":"a","session_id":"s","turn":NaN,"messages":[',
        b'{"run_id":"a" "session_id":"s","turn":1,"messages":[',
        b'{"run_id":"a","session_id":"s","turn":1,,"messages":[',
        b'{run_id:"a","session_id":"s","turn":1,"messages":[',
        b'\xef\xbb\xbf{"run_id":"a","session_id":"s","turn":1,"messages":[',
        b'{"x":'
        + b"[" * 300
        + b"]" * 300
        + b',"run_id":"a","session_id":"s","turn":1,"messages":[',
        b'{"x":' + b"[" * 100_000,
    ],
)
def test_a_hostile_head_is_left_to_the_whole(prefix: bytes):
    assert FORMATS[NAME].read_head(prefix) is None


def test_a_character_may_be_cut_behind_the_head():
    prefix = b'{"run_id":"a","session_id":"s","turn":1,"messages":["\xe2\x82'
    assert FORMATS[NAME].read_head(prefix) == Head("a", "s", 1)


@given(LOOP_CHECKPOINTS)
@settings(max_examples=50)
def test_what_stands_around_the_messages_tells_all_figures(document: dict[str, Any]):
    written = LoopCheckpoint.from_document(document).encode()
    whole = read_checkpoint(written)
    around = FORMATS[NAME].read_around(written)
    assert around is not None
    assert (around.counters, around.limits, around.usage, around.position) == (
        whole.counters,
        whole.limits,
        whole.usage,
        whole.position,
    )


def test_figures_that_are_not_found_are_not_read_rather_than_not_reported():
    document = a3s_document(tool_calls_count=...)
    written = raw({**document, "tail": "x" * (1 << 20)})
    found = read_checkpoint_head(written, name=file_name(document["run_id"]))
    assert found is not None
    assert (found.partly_read, found.counters) == (True, Counters(document["turn"]))


@pytest.mark.parametrize("odd", [None, {"role": "user", "content": 7}])
def test_a_long_conversation_is_read_as_a_short_one_is(odd: Any):
    """Validated in parts, it is the same, and so is the place of what is wrong in it."""
    message = {"role": "user", "content": [{"type": "text", "text": "go on"}], "more": 1}
    messages = [{**message, "more": number} for number in range(1_700)]
    document = a3s_document(messages=messages)
    whole = LoopCheckpoint.model_validate(document)
    assert LoopCheckpoint.from_document(document) == whole
    assert LoopCheckpoint.from_document(document).encode() == whole.encode()
    messages[1_234] = odd
    with pytest.raises(Unreadable) as why:
        LoopCheckpoint.from_document(document)
    assert why.value.code == "wrong_type"
    assert "'messages.1234" in why.value.sentence


@given(LOOP_CHECKPOINTS)
@settings(max_examples=50)
def test_head_and_whole_agree(document: dict[str, Any]):
    written = LoopCheckpoint.from_document(document).encode()
    whole = read_checkpoint(written).position
    assert whole is not None
    assert whole.step is not None
    assert FORMATS[NAME].read_head(written) == Head(whole.run_id, whole.conversation_id, whole.step)
