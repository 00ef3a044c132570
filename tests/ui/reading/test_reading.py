"""What the reading pane shows of hostile, long and odd content: all of it, and as plain text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QColor
from PySide6.QtTest import QAbstractItemModelTester

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import reveal, unisolated
from lineclear.core.checkpoints.model import MISSING, Step
from lineclear.core.checkpoints.warnings import LEVELS, Level, strongest_first
from lineclear.core.inbox.comparing.comparison import differences
from lineclear.ui import theme
from lineclear.ui.queue import cells
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.reading.banners import warning_notices
from lineclear.ui.reading.json_tree import FETCH, JsonTree
from lineclear.ui.reading.json_view import JsonView
from lineclear.ui.reading.pieces import step_pieces
from lineclear.ui.reading.shown_text import (
    LINE_GOES_ON,
    LINE_LIMIT,
    exact_text,
    plain_text,
    raw_text,
)
from lineclear.ui.reading.stand_ins import editable, parsed
from lineclear.ui.reading.text_view import (
    CLEARED_AT_ONCE,
    FIRST_LINES,
    PIECE,
    Retired,
    TextView,
)
from tests.ui.sample import NOW, a_row

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXT,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXT, below, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def look(qapp):
    made = theme.Theme(qapp, dark=False)
    yield made
    made.stop()


# --- Exact text ---------------------------------------------------------------------------------


def test_a_text_of_several_lines_stands_behind_a_gutter():
    shown = exact_text({"a": "one\ntwo", "b": [1, {}]})
    assert shown.split("\n") == [
        "{",
        '  "a": text of 2 lines,',
        "    \u2502 one\u23ce",
        "    \u2502 two",
        '  "b": [',
        "    1,",
        "    {}",
        "  ]",
        "}",
    ]


def test_no_argument_can_imitate_another():
    shown = exact_text({"note": 'x\n  "amount": 5,\n}', "amount": 900})
    claiming = [line for line in shown.split("\n") if '"amount"' in line]
    # What stands behind the gutter is told as it is: no line of its own can begin there.
    assert claiming == ['    \u2502   "amount": 5,\u23ce', '  "amount": 900']


def test_a_line_too_long_to_show_goes_on_behind_its_gutter():
    forged = "x" * (LINE_LIMIT - 6) + '"amount": 5\n'
    for line in exact_text({"note": forged, "amount": 900}).split("\n"):
        assert '"amount": 5' not in line or line.startswith("    \u2502 ")
        assert line.startswith(("{", "}", '  "', "    \u2502 "))


def test_a_value_cannot_end_its_own_quotes_in_the_fields(qapp):
    model = JsonTree({"note": 'a"   \u2190 was "b', 'k" ': 1, "two words": 2})
    assert model.index(0, 1).data() == '"a\\"   \u2190 was \\"b"'
    assert [model.index(row, 0).data() for row in (1, 2)] == ['"k\\" "', "two words"]


def test_no_shown_line_is_longer_than_qt_can_wrap():
    shown = exact_text({"blob": "x" * 1_000_000, "dense": "\u202e" * 5_000})
    assert max(map(len, shown.split("\n"))) <= LINE_LIMIT + len(LINE_GOES_ON)
    joined = shown.replace(f"{LINE_GOES_ON}\n      \u2506 ", "")
    assert "x" * 1_000_000 in joined
    assert "\u27e6U+202E\u27e7" * 5_000 in joined


@given(JSON)
def test_nothing_hides_in_the_exact_text(value):
    for line in exact_text(value).split("\n"):
        assert all(char == " " or char.isprintable() for char in unisolated(line))


def test_numbers_keep_their_text():
    value = jsontext.parse(b'{"a": 120.50, "b": 1e3, "c": 9007199254740993}')
    assert exact_text(value).split("\n")[1:4] == [
        '  "a": 120.50,',
        '  "b": 1e3,',
        '  "c": 9007199254740993',
    ]


def test_bytes_that_are_no_text_are_shown_as_escapes():
    assert raw_text(b'{"a": "\xff"}') == '{"a": "\\xff"}'
    assert "more bytes are in the file" in raw_text(b"x" * (2 << 20))


def test_a_result_is_escaped_line_by_line():
    assert plain_text("ok\n\x1b[2Jgone") == "ok\n\u27e6U+001B\u27e7[2Jgone"


# --- The tree -----------------------------------------------------------------------------------


def test_a_tree_makes_its_children_when_they_are_looked_at(qapp):
    model = JsonTree({"many": list(range(1000)), "one": {"b": None}})
    many = model.index(0, 0)
    assert model.rowCount() == 2
    assert (model.rowCount(many), model.canFetchMore(many), model.whole()) == (0, True, False)
    model.fetchMore(many)
    assert model.rowCount(many) == FETCH
    while model.canFetchMore(many):
        model.fetchMore(many)
    assert model.rowCount(many) == 1000
    assert model.index(999, 1, many).data() == "999"
    assert model.parent(model.index(5, 1, many)) == many
    assert model.parent(many) == QModelIndex()


def test_a_tree_keeps_to_qts_rules(qapp):
    model = JsonTree({"a": [1, {"b": [None, "x"]}], "c": {"d": {}}, "e": 5})
    # It fetches what is missing itself, one level after the other.
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    assert model.rowCount(model.index(0, 0)) == 2


@pytest.mark.parametrize("value", [None, True, 5, "text", [], {}, MISSING])
def test_arguments_of_any_kind_have_a_tree(qapp, value):
    model = JsonTree(value)
    rows = 0 if value is MISSING or value in ([], {}) else 1
    assert model.rowCount() == rows


def test_a_changed_value_says_what_it_was(qapp):
    before = jsontext.parse(b'{"amount": 80.00, "to": "a"}')
    after = jsontext.parse(b'{"amount": 120.00, "to": "a"}')
    was = {change.path: change.before for change in differences(before, after)}
    model = JsonTree(after, was=was)
    assert model.index(0, 1).data() == "120.00   \u2190 was 80.00"
    assert model.index(1, 1).data() == '"a"'


def test_a_folded_tree_is_not_all_in_view(look, qtbot):
    view = JsonView(look, "fields", "Arguments")
    qtbot.addWidget(view)
    view.show_value({"a": {"b": {"c": 1}}}, small=True)
    assert view.unfolded()
    view.collapse(view.model().index(0, 0))
    assert not view.unfolded()


# --- Long text ----------------------------------------------------------------------------------


def test_long_text_comes_in_pieces_and_whole(look, qtbot):
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    text = "\n".join(f"line {number}" for number in range(20_000))
    assert len(text) > 3 * PIECE
    view.show_text(text)
    qtbot.wait(20)
    assert view.toPlainText() == ""  # nobody looks yet
    view.show()
    assert not view.complete()
    qtbot.waitUntil(view.complete, timeout=10_000)
    assert view.toPlainText() == text


def test_a_long_text_gives_way_to_another_at_once(look, qtbot):
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    view.show()
    view.show_text("\n".join(f"line {number}" for number in range(CLEARED_AT_ONCE + 5_000)))
    qtbot.waitUntil(view.complete, timeout=20_000)
    (font, margin) = (view.document().defaultFont(), view.document().documentMargin())
    view.show_text("short\n\u27e6U+202E\u27e7")
    assert view.toPlainText() == "short\n\u27e6U+202E\u27e7"
    assert (view.document().defaultFont(), view.document().documentMargin()) == (font, margin)
    assert view.document().lastBlock().layout().formats()
    qtbot.waitUntil(lambda: not view.findChildren(Retired), timeout=10_000)


def test_the_first_piece_of_a_text_has_few_lines(look, qtbot):
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    view.show()
    view.show_text("\n" * 10_000)
    assert view.document().blockCount() <= FIRST_LINES + 2
    assert view.lines_below() >= 9_000


def test_the_end_is_in_view_only_at_the_end(look, qtbot):
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    view.show_text("\n".join(str(number) for number in range(500)))
    assert not view.end_in_view()
    assert 400 < view.lines_below() < 500
    qtbot.waitUntil(view.complete, timeout=10_000)
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert view.end_in_view()
    assert view.lines_below() <= 1
    view.show_text("short")
    assert view.end_in_view()


def shown_lines(view: TextView) -> list[str]:
    """What stands on each line of the screen, as Qt laid it out."""
    lines = []
    block = view.document().firstBlock()
    while block.isValid():
        view.blockBoundingRect(block)
        made, text = block.layout(), block.text()
        for number in range(made.lineCount()):
            line = made.lineAt(number)
            lines.append(text[line.textStart() : line.textStart() + line.textLength()])
        block = block.next()
    return lines


@pytest.mark.parametrize("width", [260, 420, 700])
@pytest.mark.parametrize("filler", ["pay ", "x", "\u5b57", "\u202e", "\u00e9\u0301"])
def test_every_line_on_the_screen_stands_within_its_margin(look, qtbot, width, filler):
    """A value cannot imitate the call's own text by making its lines too long."""
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    view.resize(width, 400)
    view.show()
    long = filler * 90 + ' "amount": 5.00, ' + filler * 90
    view.show_text(exact_text({"body": f"{long}\n{long}", "note": long, "amount": 900}))
    qtbot.waitUntil(view.complete)
    for line in shown_lines(view):
        assert line.startswith(("{", "}", '  "', "    \u2502 ", "      \u2506 "))


