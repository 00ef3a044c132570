"""What was seen is written into a decision and read back; anybody's nonsense is unsaid."""

import pytest

from lineclear.core.inbox.history.sight import Sight, columns_of, end_seen

NOTHING = dict.fromkeys(
    ("through", "front_end", "tab", "end_seen", "shown_ms", "warnings", "despite")
)


def test_what_a_window_saw_is_read_back():
    sight = Sight("window", "call", end_seen=False, seconds=12.34, warnings=("old", "twin"))
    assert columns_of({**sight.shown(), "origin": "key", "despite": ["twin"]}) == {
        "through": "key",
        "front_end": "window",
        "tab": "call",
        "end_seen": 0,
        "shown_ms": 12_300,
        "warnings": "old twin",
        "despite": "twin",
    }


def test_what_cannot_be_told_is_left_out():
    assert Sight("cli").shown() == {"front_end": "cli"}
    assert columns_of({}) == NOTHING


@pytest.mark.parametrize(
    "shown",
    [
        {"seconds": float("inf"), "end_seen": "yes", "tab": 3, "warnings": "twin"},
        {"seconds": -1, "end_seen": 1, "tab": "x" * 41, "warnings": [None, {}, "a b", ""]},
        {"seconds": True, "end_seen": None, "front_end": "wi\nndow", "origin": "\u202e"},
        {"seconds": 1e300, "despite": {"a": 1}, "tab": "=cmd|' /c calc'!A1"},
    ],
)
def test_nonsense_is_unsaid(shown):
    assert columns_of(shown) == NOTHING


def test_nobody_saw_all_of_a_call_where_a_masked_place_was_not_shown():
    assert end_seen(seen=True, waits=False, masked=None) is True
    assert end_seen(seen=True, waits=False, masked=(2, 0)) is True
    assert end_seen(seen=True, waits=True, masked=(0, 1)) is False
    assert end_seen(seen=True, waits=False, masked=(1, 1)) is None
    assert end_seen(seen=False, waits=False, masked=(1, 1)) is False
    shown = Sight("window", "call", None, masked=(1, 2)).shown()
    assert shown["masked"] == {"shown": 1, "unshown": 2}
    assert "end_seen" not in shown
