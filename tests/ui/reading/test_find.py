"""Find in the pane: over the whole text, without keeping the window waiting."""

import itertools
import time

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.ui import theme
from lineclear.ui.reading.find_bar import FindBar
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.json_view import JsonView
from lineclear.ui.reading.pieces import Piece
from lineclear.ui.reading.seams import Seams
from lineclear.ui.reading.search import HITS_AT_ONCE, MOST, SLICE, Search, found_in
from lineclear.ui.reading.shown_text import LINE_GOES_ON, LINE_LIMIT, exact_text
from lineclear.ui.reading.text_view import TextView
from tests.ui.sample import ask_for

# Offscreen there is no window manager to tell the least size of a window to.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def look(qapp):
    made = theme.Theme(qapp, dark=False)
    yield made
    made.stop()


@pytest.fixture
def view(look, qtbot):
    made = TextView(look, "text", "Text")
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    return made


@pytest.fixture
def bar(view, qtbot):
    made = FindBar(lambda: view)
    qtbot.addWidget(made)
    return made


def selected(view):
    """The text under each mark, the one gone to first."""
    marks = [mark.cursor.selectedText() for mark in view.extraSelections()]
    return view.textCursor().positionInBlock(), marks


def find(bar, words, qtbot):
    bar.words.setText(words)
    bar.open_find()
    qtbot.waitUntil(lambda: bar._search.done)


def test_places_are_found_whatever_their_case_and_how_they_are_written():
    assert found_in("Ab aB ab", "AB") == [(0, 2), (3, 5), (6, 8)]
    assert found_in('say \\"hi\\"', '"hi"') == [(4, 10)]
    assert found_in("a.b", ".") == [(1, 2)]
    assert found_in("abc", "") == []


@pytest.mark.parametrize(
    "written, words, hit",
    [
        ("pass\u200bword", "password", "pass\u27e6U+200B\u27e7word"),
        ("p\u0430ypal", "paypal", "p\u27e6U+0430\u27e7ypal"),
        # Pasted as it was written.
        ("p\u0430ypal", "p\u0430ypal", "p\u27e6U+0430\u27e7ypal"),
        ("send paypa\u2113", "PAYPAL", "paypa\u27e6U+2113\u27e7"),
        ("drop\u00a0table", "drop table", "drop\u27e6U+00A0\u27e7table"),
        ("a\tb", "a b", "a\u21e5b"),
        (
            "to \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd!",
            "\u05dd \u05e2",
            "\u05dd\u2069 \u2067\u05e2",
        ),
        ("x \u05e9\u05dc y", "x \u05e9", "x \u2067\u05e9"),
        # The token itself is found as before.
        ("a\u202eb", "u+202e", "U+202E"),
    ],
)
def test_a_word_is_found_though_a_token_or_an_isolate_breaks_it(written, words, hit, qtbot):
    shown = visible_line(f"so {written} it")
    ((start, end),) = found_in(shown, words)
    assert shown[start:end] == hit
    search = Search()
    text = "-" * (SLICE - 5) + shown
    search.start(text, words)
    qtbot.waitUntil(lambda: search.done)
    ((start, end),) = search.hits
    assert text[start:end] == hit


def test_no_two_places_overlap_where_a_word_is_found_in_both_ways():
    shown = visible_line("aa\u200baa a")
    found = found_in(shown, "a")
    assert [shown[start:end] for start, end in found] == ["a"] * 5
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(found))


