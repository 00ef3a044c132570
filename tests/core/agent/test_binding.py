import dataclasses
import functools
from datetime import date
from decimal import Decimal
from typing import Literal

import pytest

from lineclear.core.agent.binding import Binding, first_line, is_async


def everything(first, /, second, *rest, third, fourth=4, **more):
    return (first, second, rest, third, fourth, more)


def test_every_kind_of_parameter_goes_out_and_comes_back():
    binding = Binding(everything)
    arguments = binding.bind((1, 2, 3, 4), {"third": "t", "extra": [5]})
    assert arguments == {
        "first": 1,
        "second": 2,
        "rest": [3, 4],
        "third": "t",
        "fourth": 4,
        "more": {"extra": [5]},
    }
    bound = binding.call(arguments, "")
    assert everything(*bound.args, **bound.kwargs) == (1, 2, (3, 4), "t", 4, {"extra": [5]})


def test_a_call_that_does_not_fit_the_signature_is_a_type_error():
    with pytest.raises(TypeError, match="missing a required"):
        Binding(everything).bind((1,), {"third": 3})


def test_a_default_that_is_no_json_is_kept_and_not_shown():
    client = object()

    def pay(amount: int, via=client):
        return via

    binding = Binding(pay)
    arguments = binding.bind((5,), {})
    assert arguments == {"amount": 5}
    bound = binding.call(arguments, "")
    assert pay(*bound.args, **bound.kwargs) is client
    with pytest.raises(TypeError, match=r"'via' of .*pay is of type object"):
        binding.bind((5, object()), {})


def test_a_method_is_told_how_to_be_guarded():
    class Bot:
        def pay(self, amount: int):
            return amount

    with pytest.raises(TypeError, match="guard the bound one"):
        Binding(Bot.pay).bind((Bot(), 5), {})
    assert Binding(Bot().pay).bind((5,), {}) == {"amount": 5}


def typed(
    who: str,
    amount: float,
    when: date = date(2026, 1, 1),
    kind: Literal["a", "b"] = "a",
    price: Decimal | None = None,
    *parts: int,
):
    return who


@pytest.mark.parametrize(
    "arguments",
    [
        {"who": "x", "amount": 5},
        {"who": "x", "amount": 0.5, "when": "2026-02-03", "kind": "b", "price": "1.50"},
        {
            "who": "x",
            "amount": 1,
            "when": "2026-02-03",
            "kind": "a",
            "price": None,
            "parts": [1, 2],
        },
    ],
)
def test_modified_arguments_that_fit_pass(arguments):
    Binding(typed).check(arguments)


@pytest.mark.parametrize(
    "arguments, why",
    [
        ([], "object"),
        ({"who": "x"}, "'amount' is missing"),
        ({"who": "x", "amount": 1, "whom": 2}, "no argument 'whom'"),
        ({"who": 3, "amount": 1}, "'who' does not fit"),
        ({"who": "x", "amount": "1"}, "'amount' does not fit"),
        ({"who": "x", "amount": True}, "'amount' does not fit"),
        ({"who": "x", "amount": None}, "'amount' does not fit"),
        ({"who": "x", "amount": 1, "kind": "c"}, "'kind' does not fit"),
        ({"who": "x", "amount": 1, "when": "soon"}, "'when' does not fit"),
        ({"who": "x", "amount": 1, "parts": 3}, "'parts' must be a list"),
        ({"who": "x", "amount": 1, "parts": ["3"]}, "'parts' does not fit"),
        ({"who": "x", "amount": 1, "parts": [3]}, "do not fit"),
    ],
)
def test_modified_arguments_that_do_not_fit_are_told_apart(arguments, why):
    with pytest.raises(ValueError, match=why):
        Binding(typed).check(arguments)


def test_names_within_keyword_arguments_cannot_hide_a_parameter():
    def f(a, **more):
        return a

    Binding(f).check({"a": 1, "more": {"b": 2}})
    with pytest.raises(ValueError, match="'a' cannot stand within 'more'"):
        Binding(f).check({"a": 1, "more": {"a": 2}})


def test_types_that_json_does_not_know_are_not_checked():
    class Odd:
        pass

    def f(a: Odd, b: int):
        return a

    Binding(f).check({"a": "anything", "b": 1})
    with pytest.raises(ValueError, match="'b'"):
        Binding(f).check({"a": "anything", "b": "x"})


def test_one_annotation_that_cannot_be_resolved_spoils_no_other():
    def f(a: "Nowhere", b: int) -> str:  # type: ignore[name-defined]  # noqa: F821
        return ""

    binding = Binding(f)
    assert binding.returns is str
    with pytest.raises(ValueError, match="'b'"):
        binding.check({"a": 1, "b": "x"})


def test_the_schema_describes_what_is_asked():
    @dataclasses.dataclass
    class Place:
        city: str

    def send(where: Place, count: int = 1, *, idempotency_key: str):
        return where

    schema = Binding(send).schema()
    assert schema is not None
    assert schema["required"] == ["where"]
    assert schema["properties"]["count"] == {"type": "integer"}
    assert set(schema["properties"]) == {"where", "count"}


def test_objects_and_partials_are_callables_too():
    class Tool:
        async def __call__(self, text: str) -> str:
            """Say it."""
            return text

    tool = Tool()
    assert is_async(tool)
    assert first_line(tool) == "Say it."
    assert Binding(tool).returns is str
    half = functools.partial(typed, "x")
    assert not is_async(half)
    assert Binding(half).bind((2,), {})["amount"] == 2


def test_a_bare_value_is_the_first_argument():
    assert Binding(typed).single("x") == {"who": "x"}
    with pytest.raises(ValueError, match="takes no argument"):
        Binding(lambda: None).single("x")
