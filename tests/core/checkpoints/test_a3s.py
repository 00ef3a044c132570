import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.a3s import (
    LOOP_CHECKPOINT_SCHEMA_VERSION,
    ConfirmationResponse,
    LoopCheckpoint,
    LoopConvergenceState,
    Message,
    PendingConfirmation,
    RunCapabilityBinding,
    TokenUsage,
    ToolResultBlock,
    ToolUseBlock,
    Trust,
    VerificationCheck,
    VerificationReport,
    VerificationStatus,
    refusal_text,
)
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import Unreadable
from tests.badinputs import A3S, FIXTURES, Fixture
from tests.core.checkpoints.a3s_samples import (
    DIGEST,
    LOOP_CHECKPOINTS,
    a3s_document,
    binding,
    generation,
    raw,
)

CHECKPOINTS = [fixture for fixture in A3S if fixture.type == "LoopCheckpoint"]
LOADABLE = [fixture for fixture in CHECKPOINTS if fixture.loads]
TYPED_BY_HAND = "legacy_v0_from_seed_test.json"


def fixture(name: str) -> bytes:
    return (FIXTURES / "a3s" / name).read_bytes()


def refusal(document: Any) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        LoopCheckpoint.decode(raw(document))
    return refused.value


def sample(run_id: str, turn: int) -> LoopCheckpoint:
    return LoopCheckpoint(
        schema_version=LOOP_CHECKPOINT_SCHEMA_VERSION,
        run_id=run_id,
        session_id="session-1",
        turn=turn,
        messages=[Message.user("hi")],
        total_usage=TokenUsage.zero(),
        tool_calls_count=0,
        checkpoint_ms=1_700_000_000_000,
    )


# --- what the system printed ------------------------------------------------------------------


def test_all_prints_of_the_system_are_here():
    assert len(LOADABLE) == 5
    assert len(CHECKPOINTS) == 7


@pytest.mark.parametrize(
    "fixture", [f for f in LOADABLE if f.name != TYPED_BY_HAND], ids=lambda fixture: fixture.name
)
def test_what_the_system_loads_is_written_back_byte_for_byte(fixture: Fixture):
    assert LoopCheckpoint.decode(fixture.raw).encode() == fixture.raw


def test_the_sample_typed_by_hand_is_written_as_the_system_would():
    checkpoint = LoopCheckpoint.decode(fixture(TYPED_BY_HAND))
    assert checkpoint.schema_version == 0
    assert checkpoint.convergence == LoopConvergenceState()
    assert json.loads(checkpoint.encode()) == {
        "schema_version": 0,
        "run_id": "run-1",
        "session_id": "s",
        "turn": 1,
        "messages": [],
        "total_usage": {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "total_tokens": 0,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
        },
        "tool_calls_count": 0,
        "verification_reports": [],
        "convergence": a3s_document()["convergence"],
        "checkpoint_ms": 0,
    }


def test_content_blocks_of_later_versions_are_written_back_byte_for_byte():
    printed = fixture("v8_tool_result_blocks.json")
    blocks = [ToolResultBlock.from_document(block) for block in json.loads(printed)]
    assert [block.trust for block in blocks] == [
        Trust.WORKSPACE_DATA,
        Trust.EXTERNAL,
        Trust.TRUSTED,
    ]
    assert [block.redaction_reviewed for block in blocks] == [False, True, True]
    assert jsontext.pretty([block.document() for block in blocks]) == printed


def test_confirmations_equal_the_systems_own_prints():
    printed = json.loads(fixture("hitl_dtos.json"))
    assert ConfirmationResponse(approved=True).document() == printed["response_approve"]
    refused = ConfirmationResponse(approved=False, reason="Dangerous command")
    assert refused.document() == printed["response_reject"]
    assert PendingConfirmation.from_document(printed["pending"]).document() == printed["pending"]


def test_the_model_is_told_of_a_refusal_in_the_systems_words():
    tail = " DO NOT retry this tool call unless the user explicitly asks you to."
    assert refusal_text("bash", "too risky") == (
        "Tool 'bash' execution was REJECTED by the user. Reason: too risky." + tail
    )
    for nothing in (None, ""):
        assert "Reason: No reason provided." in refusal_text("bash", nothing)


