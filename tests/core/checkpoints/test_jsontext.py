import copy
import json
import math
import re
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.checkpoints import jsonends, jsontext
from lineclear.core.checkpoints.jsontext import ExactFloat
from lineclear.core.errors import Unreadable
from tests.badinputs import FIXTURES

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def code_of(raw: bytes) -> str | None:
    try:
        jsontext.parse(raw)
    except Unreadable as refused:
        return refused.code
    return None


# --- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw, code",
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf{}", "bom"),
        (b'{"a":"\xff"}', "not_utf8"),
        (b'{"a":"\xed\xa0\x80"}', "not_utf8"),
        (b" ", "not_json"),
        (b'{"a":01}', "not_json"),
        (b'{"a":.5}', "not_json"),
        (b'{"a":1.}', "not_json"),
        (b'{"a":+1}', "not_json"),
        (b'{"a":"\t"}', "not_json"),
        (b'{"a":1}\0', "not_json"),
        (b'{"a":1}\xc2\xa0', "not_json"),
        ('{"a":\u0661}'.encode(), "not_json"),
        (b'{"a":-Infinity}', "not_json"),
        (b"[]", "root_not_object"),
        (b"null", "root_not_object"),
        (b'{"a":1,"\\u0061":2}', "duplicate_key"),
        (b'{"a":18446744073709551616}', "big_int"),
        (b'{"a":-9223372036854775809}', "big_int"),
        (b'{"a":' + b"9" * 100_000 + b"}", "big_int"),
        (b'{"a":1e400}', "big_float"),
        (b'{"a":-1e400}', "big_float"),
        (b'{"a":"\\ud800"}', "lone_surrogate"),
        (b'{"a":"\\udc00\\ud800"}', "lone_surrogate"),
        (b'{"a":"\\ud800\\n\\udc00"}', "lone_surrogate"),
        (b'{"\\uDFFF":1}', "lone_surrogate"),
        (b'{"a":"\\u0000"}', "nul"),
        (b'{"\\u0000":1}', "nul"),
        (b'{"a":"\\\\u0000 \\\\ud800 \\ud83d\\ude00"}', None),
        (b'\n\t\r {"a":[{}]} ', None),
    ],
)
def test_refuses_what_readers_disagree_about(raw, code):
    assert code_of(raw) == code


@pytest.mark.parametrize("opening, closing", [(b"[", b"]"), (b'{"k":', b"}")])
def test_127_nested_containers_are_read_and_128_are_not(opening, closing):
    assert code_of(b'{"a":' + opening * 126 + b"1" + closing * 126 + b"}") is None
    assert code_of(b'{"a":' + opening * 127 + b"1" + closing * 127 + b"}") == "too_deep"
    assert code_of(b'{"a":' + opening * 2_000_000) == "too_deep"


def test_brackets_in_texts_and_side_by_side_are_not_depth():
    many = b'{"a":"' + b'[{\\"[\\\\' * 1000 + b'","b":[' + b"[[]]," * 1000 + b"0]}"
    assert code_of(many) is None
    assert code_of(b'{"a":"' + b"[" * 1000) == "not_json"


def naive_depth(text: str) -> int:
    deepest = level = 0
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level -= 1
    return deepest


@given(st.text('[]{}"\\a', max_size=60), st.integers(0, 5))
@settings(max_examples=500, deadline=None)
def test_depth_is_refused_exactly_where_counting_characters_says_so(text, limit):
    try:
        jsontext.parse(text.encode(), max_depth=limit)
        code = None
    except Unreadable as refused:
        code = refused.code
    if re.search(r"\\", re.sub(r'"(?:[^"\\]|\\.)*("|$)', "", text)):
        # Outside of texts it is no JSON in any case, read only up to there.
        assert code is not None
        return
    assert (code == "too_deep") == (naive_depth(text) > limit)


