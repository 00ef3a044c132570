"""No line of a text is broken by Qt: each piece on the screen is one that was broken here."""

import pytest

from lineclear.ui import theme
from lineclear.ui.reading.shown_text import exact_text
from lineclear.ui.reading.text_view import TextView

LONG = [
    {"cmd": "echo " + "x" * 6000},
    {"note": "b" * 300, "l": list(range(210))},
    {"k" * 3000: 1},
    {"a": "y" * 100},
    {"m": "\u65e5\u672c" * 40},
    {"m": "\u65e5\u672c" * 400},
    {"e": ("\U0001f642\u00e9" * 90 + "\n") * 3},
]


@pytest.fixture
def look(qapp):
    made = theme.Theme(qapp, dark=False)
    yield made
    made.stop()


def broken_by_qt(view: TextView) -> list[str]:
    """The blocks that take more than one line or more than the viewport's width."""
    found = []
    room = view.viewport().width()
    block = view.document().firstBlock()
    while block.isValid():
        view.blockBoundingRect(block)
        made = block.layout()
        wide = max(made.lineAt(n).naturalTextWidth() for n in range(made.lineCount()))
        if made.lineCount() != 1 or wide + 2 * view.document().documentMargin() > room:
            found.append(block.text())
        block = block.next()
    return found


@pytest.mark.parametrize("name", ["exactText", "asked"])
@pytest.mark.parametrize("value", LONG, ids=range(len(LONG)))
def test_no_line_exceeds_the_viewport(look, qtbot, name, value):
    """With and without padding, border and scroll bar."""
    view = TextView(look, name, "Text")
    qtbot.addWidget(view)
    view.show()
    text = exact_text(value)
    for width in (300, 421, 533, 640, 777, 1203):
        for height in (120, 3000):
            view.resize(width, height)
            view.show_text(text)
            qtbot.waitUntil(view.complete)
            assert broken_by_qt(view) == []


@pytest.mark.parametrize("value", LONG, ids=range(len(LONG)))
def test_no_line_exceeds_the_viewport_once_it_has_become_narrower(look, qtbot, value):
    view = TextView(look, "exactText", "Text")
    qtbot.addWidget(view)
    view.resize(1200, 300)
    view.show()
    view.show_text(exact_text(value))
    qtbot.waitUntil(view.complete)
    for width in (640, 307):
        view.resize(width, 300)
        qtbot.waitUntil(view.complete)
        assert broken_by_qt(view) == []
