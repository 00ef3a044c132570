"""Arguments against the schema that an agent left with its call."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Literal

import pytest

from lineclear.core.agent.binding import Binding
from lineclear.core.checkpoints.toolschema import misfit

REFUND = {
    "type": "object",
    "properties": {
        "customer": {"type": "string", "minLength": 1},
        "amount": {"type": "number", "minimum": 0, "exclusiveMaximum": 100},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "maxItems": 2},
        "currency": {"enum": ["EUR", "USD"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["customer"],
    "additionalProperties": False,
    "$defs": {
        "Item": {
            "type": "object",
            "properties": {"count": {"type": "integer"}},
            "required": ["count"],
        }
    },
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"customer": "C-1"},
        {"customer": "C-1", "amount": 7, "items": [{"count": 1}], "currency": "EUR"},
        {"customer": "C-1", "amount": 99.99, "note": None},
        {"customer": "C-1", "items": [{"count": 2, "more": "is taken"}]},
    ],
)
def test_what_fits(arguments):
    assert misfit(REFUND, arguments) is None


@pytest.mark.parametrize(
    "arguments,told",
    [
        ({}, "The argument 'customer' is missing."),
        ({"customer": 1}, "The argument 'customer' must be a text."),
        ({"customer": ""}, "The argument 'customer' must have at least 1 characters."),
        ({"customer": "C", "amuont": 1}, "The argument 'amuont' is not taken."),
        ({"customer": "C", "amount": "7"}, "The argument 'amount' must be a number."),
        ({"customer": "C", "amount": True}, "The argument 'amount' must be a number."),
        ({"customer": "C", "amount": -1}, "The argument 'amount' must be at least 0."),
        ({"customer": "C", "amount": 100}, "The argument 'amount' must be less than 100."),
        ({"customer": "C", "items": {}}, "The argument 'items' must be a list."),
        ({"customer": "C", "items": [{}]}, "The argument 'items[0].count' is missing."),
        (
            {"customer": "C", "items": [{"count": 1}, {"count": 1.5}]},
            "The argument 'items[1].count' must be a whole number.",
        ),
        (
            {"customer": "C", "items": [{"count": 1}] * 3},
            "The argument 'items' must have at most 2 items.",
        ),
        (
            {"customer": "C", "currency": 1},
            'The argument \'currency\' must be one of "EUR", "USD".',
        ),
        ({"customer": "C", "note": 1}, "The argument 'note' must be a text."),
        ([], "The arguments as a whole must be an object."),
        ({"customer": "C", "\u202ex": 1}, "The argument '⟦U+202E⟧x' is not taken."),
    ],
)
def test_what_does_not_fit_is_named(arguments, told):
    assert misfit(REFUND, arguments) == told


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "money"},
        {"type": ["object", "money"]},
        {"type": 3, "properties": [], "required": "x", "anyOf": {}, "enum": "x", "items": 1},
        {"$ref": "#/$defs/gone"},
        {"$ref": "https://example.org/schema"},
        {"$ref": "#"},
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"patternProperties": {"^a": {}}, "additionalProperties": False},
        {"properties": {"a": {"minLength": "x", "maximum": None}}},
    ],
)
def test_a_schema_that_is_not_understood_refuses_nothing(schema: Any):
    assert misfit(schema, {"a": "a" * 5_000 + "!"}) is None


def test_a_schema_that_costs_too_much_refuses_nothing():
    doubling: dict[str, Any] = {"type": "integer"}
    for _ in range(40):
        doubling = {"anyOf": [doubling, doubling]}
    assert misfit(doubling, "x") is None


class Speed(enum.Enum):
    FAST = "fast"


@dataclasses.dataclass
class Place:
    city: str
    near: Place | None = None


def test_the_schema_of_a_signature_takes_what_the_signature_takes():
    def send(
        where: Place,
        *more: int,
        speed: Speed = Speed.FAST,
        how: Literal["a", "b"] = "a",
        limit: float | None = None,
        **rest: str,
    ) -> None:
        del where, more, speed, how, limit, rest

    schema = Binding(send).schema()
    assert schema is not None
    good = {
        "where": {"city": "Ulm", "near": {"city": "Neu-Ulm"}},
        "more": [1, 2],
        "speed": "fast",
        "how": "b",
        "limit": 3,
        "rest": {"x": "y"},
    }
    Binding(send).check(good)
    assert misfit(schema, good) is None
    for bad in (
        {"where": {"city": 3}},
        {"where": {"city": "Ulm", "near": {"city": 3}}},
        {"more": ["1"]},
        {"more": 1},
        {"speed": "slow"},
        {"how": "c"},
        {"limit": "3"},
        {"rest": {"x": 1}},
        {"other": 1},
    ):
        with pytest.raises(ValueError, match="argument"):
            Binding(send).check({**good, **bad})
        assert misfit(schema, {**good, **bad}) is not None, bad


def test_two_types_of_one_name_are_not_confused():
    def first():
        @dataclasses.dataclass
        class Place:
            x: int

        return Place

    def second():
        @dataclasses.dataclass
        class Place:
            x: str

        return Place

    def go(a, b, c):
        del a, b, c

    go.__annotations__ = {"a": list[first()], "b": list[second()]}  # type: ignore[misc]
    schema = Binding(go).schema()
    assert schema is not None
    assert misfit(schema, {"a": [{"x": 1}], "b": [{"x": "y"}], "c": 1}) is None