def test_what_the_system_refuses_is_refused_with_the_run_named():
    with pytest.raises(Unreadable) as future:
        read_checkpoint(fixture("future_schema_v2_must_be_refused.json"))
    assert future.value.code == "future_schema"
    assert "run 'run-future' has schema version 2, but at most 1" in str(future.value)
    with pytest.raises(Unreadable) as bound:
        read_checkpoint(fixture("bad_capability_binding_refused.json"))
    assert bound.value.code == "bad_binding"
    assert "run 'run-bad-binding' has an invalid capability binding" in str(bound.value)


@pytest.mark.parametrize(
    "path", sorted((FIXTURES / "a3s" / "store_layout").rglob("*.json")), ids=lambda path: path.stem
)
def test_a_store_is_read_under_its_names(path: Path):
    printed = path.read_bytes()
    twin = next(f for f in CHECKPOINTS if f.raw == printed)
    if twin.loads:
        checkpoint = read_checkpoint(printed, name=path.name)
        assert checkpoint.position is not None
        assert checkpoint.position.run_id == json.loads(printed)["run_id"]
    else:
        with pytest.raises(Unreadable) as refused:
            read_checkpoint(printed, name=path.name)
        assert refused.value.code in ("future_schema", "bad_binding")


# --- mirrors of the system's own tests --------------------------------------------------------


def test_a_checkpoint_survives_both_ways():
    convergence = LoopConvergenceState.from_document(
        {
            "continuation_count": 2,
            "recent_tool_signatures": ["read:deadbeef => ok"],
            "gate_continuation_count": 1,
            "verifier_spent": True,
            "workspace_watch_bound": True,
        }
    )
    checkpoint = sample("run-1", 3).model_copy(update={"convergence": convergence})
    written = checkpoint.encode()
    assert b'"gate_continuation_count": 1' in written
    assert b'"open_observations"' not in written
    back = LoopCheckpoint.decode(written)
    assert (back.run_id, back.turn, back.schema_version) == ("run-1", 3, 1)
    assert back.convergence == convergence
    assert back == checkpoint


def test_the_sample_of_the_systems_tests_is_written_as_it_prints_it():
    assert sample("run-1", 3).encode() == fixture("seed_sample_run1.json")


def test_a_missing_version_is_zero_and_loadable():
    checkpoint = LoopCheckpoint.decode(raw(a3s_document(schema_version=...)))
    assert checkpoint.schema_version == 0
    checkpoint.ensure_loadable()


def test_a_newer_version_is_refused_whatever_else_it_holds():
    for version in (2, 3, 2**31, 2**40):
        for document in (a3s_document(), {"run_id": "run-1", "session_id": "s", "turn": 1}):
            refused = refusal({**document, "schema_version": version})
            assert refused.code == "future_schema"
            assert f"run 'run-1' has schema version {version}" in str(refused)
    newer = sample("run-9", 1).model_copy(update={"schema_version": 2})
    with pytest.raises(Unreadable) as told:
        newer.ensure_loadable()
    assert told.value.code == "future_schema"
    assert "run-9" in str(told.value)


def test_another_run_or_session_is_refused():
    checkpoint = sample("run-1", 1)
    checkpoint.ensure_addressed_by("run-1")
    checkpoint.ensure_owned_by("run-1", "session-1")
    for check in (
        lambda: checkpoint.ensure_addressed_by("run-2"),
        lambda: checkpoint.ensure_owned_by("run-2", "session-1"),
    ):
        with pytest.raises(Unreadable) as key:
            check()
        assert key.value.code == "key_mismatch"
        assert "key mismatch" in str(key.value)
        assert "'run-2'" in str(key.value)
        assert "'run-1'" in str(key.value)
    with pytest.raises(Unreadable) as owner:
        checkpoint.ensure_owned_by("run-1", "session-2")
    assert owner.value.code == "owner_mismatch"
    assert "ownership mismatch for run 'run-1'" in str(owner.value)
    assert "'session-2'" in str(owner.value)
    assert "'session-1'" in str(owner.value)


def test_hostile_ids_are_shown_as_codes_in_sentences():
    checkpoint = sample("run\x1b[31m\u202e", 1)
    with pytest.raises(Unreadable) as refused:
        checkpoint.ensure_addressed_by("run-2")
    assert str(refused.value).isprintable()
    assert "⟦U+202E⟧" in str(refused.value)


# --- the capability binding -------------------------------------------------------------------


