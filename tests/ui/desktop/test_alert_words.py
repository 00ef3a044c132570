"""Names of agents in a notification: none can be taken for a count or for another agent."""

import pytest

from lineclear.ui.desktop import alert_words
from tests.ui.sample import a_row


@pytest.mark.parametrize(
    "name, told",
    [
        ("refund-bot", "refund-bot 1"),
        ("ops@host_2", "ops@host_2 1"),
        ("bot 99, ci 3 \u00b7 oldest 1 s", "\u201cbot 99, ci 3 \u00b7 oldest 1 s\u201d 1"),
        ("a\u201d 9, \u201cb", "\u201ca' 9, 'b\u201d 1"),
        ("two\nlines", "\u201ctwo\u23celines\u201d 1"),
    ],
)
def test_a_name_that_is_no_word_is_quoted(name, told):
    assert alert_words.agents([a_row(1, agent=name)]) == told


def test_a_long_name_is_cut():
    (told, number) = alert_words.agents([a_row(1, agent="n" * 200)]).rsplit(" ", 1)
    assert number == "1"
    assert len(told) == 40
