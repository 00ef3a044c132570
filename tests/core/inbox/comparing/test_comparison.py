"""Two calls field by field."""

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING
from lineclear.core.inbox.comparing.comparison import AT_MOST, differences


def told(before, after):
    return [(one.where(), one.kind, one.before, one.after) for one in differences(before, after)]


def test_numbers_are_compared_by_their_text_and_keys_in_any_order():
    before = jsontext.parse(b'{"a": 120.0, "b": 1, "c": true, "d": {"x": 1, "y": 2}}')
    after = jsontext.parse(b'{"d": {"y": 2, "x": 1}, "c": 1, "b": 1.0, "a": 120.00}')
    found = differences(before, after)
    assert [one.where() for one in found] == ["a", "b", "c"]
    assert [jsontext.compact(one.after).decode() for one in found] == ["120.00", "1.0", "1"]


def test_what_was_put_into_a_list_is_told_by_itself():
    assert told({"l": [1, 2, 3]}, {"l": [1, 9, 2, 3]}) == [("l[1]", "added", MISSING, 9)]
    assert told({"l": [1, 2, 3]}, {"l": [1, 3]}) == [("l[1]", "removed", 2, MISSING)]
    assert told([1, [2], 3], [1, [5], 3]) == [("[1][0]", "changed", 2, 5)]


def test_a_kind_that_changed_is_one_change():
    assert told({"a": {"b": 1}}, {"a": [1]}) == [("a", "changed", {"b": 1}, [1])]
    assert told({"a": None}, {}) == [("a", "removed", None, MISSING)]
    assert told("x", "y") == [("(everything)", "changed", "x", "y")]
    assert told({"a": "x"}, {"a": "x"}) == []


def test_no_key_can_be_taken_for_a_path():
    after = {"a.b": 1, "c[0]": 2, 'd"': 3, "plain key": 4}
    assert [one.where() for one in differences({}, after)] == [
        '["a.b"]',
        '["c[0]"]',
        '["d\\""]',
        "plain key",
    ]


def test_only_so_many_are_listed():
    assert len(differences({}, {str(n): n for n in range(5 * AT_MOST)})) == AT_MOST