@pytest.mark.parametrize("size", [2**18 - 1, 2**18, 2**18 + 1])
def test_depth_is_counted_across_the_pieces_of_a_large_text(size):
    raw = b"[" * 100 + b"[]," * (size // 2) + b"[" * 27 + b"]" * 27 + b"]" * 100
    jsontext.parse(b'{"a":' + raw[1:-1] + b"}")
    with pytest.raises(Unreadable) as why:
        jsontext.parse(b'{"a":' + raw + b"}")
    assert why.value.code == "too_deep"


ESCAPES = st.lists(
    st.sampled_from(
        ["\\ud83d", "\\ude00", "\\u0000", "\\\\", "\\u0041", "u0000", "\\n", "ud800", '\\"']
    )
)


@given(ESCAPES)
@settings(max_examples=500, deadline=None)
def test_odd_escapes_are_found_exactly_where_the_text_holds_them(escapes):
    raw = ('{"a":"' + "".join(escapes) + '"}').encode()
    text = json.loads(raw)["a"]
    odd = "\0" in text or any("\ud800" <= c <= "\udfff" for c in text)
    assert (code_of(raw) in ("nul", "lone_surrogate")) == odd
    assert (code_of(raw) is None) != odd


def test_a_duplicate_key_is_named_and_cannot_forge_the_sentence():
    with pytest.raises(Unreadable, match=r"The key 'x⟦U\+202E⟧⏎' appears twice"):
        jsontext.parse(b'{"x\\u202e\\n":1,"x\\u202e\\n":1}')


def test_keys_are_bounded_where_asked():
    document = b'{"a":{"b":1,"c":[{"d":1}]}}'
    assert jsontext.parse(document, max_keys=4) == {"a": {"b": 1, "c": [{"d": 1}]}}
    with pytest.raises(Unreadable) as refused:
        jsontext.parse(document, max_keys=3)
    assert refused.value.code == "too_many_keys"


def test_typed_values_are_read_as_strictly():
    assert jsontext.parse_value("[1, 2.50]") == [1, 2.5]
    assert jsontext.parse_value("null") is None
    for typed, code in [
        ("", "empty"),
        ("{a: 1}", "not_json"),
        ('{"a":1,"a":2}', "duplicate_key"),
        ("NaN", "not_json"),
        ('"\ud800"', "lone_surrogate"),
        ("[" * 117 + "]" * 117, "too_deep"),
        ("{" + ",".join(f'"k{i}":0' for i in range(20_001)) + "}", "too_many_keys"),
    ]:
        with pytest.raises(Unreadable) as refused:
            jsontext.parse_value(typed)
        assert refused.value.code == code


def test_a_typed_value_of_the_greatest_depth_still_fits_into_a_start_record():
    value = jsontext.parse_value("[" * 116 + "]" * 116)
    start = {"decision": {"native": {"Modify": {"arguments": value}}}}
    assert jsontext.parse(jsontext.compact(start)) == start


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_reads_the_same_value_as_json_loads(value):
    raw = json.dumps({"a": value}).encode()
    assert jsontext.parse(raw) == json.loads(raw)


def test_counts_keys_and_depth():
    assert jsontext.count_keys({"a": {"b": [{"c": 1}, 2]}, "d": {}}) == 4
    assert jsontext.count_keys("a") == 0
    assert [jsontext.depth(v) for v in (1, [], {"a": 1}, [[], {"a": [1]}])] == [0, 1, 1, 3]


# --- numbers ----------------------------------------------------------------------------------


def test_number_text_is_kept():
    raw = b'{"a":[120.00,0.1000000000000000055511151231257827,1E5,-0.0,-0,1.0,12,9007199254740993]}'
    document = jsontext.parse(raw)
    assert jsontext.compact(document) == raw
    money = document["a"][0]
    assert isinstance(money, ExactFloat)
    assert money == 120.0
    assert money.text == "120.00"
    assert [type(n) for n in document["a"]] == [ExactFloat] * 6 + [int] * 2


def test_minus_zero_keeps_its_sign_as_serde_reads_it():
    (zero,) = jsontext.parse(b'{"a":-0}').values()
    assert isinstance(zero, float)
    assert math.copysign(1, zero) == -1


def test_an_exact_float_survives_copies():
    number = ExactFloat("1.50")
    for twin in (copy.copy(number), copy.deepcopy([number])[0]):
        assert twin == 1.5
        assert twin.text == "1.50"


@pytest.mark.parametrize(
    "number, text",
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (0.001, "0.001"),
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (-0.000012345, "-0.000012345"),
        (0.000001, "1e-6"),
        (1.5e-6, "1.5e-6"),
        (1e-7, "1e-7"),
        (1e15, "1000000000000000.0"),
        (1234567890123456.0, "1234567890123456.0"),
        (1e16, "1e16"),
        (1.2345678901234568e16, "1.2345678901234568e16"),
        (1e21, "1e21"),
        (-1.5e300, "-1.5e300"),
        (5e-324, "5e-324"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
    ],
)
def test_plain_floats_are_written_as_serde_writes_them(number, text):
    assert jsontext.compact(number) == text.encode()


def test_the_numbers_that_rust_printed_come_out_again_from_plain_floats():
    raw = (FIXTURES / "lc_agents" / "v018_numbers.json").read_bytes()
    document = json.loads(raw)  # plain floats, their text lost
    assert jsontext.pretty(document) == raw


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=500, deadline=None)
def test_written_floats_read_back_to_the_bit(number):
    (back,) = jsontext.parse(b'{"a":' + jsontext.compact(number) + b"}").values()
    assert struct.pack("d", back) == struct.pack("d", number)


