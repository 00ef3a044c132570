import sys
import weakref

from lineclear.core.checkpoints.dismantling import dismantle


class Watched(str):
    __slots__ = ("__weakref__",)


def test_all_that_nobody_else_holds_is_freed():
    words = [Watched("one"), Watched("two")]
    ends = [weakref.ref(word) for word in words]
    value = {"a": [{"b": [words[0]] * 5_000}, *range(3_000)], "c": words[1]}
    words.clear()
    values = [value, value]
    del value
    dismantle(values)
    assert values == []
    assert [end() for end in ends] == [None, None]


def test_what_somebody_else_holds_stays_as_it_is():
    arguments = {"customer": ["C-1", "C-2"], "amount": {"value": 12}}
    before = sys.getrefcount(arguments)
    dismantle([{"arguments": arguments, "steps": [arguments["customer"], 1]}])
    assert arguments == {"customer": ["C-1", "C-2"], "amount": {"value": 12}}
    assert sys.getrefcount(arguments) == before


def test_depth_costs_no_stack():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    values: list[object] = [value]
    del value
    dismantle(values)
    assert values == []
