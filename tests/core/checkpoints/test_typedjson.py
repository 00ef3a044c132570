"""What a person types is refused for its reason, at its line and column."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.checkpoints import jsontext, typedjson
from lineclear.core.errors import Unreadable

LIMIT = 2_000


def refused(text: str) -> tuple[str, str]:
    with pytest.raises(Unreadable) as caught:
        typedjson.parse(text, at_most=LIMIT)
    return caught.value.code, caught.value.sentence


@pytest.mark.parametrize(
    "text, code, place",
    [
        ("{", "not_json", (1, 2)),
        ("done", "not_json", (1, 1)),
        ('{"a": 1}\n{"b": 2}', "not_json", (2, 1)),
        ('["a\tb"]', "not_json", (1, 4)),
        ('{"a": 1,\n "a": 2}', "duplicate_key", (2, 2)),
        ('{"a": {"b": 1}, "b": {"b": 1, "c": "c"},\n\n  "\\u0061": 2}', "duplicate_key", (3, 3)),
        ('[{"a": 1}, {"a": 2, "b": [{"c": ","}, 1], "a": 3}]', "duplicate_key", (1, 43)),
        ('{"a":\n  NaN}', "not_json", (2, 3)),
        ('["NaN",\n -Infinity]', "not_json", (2, 2)),
        ('["\\ud83d\\ude00 \\\\ud800",\n "half \\ud800"]', "lone_surrogate", (2, 8)),
        ('{"a": "x",\n "\\udc00": 1}', "lone_surrogate", (2, 3)),
        ('"half \ud800"', "lone_surrogate", (1, 7)),
        ('["\\\\u0000", "\\u0000"]', "nul", (1, 14)),
        ("[18446744073709551615,\n18446744073709551616]", "big_int", (2, 1)),
        ("[-9223372036854775808, -9223372036854775809]", "big_int", (1, 24)),
        ("[1e308, 1e309]", "big_float", (1, 9)),
        ("\ufeff{}", "bom", (1, 1)),
        ("[" * 117 + "]" * 117, "too_deep", (1, 117)),
        ("[0]" + "\n" * LIMIT, "too_large", (LIMIT - 2, 1)),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, code, place):
    line, column = place
    found, sentence = refused(text)
    assert found == code
    assert sentence.startswith(f"Line {line}, column {column}: ")
    assert sentence.endswith(".")


def test_a_fault_without_one_place_is_told_as_it_is():
    text = json.dumps(dict.fromkeys(map(str, range(jsontext.MAX_KEYS + 1))))
    with pytest.raises(Unreadable) as caught:
        typedjson.parse(text, at_most=len(text))
    assert (caught.value.code, caught.value.sentence[:8]) == ("too_many_keys", "It holds")


@given(st.recursive(st.none() | st.integers(-9, 9) | st.text('ab\\"\u00e9'), st.lists))
def test_sound_json_is_taken_as_it_is_read_from_a_file(value):
    assert typedjson.parse(json.dumps(value), at_most=10**6) == value


def test_numbers_keep_their_text():
    assert repr(typedjson.parse('{"n": 1e16}', at_most=LIMIT)["n"]) == "1e16"


@given(st.text('{}[]",:\\u0d8NaIe91-. ', max_size=24))
def test_no_text_breaks_the_look_for_its_fault(text):
    try:
        typedjson.parse(text, at_most=LIMIT)
    except Unreadable as why:
        told = why.sentence
    else:
        told = "It is JSON."
    assert told.startswith(("Line ", "It "))


@pytest.mark.parametrize(
    "text, code, place",
    [
        ("a\nb\0", "nul", "Line 2, column 2"),
        ("ab\ud800", "lone_surrogate", "Line 1, column 3"),
        ("x" * (LIMIT + 1), "too_large", f"Line 1, column {LIMIT + 1}"),
    ],
)
def test_plain_text_that_json_cannot_hold_is_refused(text, code, place):
    with pytest.raises(Unreadable) as caught:
        typedjson.plain(text, at_most=LIMIT)
    assert caught.value.code == code
    assert caught.value.sentence.startswith(f"{place}: ")
    assert typedjson.plain('say "no"\n', at_most=LIMIT) == 'say "no"\n'