# --- writing ----------------------------------------------------------------------------------


def test_pretty_is_serdes_layout():
    value = {"a": [], "b": {}, "c": [1, {"d": 'é\n\x07\x7f"/'}], "e": (None, True)}
    assert jsontext.pretty(value).decode() == (
        '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    {\n'
        '      "d": "é\\n\\u0007\x7f\\"/"\n    }\n  ],\n  "e": [\n    null,\n    true\n  ]\n}'
    )


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_layout_equals_json_dumps_where_both_write_the_same_numbers(value):
    value = json.loads(json.dumps(value), parse_float=lambda text: f"float {text}")
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert jsontext.compact(value) == compact
    assert jsontext.pretty(value) == json.dumps(value, ensure_ascii=False, indent=2).encode()


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_back(value):
    document = {"a": value}
    for written in (
        jsontext.pretty(document),
        jsontext.compact(document),
        jsontext.canonical(document),
    ):
        again = jsontext.parse(written)
        assert again == document
        assert jsontext.canonical(again) == jsontext.canonical(document)


@pytest.mark.parametrize(
    "value, words",
    [
        (math.nan, "nan"),
        ([math.inf], "inf"),
        (2**64, "too large"),
        (-(2**63) - 1, "too large"),
        ("a\0b", "NUL"),
        ({"\0": 1}, "NUL"),
        ("\udcff", "half a character"),
        (json.loads("[" * 121 + "]" * 121), "deeper than 120"),
    ],
)
def test_refuses_to_write_what_a_reader_would_refuse(value, words):
    for write in (jsontext.pretty, jsontext.compact):
        with pytest.raises(ValueError, match=words):
            write(value)


def test_a_text_that_only_spells_an_escape_is_written():
    assert jsontext.compact("\\u0000 \\\\u0000") == b'"\\\\u0000 \\\\\\\\u0000"'


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1, 2}}, b"x", object()])
def test_what_is_no_json_is_a_type_error(value):
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        jsontext.compact(value)


def test_120_deep_is_written_and_more_on_demand():
    value = json.loads("[" * 120 + "]" * 120)
    assert jsontext.compact(value) == b"[" * 120 + b"]" * 120
    assert jsontext.compact([value], max_depth=121) == b"[" * 121 + b"]" * 121


def test_canonical_is_about_meaning():
    left = jsontext.parse('{"b":0.10,"a":"é","c":{"y":1,"x":2}}'.encode())
    right = jsontext.parse(b'{"c":{"x":2,"y":1},"a":"\\u00e9","b":1e-1}')
    assert jsontext.canonical(left) == b'{"a":"\\u00e9","b":0.1,"c":{"x":2,"y":1}}'
    assert jsontext.canonical(right) == jsontext.canonical(left)
    assert jsontext.canonical({"a": 1}) != jsontext.canonical({"a": 1.0})
    assert jsontext.canonical({"a": 1}) != jsontext.canonical({"a": True})


def test_canonical_takes_every_value_that_is_read():
    deepest = jsontext.parse(b'{"a":' + b"[" * 126 + b"]" * 126 + b"}")
    assert jsontext.canonical({"tool": "t", "arguments": deepest}).count(b"[") == 126


