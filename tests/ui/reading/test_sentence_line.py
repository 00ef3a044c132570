"""The two lines above the decision bar: whole, or cut where it is seen."""

import pytest
from PySide6.QtCore import QRect, Qt

from lineclear.ui.reading.sentence_line import SentenceLine

SENTENCE = (
    "Whether this agent reads Lineclear's answers is not known. It takes effect when you resume it"
    " from here."
)
NEED = "A masked place was not shown \u00b7 Show (F8, then Space)."


@pytest.fixture
def line(qtbot):
    made = SentenceLine()
    qtbot.addWidget(made)
    made.resize(400, made.height())
    with qtbot.waitExposed(made):
        made.show()
    return made


def fits(line: SentenceLine) -> bool:
    room = QRect(0, 0, line.contentsRect().width(), 1000)
    taken = line.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, line.text())
    return taken.height() <= line.contentsRect().height()


def test_with_room_for_both_both_are_said(line):
    line.resize(1200, line.height())
    line.say(SENTENCE, NEED)
    assert line.text() == f"{SENTENCE} {NEED}"
    assert line.toolTip() == ""


def test_what_is_needed_first_is_never_cut(line):
    line.say(SENTENCE, NEED)
    assert line.text() == NEED
    assert fits(line)
    assert "It takes effect" in line.toolTip()
    assert "It takes effect" in line.accessibleDescription()


def test_a_sentence_that_has_no_room_begins_at_its_beginning(line):
    line.say(f"{SENTENCE} {SENTENCE} {SENTENCE}")
    assert line.text().startswith("Whether this agent reads Lineclear's answers is not known. It")
    assert line.text().endswith("\u2026")
    assert fits(line)


def test_more_room_shows_more(line):
    line.say(SENTENCE, NEED)
    line.resize(1200, line.height())
    line.say(SENTENCE, NEED)
    assert line.text() == f"{SENTENCE} {NEED}"
