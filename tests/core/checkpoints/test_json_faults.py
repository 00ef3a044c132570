"""Why a text is no JSON is said in whole sentences, on every Python."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.checkpoints import jsontext, typedjson
from lineclear.core.checkpoints.json_faults import fault_in
from lineclear.core.errors import Unreadable


def refused(text: str) -> str:
    with pytest.raises(Unreadable) as why:
        jsontext.parse_value(text)
    return why.value.sentence


@pytest.mark.parametrize(
    "text, told",
    [
        ('{"a": "cut sho', "column 7: the text that begins there has no end."),
        ('{"a": 1, "b": [1, 2', "column 20: it ends there, unfinished."),
        ("   ", "column 4: it ends there, unfinished."),
        ('{"a": }', "column 7: a value is missing there."),
        ('{"a": hello}', "column 7: a value is missing there."),
        ("[1 2]", "column 4: a comma or a closing bracket is missing there."),
        ('{"a" 1}', "column 6: a colon is missing there."),
        ("{a: 1}", "column 2: a key in double quotes is missing there."),
        ("1 2", "column 3: something follows there, after its end."),
        ('"a\tb"', "column 3: there is a control character within a text."),
        ('"\\u12"', "there is a \\u without four hexadecimal digits behind it."),
        (
            '"\\q"',
            "column 2: there is a backslash with something behind it that JSON does not know.",
        ),
    ],
)
def test_the_fault_is_told_in_whole_words(text, told):
    assert refused(text).startswith("It is not JSON at line 1, column ")
    assert refused(text).endswith(told)


def test_what_a_person_typed_is_told_the_same():
    with pytest.raises(Unreadable) as why:
        typedjson.parse('{"a": "b', at_most=100)
    assert why.value.sentence == (
        "Line 1, column 7: this is not JSON: the text that begins there has no end."
    )


@given(st.text('{}[]",:\\ud8tn1-e. \t\n', max_size=20))
def test_no_message_of_the_decoder_gets_through(text):
    try:
        json.loads(text)
    except json.JSONDecodeError as why:
        told = fault_in(why)
        assert told != "what stands there cannot be read"
        assert not told.endswith(("at", ":", "."))