def test_lines_are_broken_anew_for_another_width_and_copied_whole(look, qtbot):
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    view.resize(700, 300)
    view.show()
    text = "short\n" + "word " * 80 + "\n    \u2502 " + "long" * 60
    view.show_text(text)
    qtbot.waitUntil(view.complete)
    few = len(shown_lines(view))
    view.resize(300, 300)
    qtbot.waitUntil(lambda: view.complete() and len(shown_lines(view)) > few)
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == text


def test_a_flagged_place_is_seen_only_when_it_is_in_view(look, qtbot):
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    lines = [f"line {number}" for number in range(140)]
    lines[70] = "pay \u27e6U+202E\u27e7evil"
    view.show_text("\n".join(lines))
    qtbot.waitUntil(view.complete)
    bar = view.verticalScrollBar()
    assert not view.flags_seen()
    bar.setValue(bar.maximum())
    assert view.end_in_view()
    assert not view.flags_seen()
    view.next_flag()
    assert view.flags_seen()
    bar.setValue(0)
    assert view.flags_seen()
    view.forget_sight()
    assert not view.flags_seen()


def test_a_word_of_two_alphabets_is_flagged_wherever_its_line_breaks(look, qtbot):
    view = TextView(look, "text", "Text")
    qtbot.addWidget(view)
    view.resize(260, 120)
    view.show()
    view.show_text("\n" * 40 + "x" * 200 + "\u0430dmin\n" + "\n" * 40)
    qtbot.waitUntil(view.complete)
    assert not view.flags_seen()
    view.next_flag()
    view.next_flag()
    view.next_flag()
    assert view.flags_seen()


