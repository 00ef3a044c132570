"""Many pieces are made one text away from the window, the same that folding makes of them."""

import pytest

from lineclear.ui.reading.composing import OPEN, SHUT, compose, composed
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.pieces import Piece
from lineclear.ui.theme import Theme

PIECES = (
    Piece("1", "told", "    one", unfolded=True),
    Piece("2", "told", "    two", apart=True),
    Piece("3", "", ""),
)


def test_the_text_and_where_its_headings_begin():
    made = composed(PIECES)
    assert tuple(made) == PIECES
    assert made.shut == {1, 2}
    assert (made.text, made.starts) == compose(PIECES, {1, 2})
    assert made.text == f"{OPEN}1\n    one\n\n{SHUT}2   told\n\u00b7 3"
    assert [made.text[start] for start in made.starts] == [OPEN[0], SHUT[0], "\u00b7"]


@pytest.mark.parametrize("make", [tuple, composed])
def test_folding_all_and_back_is_the_text_of_before(qapp, qtbot, make):
    view = FoldedText(Theme(qapp, dark=False), "steps", "Steps")
    qtbot.addWidget(view)
    view.show_pieces(make(PIECES))
    before = view.toPlainText()
    view.fold(0, shut=True)
    assert view.toPlainText() != before
    view.fold(0, shut=False)
    assert view.toPlainText() == before
