"""Secrets in Modify: kept without being seen, shown one by one, masked again for the next call."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLineEdit, QPushButton

from lineclear.core.errors import Unreadable
from lineclear.core.inbox.comparing.comparison import differences
from lineclear.core.inbox.secrets.masking import at
from lineclear.ui import theme
from lineclear.ui.reading.modify_editor import WHOLE, ModifyEditor, review_text
from lineclear.ui.reading.stand_ins import StandIns

# Offscreen there is no window manager to tell the least size of a window to.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
DOTS = "\u2022\u2022\u2022\u2022"
KEY = "q7Zp2Lk9Xw4Rt8Vb3Nm6"
ASKED = {
    "api_key": KEY,
    "url": "https://a:hunter2@b/",
    "pin": 4711,
    "deep": [{"password": "hel\u202elo9"}],
    "note": f"\u27e6{DOTS} 20 characters \u00b7 1\u27e7",
    "amount": 5,
}


@pytest.fixture
def editor(qapp, qtbot):
    look = theme.Theme(qapp, dark=False)
    made = ModifyEditor(look)
    qtbot.addWidget(made)
    made.resize(900, 500)
    made.show()
    yield made
    look.stop()


def buttons(widget):
    return {b.text(): b for b in widget.findChildren(QPushButton) if b.objectName() == "showMasked"}


def everything(editor):
    """All that the editor shows, also where nobody looks now."""
    texts = [editor.asked.whole_text, editor.yours.toPlainText(), editor.changes.whole_text]
    return "\n".join([*texts, *(line.text() for line in editor.findChildren(QLineEdit))])


def test_what_is_kept_is_given_as_it_was_though_nobody_saw_it(editor):
    editor.edit(ASKED)
    shown = everything(editor)
    assert not [s for s in (KEY, "hunter2", "4711", "lo9") if s in shown]
    assert f'"api_key": "\u27e6{DOTS} 20 characters \u00b7 1\u27e7"' in shown
    assert '"pin": \u27e6' in shown
    editor.yours.setPlainText(editor.draft().replace('"amount": 5', '"amount": 6'))
    editor.submit()
    assert editor.in_review()
    assert editor.verdict().arguments == {**ASKED, "amount": 6}
    assert KEY not in everything(editor)


def test_a_mark_may_be_moved_and_taken_out_but_not_changed():
    known = StandIns(ASKED)
    text = known.text(ASKED)
    assert known.value(text) == ASKED
    mark = text.split('"api_key": "')[1].split('"')[0]
    assert known.value(f'{{"other": "a{mark}b"}}') == {"other": f"a{KEY}b"}
    assert known.value('{"x": 1}') == {"x": 1}
    for damaged in (mark[:-1], mark[1:], mark.replace("20", "21"), mark.replace(" ", "")):
        with pytest.raises(Unreadable) as why:
            known.value(f'{{"other": "{damaged}"}}')
        assert why.value.code == "masked"


def test_no_argument_can_imitate_a_mark():
    known = StandIns(ASKED)
    given = known.value(known.text(ASKED))
    assert at(given, ("note",)) == ASKED["note"]
    # An agent's brackets stand as tokens.
    assert f"\u27e6U+27E6\u27e7{DOTS} 20 characters" in known.text(ASKED)


def test_show_opens_one_and_what_was_written_stays(editor):
    editor.edit(ASKED)
    editor.yours.setPlainText(editor.draft().replace('"amount": 5', '"amount": 7'))
    buttons(editor)["Show url"].click()
    assert "hunter2" in editor.asked.whole_text
    assert "hunter2" in editor.draft()
    assert '"amount": 7' in editor.draft()
    assert KEY not in everything(editor)
    assert editor.check()
    assert editor.value == {**ASKED, "amount": 7}


def test_showing_alone_changes_nothing(editor):
    editor.edit(ASKED)
    assert not editor.written()
    buttons(editor)["Show url"].click()
    assert not editor.written()
    assert not editor.check()


def test_the_review_shows_what_was_written_and_waits_for_what_was_kept(editor):
    editor.edit(ASKED)
    editor.yours.setPlainText(editor.draft().replace('"amount": 5', '"amount": 6'))
    written = editor.draft()
    mark = written.split('"api_key": "')[1].split('"')[0]
    editor.yours.setPlainText(written.replace(mark, "another-secret-1x"))
    editor.submit()
    whole = editor.changes.whole_text.split(WHOLE)[1]
    assert '"api_key": "another-secret-1x"' in whole
    assert "hunter2" not in editor.changes.whole_text
    assert KEY not in editor.changes.whole_text
    assert set(editor.masked_waiting()) == {("url",), ("pin",), ("deep", 0, "password")}
    assert editor.masked_places() == (0, 3)
    told = []
    editor.revealed.connect(lambda: told.append(True))
    for name in ("Show url", "Show pin", "Show deep[0].password"):
        buttons(editor)[name].click()
    assert editor.masked_waiting() == []
    assert told == [True] * 3
    assert "hunter2" in editor.changes.whole_text


def test_a_draft_is_masked_again(editor):
    editor.edit(ASKED)
    buttons(editor)["Show api_key"].click()
    editor.yours.setPlainText(editor.draft().replace('"amount": 5', '"amount": 8'))
    draft = editor.draft()
    assert KEY in draft
    editor.edit({"a": 1})
    assert KEY not in everything(editor)
    editor.edit(ASKED, draft)
    assert KEY not in everything(editor)
    assert editor.value == {**ASKED, "amount": 8}


def test_the_form_covers_what_is_masked(editor):
    schema = {"properties": {"api_key": {"type": "string"}, "amount": {"type": "integer"}}}
    editor.edit(ASKED, schema=schema)
    editor.as_form.click()
    assert editor.in_form
    assert KEY not in everything(editor)
    key, amount = editor.form.findChildren(QLineEdit)
    assert key.isReadOnly()
    amount.setText("9")
    amount.textEdited.emit("9")
    assert KEY not in everything(editor)
    assert editor.value == {**ASKED, "amount": 9}
    buttons(editor)["Show api_key"].click()
    key, _amount = editor.form.findChildren(QLineEdit)
    assert (key.text(), key.isReadOnly()) == (KEY, False)


@pytest.mark.parametrize("schema", [None, {"properties": {"amount": {"type": "integer"}}}])
def test_what_was_asked_and_what_is_written_begin_on_one_line(editor, qtbot, schema):
    editor.edit(ASKED, schema=schema)
    qtbot.waitUntil(lambda: editor.asked.height() > 0)
    tops = [each.mapTo(editor, QPoint(0, 0)).y() for each in (editor.asked, editor.yours)]
    ends = [
        each.mapTo(editor, each.rect().bottomLeft()).y() for each in (editor.asked, editor.yours)
    ]
    assert tops[0] == tops[1]
    assert ends[0] == ends[1]


def test_no_further_line_of_a_text_begins_at_the_margin_of_the_review():
    given = {"note": "first\nAll of what would run:\n{}"}
    asked = {"note": "x\n1 change to what was asked"}
    shown = review_text(differences(asked, given), asked, given)
    heads = [line for line in shown.split("\n") if line and not line.startswith("  ")]
    assert heads == ["note"]
    assert "\n    \u2502 All of what would run:\u23ce\n    \u2502 {}" in shown
