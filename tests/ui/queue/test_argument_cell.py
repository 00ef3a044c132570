"""Arguments in a cell: each pair for itself, and nothing that matters cut in half."""

import pytest
from PySide6.QtGui import QFontMetricsF

from lineclear.ui import theme
from lineclear.ui.queue import cells
from lineclear.ui.queue.argument_cell import PairLayout, Piece

REFUND = [
    ("customer", '"C-1204"'),
    ("order", '"O-7781"'),
    ("amount", "120.5"),
    ("reason", '"delivered damaged, photographs attached"'),
]


@pytest.fixture
def values(qapp) -> QFontMetricsF:
    return QFontMetricsF(theme.mono_font())


@pytest.fixture
def keys(qapp) -> QFontMetricsF:
    return QFontMetricsF(theme.body_font())


@pytest.fixture
def layout(keys, values) -> PairLayout:
    return PairLayout(keys, values)


def texts(pieces: list[Piece]) -> list[str]:
    return [piece.text for piece in pieces]


def test_with_room_everything_stands_whole(layout):
    width = layout.natural_width(REFUND)
    assert texts(layout.lay_out(REFUND, width)) == [text for pair in REFUND for text in pair]


def test_the_long_value_gives_way_and_amounts_and_ids_stay_whole(layout):
    shown = texts(layout.lay_out(REFUND, layout.natural_width(REFUND) - 60))
    assert shown[:6] == ["customer", '"C-1204"', "order", '"O-7781"', "amount", "120.5"]
    assert shown[6] == "reason"
    assert shown[7].startswith('"del')
    assert shown[7].endswith('hed"')
    assert "\u2026" in shown[7]


def test_what_has_no_room_is_counted(layout):
    first = layout.natural_width(REFUND[:1])
    shown = layout.lay_out(REFUND, first + 50)
    assert texts(shown) == ["customer", '"C-1204"', "+3"]
    assert [piece.is_key for piece in shown] == [True, False, True]


def test_an_amount_is_shown_before_texts_and_in_its_place(layout):
    room = layout.natural_width([REFUND[0], REFUND[2]]) + 40
    shown = texts(layout.lay_out(REFUND, room))
    assert shown == ["customer", '"C-1204"', "amount", "120.5", "+2"]


def test_what_is_short_comes_before_what_is_long(layout):
    pairs = [("a", '"x"'), ("text", '"a long text that nobody needs"'), ("to", '"b"')]
    shown = texts(layout.lay_out(pairs, layout.natural_width([pairs[0], pairs[2]]) + 40))
    assert shown == ["a", '"x"', "to", '"b"', "+1"]


def test_no_piece_reaches_into_the_next_or_out_of_the_cell(layout, keys, values):
    for width in range(60, 700, 7):
        pieces = layout.lay_out(REFUND, width)
        ends = [
            piece.x + (keys if piece.is_key else values).horizontalAdvance(piece.text)
            for piece in pieces
        ]
        starts = [piece.x for piece in pieces[1:]]
        assert all(end < start for end, start in zip(ends, starts, strict=False)), width
        if width >= 160:
            assert ends[-1] <= width


def test_a_value_alone_keeps_its_end(layout, values):
    (piece,) = layout.lay_out([("", "rm -rf build/cache/deeply/nested/prod")], 160)
    assert piece.x == 0
    assert piece.text.startswith("rm -rf")
    assert piece.text.endswith("/prod")
    assert values.horizontalAdvance(piece.text) <= 160


def test_a_key_does_not_take_the_cell(layout, keys):
    (key, *_) = layout.lay_out([("k" * 40, "1"), ("b", "2")], 300)
    assert keys.horizontalAdvance(key.text) <= keys.horizontalAdvance("n" * 16)


@pytest.mark.parametrize("width", [0, 5, -3])
def test_no_room_at_all_is_no_error(layout, width):
    layout.lay_out(REFUND, width)


def test_nothing_to_show(layout):
    assert layout.lay_out([], 200) == []
    assert layout.natural_width([]) == 0


def test_what_changed_stands_first_and_no_key_shows_a_secret():
    given = {"customer": "C-1", "note": {"a": 1}, "amount": 120}
    assert cells.pairs(given, ("note", "amount")) == [
        ("note", "{1 key}"),
        ("amount", "120"),
        ("customer", '"C-1"'),
    ]
    shown = cells.preview({"ghp_" + "a1" * 18: "x", "token": ["y"], "api_key": "rm -rf /"})
    assert "a1a1" not in shown
    assert "rm" not in shown
    assert "token=[1 item]" in shown
