"""The loop checkpoint itself, and the checks before a run goes on from one."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import Field, TypeAdapter, ValidationError

from lineclear.core.checkpoints.a3s.messages import Message, TokenUsage
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.loop_convergence import LoopConvergenceState
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.serde import (
    ClosedRecord,
    Count,
    Count32,
    Omitted,
    Record,
    unreadable,
)
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

LOOP_CHECKPOINT_SCHEMA_VERSION: Final = 1
"""The version that is written; 0 (also where the field is missing) and 1 are read."""
VERIFICATION_REPORT_SCHEMA: Final = "a3s.verification_report.v1"
RUN_CAPABILITY_BINDING_SCHEMA: Final = "a3s.code.run-capability-binding.v1"
CAPABILITY_SET_SCHEMA: Final = "a3s.code.capability-set.v1"
CAPABILITY_CEILING_SCHEMA: Final = "a3s.code.capability-ceiling.v1"
CAPABILITY_CURSOR_SCHEMA: Final = "a3s.use.capability-snapshot-cursor.v1"

_AT_ONCE: Final = 500
"""Messages that are validated in one go."""
_MESSAGES: Final = TypeAdapter(list[Message])
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


class VerificationStatus(StrEnum):
    """How a check or a report ended."""

    PASSED = "passed"
    FAILED = "failed"
    NEEDS_REVIEW = "needs_review"
    SKIPPED = "skipped"


_Status = Annotated[VerificationStatus, Field(strict=False)]


class VerificationCheck(Record):
    """One check of a verification report."""

    id: str
    kind: str
    description: str
    status: _Status
    required: bool = False
    suggested_tools: Omitted[list[str]] = Field(default_factory=list)
    evidence_uris: Omitted[list[str]] = Field(default_factory=list)
    residual_risk: Omitted[str | None] = None


class VerificationReport(Record):
    """What a run verified about one subject."""

    schema_: str = Field(alias="schema")
    subject: str
    status: _Status
    checks: list[VerificationCheck]
    residual_risks: Omitted[list[str]] = Field(default_factory=list)
    effect_digest: Omitted[str | None] = None


class CapabilityGeneration(ClosedRecord):
    """The snapshot of A3S Use that a run was admitted with."""

    schema_: str = Field(alias="schema")
    generation: Count
    revision: str
    registry_revision: str = Field(alias="registryRevision")


class RunCapabilityBinding(ClosedRecord):
    """The capability catalogue and the ceiling that a run was admitted with.

    Fields are named as they are written (`catalogDigest`) when one is built; digests are
    `sha256:` and 64 lower-case hex digits.
    """

    schema_: str = Field(alias="schema")
    capability_set_schema: str = Field(alias="capabilitySetSchema")
    code_catalog_generation: Count = Field(alias="codeCatalogGeneration")
    catalog_digest: str = Field(alias="catalogDigest")
    capability_ceiling_schema: str = Field(alias="capabilityCeilingSchema")
    capability_ceiling_digest: str = Field(alias="capabilityCeilingDigest")
    use_generation: Omitted[CapabilityGeneration | None] = Field(
        default=None, alias="useGeneration"
    )

    def invalid_field(self) -> str | None:
        """Name the first field that is not as its schema says, or None."""
        schemas = {
            "schema": (self.schema_, RUN_CAPABILITY_BINDING_SCHEMA),
            "capabilitySetSchema": (self.capability_set_schema, CAPABILITY_SET_SCHEMA),
            "capabilityCeilingSchema": (self.capability_ceiling_schema, CAPABILITY_CEILING_SCHEMA),
        }
        digests = {
            "catalogDigest": self.catalog_digest,
            "capabilityCeilingDigest": self.capability_ceiling_digest,
        }
        if self.use_generation is not None:
            use = self.use_generation
            schemas["useGeneration.schema"] = (use.schema_, CAPABILITY_CURSOR_SCHEMA)
            digests["useGeneration.revision"] = use.revision
            digests["useGeneration.registryRevision"] = use.registry_revision
        for field, (given, wanted) in schemas.items():
            if given != wanted:
                return field
        return next((f for f, value in digests.items() if not _DIGEST.fullmatch(value)), None)


class LoopCheckpoint(Record):
    """Where a run stands between two tool rounds, with all that it needs to go on.

    Field order is a3s's declaration order, in which serde writes.
    """

    schema_version: Count32 = 0
    run_id: str
    session_id: str
    capability_binding: Omitted[RunCapabilityBinding | None] = None
    turn: Count
    """Tool rounds completed."""
    messages: list[Message]
    total_usage: TokenUsage
    tool_calls_count: Count
    verification_reports: list[VerificationReport] = Field(default_factory=list)
    convergence: LoopConvergenceState = Field(default_factory=LoopConvergenceState)
    checkpoint_ms: Count
    """Milliseconds since 1970."""

    @classmethod
    def from_document(cls, document: Json) -> Self:
        """Validate a parsed object and its loadability.

        Raises Unreadable: future_schema, bad_binding, missing_field, wrong_type, negative.
        """
        if isinstance(document, dict):
            # First: what else is unknown in it follows from its being newer.
            _refuse_future(document.get("schema_version", 0), document.get("run_id"))
        try:
            checkpoint = cls._validated(document)
        except ValidationError as why:
            raise _unreadable(why, document) from None
        checkpoint.ensure_loadable()
        return checkpoint

    @classmethod
    def _validated(cls, document: Json) -> Self:
        """Validate, a conversation in parts: no other thread runs while one is validated."""
        messages = document.get("messages") if isinstance(document, dict) else None
        if not isinstance(messages, list) or len(messages) <= _AT_ONCE:
            return cls.model_validate(document)
        around = cls.model_validate({**document, "messages": []})
        valid: list[Message] = []
        try:
            for start in range(0, len(messages), _AT_ONCE):
                valid += _MESSAGES.validate_python(messages[start : start + _AT_ONCE])
        except ValidationError:
            # Only the whole tells which of them it is.
            return cls.model_validate(document)
        return around.model_copy(update={"messages": valid})

    def ensure_loadable(self) -> None:
        """Raise Unreadable for a newer schema (`future_schema`) or a `bad_binding`.

        Older ones and those without a version are loadable; a newer one may mean another
        boundary, on the wrong side of which a tool would run twice.
        """
        _refuse_future(self.schema_version, self.run_id)
        binding = self.capability_binding
        field = None if binding is None else binding.invalid_field()
        if field is not None:
            raise _bad_binding(
                self.run_id, worded("its field '{field}' is not as the schema says", field=field)
            )

    def ensure_addressed_by(self, run_id: str) -> None:
        """Raise Unreadable (`key_mismatch`) unless this is the checkpoint of RUN_ID."""
        if self.run_id != run_id:
            raise Unreadable(
                "key_mismatch",
                worded(
                    "Loop checkpoint key mismatch: it was looked up for run {run}, but"
                    " belongs to run {other}.",
                    run=_named(run_id),
                    other=_named(self.run_id),
                ),
            )

    def ensure_owned_by(self, run_id: str, session_id: str) -> None:
        """Raise Unreadable (`key_mismatch`, `owner_mismatch`) unless both ids are its own."""
        self.ensure_addressed_by(run_id)
        if self.session_id != session_id:
            raise Unreadable(
                "owner_mismatch",
                worded(
                    "Loop checkpoint ownership mismatch for run {run}: this session is"
                    " {session}, but it belongs to session {other}.",
                    run=_named(run_id),
                    session=_named(session_id),
                    other=_named(self.session_id),
                ),
            )


def _refuse_future(version: Json, run_id: Json) -> None:
    if type(version) is int and version > LOOP_CHECKPOINT_SCHEMA_VERSION:
        raise Unreadable(
            "future_schema",
            worded(
                "The loop checkpoint of run {run} has schema version {version}, but at"
                " most {most} is supported; a newer Lineclear"
                " may read it.",
                run=_named(run_id),
                version=version,
                most=LOOP_CHECKPOINT_SCHEMA_VERSION,
            ),
        )


def _bad_binding(run_id: Json, detail: str) -> Unreadable:
    return Unreadable(
        "bad_binding",
        worded(
            "The loop checkpoint of run {run} has an invalid capability binding: {detail}.",
            run=_named(run_id),
            detail=detail,
        ),
    )


def _unreadable(why: ValidationError, document: Json) -> Unreadable:
    errors = why.errors(include_url=False, include_context=False, include_input=False)
    if all(error["loc"][:1] == ("capability_binding",) for error in errors):
        place = visible_line(".".join(map(str, errors[0]["loc"][1:])), 60)
        return _bad_binding(
            document.get("run_id"), worded("its field '{place}' does not fit", place=place)
        )
    return unreadable(why)


def _named(value: Json) -> str:
    return f"'{visible_line(value, 40)}'" if isinstance(value, str) else worded("without an id")