# --- Keys at any depth --------------------------------------------------------------------------


KUBE = {
    "ns": "prod",
    "spec": {
        "template": {
            "spec": {
                "securityContext": {"privileged": True, "runAsNonRoot": False},
                "hostPath": {"deleteOnExit": True},
            }
        }
    },
}


def nested(levels: int, value: dict[str, bool]) -> dict[str, object]:
    made: dict[str, object] = dict(value)
    for _ in range(levels):
        made = {"options": made}
    return made


def unreadable_keys(view: JsonView) -> list[str]:
    """Keys that are not drawn whole within the view, or only in slivers."""
    model = view.model()
    bad = []
    stack = [model.index(row, 0) for row in range(model.rowCount())]
    while stack:
        index = stack.pop()
        made = view._cells.laid_out(index)
        cell = view.visualRect(index)
        widest = max(made.lineAt(n).naturalTextWidth() for n in range(made.lineCount()))
        sliver = made.lineCount() > 1 and view._cells._width(index) < 60
        if 16 + widest > cell.width() or made.boundingRect().height() > cell.height() or sliver:
            bad.append(str(index.data()))
        stack.extend(model.index(row, 0, index) for row in range(model.rowCount(index)))
    return bad


@pytest.mark.parametrize("width", [300, 400, 476, 700, 1000])
@pytest.mark.parametrize(
    "value",
    [
        KUBE,
        nested(9, {"delete_everything": True, "dry_run": False}),
        nested(40, {"delete_everything": True}),
        {"a" * 180: 1, "b": {"c" * 180: {"d": [{"e": 1}]}}},
        {"flat": 1, "list": [[[["x"]]]]},
    ],
)
def test_every_key_can_be_read_or_the_fields_do_not_fit(look, qtbot, width, value):
    view = JsonView(look, "fields", "Arguments")
    qtbot.addWidget(view)
    view.resize(width, 3000)
    view.show()
    view.show_value(value, small=True)
    qtbot.wait(1)
    assert not view.fits() or unreadable_keys(view) == []


