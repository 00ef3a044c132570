import pytest

from lineclear.cli.table import cells, elide, layout
from lineclear.cli.terminal import Styled


@pytest.mark.parametrize(
    "text,count", [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("", 0), ("👍", 2)]
)
def test_cells_are_what_a_terminal_gives_a_character(text, count):
    assert cells(text) == count


@pytest.mark.parametrize(
    "text,width,shown",
    [
        ("rm -rf /srv/site/prod", 21, "rm -rf /srv/site/prod"),
        ("rm -rf /srv/site/prod", 11, "rm -r…/prod"),
        ("漢字漢字漢字", 6, "漢…字"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_the_middle_goes_and_the_end_stays(text, width, shown):
    assert elide(text, width) == shown
    assert cells(elide(text, width)) <= width


def lines(rows, width):
    header = ("ID", "TEXT", "AGE")
    made = layout(header, [[Styled(cell) for cell in row] for row in rows], width=width, elastic=1)
    return ["".join(p if isinstance(p, str) else p.text for p in line) for line in made]


def test_columns_line_up_and_the_elastic_one_takes_what_is_left():
    assert lines([("a", "x" * 100, "1 s"), ("bcd", "漢", "10 min")], 40) == [
        "ID   TEXT                         AGE",
        "a    xxxxxxxxxxxxx…xxxxxxxxxxxxx  1 s",
        "bcd  漢                           10 min",
    ]


def test_a_cell_stays_on_its_line():
    assert lines([("a", "one\ntwo\x1b", "1 s")], 60)[1] == "a   one two⟦U+001B⟧  1 s"
