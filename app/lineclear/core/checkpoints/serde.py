"""Records as Rust's serde derives them: strict types, declared order, unknown keys kept.

The systems' own readers ignore unknown keys; here they survive, behind the known ones.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

if TYPE_CHECKING:
    from collections.abc import Iterable

Count = Annotated[int, Field(ge=0, le=jsontext.MAX_INT)]
"""A `u64` or `usize`."""
Count32 = Annotated[int, Field(ge=0, le=2**32 - 1)]
"""A `u32`."""


class _Mark:
    """The type of `_OMITTED`."""


_OMITTED: Final = _Mark()
_T = TypeVar("_T")
Omitted = Annotated[_T, _OMITTED]
"""A field that is left out of the JSON while it equals its default."""


class Record(BaseModel):
    """One serde struct: fields are written in the order in which they are declared.

    Strict about types, as serde is: no 3.0, no "3", no true for a count.
    """

    # Built when first needed: a process that meets one system does not pay for the others.
    model_config = ConfigDict(strict=True, extra="allow", frozen=True, defer_build=True)

    TAG: ClassVar[str] = ""
    """The field that serde's internal tagging writes first, where a record inherits the rest."""

    def document(self) -> dict[str, Json]:
        """Give the JSON object that is written: all fields, then unknown keys as they came."""
        document: dict[str, Json] = {}
        for name, key, omitted, default in _layout(type(self)):
            value = getattr(self, name)
            if not omitted or value != default:
                document[key] = _plain(value)
        return document | (self.model_extra or {})

    def encode(self, *, max_depth: int = jsontext.MAX_DEPTH_OUT) -> bytes:
        """Write as serde's `to_vec_pretty` does; raises as `jsontext.pretty` does."""
        return jsontext.pretty(self.document(), max_depth=max_depth)

    @classmethod
    def from_document(cls, document: Json) -> Self:
        """Validate a parsed object; raises Unreadable: missing_field, wrong_type, negative."""
        try:
            return cls.model_validate(document)
        except ValidationError as why:
            raise unreadable(why) from None

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """Read strictly; raises Unreadable with a reason code."""
        return cls.from_document(jsontext.parse(raw))


class ClosedRecord(Record):
    """A serde struct with `deny_unknown_fields`."""

    model_config = ConfigDict(extra="forbid")


@cache
def _layout(kind: type[Record]) -> tuple[tuple[str, str, bool, Any], ...]:
    """Give (attribute, key, omitted while default, default) of each field."""
    return tuple(
        (
            name,
            field.alias or name,
            _OMITTED in field.metadata,
            field.get_default(call_default_factory=True),
        )
        for name, field in sorted(kind.model_fields.items(), key=lambda item: item[0] != kind.TAG)
    )


def _plain(value: Any) -> Json:
    if isinstance(value, Record):
        return value.document()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, list) and value and isinstance(value[0], Record):
        return [item.document() for item in value]
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), Record):
        return {key: item.document() for key, item in value.items()}
    return value


def unknown_keys(record: Record, *, known: Iterable[str] = ()) -> bool:
    """Tell whether a record holds keys that its system does not define."""
    return bool((record.model_extra or {}).keys() - set(known))


def unreadable(why: ValidationError) -> Unreadable:
    """Give the refusal for a document that does not fit: missing_field, wrong_type, negative."""
    # Missing fields first: they explain most of what else is wrong.
    errors = why.errors(include_url=False, include_input=False)
    first = min(errors, key=lambda error: error["type"] not in ("missing", "union_tag_not_found"))
    kind = first["type"]
    parts = [str(part) for part in first["loc"]]
    if kind == "union_tag_not_found":
        parts.append(str(first.get("ctx", {}).get("discriminator", "")).strip("'"))
    place = visible_line(".".join(parts), 80)
    if kind in ("missing", "union_tag_not_found"):
        return Unreadable("missing_field", worded("The field '{place}' is missing.", place=place))
    if kind == "greater_than_equal":
        return Unreadable("negative", worded("The field '{place}' is negative.", place=place))
    if kind == "less_than_equal":
        return Unreadable("wrong_type", worded("The field '{place}' is too large.", place=place))
    if not place:
        return Unreadable("wrong_type", worded("It is no object."))
    if kind in ("enum", "literal_error", "union_tag_invalid"):
        return Unreadable(
            "wrong_type",
            worded("The field '{place}' has a value that is not defined.", place=place),
        )
    if kind == "extra_forbidden":
        return Unreadable(
            "wrong_type", worded("The field '{place}' is not defined there.", place=place)
        )
    return Unreadable("wrong_type", worded("The field '{place}' has the wrong type.", place=place))