@pytest.mark.parametrize("value", [KUBE, nested(9, {"dry_run": False})])
def test_ordinary_depths_fit_the_pane(look, qtbot, value):
    view = JsonView(look, "fields", "Arguments")
    qtbot.addWidget(view)
    view.resize(476, 600)
    view.show()
    view.show_value(value, small=True)
    assert view.fits()


def test_flagged_fields_are_seen_only_when_they_are_in_view(look, qtbot):
    view = JsonView(look, "fields", "Arguments")
    qtbot.addWidget(view)
    view.resize(420, 200)
    view.show()
    value = {f"key{number}": "a\u202eb" if number == 70 else number for number in range(140)}
    view.show_value(value, small=True)
    qtbot.wait(1)
    assert not view.flags_seen()
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert not view.flags_seen()
    assert view.next_flag()
    assert view.flags_seen()
    view.forget_sight()
    assert view.flags_seen()  # it is in view now


# --- Modify -------------------------------------------------------------------------------------


@given(JSON)
def test_what_is_edited_and_not_touched_is_what_was_asked(value):
    assert differences(value, parsed(editable(value))) == []


def test_hidden_characters_are_tokens_in_the_editor_and_come_back_exactly():
    value = {"note": "a\u202eb\u27e6c\u27e7"}
    text = editable(value)
    assert "\u202e" not in text
    assert json.loads(reveal(text)) == value
    assert parsed(text) == value


def test_differences_are_told_by_path():
    found = differences(
        {"a": 1, "items": [{"price": 2}, 3], "gone": None},
        {"a": 1.0, "items": [{"price": 4}, 3], "new": []},
    )
    assert [(change.where(), change.before, change.after) for change in found] == [
        ("a", 1, 1.0),
        ("items[0].price", 2, 4),
        ("gone", None, MISSING),
        ("new", MISSING, []),
    ]


# --- Steps --------------------------------------------------------------------------------------


def test_steps_are_shown_escaped_and_whole():
    step = Step("b\u202eash", {"cmd": "ls"}, "line one\n<b>two</b>\x07", log="thinking")
    (piece,) = step_pieces((step,))
    assert (piece.title, piece.about) == ("1  b\u27e6U+202E\u27e7ash", "ls")
    assert piece.body.split("\n") == [
        "  said before",
        "    \u2502 thinking",
        "  was given",
        "    {",
        '      "cmd": "ls"',
        "    }",
        "  came back",
        "    \u2502 line one",
        "    \u2502 <b>two</b>\u27e6U+0007\u27e7",
    ]


# --- Cells --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"command": "rm -rf build"}, "rm -rf build"),
        ({"a": 1, "b": "x"}, 'a=1  b="x"'),
        ({"a": [1, 2], "b": {}}, "a=[2 items]  b={}"),
        ("bare", "bare"),
        (None, "null"),
        (MISSING, ""),
        ({}, ""),
        (
            {"password": "hunter2", "user": "a"},
            'password=\u2022\u2022\u2022\u2022 7 characters  user="a"',
        ),
        ({"api_key": "x"}, "api_key=\u2022\u2022\u2022\u2022 1 character"),
    ],
)
def test_arguments_in_a_cell(arguments, said):
    assert cells.preview(arguments) == said


@pytest.mark.parametrize(
    "secret",
    [
        "curl -H 'Authorization: Bearer sk-live-0123456789abcdef'",
        "mysql --password=verysecretword",
        "export TOKEN=ghp_0123456789abcdef0123",
    ],
)
def test_secrets_in_a_command_are_masked_in_the_list(secret):
    shown = cells.preview({"command": secret})
    assert "0123456789abcdef" not in shown
    assert "verysecretword" not in shown
    assert "\u2022" in shown


def test_a_long_command_keeps_its_end():
    shown = cells.preview({"command": "rm -rf " + "x" * 100_000 + "/prod"})
    assert shown.endswith("/prod")
    assert len(shown) <= cells.PREVIEW_LIMIT


