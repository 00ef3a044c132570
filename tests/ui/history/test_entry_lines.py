"""A sentence of the history's table, in the room that there is."""

import pytest
from PySide6.QtGui import QFont, QFontMetrics

from lineclear.ui.history.entry_table import two_lines

SAID = "Nobody watched from 14:02 to 16:02."


@pytest.fixture
def metrics(qapp):
    return QFontMetrics(QFont())


def test_it_stands_in_one_line_where_that_holds_it(metrics):
    assert two_lines(SAID, metrics, metrics.horizontalAdvance(SAID)) == [SAID]


def test_it_is_broken_between_words(metrics):
    first, second = two_lines(SAID, metrics, metrics.horizontalAdvance("Nobody watched from 1"))
    assert (first, second) == ("Nobody watched from", "14:02 to 16:02.")


def test_what_two_lines_do_not_hold_is_cut_in_the_second(metrics):
    first, second = two_lines(SAID, metrics, metrics.horizontalAdvance("Nobody w"))
    assert first == "Nobody"
    assert second.endswith("\u2026")


def test_a_word_that_is_too_long_is_cut(metrics):
    (only,) = two_lines("x" * 40, metrics, metrics.horizontalAdvance("x" * 10))
    assert only.endswith("\u2026")