def test_hits_are_counted_marked_and_gone_through_round_and_round(view, bar, qtbot):
    view.show_text("\n".join(f"line {n} needle" if n % 3 == 0 else f"line {n}" for n in range(9)))
    find(bar, "NEEDLE", qtbot)
    assert bar.count.text() == "1 of 3"
    assert selected(view)[1] == ["needle"] * 3
    assert view.textCursor().blockNumber() == 0
    QTest.keyClick(bar.words, Qt.Key.Key_Return)
    assert (bar.count.text(), view.textCursor().blockNumber()) == ("2 of 3", 3)
    QTest.keyClick(bar.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(bar.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert (bar.count.text(), view.textCursor().blockNumber()) == ("3 of 3", 6)
    find(bar, "nothing like it", qtbot)
    assert bar.count.text() == "No match"
    assert not bar.following.isEnabled()
    assert bar.close_find()
    assert view.extraSelections() == []
    assert not bar.close_find()


def test_a_hit_in_a_broken_line_is_marked_where_it_stands(view, bar, qtbot):
    text = exact_text({"note": "word " * 200 + "\u202eneedle \U0001f600 needle " + "word " * 50})
    view.show_text(text)
    find(bar, "needle", qtbot)
    assert bar.count.text() == "1 of 2"
    assert selected(view)[1] == ["needle", "needle"]
    bar.step(1)
    assert view.document().find("needle", view.textCursor()).selectedText() == "needle"


def test_what_is_not_put_in_yet_is_found_and_gone_to(view, bar, qtbot):
    lines = [f"row {n}" for n in range(60_000)]
    lines[59_990] = "the needle"
    view.show_text("\n".join(lines))
    assert view.document().blockCount() < 60_000
    find(bar, "needle", qtbot)
    assert bar.count.text() == "1 of 1"
    qtbot.waitUntil(lambda: view.textCursor().block().text() == "the needle", timeout=20_000)
    assert view.viewport().rect().contains(view.cursorRect().center())


def test_ten_megabytes_are_searched_in_turns(qapp, qtbot):
    search = Search()
    text = ("x" * 99 + "\n") * 100_000 + "needle"
    slowest = 0.0
    last = time.perf_counter()

    def turn():
        nonlocal slowest, last
        now = time.perf_counter()
        slowest, last = max(slowest, now - last), now

    ticker = QTimer()
    ticker.setInterval(0)
    ticker.timeout.connect(turn)
    ticker.start()
    search.start(text, "NEEDLE")
    assert not search.done
    qtbot.waitUntil(lambda: search.done, timeout=20_000)
    ticker.stop()
    assert search.hits == [(len(text) - 6, len(text))]
    # A turn takes 8 ms and a slice; the rest is what a busy machine adds.
    assert slowest < 0.25


def test_hits_across_slices_are_found_once():
    text = "a" * 200_000
    search = Search()
    through(search, text, "aa")
    assert search.hits == [(2 * number, 2 * number + 2) for number in range(MOST)]
    through(search, "x" * 63_998 + "needle" + "x" * 10, "needle")
    assert search.hits == [(63_998, 64_004)]


def through(search, text, words):
    search.start(text, words)
    while not search.done:
        search._search()


def test_another_text_is_searched_anew(view, bar, qtbot):
    view.show_text("needle")
    find(bar, "needle", qtbot)
    assert bar.count.text() == "1 of 1"
    view.show_text("needle needle " * 3)
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 6")


def test_fields_are_searched_by_keys_and_values(look, qtbot):
    view = JsonView(look, "fields", "Arguments")
    qtbot.addWidget(view)
    view.resize(500, 300)
    view.show()
    view.show_value({"order": "x", "deep": {"orders": ["ORDER", 1]}}, small=True)
    bar = FindBar(lambda: view)
    qtbot.addWidget(bar)
    find(bar, "order", qtbot)
    assert bar.count.text() == "1 of 3"
    bar.step(1)
    assert view.currentIndex().data() == "orders"
    bar.step(1)
    assert view.currentIndex().data() == '"ORDER"'
    assert view.hits(view.currentIndex()) == [(1, 5, "hit"), (1, 5, "here")]
    bar.close_find()
    assert view.hits(view.currentIndex()) == []


def test_folding_voids_what_was_found(look, qtbot):
    view = FoldedText(look, "steps", "Steps")
    qtbot.addWidget(view)
    view.resize(500, 300)
    view.show()
    view.show_pieces((Piece("1 a", "", "  needle", unfolded=True), Piece("2 b", "", "  needle")))
    bar = FindBar(lambda: view)
    qtbot.addWidget(bar)
    find(bar, "needle", qtbot)
    assert bar.count.text() == "1 of 1"
    view.fold(1, shut=False)
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 2")


async def test_ctrl_f_finds_in_the_call_and_esc_is_innermost_first(inbox, source, until):
    ask_for(source, arguments={"customer": "C-1204", "note": "for the customer"})
    await until(inbox.model.rowCount)
    inbox.table.step(1)
    await until(lambda: inbox.flow.view.prepared is not None)
    QTest.keyClick(inbox.table, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = inbox.pane.finder
    await until(bar.words.hasFocus)
    QTest.keyClicks(bar.words, "customer")
    await until(lambda: bar.count.text() == "1 of 2")
    # Letters go into the words: none of them is a verdict.
    assert inbox.flow.arming.armed is None
    QTest.keyClick(bar.words, Qt.Key.Key_Return)
    assert bar.count.text() == "2 of 2"
    inbox.filter.setText("refund")
    QTest.keyClick(bar.words, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert inbox.filter.text() == "refund"
    QTest.keyClick(inbox.table, Qt.Key.Key_Escape)
    assert inbox.filter.text() == ""


def test_what_lies_across_the_cut_of_a_long_line_is_found_where_it_stands(view, bar, qtbot):
    long = "x" * (LINE_LIMIT - 11) + "needle" + "y" * 5_000
    text = exact_text({"a": long, "text": f"one\n{'z' * (LINE_LIMIT - 10)}needle{'z' * 90}"})
    assert text.count("needle") == 0
    search = Search()
    through(search, text, "NEEDLE")
    found = [text[start:end] for start, end in search.hits]
    assert found == [
        f"nee{LINE_GOES_ON}\n      \u2506 dle",
        f"need{LINE_GOES_ON}\n    \u2502 le",
    ]
    view.show_text(text)
    find(bar, "needle", qtbot)
    assert bar.count.text() == "1 of 2"


def test_words_are_found_wherever_the_cuts_and_the_slices_fall():
    for before in (*range(LINE_LIMIT - 30, LINE_LIMIT + 5), 2 * LINE_LIMIT - 20):
        text = exact_text(["a" * before + "needle" + "b" * 2_100])
        search = Search()
        through(search, text, "needle")
        assert len(search.hits) == 1, before
        assert Seams(text).joined(0, len(text), 0)[0].count("needle") == 1
    whole = "".join(f"{number:06}" for number in range(60_000))
    text = exact_text([whole])
    search = Search()
    for sought in (whole[63_000:70_000], whole[63_990:64_040]):
        through(search, text, sought)
        ((start, end),) = search.hits
        assert Seams(text[start:end]).joined(0, end - start, 0)[0].endswith(sought[-20:])


def test_a_letter_that_is_everywhere_keeps_no_turn_long():
    search = Search()
    search.start("x" * 1_000_000, "x")
    while not search.done:
        before = len(search.hits)
        search._slice()
        # The clock is looked at in between.
        assert 0 < len(search.hits) - before <= HITS_AT_ONCE
    assert len(search.hits) == MOST
