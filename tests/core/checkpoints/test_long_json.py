"""Long documents are read in steps; what comes of it is what one scan of the whole gives."""

import gc
import json
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lineclear.core.checkpoints import jsontext, long_json
from lineclear.core.checkpoints.json_faults import fault_in
from lineclear.core.errors import Unreadable
from tests.badinputs import DATA, FILES, FIXTURES

WINDOWS = (32, 33, 61, 256)
FILES_OF_SYSTEMS = sorted(path for path in DATA.rglob("*.json") if path.stat().st_size < 1 << 20)


def told(read) -> object:
    """What reading gives, number texts and key order kept, or what it says is wrong."""
    try:
        value = read()
    except json.JSONDecodeError as why:
        return ("not_json", why.lineno, why.colno, why.msg, fault_in(why))
    except Unreadable as why:
        return (why.code, why.sentence)
    return repr(value)


def not_utf8(raw: bytes) -> int | None:
    try:
        raw.decode()
    except UnicodeDecodeError as why:
        return why.start
    return None


def refuse_same(raw: bytes) -> None:
    odd = not_utf8(raw)
    for window in WINDOWS:
        assert long_json.first_not_utf8(raw, chunk=window) == odd
    if odd is not None or long_json.nests_deeper(raw, jsontext.MAX_DEPTH_IN):
        return  # Refused before it is decoded.
    once = told(lambda: jsontext.DECODER.decode(raw.decode()))
    for window in WINDOWS:
        assert told(partial(long_json.decode, raw, jsontext.DECODER, window=window)) == once


@pytest.mark.parametrize("path", FILES_OF_SYSTEMS, ids=lambda path: str(path.relative_to(DATA)))
def test_every_fixture_and_bad_input_reads_the_same(path: Path):
    refuse_same(path.read_bytes())


@pytest.mark.parametrize("bad", FILES, ids=lambda bad: bad.name)
def test_every_bad_input_is_refused_with_the_same_words_where_it_is_long(bad, monkeypatch):
    raw = bad.raw
    if len(raw) > 1 << 21:
        pytest.skip("read in steps in any case")

    def parsed() -> object:
        return told(lambda: jsontext.parse(raw))

    monkeypatch.setattr(jsontext, "_LONG", 1 << 30)
    once = parsed()
    monkeypatch.setattr(jsontext, "_LONG", 0)
    assert parsed() == once


PARTS = st.lists(
    st.sampled_from(
        [
            *'{}[],:"\\ \n\t0123456789-+.eEtfnux',
            '"a"',
            '"key":',
            '{"a":1}',
            '{"a":1,"a":2}',
            "true",
            "false",
            "null",
            "NaN",
            "-Infinity",
            "1.50",
            "-0",
            "1e400",
            "18446744073709551616",
            "99999999999999999999999999999999999999999999999999",
            "0." + "1" * 70,
            "\\ud83d\\ude00",
            "\\ud800",
            "\\u0000",
            "\\u00e9",
            "\\u12",
            "\\é",
            "é",
            "漢字",
            "\U0001f600",
            "x" * 40,
            " " * 40,
            "\x01",
        ]
    ),
    max_size=40,
).map("".join)


@given(PARTS)
@settings(max_examples=1500, deadline=None)
@example('["' + "é" * 100 + '",1,{"a":2}]')
@example('{"' + "k" * 200 + '":1}')
@example('["' + "\\ud83d\\ude00" * 30 + '"]')
@example('["' + "\\" * 201)
@example('["' + "x" * 70 + "\\ud83d")
@example('["' + "x" * 70 + '\\ud83d"]')
@example('["' + "x" * 70 + "\\u12")
@example("[1," + " " * 100 + "]")
@example('{"a":1,' + " " * 100 + "}")
@example('{"a":[' + "1," * 100 + "],}")
def test_any_text_reads_the_same(text):
    for whole in (text, f'{{"a":[{text}],"b":"{text}"}}', f"[{text}]", f'"{text}"'):
        refuse_same(whole.encode())


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(TEXTS, inner, max_size=8),
    max_leaves=60,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]), st.integers(0, 3), st.data())
@settings(max_examples=400, deadline=None)
def test_any_value_and_any_torn_one_reads_the_same(value, ascii_only, indent, cut, data):
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    refuse_same(raw)
    for _ in range(cut):
        refuse_same(raw[: data.draw(st.integers(0, len(raw)))])


@given(st.lists(st.sampled_from([b"\\", b'"', b"[", b"{", b"]", b"}", b"a", b"\xc3\xa9"])))
@settings(max_examples=500, deadline=None)
def test_depth_is_told_the_same_in_any_pieces(pieces):
    raw = b"".join(pieces)
    for levels in range(4):
        once = long_json.nests_deeper(raw, levels, chunk=1 << 20)
        assert long_json.nests_deeper(raw, levels, chunk=2) == once
        assert long_json.nests_deeper(raw, levels, chunk=5) == once


ESCAPES = st.lists(
    st.sampled_from(
        ["\\ud83d\\ude00", "\\u0041", "\\\\", "\\n", "u0000", "ud800", "abcdefgh", '\\"', "é"]
    ),
    max_size=40,
)
ODD = st.sampled_from(["", "\\u0000", "\\ud83d", "\\ude00", "\\ud83d\\u0041"])


@given(ESCAPES, ODD, ESCAPES)
@settings(max_examples=500, deadline=None)
def test_odd_escapes_are_found_in_any_pieces(before, odd, behind):
    raw = "".join([*before, odd, *behind]).encode()

    def refused(place: int | None) -> object:
        return place is not None and told(lambda: jsontext.refuse_odd_escapes(raw[place:]))

    once = told(lambda: jsontext.refuse_odd_escapes(raw))
    for window in WINDOWS:
        place = long_json.odd_escape(raw, window=window)
        assert refused(place) == once or (place is None and once == "None")


def test_a_long_document_is_read_in_steps_and_keeps_its_numbers_and_keys():
    items = ", ".join(['{"amount": 120.00, "at": 1e2, "n": -0}'] * 60_000)
    raw = f'{{"items": [{items}], "words": ["{"漢" * 400_000}"]}}'.encode()
    assert len(raw) > 1 << 21
    found = jsontext.parse(raw)
    assert len(found["items"]) == 60_000
    assert jsontext.compact(found["items"][59_999]) == b'{"amount":120.00,"at":1e2,"n":-0}'
    assert found["words"] == ["漢" * 400_000]
    first, last = (next(iter(found["items"][n])) for n in (0, 59_999))
    assert first is last, "each key is kept once"


def test_a_document_that_was_read_is_held_by_nothing_that_only_the_collector_frees():
    raw = json.dumps([{"key": number} for number in range(1000)]).encode()
    held = sys.getrefcount(raw)
    gc.disable()
    try:
        long_json.decode(raw, json.JSONDecoder(object_pairs_hook=dict), window=100)
        assert sys.getrefcount(raw) == held
    finally:
        gc.enable()


def test_fixtures_are_there():
    assert any(FIXTURES in path.parents for path in FILES_OF_SYSTEMS)