@given(st.text(st.characters(), max_size=30))
@settings(deadline=None)
def test_storable_text_can_always_be_written(text):
    kept = jsontext.storable(text)
    assert len(kept) == len(text)
    (back,) = jsontext.parse(jsontext.compact({"result": kept})).values()
    assert back == kept
    if "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text):
        assert kept == text


# --- cost -------------------------------------------------------------------------------------


def best_of(rounds, work):
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def test_a_megabyte_is_parsed_in_well_under_a_third_of_a_second():
    raw = (FIXTURES / "lc_agents" / "v018_large_1mb.json").read_bytes()
    assert best_of(5, lambda: jsontext.parse(raw)) < 0.1


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"' + b"\\\\" * 1_000_000 + b'","b":[' + b"[]," * 300 + b"0]}",
        b'{"a":"' + b"\\ud83d\\ude00" * 200_000 + b'"}',
        b'{"a":"' + b"\\u0000" * 200_000 + b'"}',
        b'{"a":0.' + b"1" * 2_000_000 + b"}",
        b'{"a":' + b"9" * 2_000_000 + b"}",
        b'{"a":"' + b"[" * 2_000_000,
    ],
)
def test_no_content_makes_reading_quadratic(raw):
    assert best_of(2, lambda: code_of(raw)) < 1


# --- the first members ------------------------------------------------------------------------


@given(st.lists(st.tuples(TEXTS, VALUES), max_size=4), VALUES, st.booleans())
@settings(deadline=None)
def test_members_before_a_key_are_read_without_the_rest(
    pairs: list[tuple[str, object]], rest: object, pretty: bool
):
    before = {key: value for key, value in pairs if key != "last"}
    write = jsontext.pretty if pretty else jsontext.compact
    whole = write({**before, "last": rest})
    assert jsonends.members_before("last", whole) == before
    cut = jsontext.compact({**before, "last": rest})[: len(jsontext.compact(before)) - 1]
    assert jsonends.members_before("last", cut) is None
    assert jsonends.members_before("no such key anywhere", whole) is None


@given(VALUES, st.lists(st.tuples(TEXTS, VALUES), max_size=4), st.booleans())
@settings(deadline=None)
def test_members_behind_a_key_are_read_without_the_rest(
    rest: object, pairs: list[tuple[str, object]], pretty: bool
):
    behind = {"here": 1, **{key: value for key, value in pairs if key not in {"first", "here"}}}
    write = jsontext.pretty if pretty else jsontext.compact
    whole = write({"first": [rest, {"here": rest}], **behind})
    assert jsonends.members_behind(["no such key", "here"], whole) == behind
    assert jsonends.members_behind(["no such key anywhere"], whole) is None


@pytest.mark.parametrize(
    "suffix",
    [
        b'{"a": [{"here": 1, "b": 2}]}',
        b'{"a": "\\"here\\": 1}"}',
        b'{"a": ["here", 1]}',
        b'{"a": "here"}',
        b"",
    ],
)
def test_a_key_that_is_not_the_objects_own_is_not_taken_for_it(suffix):
    assert jsonends.members_behind(["here"], suffix) is None


def test_members_before_a_key_keep_their_number_text():
    found = jsonends.members_before("b", b'{"a": 1.50, "b": ')
    assert found is not None
    assert jsontext.compact(found) == b'{"a":1.50}'
    assert jsonends.members_before("b", b'{"a": 1.50, "a": 2, "b": ') is None
    assert jsonends.members_before("a", b'{"a": ') == {}


@given(st.lists(st.sampled_from(["\\", "u0000", "\0", "x"]), max_size=12).map("".join))
def test_a_nul_is_told_from_text_that_looks_like_its_escape(text):
    if "\0" in text:
        with pytest.raises(ValueError, match="NUL"):
            jsontext.compact(text)
    else:
        assert json.loads(jsontext.compact(text)) == text


def test_a_text_of_many_parts_is_written_as_json_does():
    value = {"items": [{"n": number, "words": ["a", "b"]} for number in range(20_000)]}
    value |= {f"key{number}": [] for number in range(20_000)}
    assert jsontext.compact(value) == json.dumps(value, separators=(",", ":")).encode()
    assert jsontext.pretty(value) == json.dumps(value, indent=2).encode()