def test_a_binding_survives_both_ways():
    for bound in (binding(), binding(useGeneration=generation())):
        written = a3s_document()
        document = {}
        for key, value in written.items():
            document[key] = value
            if key == "session_id":
                document["capability_binding"] = bound
        checkpoint = LoopCheckpoint.decode(raw(document))
        assert checkpoint.capability_binding is not None
        assert checkpoint.capability_binding.catalog_digest == DIGEST
        assert checkpoint.encode() == raw(document)
    built = RunCapabilityBinding(**binding())
    assert built.document() == binding()


@pytest.mark.parametrize(
    "bound, field",
    [
        (binding(schema="a3s.code.run-capability-binding.v2"), "schema"),
        (binding(capabilitySetSchema="x"), "capabilitySetSchema"),
        (binding(capabilityCeilingSchema=""), "capabilityCeilingSchema"),
        (binding(catalogDigest="sha256:UPPER"), "catalogDigest"),
        (binding(catalogDigest="sha256:" + "A" * 64), "catalogDigest"),
        (binding(catalogDigest=DIGEST + "\n"), "catalogDigest"),
        (binding(catalogDigest="a" * 64), "catalogDigest"),
        (binding(capabilityCeilingDigest="sha256:" + "a" * 63), "capabilityCeilingDigest"),
        (binding(useGeneration=generation(schema="x")), "useGeneration.schema"),
        (binding(useGeneration=generation(revision="y")), "useGeneration.revision"),
        (binding(useGeneration=generation(registryRevision="z")), "useGeneration.registryRevision"),
        (binding(useGeneration=generation(extra=1)), "useGeneration.extra"),
        (binding(extra=1), "extra"),
        (binding(catalog_digest=DIGEST), "catalog_digest"),
        (binding(codeCatalogGeneration=-1), "codeCatalogGeneration"),
        (binding(codeCatalogGeneration=1.0), "codeCatalogGeneration"),
        ({key: v for key, v in binding().items() if key != "catalogDigest"}, "catalogDigest"),
    ],
)
def test_a_binding_that_does_not_fit_is_refused_with_run_and_field(
    bound: dict[str, Any], field: str
):
    refused = refusal(a3s_document(capability_binding=bound))
    assert refused.code == "bad_binding"
    assert "run 'run-1'" in str(refused)
    assert f"'{field}'" in str(refused)


def test_no_binding_is_none():
    assert LoopCheckpoint.decode(raw(a3s_document())).capability_binding is None
    null = LoopCheckpoint.decode(raw(a3s_document(capability_binding=None)))
    assert null.capability_binding is None
    assert b"capability_binding" not in null.encode()


# --- strictness -------------------------------------------------------------------------------


def bent(path: str, value: Any) -> dict[str, Any]:
    """A checkpoint in which the value at PATH is replaced or (Ellipsis) removed."""
    whole = a3s_document()
    parent: Any = whole
    *parts, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parts:
        parent = parent[part]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return whole


RESULT = "messages.2.content.0"


