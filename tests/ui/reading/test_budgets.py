"""The budgets above a call: what each answer took, told in words and never drawn from nothing."""

import pytest

from lineclear.ui.reading.budgets import Budgets, SpentChart
from lineclear.ui.theme import Theme
from tests.ui.sample import a_row


@pytest.fixture
def budgets(qapp, qtbot):
    look = Theme(qapp, dark=False)
    made = Budgets(look)
    qtbot.addWidget(made)
    made.show_row(a_row(1))
    yield made
    look.stop()


def columns(chart: SpentChart) -> list[int]:
    """How many pixels of each answer's bar are drawn, from the left."""
    shot = chart.grab().toImage()
    step = chart.width() // chart.MOST
    # Between two bars nothing is drawn.
    ground = shot.pixel(step - 1, 0)
    return [
        sum(shot.pixel(x, y) != ground for y in range(shot.height()))
        for x in range(0, shot.width(), step)
    ]


def test_bars_are_as_high_as_the_tokens_and_the_latest_stands_at_the_right(budgets):
    budgets.show_spent((100, 700, 1400))
    chart = budgets.spent
    assert not chart.isHidden()
    assert chart.accessibleName() == "Tokens of 3 answers: last 1,400, most 1,400"
    assert columns(chart)[-4:] == [0, 1, 7, 14]


@pytest.mark.parametrize("tokens", [(), (120,)])
def test_fewer_than_two_answers_make_no_chart(budgets, tokens):
    budgets.show_spent((1, 2))
    budgets.show_spent(tokens)
    assert budgets.spent.isHidden()


def test_a_long_run_shows_its_latest_answers(budgets):
    budgets.show_spent((*(1,) * 1000, *(50,) * SpentChart.MOST))
    assert set(columns(budgets.spent)) == {14}
    assert budgets.spent.accessibleName() == "Tokens of 1,032 answers: last 50, most 50"
