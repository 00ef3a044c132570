import enum
import math
from collections import OrderedDict

import pytest

from lineclear.core.agent.plainjson import MAX_DEPTH, refuse_unless_json
from lineclear.core.checkpoints import jsontext


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**64 - 1,
        -0.0,
        5e-324,
        "",
        "\U0001f600\u202e",
        [],
        {"": {"a": [1, "b", None]}},
        nested(MAX_DEPTH),
        {str(n): n for n in range(20_000)},
    ],
    ids=repr,
)
def test_json_passes_and_can_be_written(value):
    refuse_unless_json(value, "it")
    assert jsontext.pretty({"arguments": value})


@pytest.mark.parametrize(
    "value, why",
    [
        (math.nan, "it is nan"),
        (math.inf, "it is inf"),
        (2**64, "an integer outside"),
        (-(2**63) - 1, "an integer outside"),
        (("a",), "type tuple"),
        ({"a"}, "type set"),
        (b"a", "type bytes"),
        (Colour.RED, "type Colour"),
        (Level.LOW, "type Level"),
        (OrderedDict(a=1), "type OrderedDict"),
        ({1: 2}, "key of type int"),
        ({"a": [0, {"b": "\ud83d"}]}, r"it\['a'\]\[1\]\['b'\] holds half a character"),
        ({"\udc00": 1}, "a key of it holds half"),
        ("a\0b", "NUL"),
        (nested(MAX_DEPTH + 1), "deeper than 115"),
        ({str(n): n for n in range(20_001)}, "more than 20,000 keys"),
        ("x" * (15 << 20), "larger than 15 MiB"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_json_would_change_is_refused_by_name(value, why):
    with pytest.raises(TypeError, match=why):
        refuse_unless_json(value, "it")


def test_a_value_that_holds_itself_is_too_deep():
    value: list[object] = []
    value.append(value)
    with pytest.raises(TypeError, match="deeper"):
        refuse_unless_json(value, "it")
