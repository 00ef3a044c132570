import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lineclear.core.checkpoints.characters import text as text_module
from lineclear.core.checkpoints.characters.text import (
    flags_of,
    reveal,
    unisolated,
    visible,
    visible_line,
    visible_sentence,
)

ALL_TEXT = st.text(st.characters(), max_size=60)
TRICKY = st.text("⟦⟧⇥⏎U+0123456789ABCDEF\n\t\r\u202e\u2028\x85\u0301é ", max_size=60)
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@given(ALL_TEXT | TRICKY)
@settings(max_examples=1000, deadline=None)
@example("⟦U+202E⟧")
@example("⏎\n⏎")
@example("\ud800")
def test_escaping_is_reversible(text):
    assert reveal(visible(text).text) == text


@given(ALL_TEXT | TRICKY)
@settings(max_examples=500, deadline=None)
def test_what_is_shown_holds_nothing_that_hides(text):
    shown = unisolated(visible(text).text)
    assert shown.replace("⏎\n", "").isprintable()
    assert not any(end in shown.replace("⏎\n", "") for end in LINE_ENDS)


RIGHT_TO_LEFT = st.text("\u05d0\u0591 a1⟦", max_size=40)


@given(ALL_TEXT | TRICKY | RIGHT_TO_LEFT)
@settings(max_examples=1000, deadline=None)
@example("a\nb")
@example("\u05d0 \u05d0, b")
def test_a_sentence_is_escaped_once_however_often_it_is_told(text):
    shown = visible_line(text)
    assert visible_sentence(shown) == shown
    assert unisolated(visible_sentence(text)).isprintable()


@given(ALL_TEXT | TRICKY | RIGHT_TO_LEFT, st.integers(0, 30))
@settings(max_examples=500, deadline=None)
@example("\u0591", 2)
@example("\u05d0bc", 5)
@example("ab\u05d0\u05d0\u05d0\u05d0\u05d0\u05d0", 7)
def test_one_line_is_one_line_within_its_limit(text, limit):
    line = visible_line(text, limit)
    assert len(line.splitlines()) <= 1
    assert unisolated(line).isprintable()
    assert line.count("\u2067") == line.count("\u2069")
    if limit:
        assert len(line) <= limit
    assert line.count("⟦") == line.count("⟧")


@pytest.mark.parametrize(
    "text, shown, flags",
    [
        ("rm -rf build", "rm -rf build", []),
        ("a\tb\nc", "a⇥b⏎\nc", []),
        ("déjà vu 日本語 😀", "déjà vu 日本語 😀", []),
        ("safe \u202e/ fr- mr\u202c", "safe ⟦U+202E⟧/ fr- mr⟦U+202C⟧", ["invisible"]),
        ("a\u200bb", "a⟦U+200B⟧b", ["invisible"]),
        ("a\u2028b\u2029", "a⟦U+2028⟧b⟦U+2029⟧", ["invisible"]),
        ("a\x1b[2K", "a⟦U+001B⟧[2K", ["control"]),
        ("a\x85\x7f", "a⟦U+0085⟧⟦U+007F⟧", ["control"]),
        ("rm\rls", "rm⟦U+000D⟧ls", ["control"]),
        ("rm\rls\r\n", "rm⟦U+000D⟧ls⟦U+000D⟧⏎\n", ["control"]),
        ("a\r\nb\r\n", "a⟦U+000D⟧⏎\nb⟦U+000D⟧⏎\n", ["crlf"]),
        ("\x07\r\n", "⟦U+0007⟧⟦U+000D⟧⏎\n", ["control", "crlf"]),
        ("⟦U+0041⟧⏎⇥", "⟦U+27E6⟧U+0041⟦U+27E7⟧⟦U+23CE⟧⟦U+21E5⟧", ["marker_char"]),
        ("rm\xa0-rf\u2003/", "rm⟦U+00A0⟧-rf⟦U+2003⟧/", ["odd_space"]),
        ("שלום", "\u2067\u05e9\u05dc\u05d5\u05dd\u2069", ["rtl"]),
        ("re\u0430d", "re⟦U+0430⟧d", ["mixed_scripts"]),
        ("Привет Bob", "Привет Bob", []),
        ("отчёт_final.pdf", "отчёт_final.pdf", []),
        ("\uff42\uff41sh", "⟦U+FF42⟧⟦U+FF41⟧sh", ["mixed_scripts"]),
        ("e\u0301" * 9, "e\u0301" * 9, []),
        ("s" + "\u0301" * 4, "s" + "\u0301" * 4, []),
        ("s" + "\u0301" * 5 + "t", "s" + "⟦U+0301⟧" * 5 + "t", ["combining"]),
        ("⚠\ufe0f", "⚠⟦U+FE0F⟧", ["joiner"]),
        ("👨\u200d👩", "👨⟦U+200D⟧👩", ["joiner"]),
        (
            "\u0645\u06cc\u200c\u062e",
            "\u2067\u0645\u06cc\u2069⟦U+200C⟧\u2067\u062e\u2069",
            ["joiner", "rtl"],
        ),
        ("pay\u200dpal", "pay⟦U+200D⟧pal", ["invisible"]),
        ("x\ufe0f", "x⟦U+FE0F⟧", ["invisible"]),
        ("⚠\ufe0f\u202e", "⚠⟦U+FE0F⟧⟦U+202E⟧", ["invisible", "joiner"]),
        ("\u3164\u2800\u115f", "⟦U+3164⟧⟦U+2800⟧⟦U+115F⟧", ["invisible"]),
        ("\U000e0041", "⟦U+E0041⟧", ["invisible"]),
        ("\ue000", "⟦U+E000⟧", ["invisible"]),
        ("ls" + " " * 40 + "; rm", "ls" + " " * 40 + "; rm", ["padding"]),
        ("ls" + " " * 39 + "; rm", "ls" + " " * 39 + "; rm", []),
        ("\n" * 40, "⏎\n" * 40, ["padding"]),
    ],
)
def test_odd_characters_become_tokens_and_raise_flags(text, shown, flags):
    assert visible(text).text == shown
    assert list(visible(text).flags) == flags