@pytest.mark.parametrize(
    "path, value, code",
    [
        ("run_id", ..., "missing_field"),
        ("session_id", ..., "missing_field"),
        ("turn", ..., "missing_field"),
        ("messages", ..., "missing_field"),
        ("total_usage", ..., "missing_field"),
        ("tool_calls_count", ..., "missing_field"),
        ("checkpoint_ms", ..., "missing_field"),
        ("total_usage.total_tokens", ..., "missing_field"),
        ("messages.0.role", ..., "missing_field"),
        ("messages.0.content", ..., "missing_field"),
        ("messages.0.content.0.type", ..., "missing_field"),
        ("messages.1.content.1.input", ..., "missing_field"),
        (f"{RESULT}.content", ..., "missing_field"),
        ("run_id", None, "wrong_type"),
        ("turn", True, "wrong_type"),
        ("turn", 1.0, "wrong_type"),
        ("turn", "1", "wrong_type"),
        ("turn", -1, "negative"),
        ("schema_version", "1", "wrong_type"),
        ("schema_version", None, "wrong_type"),
        ("schema_version", -1, "negative"),
        ("messages", None, "wrong_type"),
        ("messages.0.content", "hi", "wrong_type"),
        ("messages.0.content.0.type", "video", "wrong_type"),
        ("messages.0.content.0.type", "Text", "wrong_type"),
        (f"{RESULT}.content", None, "wrong_type"),
        (f"{RESULT}.content", {"type": "text", "text": "a"}, "wrong_type"),
        (f"{RESULT}.content", [{"type": "tool_use"}], "wrong_type"),
        (f"{RESULT}.is_error", 0, "wrong_type"),
        (f"{RESULT}.trust", "Trusted", "wrong_type"),
        (f"{RESULT}.redaction_reviewed", None, "wrong_type"),
        ("convergence.parse_error_count", 2**32, "wrong_type"),
        ("convergence.parse_error_count", -1, "negative"),
        ("convergence", None, "wrong_type"),
        ("verification_reports", None, "wrong_type"),
        ("schema_version", 0, None),
        ("convergence", ..., None),
        ("convergence", {}, None),
        ("verification_reports", ..., None),
        ("total_usage.cache_read_tokens", ..., None),
        ("messages.1.reasoning_content", None, None),
        ("messages.1.content.1.input", None, None),
        (f"{RESULT}.is_error", ..., None),
        (f"{RESULT}.trust", "workspace_data", None),
        (f"{RESULT}.content", [], None),
        (f"{RESULT}.content", [{"type": "text", "text": "a"}], None),
        ("turn", 2**64 - 1, None),
        ("convergence.parse_error_count", 2**32 - 1, None),
    ],
)
def test_types_are_taken_as_strictly_as_by_the_system(path: str, value: Any, code: str | None):
    document = bent(path, value)
    if code is None:
        LoopCheckpoint.decode(raw(document))
    else:
        refused = refusal(document)
        assert refused.code == code
        assert str(refused).endswith(".")


def test_a_missing_tag_is_named():
    refused = refusal(bent("messages.0.content.0.type", ...))
    assert "'messages.0.content.0.type' is missing" in str(refused)


def test_spellings_are_exactly_the_systems():
    assert [status.value for status in VerificationStatus] == [
        "passed",
        "failed",
        "needs_review",
        "skipped",
    ]
    assert [trust.value for trust in Trust] == ["trusted", "workspace_data", "external"]


def test_what_is_empty_is_omitted_where_the_system_omits_it():
    check = VerificationCheck(
        id="c", kind="test", description="d", status=VerificationStatus.NEEDS_REVIEW
    )
    report = VerificationReport(
        schema="a3s.verification_report.v1",
        subject="s",
        status=VerificationStatus.PASSED,
        checks=[check],
    )
    assert jsontext.compact(report.document()) == (
        b'{"schema":"a3s.verification_report.v1","subject":"s","status":"passed","checks":'
        b'[{"id":"c","kind":"test","description":"d","status":"needs_review","required":false}]}'
    )
    result = ToolResultBlock(tool_use_id="t", content="")
    assert jsontext.compact(result.document()) == (
        b'{"type":"tool_result","tool_use_id":"t","content":"","is_error":null}'
    )


def test_unknown_keys_survive_at_every_level():
    document = a3s_document()
    document["messages"][0]["later"] = {"a": [1.50]}
    document["messages"][0]["content"][0]["cache"] = None
    document["messages"][2]["content"][0]["bytes"] = 4
    document["total_usage"]["cost"] = 0.10
    document["convergence"]["mutations"] = {"writes": 2}
    document["convergence"]["workspace_head"] = "abc"
    document["verification_reports"] = [
        {
            "schema": "a3s.verification_report.v1",
            "subject": "s",
            "status": "passed",
            "checks": [],
            "schema_": 1,
        }
    ]
    document["shard"] = 1
    written = raw(document).replace(b"1.5\n", b"1.50\n")
    assert LoopCheckpoint.decode(written).encode() == written


def test_what_goes_nested_deeper_than_readers_take_is_not_written():
    deep = json.loads("[" * 118 + "]" * 118)
    message = Message(role="assistant", content=[ToolUseBlock(id="t", name="n", input=deep)])
    with pytest.raises(ValueError, match="deeper than 120"):
        sample("r", 1).model_copy(update={"messages": [message]}).encode()


@given(LOOP_CHECKPOINTS)
@settings(max_examples=200, deadline=None)
def test_random_checkpoints_survive_both_ways(document: dict[str, Any]):
    checkpoint = LoopCheckpoint.from_document(document)
    written = checkpoint.encode()
    assert json.loads(written) == document
    again = LoopCheckpoint.decode(written)
    assert again == checkpoint
    assert again.encode() == written
    assert read_checkpoint(written).document == document
