import dataclasses
import inspect
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from lineclear.core.agent.results import NOT_JSON, ResultText


class Refund(BaseModel):
    amount: float
    at: datetime


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    tags: tuple[str, ...] = ()


AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "annotation, result, text",
    [
        (str, "R-88 \u202e", "R-88 \u202e"),
        (str, "", ""),
        (Any, "text", '"text"'),
        (inspect.Signature.empty, {"a": [1, None]}, '{"a":[1,null]}'),
        (None, None, "null"),
        (int, 2**70, str(2**70)),
        (Point, Point(1, ("a",)), '{"x":1,"tags":["a"]}'),
        (Refund, Refund(amount=1.5, at=AT), '{"amount":1.5,"at":"2026-11-29T12:00:00Z"}'),
        (list[Point], [Point(2)], '[{"x":2,"tags":[]}]'),
    ],
    ids=str,
)
def test_results_come_back_equal(annotation, result, text):
    kept = ResultText(annotation)
    assert kept.write(result) == text
    assert kept.read(text) == result


def test_what_is_no_json_is_kept_for_a_person_and_cannot_come_back():
    kept = ResultText(inspect.Signature.empty)
    text = kept.write(object)
    assert text == f"{NOT_JSON}<class 'object'>"
    with pytest.raises(ValueError, match="JSON"):
        kept.read(text)


def test_text_that_no_record_may_hold_is_replaced():
    assert ResultText(str).write("a\0\ud800b") == "a\ufffd\ufffdb"


def test_a_result_of_another_type_than_annotated_is_kept_without_a_warning():
    assert ResultText(int).write("three") == '"three"'
    assert ResultText(float).write(math.nan) == "NaN" or ResultText(float).write(math.nan) == "null"


def test_an_operators_result_must_fit():
    assert ResultText(str).accept("ok") == "ok"
    assert ResultText(str).accept({"a": 1}) == '{"a":1}'
    assert ResultText(Point).accept({"x": 3}) == '{"x":3}'
    with pytest.raises(ValueError, match="does not fit the function: x"):
        ResultText(Point).accept({"x": "three"})