@pytest.mark.parametrize("filler", ["x", "é"])
def test_long_lines_and_many_lines(filler):
    assert flags_of(filler * 2000) == ()
    assert flags_of(filler * 2001) == ("long_line",)
    assert flags_of(f"{filler}\n" * 199) == ()
    assert flags_of(f"{filler}\n" * 200) == ("many_lines",)


def test_elision_keeps_both_ends_and_no_half_token():
    assert visible_line("short", 5) == "short"
    assert visible_line("rm -rf /srv/data/prod", 11) == "rm -r…/prod"
    assert visible_line("\u202e" * 50, 12) == "…"
    assert visible_line("ab\u202ecd", 8) == "ab…cd"
    assert visible_line("a\nb\rc") == "a⏎b⟦U+000D⟧c"
    assert visible_line("x" * 10_000_000, 9) == "xxxx…xxxx"


def test_what_a_person_typed_is_left_alone_when_it_is_no_token():
    assert reveal("⟦U+FFFFFF⟧ ⟦u+41⟧ ⟦U+41⟧ a⏎b") == "⟦U+FFFFFF⟧ ⟦u+41⟧ ⟦U+41⟧ a⏎b"


def best_of(rounds, work):
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def test_a_megabyte_of_plain_text_is_escaped_at_once():
    text = "lorem ipsum dolor, sit amet.\n" * 36_000
    assert best_of(5, lambda: visible(text)) < 0.05
    # A table cell costs what it shows, not what it stands for.
    assert best_of(5, lambda: visible_line(text, 80)) < 0.001


@pytest.mark.parametrize(
    "text",
    [
        "\u0431" * 500_000 + "b",
        "日" * 500_000 + "b\u0436",
        "x\u0301" * 250_000,
        "\u0301" * 500_000,
        "\u200d" * 500_000,
        "\u202e" * 500_000,
        (" " * 39 + "x") * 12_000,
        "\u0430b" * 250_000,
    ],
)
def test_no_content_makes_escaping_quadratic(text):
    assert best_of(2, lambda: visible(text)) < 1


# --- long texts, in pieces ----------------------------------------------------------------------


PIECE = 1 << 16


@pytest.mark.parametrize("before", [PIECE - 9, PIECE - 3, PIECE - 1, PIECE, PIECE + 1])
@pytest.mark.parametrize("marks", [4, 5, 40])
def test_marks_are_counted_across_the_end_of_a_piece(before, marks):
    shown = visible("a" * before + "\u0301" * marks + "b" * PIECE).text
    accents = "\u0301" * marks if marks < 5 else "\u27e6U+0301\u27e7" * marks
    assert shown == "a" * before + accents + "b" * PIECE


@pytest.mark.parametrize("unit", ["plain ", "\u202e\x07", "line\n", "\u0416\u0301\t", "\U0001f600"])
def test_no_call_of_the_interpreter_takes_a_long_text_at_once(unit, monkeypatch):
    lengths = []
    whole = text_module._shown_piece

    def counted(text):
        lengths.append(len(text))
        return whole(text)

    monkeypatch.setattr(text_module, "_shown_piece", counted)
    text = unit * (3 * PIECE // len(unit))
    shown = visible(text).text
    assert sum(lengths) == len(text)
    assert max(lengths) <= PIECE + 4
    assert reveal(shown) == text


@given(st.lists(st.integers(0, 2_500), min_size=1, max_size=8))
def test_a_long_line_is_found_wherever_it_stands(lengths):
    text = "\n".join("x" * length for length in lengths)
    assert ("long_line" in flags_of(text)) == (max(lengths) > 2_000)
