"""Which values of a column stand out, by columns that an operator meets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.bursts.outliers import far_off, rare


def far(values: list[Json]) -> list[Json]:
    return [values[place] for place in sorted(far_off(values))]


def test_a_number_that_several_calls_have_is_far_off_too():
    assert far([80] * 47 + [1000000] * 3) == [1000000] * 3
    assert far([20 + one // 3 for one in range(117)] + [1000000] * 3) == [1000000] * 3


def test_numbers_that_are_mostly_the_same_may_differ_a_little():
    assert far([80] * 40 + [100] * 10) == []
    assert far([1] * 40 + [2] * 6 + [3] * 4) == []


@pytest.mark.parametrize(
    "usual, odd",
    [
        ("{}.50", "1000000.00"),
        ("{}.50", "1,000,000.00"),
        ("{},50", "1.000.000,00"),
        ("${}.50", "$1,000,000.00"),
        ("{} EUR", "1 000 000 EUR"),
        ("\u20ac {}", "\u20ac 1'000'000"),
        ("{}", "1e6"),
        ("{}.00", "-5000.00"),
        ("{}.00", "-$5,000.00"),
    ],
)
def test_a_text_that_is_written_as_a_number_is_one(usual, odd):
    values = [usual.format(20 + one) for one in range(39)]
    assert far([*values[:20], odd, *values[20:]]) == [odd]


def test_a_comma_that_may_be_either_is_read_as_both():
    assert far([f"{20 + one}" for one in range(39)] + ["5,000"]) == ["5,000"]
    assert far([f"{5 + one},000" for one in range(39)] + ["9.500"]) == ["9.500"]


def test_texts_and_numbers_are_compared_together():
    assert far([20, "21.50", 22, "23", 24.5, "25", 26, "9000"]) == ["9000"]


def test_an_amount_of_another_currency_stands_out():
    assert far([f"{20 + one} EUR" for one in range(20)] + ["25 KWD"]) == ["25 KWD"]


def test_what_is_no_number_stands_out_of_numbers():
    assert far([1, 2, 3, 4, 5, 6, 7, MISSING]) == [MISSING]
    assert far(["10", "11", "12", "13", "14", "all"]) == ["all"]


def test_numbers_within_reach_of_each_other_do_not_stand_out():
    assert far([20.5, 31, 44, 52, 18, 27, 39, 60]) == []
    assert far([f"{20 + one}.50" for one in range(40)]) == []


def test_true_and_false_are_no_numbers():
    assert far([True, False, True, True, False, True]) == []


@pytest.mark.parametrize(
    "usual, odd",
    [
        ("u{}@shop.example", "u7@sh0p.example"),
        ("U {} <u{}@shop.example>", "U 7 <u7@else.example>"),
        ("https://h{}.shop.example/x", "https://h7.else.example/x"),
        ("https://shop.example/{}", "https://shop.example@else.example/7"),
        ("https://shop.example/{}", "https://else.example\\@shop.example/7"),
        ("https://h{}.example/x", "http://h7.example/x"),
        ("/srv/app/{}.txt", "/etc/passwd"),
        ("/srv/app/{}.txt", "/srv/app/../../etc/passwd"),
        ("/srv/app/{}.txt", "srv/app/7.txt"),
        ("src/{}/x.py", "../src/7/x.py"),
        ("C:\\app\\{}.txt", "C:\\Windows\\7.txt"),
        ("ls {}", "rm 7"),
        ("ls {}", "ls 7; id"),
        ("note{}", "note7" + "x" * 60),
        ("C-1{}", ""),
        ("C-1{}", "\u0411\u0413-17"),
    ],
)
def test_a_text_that_is_unlike_the_others_stands_out(usual, odd):
    values = [usual.format(one, one) for one in range(10, 30)]
    assert far([*values[:9], odd, *values[9:]]) == [odd]


@pytest.mark.parametrize(
    "values",
    [
        [f"C-{one}" for one in range(20)],
        ["Ann Lee", "Bo Diddley", "Carla Espinoza", "D. Ng", "Eve Oyelaran", "Flo Wu"],
        [f"/srv/{one}/app/x" for one in "abcdefgh"],
        [f"u{one}@h{one}.example" for one in range(20)],
        ["a", "b", "c", "d", "ee", "fff"],
    ],
)
def test_texts_of_one_kind_do_not_stand_out(values):
    assert far(values) == []


def test_a_value_is_rare_by_its_share():
    column = ["staging"] * 47 + ["production"] * 3
    assert rare(column) == {47, 48, 49}
    assert rare(["a"] * 10 + ["b"] * 10) == set()
    assert rare(list(range(20))) == set()


JSON = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.just(MISSING),
    st.from_regex(r"-?[$]?[0-9.,' ]{1,12}(e[0-9]{1,3})?[A-Z]{0,3}", fullmatch=True),
)


@given(st.lists(JSON, max_size=30))
def test_no_column_fails(values):
    assert far_off(values) <= set(range(len(values)))
    assert len(rare([repr(value) for value in values])) <= len(values) / 4
