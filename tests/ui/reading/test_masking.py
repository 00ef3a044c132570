"""Secrets in the pane: masked in every form, shown one by one, and never a way past a warning."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from lineclear.core.inbox.comparing.comparison import Change
from lineclear.core.inbox.comparing.last_approved import Comparison
from lineclear.core.inbox.rows.row import Detail
from lineclear.core.ledger.state import State
from lineclear.ui import theme, words
from lineclear.ui.deciding.standing import standing
from lineclear.ui.queue import cells
from lineclear.ui.reading import flagged
from lineclear.ui.reading.call_tab import CallTab
from lineclear.ui.reading.changes_tab import ChangesTab
from lineclear.ui.reading.file_tab import MASKED, FileTab, byte_text
from lineclear.ui.reading.inputs_tab import InputsTab
from lineclear.ui.reading.json_view import JsonView
from lineclear.ui.reading.prepared import prepare
from lineclear.ui.reading.result_tab import ResultTab
from lineclear.ui.reading.shown_text import exact_text, raw_text
from lineclear.ui.reading.steps_tab import StepsTab
from tests.ui.sample import a_decision, a_row

# Offscreen there is no window manager to tell the least size of a window to.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
DOTS = "\u2022\u2022\u2022\u2022"
ARGUMENTS = {
    "api_key": "abcdef",
    "note": "token=qx7Rt9Zp2w here",
    "amount": 5,
    "password": "a\u202eb",
}


@pytest.fixture
def look(qapp):
    made = theme.Theme(qapp, dark=False)
    yield made
    made.stop()


def reading(arguments=None, raw=b"", last=None):
    given = ARGUMENTS if arguments is None else arguments
    call: Any = SimpleNamespace(
        inputs={}, steps=(), calls=(SimpleNamespace(item="", arguments=given),), position=None
    )
    compared: tuple[Comparison, ...] = ()
    row = a_row(arguments=given)
    if last is not None:
        other = a_row(2, arguments=last, decision=a_decision())
        compared = (Comparison(with_last_approved=True, other=other, same_tool=True),)
    return prepare(Detail(row, None, call, raw, Path("f")), compared)


@pytest.fixture
def tab(look, qtbot):
    made = CallTab(look)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    return made


def values(view: JsonView):
    return {path[-1]: text for place, path, text in view.cells() if place.column() == 1}


def test_fields_tell_what_is_masked_and_offer_to_show_it(tab):
    tab.show_call(reading(last={"api_key": "abcdef"}))
    shown = values(tab.fields)
    assert shown["api_key"] == f"{DOTS} 6 characters, same as last approved \u00b7 Show"
    assert shown["note"] == f'"token=\u27e6{DOTS} 10 characters\u27e7 here" \u00b7 Show'
    assert shown["amount"] == "5"
    assert "abcdef" not in "".join(shown.values())


def test_space_shows_one_value_and_the_others_stay_masked(tab, qtbot):
    tab.show_call(reading())
    place = tab.fields.model().index(0, 1)
    tab.fields.setCurrentIndex(place)
    tab.fields.setFocus()
    QTest.keyClick(tab.fields, Qt.Key.Key_Space)
    shown = values(tab.fields)
    assert shown["api_key"] == '"abcdef"'
    assert shown["note"].endswith("\u00b7 Show")
    # The text says the same, and another call begins masked.
    tab.switch.click()
    assert '"api_key": "abcdef",' in tab.text.toPlainText()
    assert "qx7Rt9Zp2w" not in tab.text.toPlainText()
    tab.show_call(reading())
    assert "abcdef" not in "".join(values(tab.fields).values())


def test_a_click_shows_a_value_only_where_show_is_written(tab):
    tab.show_call(reading())
    place = tab.fields.model().index(0, 1)
    rect = tab.fields._show_rect(place)
    beside = QPoint(int(rect.left()) - 40, int(rect.center().y()))
    QTest.mouseClick(tab.fields.viewport(), Qt.MouseButton.LeftButton, pos=beside)
    assert values(tab.fields)["api_key"].endswith("Show")
    QTest.mouseClick(tab.fields.viewport(), Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
    assert values(tab.fields)["api_key"] == '"abcdef"'


def test_the_text_names_what_it_masks_with_a_button_for_each(tab):
    tab.show_call(reading())
    tab.switch.click()
    assert f'"api_key": \u27e6{DOTS} 6 characters\u27e7,' in tab.text.toPlainText()
    buttons = [b for b in tab.masked.findChildren(QPushButton) if b.isVisible()]
    assert [b.text() for b in buttons] == ["Show api_key", "Show note", "Show password"]
    assert all(b.focusPolicy() & Qt.FocusPolicy.TabFocus for b in buttons)
    buttons[0].click()
    assert '"api_key": "abcdef",' in tab.text.toPlainText()
    assert "qx7Rt9Zp2w" not in tab.text.toPlainText()


def test_what_could_be_read_as_something_else_waits_to_be_shown(tab):
    random = "9f86d081884c7d659a2feaa0c55ad015"
    tab.show_call(reading({"api_key": random, "url": "https://a:hunter2@b/", "amount": 5}))
    assert tab.masked_waiting() == [("url",)]
    assert tab.masked_places() == (0, 2)
    tab.reveal(("url",))
    assert tab.masked_waiting() == []
    assert tab.masked_places() == (1, 1)


def test_a_key_goes_to_what_waits_and_shows_it(tab, qtbot):
    tab.show_call(reading({"a": 1, "url": "https://a:hunter2@b/", "pin": 12}))
    for name in ("url", "pin"):
        tab.next_flag()
        assert tab.masked_waiting()[0] == (name,)
        QTest.keyClick(tab.fields, Qt.Key.Key_Return)
    assert tab.masked_waiting() == []
    assert "hunter2" in values(tab.fields)["url"]


def test_in_the_text_too_a_key_goes_to_what_waits_and_shows_it(tab, qtbot, qapp):
    random = "9f86d081884c7d659a2feaa0c55ad015"
    given: dict[str, Any] = {f"token{n}": random for n in range(4)}
    given |= {"api_key": random, "url": "https://a:hunter2@b/"}
    tab.show_call(reading(given))
    tab.activateWindow()
    tab.switch.click()
    for _ in range(5):
        qtbot.waitUntil(tab.text.complete)
        tab.next_flag()
        button = qapp.focusWidget()
        assert isinstance(button, QPushButton)
        QTest.keyClick(button, Qt.Key.Key_Return)
    assert tab.masked_waiting() == []
    assert "hunter2" in tab.text.toPlainText()
    assert f'"api_key": \u27e6{DOTS} 32 characters\u27e7' in tab.text.toPlainText()


def test_no_argument_can_imitate_a_mask():
    forged = {"note": f"\u27e6{DOTS} 6 characters\u27e7", "x": f"{DOTS} 6 characters \u00b7 Show"}
    shown = exact_text(forged)
    assert f"\u27e6{DOTS}" not in shown
    assert f'"x": "{DOTS} 6 characters \u00b7 Show"' in shown


def test_a_masked_value_shows_its_flags_and_they_have_to_be_seen(tab):
    tab.show_call(reading())
    shown = values(tab.fields)["password"]
    assert shown == f"{DOTS} 3 characters\u27e6U+202E\u27e7 \u00b7 Show"
    assert len(flagged.places(shown)) == 1
    assert flagged.places(exact_text(reading().masked))
    tab.fields.show_value(reading({"a": "x\n" * 30, **ARGUMENTS}).masked, small=True)
    assert not tab.fields.flags_seen()
    tab.fields.next_flag()
    assert tab.fields.flags_seen()
    assert "\u27e6U+0430\u27e7" in exact_text(reading({"token": "p\u0430ss"}).masked)


def test_what_is_decided_on_stays_whole():
    prepared = reading()
    assert prepared.arguments is ARGUMENTS
    assert prepared.shown is ARGUMENTS
    assert prepared.revealing(frozenset({("api_key",)})).arguments is ARGUMENTS


def test_a_private_key_of_many_lines_is_one_mark():
    body = f"{'MIIa' * 16}\n{'Rx9+' * 16}"
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nend"
    lines = exact_text(reading({"pem": key}).masked).split("\n")
    assert lines[1] == '  "pem": text of 4 lines'
    assert lines[2:5] == [
        "    \u2502 -----BEGIN PRIVATE KEY-----\u23ce",
        f"    \u2502 \u27e6{DOTS} 129 characters\u27e7\u23ce",
        "    \u2502 -----END PRIVATE KEY-----\u23ce",
    ]


def test_the_row_masks_too():
    assert cells.preview({"url": "https://a:hunter2@b/", "token": "x1y2", "n": 1}) == (
        f'url="https://a:{DOTS} 7 characters@b/"  token={DOTS} 4 characters  n=1'
    )
    assert cells.preview({"command": "curl --token abcdef"}) == f"curl --token {DOTS} 6 characters"


# --- The file -----------------------------------------------------------------------------------


def test_the_bytes_are_masked_until_they_are_asked_for(look, qtbot):
    raw = b'{"arguments": {"api_key": "abcdef", "password": "open-\\u00e9-sesame"}}'
    prepared = reading({"api_key": "abcdef", "password": "open-\u00e9-sesame"}, raw)
    tab = FileTab(look)
    qtbot.addWidget(tab)
    tab.show()
    tab.show_file(prepared.detail, prepared.raw, prepared.raw_open)
    assert "abcdef" not in tab.raw.toPlainText()
    assert "sesame" not in tab.raw.toPlainText()
    tab.as_bytes.click()
    assert tab.raw.whole_text == f"\u27e6{MASKED} Show them first.\u27e7"
    tab.as_bytes.click()
    tab.show_secrets.click()
    assert tab.raw.whole_text == raw_text(raw)
    assert not tab.show_secrets.isVisible()
    tab.as_bytes.click()
    assert tab.raw.whole_text == byte_text(raw)


def test_bytes_one_by_one():
    assert byte_text(b"ab\x00\xff") == f"00000000  {'61 62 00 ff':<48} ab.."
    assert byte_text(b"").count("\n") == 0
    assert "more bytes are in the file" in byte_text(bytes(300_000))


# --- The other tabs -----------------------------------------------------------------------------


def a_run(secret):
    step = SimpleNamespace(
        tool="bash",
        tool_input={"command": f"PGPASSWORD={secret} psql"},
        log=f"password: '{secret}'",
        observation=f'{{"token": "{secret}"}}',
    )
    call: Any = SimpleNamespace(
        inputs={"api_key": secret},
        steps=(step,),
        calls=(SimpleNamespace(item="", arguments={"password": secret}),),
        position=None,
    )
    other = a_row(2, arguments={"password": "hunter1"}, decision=a_decision())
    change = Change(("password",), "hunter1", secret)
    compared = Comparison(with_last_approved=True, other=other, same_tool=True, changes=(change,))
    detail = Detail(a_row(arguments={}), None, call, b"", Path("f"), result=f"TOKEN={secret}")
    return prepare(detail, (compared,))


def test_steps_inputs_result_and_changes_are_masked_until_they_are_asked_for(look, qtbot):
    prepared = a_run("hunter2")
    steps, inputs = StepsTab(look), InputsTab(look)
    result, changes = ResultTab(look), ChangesTab(look)
    for tab in (steps, inputs, result, changes):
        qtbot.addWidget(tab)
        tab.show()

    def show(shown):
        steps.show_steps(shown.steps, shown.steps_open)
        inputs.show_inputs(shown.inputs, shown.inputs_open)
        result.show_result(shown.result, shown.result_open)
        changes.show_changes(shown.beside, shown.beside_open)

    show(prepared)
    for tab in (steps, inputs, result, changes):
        assert "hunter" not in tab.text.whole_text
        assert DOTS in tab.text.whole_text
        tab.secrets.button.click()
        assert "hunter2" in tab.text.whole_text
        assert not tab.secrets.isVisible()
    # Another call begins masked, and so does the same one when it is shown anew.
    show(prepared)
    for tab in (steps, inputs, result, changes):
        assert "hunter" not in tab.text.whole_text
    show(a_run("$TOKEN"))
    assert not inputs.secrets.isVisible()
    assert not result.secrets.isVisible()


def test_what_a_resume_prints_and_an_agent_was_started_with_is_masked():
    row = replace(a_row(), preview="token=qx7Rt9Zp2w is set", state=State.DONE, outcome="ok")
    now = datetime.now(UTC)
    assert "qx7Rt9Zp2w" not in standing(row, now, None)
    facts = words.header_facts(a_row(), now, ("/usr/bin/python", "a.py", "--token", "hunter2"))
    assert "hunter2" not in facts
