"""Loop checkpoints as objects, to be bent by tests, and random ones."""

import json
from typing import Any

from hypothesis import strategies as st

DIGEST = "sha256:" + "a" * 64

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
COUNTS = st.integers(0, 2**64 - 1)
COUNTS_32 = st.integers(0, 2**32 - 1)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=6,
)
"""Any JSON value."""


def a3s_document(**fields: Any) -> dict[str, Any]:
    """A sound loop checkpoint after one round, with some fields replaced or (...) left out."""
    whole = {
        "schema_version": 1,
        "run_id": "run-1",
        "session_id": "session-1",
        "turn": 1,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "list it"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
                ],
                "reasoning_content": "need a list",
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": "a\nb\n",
                        "is_error": False,
                    }
                ],
            },
        ],
        "total_usage": {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "cache_read_tokens": 4,
            "cache_write_tokens": None,
        },
        "tool_calls_count": 1,
        "verification_reports": [],
        "convergence": {
            "parse_error_count": 0,
            "continuation_count": 0,
            "reasoning_only_repair_count": 0,
            "recent_tool_signatures": [],
            "guarded_duplicate_count": 0,
            "incomplete_response_stalled": False,
        },
        "checkpoint_ms": 1_700_000_000_000,
        **fields,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def binding(**fields: Any) -> dict[str, Any]:
    """A sound capability binding, with some fields replaced."""
    return {
        "schema": "a3s.code.run-capability-binding.v1",
        "capabilitySetSchema": "a3s.code.capability-set.v1",
        "codeCatalogGeneration": 3,
        "catalogDigest": DIGEST,
        "capabilityCeilingSchema": "a3s.code.capability-ceiling.v1",
        "capabilityCeilingDigest": DIGEST,
        **fields,
    }


def generation(**fields: Any) -> dict[str, Any]:
    """A sound `useGeneration` of a binding, with some fields replaced."""
    return {
        "schema": "a3s.use.capability-snapshot-cursor.v1",
        "generation": 7,
        "revision": DIGEST,
        "registryRevision": DIGEST,
        **fields,
    }


def raw(document: Any) -> bytes:
    """The bytes of a document."""
    return json.dumps(document, indent=2, ensure_ascii=False).encode()


# --- random ones, as serde writes them --------------------------------------------------------

_TEXT_BLOCKS = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
_IMAGE_BLOCKS = st.fixed_dictionaries(
    {
        "type": st.just("image"),
        "source": st.fixed_dictionaries(
            {"type": st.just("base64"), "media_type": TEXTS, "data": TEXTS}
        ),
    }
)
_BLOCKS = (
    _TEXT_BLOCKS
    | _IMAGE_BLOCKS
    | st.fixed_dictionaries(
        {"type": st.just("tool_use"), "id": TEXTS, "name": TEXTS, "input": VALUES}
    )
    | st.fixed_dictionaries(
        {
            "type": st.just("tool_result"),
            "tool_use_id": TEXTS,
            "content": TEXTS | st.lists(_TEXT_BLOCKS | _IMAGE_BLOCKS, max_size=2),
            "is_error": st.none() | st.booleans(),
        },
        optional={
            "trust": st.sampled_from(["trusted", "external"]),
            "redaction_reviewed": st.just(True),
        },
    )
)
_STATUS = st.sampled_from(["passed", "failed", "needs_review", "skipped"])
_SOME_TEXTS = st.lists(TEXTS, min_size=1, max_size=2)
_CHECKS = st.fixed_dictionaries(
    {
        "id": TEXTS,
        "kind": TEXTS,
        "description": TEXTS,
        "status": _STATUS,
        "required": st.booleans(),
    },
    optional={
        "suggested_tools": _SOME_TEXTS,
        "evidence_uris": _SOME_TEXTS,
        "residual_risk": TEXTS,
    },
)
_DIGESTS = st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True)

LOOP_CHECKPOINTS = st.fixed_dictionaries(
    {
        "schema_version": st.sampled_from([0, 1]),
        "run_id": TEXTS,
        "session_id": TEXTS,
        "turn": COUNTS,
        "messages": st.lists(
            st.fixed_dictionaries(
                {"role": TEXTS, "content": st.lists(_BLOCKS, max_size=3)},
                optional={"reasoning_content": TEXTS},
            ),
            max_size=3,
        ),
        "total_usage": st.fixed_dictionaries(
            {
                "prompt_tokens": COUNTS,
                "completion_tokens": COUNTS,
                "total_tokens": COUNTS,
                "cache_read_tokens": st.none() | COUNTS,
                "cache_write_tokens": st.none() | COUNTS,
            }
        ),
        "tool_calls_count": COUNTS,
        "verification_reports": st.lists(
            st.fixed_dictionaries(
                {
                    "schema": st.just("a3s.verification_report.v1"),
                    "subject": TEXTS,
                    "status": _STATUS,
                    "checks": st.lists(_CHECKS, max_size=2),
                },
                optional={"residual_risks": _SOME_TEXTS, "effect_digest": TEXTS},
            ),
            max_size=2,
        ),
        "convergence": st.fixed_dictionaries(
            {
                "parse_error_count": COUNTS_32,
                "continuation_count": COUNTS_32,
                "reasoning_only_repair_count": COUNTS_32,
                "recent_tool_signatures": st.lists(TEXTS, max_size=2),
                "guarded_duplicate_count": COUNTS_32,
                "incomplete_response_stalled": st.booleans(),
            },
            optional={
                "guarded_duplicate_signature": TEXTS,
                "last_incomplete_response_hash": TEXTS,
                "gate_continuation_count": COUNTS_32,
                "workspace_head": TEXTS,
            },
        ),
        "checkpoint_ms": COUNTS,
    },
    optional={
        "capability_binding": st.fixed_dictionaries(
            {
                **{key: st.just(value) for key, value in binding().items()},
                "codeCatalogGeneration": COUNTS,
                "catalogDigest": _DIGESTS,
            },
            optional={
                "useGeneration": st.fixed_dictionaries(
                    {
                        **{key: st.just(value) for key, value in generation().items()},
                        "generation": COUNTS,
                        "revision": _DIGESTS,
                    }
                )
            },
        )
    },
)
