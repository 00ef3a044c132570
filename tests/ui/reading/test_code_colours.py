"""Colours of programs' texts: only colour is added, and no text makes a lexer run away."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QColor

from lineclear.ui import theme
from lineclear.ui.contrast import contrast
from lineclear.ui.reading import code_colours, colours
from lineclear.ui.reading.code_colours import (
    colours_of,
    field_spans,
    line_spans,
    looks_like,
    shown_spans,
    text_spans,
)
from lineclear.ui.reading.colours import KINDS, style
from lineclear.ui.reading.json_tree import value_text
from lineclear.ui.reading.shown_text import exact_text, within

SQL = "select a, sum(b) from t where c = 'x' -- note\ngroup by a"
PYTHON = 'import os\n\ndef f(x: int) -> str:\n    # why\n    return "a\\tb" + str(x)\n'


@pytest.mark.parametrize(
    "key, text, beside, language",
    [
        ("q", SQL, "", "sql"),
        ("sql", "the order of things", "", None),
        ("x", PYTHON, "", "python"),
        ("content", "x = 1", "/a/b.py", "python"),
        ("note", "x = 1", "/a/b.py", None),
        ("command", "ls -l | wc", "", "shell"),
        ("x", "#!/bin/sh\nls", "", "shell"),
        ("x", '{"a": [1]}', "", "json"),
        ("x", "{a}", "", None),
        ("x", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b", "", "diff"),
        ("note", "Please update the order from yesterday", "", None),
        ("note", "select one from the list", "", "sql"),
        ("command", "", "", None),
    ],
)
def test_languages_are_told_by_key_path_and_beginning(key, text, beside, language):
    assert looks_like(key, text, beside) == language


def words(value, spans):
    lines = exact_text(value).split("\n")
    return {
        (lines[number][start : start + length], kind)
        for number, found in spans.items()
        for start, length, kind in found
    }


def test_colours_stand_on_the_words_they_are_of():
    value = {"path": "x", "nested": [{"sql": SQL}], "python": PYTHON, "json": '{"a": 12}'}
    found = words(value, text_spans(value, colours_of(value)))
    assert ("select", "keyword") in found
    assert ("'x'", "string") in found
    assert ("def", "keyword") in found
    assert ("# why", "comment") in found
    assert ('\\"a\\"', "name") in found
    assert ("12", "number") in found


def test_fields_are_coloured_in_the_same_places():
    value = {"python": PYTHON}
    cell = value_text(PYTHON)
    spans = field_spans(value, colours_of(value), 2000)[("python",)]
    found = {(cell[start : start + length], kind) for start, length, kind in spans}
    assert {("import", "keyword"), ("def", "keyword"), ("# why", "comment")} <= found


CODE = st.text(
    st.sampled_from("abz019 \t\"'\\`$(){}[]<>#-+@=:;,.|&/*\u202e\u27e6\u2022\u0430\U0001f600"),
    max_size=120,
)


@settings(max_examples=60, deadline=None)
@given(CODE, st.sampled_from(["json", "sql", "shell", "diff", "python"]))
def test_whatever_is_coloured_the_text_is_the_same(text, language):
    until = time.thread_time() + 1
    for line, spans in zip(text.split("\n"), line_spans(text, language, until), strict=False):
        shown = within(line)
        for start, length, kind in shown_spans(line, spans, within):
            assert 0 <= start <= start + length <= len(shown)
            assert kind in KINDS


@pytest.mark.parametrize("language", ["json", "sql", "shell", "diff", "python"])
@pytest.mark.parametrize(
    "unit", ["<<a", '"', "'", "\\u", "$(", 'f"{', "/*", "@@ ", "((((", "a" * 50]
)
def test_no_text_makes_a_lexer_run_away(language, unit):
    text = "\n".join([unit * (900 // len(unit))] * 200)
    began = time.thread_time()
    list(line_spans(text, language, began + 0.2))
    # The last look at the clock is before one more match of one pattern.
    assert time.thread_time() - began < 0.5


def test_long_lines_and_long_values_stay_plain():
    assert list(
        line_spans("x = 1\n" + "y" * 5000 + "\nz = 2", "python", time.thread_time() + 9)
    ) == [[(4, 1, "number")]]
    value = {"command": "ls " * 100_000}
    assert text_spans(value, colours_of(value)) == {}


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_can_be_read(qapp, dark):
    look = theme.Theme(qapp, dark=dark)
    t = look.tokens
    base, text = QColor(t.base), QColor(t.text)
    for kind in KINDS:
        made = style(kind, t)
        back = (
            made.background().color() if made.hasProperty(made.Property.BackgroundBrush) else base
        )
        front = (
            made.foreground().color() if made.hasProperty(made.Property.ForegroundBrush) else text
        )
        assert contrast(front, back) >= 4.5, kind
    assert {kind for _, kind in code_colours._KINDS} <= KINDS
    # What stands in a removed or added line keeps its colours.
    for added in (True, False):
        assert contrast(text, colours.difference_back(t, added=added)) >= 7
    look.stop()