def test_chips_are_two_at_most_and_the_strongest_first():
    row = a_row(1, system="lc-agents", warnings=("invisible", "twin", "first_time"))
    assert [label for label, _level in cells.chips(row)] == ["hidden", "twin"]


# --- Banners ------------------------------------------------------------------------------------


def test_at_most_two_warnings_and_a_count_of_the_rest():
    stops = [code for code, level in LEVELS.items() if level is Level.STOP][:2]
    cares = [code for code, level in LEVELS.items() if level is Level.CARE][:2]
    notes = [code for code, level in LEVELS.items() if level is Level.NOTE][:1]
    row = a_row(1, warnings=(*stops, *cares, *notes))
    shown = warning_notices(row, show_all=lambda: None)
    assert [notice.tone for notice in shown] == ["stop", "stop", "note"]
    assert (shown[-1].text, shown[-1].action) == ("and 3 notes", "Show")
    assert [notice.tone for notice in warning_notices(row)] == [
        "stop",
        "stop",
        "care",
        "care",
        "note",
    ]


def test_what_else_has_to_be_said_takes_the_place_of_a_warning_and_none_is_lost():
    stops = [code for code, level in LEVELS.items() if level is Level.STOP][:2]
    cares = [code for code, level in LEVELS.items() if level is Level.CARE][:1]
    row = a_row(1, warnings=(*stops, *cares))
    shown = warning_notices(row, show_all=lambda: None, room=1)
    assert [notice.tone for notice in shown] == ["stop", "stop"]
    assert (shown[-1].text, shown[-1].action) == ("and 1 more red warning, 1 note", "Show")


def test_a_red_warning_that_has_no_banner_is_never_called_a_note():
    hides = ("control", "invisible", "mixed_scripts")
    row = a_row(1, warnings=strongest_first((*hides, "twin", "first_time")))
    shown = warning_notices(row, show_all=lambda: None)
    assert [notice.name for notice in shown] == [
        "warning_twin", "warning_control", "warning_notes"
    ]  # fmt: skip
    assert (shown[-1].tone, shown[-1].text) == ("stop", "and 2 more red warnings, 1 note")
    assert next(label for label, _level in cells.chips(row)) == "twin"


def test_notes_alone_are_told_quietly():
    notes = [code for code, level in LEVELS.items() if level is Level.NOTE][:1]
    (shown,) = warning_notices(a_row(1, warnings=tuple(notes)), show_all=lambda: None)
    assert (shown.tone, shown.text) == ("note", "1 note")
    assert warning_notices(a_row(1, warnings=("foreign",))) == []


# --- Colours ------------------------------------------------------------------------------------


def contrast(one: str, other: str) -> float:
    def light(name: str) -> float:
        parts = [QColor(name).redF(), QColor(name).greenF(), QColor(name).blueF()]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, faint = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (faint + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_can_be_read_on_its_ground(qapp, dark):
    t = theme.tokens_of(theme.own_palette(dark=dark))
    assert t.dark is dark
    pairs = {
        "text": (t.text, t.base),
        "muted": (t.muted, t.base),
        "muted on window": (t.muted, t.window),
        "selected": (t.text, t.selected),
        "approve": (t.on_accent, t.accent),
        "stop": (t.stop, t.stop_back),
        "stop on base": (t.stop, t.base),
        "care": (t.care, t.care_back),
        "care on base": (t.care, t.base),
        "ok": (t.ok, t.base),
    }
    weak = {
        name: round(contrast(*pair), 2) for name, pair in pairs.items() if contrast(*pair) < 4.5
    }
    assert weak == {}


def test_bad_inputs_are_searched_and_previewed_without_failing():
    folder = Path(__file__).parents[2] / "data" / "badinputs"
    files = [path for path in folder.rglob("*.json") if path.stat().st_size < 2_000_000]
    assert files
    for path in files:
        raw = path.read_bytes()
        shown = raw_text(raw)
        assert all(char in "\n " or char.isprintable() for char in shown)
        row = a_row(1, arguments={"raw": raw.decode("utf-8", "replace")})
        assert all(char == " " or char.isprintable() for char in cells.preview(row.arguments))
        parse_filter("x").matches(row, NOW)
