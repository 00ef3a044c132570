"""Keys and names of any length: cut before anything is laid out, in every place that shows one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QPlainTextEdit,
    QWidget,
)

from lineclear.core.inbox.comparing.comparison import Change
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.store import Store
from lineclear.ui.deciding.arming import Act
from lineclear.ui.labels import WholeLabel
from lineclear.ui.reading import marked_text
from lineclear.ui.reading.json_tree import key_text
from lineclear.ui.reading.shown_text import LINE_LIMIT
from lineclear.ui.reading.written_text import LONGEST_WORD, WrittenText, has_long_word
from tests.core.checkpoints.starweaver_samples import starweaver_document
from tests.ui.sample import ask_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
LONG = "K" * 30_000
"""Laid out whole, one of these takes more pixels than any screen has."""
MOST = LINE_LIMIT + 200
"""Characters of one line that Qt may be given, a margin and a mark among them."""
TEXTS = (
    "text", "title", "windowTitle", "toolTip", "accessibleName", "accessibleDescription",
    "statusTip", "whatsThis", "placeholderText",
)  # fmt: skip
ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)


def longest_line(text: str) -> int:
    return max(map(len, text.split("\n")), default=0)


def too_long(root: QWidget) -> list[str]:
    """What of all that a window holds is longer than Qt may be given."""
    found = []
    for widget in (root, *root.findChildren(QWidget)):
        where = f"{type(widget).__name__} {widget.objectName()[:40]}"
        for name in TEXTS:
            get = getattr(widget, name, None)
            told = get() if callable(get) else None
            if isinstance(told, str) and longest_line(told) > MOST:
                found.append(f"{where}.{name}: {longest_line(told)}")
        if isinstance(widget, WholeLabel) and has_long_word(widget.text()):
            found.append(f"{where}: {len(widget.text())}")
        if isinstance(widget, QPlainTextEdit):
            any_place = widget.wordWrapMode() is widget.wordWrapMode().WrapAnywhere
            held = widget.toPlainText()
            written = isinstance(widget, WrittenText)
            if (has_long_word(held) and not any_place) if written else longest_line(held) > MOST:
                found.append(f"{where}: a line of {longest_line(held)}")
        if isinstance(widget, QComboBox):
            found += [where for at in range(widget.count()) if len(widget.itemText(at)) > MOST]
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            found += _cells(widget, where)
    return found


def _cells(view: QAbstractItemView, where: str) -> list[str]:
    model = view.model()
    found: list[str] = []
    if isinstance(model, QAbstractListModel):
        return found
    stack = [QModelIndex()]
    while stack:
        above = stack.pop()
        for row in range(min(model.rowCount(above), 60)):
            for column in range(model.columnCount(above)):
                place = model.index(row, column, above)
                for role in ROLES:
                    told = place.data(role)
                    if isinstance(told, str) and longest_line(told) > MOST:
                        found.append(f"{where} {row},{column} {role.name}: {len(told)}")
            stack.append(model.index(row, 0, above))
    for section in range(model.columnCount()):
        for role in ROLES:
            told = model.headerData(section, Qt.Orientation.Horizontal, role)
            if isinstance(told, str) and longest_line(told) > MOST:
                found.append(f"{where} heading {section}: {len(told)}")
    return found


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long each text is that a cell lays out."""
    lengths: list[int] = []
    layout: Callable[..., Any] = marked_text.layout

    def counting(text: str, *more: Any) -> Any:
        lengths.append(len(text))
        return layout(text, *more)

    monkeypatch.setattr(marked_text, "layout", counting)
    return lengths


ARGUMENTS = {
    "alone": {LONG: "v"},
    "beside others": {"cmd": "ls", LONG: "v", "path": "/tmp/x"},
    "of words": {"word " * 6_000: "v"},
    "deep": {"a": [{"b": {"c": {LONG: {LONG: 1}}}}]},
    "many": {f"{n}{LONG[:3_000]}": n for n in range(50)},
    "alike": {LONG + "1": 1, LONG + "2": 2},
    "of a secret": {f"password {LONG}": "hunter2-hunter2", "api_key " + LONG: "x" * 40},
    "holding a secret": {"ghp_" + "A1b2C3d4" * 4_000: 1},
    "of a text of lines": {LONG: "one\ntwo\n" + "three " * 5_000},
    "of odd characters": {"\u202e\u200b" * 5_000: "v", "\u0627" * 20_000: "v"},
    "a path": {"path": f"/tmp/{LONG}", "content": "x"},
    "an edit": {"file_path": LONG, "old_string": LONG, "new_string": LONG + "y"},
    "a number": {"n": 0.5, "big": [1e300] * 3},
}


async def shown(inbox, until, row_id: str) -> None:
    await until(lambda: inbox.table.choose(row_id), "its place in the table")
    await until(
        lambda: inbox.flow.view.prepared is not None and inbox.flow.view.id == row_id, "the reading"
    )


def drawn(inbox) -> list[str]:
    """What is too long of a window that was drawn in full, without a nested turn of the loop."""
    assert not inbox.grab().isNull()
    return too_long(inbox)


async def every_tab(inbox, until) -> list[str]:
    """Look through all that is shown of a call, in each of its tabs."""
    tabs, found = inbox.pane.tabs, drawn(inbox)
    for place in range(tabs.count()):
        if tabs.isTabVisible(place):
            tabs.setCurrentIndex(place)
            await until(tabs.currentWidget().isVisible, "the tab")
            found += drawn(inbox)
    tabs.setCurrentIndex(0)
    return found


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_no_key_of_a_call_is_laid_out_whole(inbox, source, until, laid_out, name):
    row = ask_for(source, arguments=ARGUMENTS[name]).shown
    await shown(inbox, until, row.aid)
    assert await every_tab(inbox, until) == []
    assert max(laid_out, default=0) <= MOST
    # As fields too, where they are asked for.
    call = inbox.pane.call
    if call.switch.isEnabled() and call.searchable() is call.text:
        call.switch.click()
        assert drawn(inbox) == []
    assert max(laid_out, default=0) <= 2 * MOST
    await until(lambda: inbox.flow.arming.readiness(Act.DENY).ready, "Deny")
    inbox.flow.open_modify()
    assert drawn(inbox) == []


async def test_fields_are_not_filled_while_the_text_is_shown(inbox, source, until, laid_out):
    first = ask_for(source, agent="a", arguments={"x": 1}).shown
    second = ask_for(source, agent="b", arguments={LONG: {"y": 1}}).shown
    deep: Any = 1
    for _depth in range(90):
        deep = {"k": deep}
    third = ask_for(source, agent="c", arguments=deep).shown
    call = inbox.pane.call
    await shown(inbox, until, first.aid)
    assert call.searchable() is call.fields
    assert call.fields.model().rowCount() == 1
    for aid in (second.aid, third.aid):
        await shown(inbox, until, aid)
        assert call.searchable() is call.text
        assert call.fields.model().rowCount() == 0
    await shown(inbox, until, second.aid)
    laid_out.clear()
    call.switch.click()
    await until(lambda: call.fields.model().rowCount() == 1, "the fields")
    assert call.fields.model().index(0, 0).data() == key_text(LONG)


def test_a_key_that_is_cut_says_so_where_no_key_can():
    assert key_text("a b") == "a b"
    told = "\u27e629,800 more characters: see Text\u27e7"
    assert key_text(LONG) == f'"{LONG[:200]}" {told}'
    # What an agent writes so is a token.
    assert told not in key_text(told)
    where = Change(("a", LONG, 3), 1, 2).where()
    assert where == f'a["{LONG[:200]}"\u2026 29,800 more characters][3]'
    assert Change((LONG[:200],), 1, 2).where() == LONG[:200]


async def test_nor_in_what_differs_from_the_call_before(inbox, source, until, laid_out):
    before = ask_for(source, arguments={LONG: {f"k{n}": n for n in range(300)}})
    with Store.open(source / "refund-bot" / "1") as store:
        decide(store, before.shown, Verdict("deny"), this_person("bob"), valid_for_s=900)
    row = ask_for(source, agent="refund-bot", arguments={LONG: {f"k{n}": -n for n in range(300)}})
    await shown(inbox, until, row.shown.aid)
    assert await every_tab(inbox, until) == []
    beside = inbox.flow.view.prepared.beside.text()
    assert len(beside) < 300 * 1_000
    assert max(laid_out, default=0) <= MOST


SCHEMA = {
    "type": "object",
    "title": LONG,
    "required": [LONG],
    "properties": {
        LONG: {"type": "string", "description": LONG, "title": LONG},
        "choice": {"enum": [LONG, "x", "word " * 6_000]},
        "text": {"type": "string"},
    },
}


async def test_nor_in_the_form_of_a_schema_and_its_review(inbox, source, until, laid_out):
    given = {LONG: "v", "choice": LONG, "text": LONG, "secret": "hunter2-hunter2"}
    row = ask_for(source, arguments=given, tool_schema=SCHEMA).shown
    await shown(inbox, until, row.aid)
    await until(lambda: inbox.flow.arming.readiness(Act.DENY).ready, "Deny")
    inbox.flow.open_modify()
    editor = inbox.pane.modify
    await until(editor.isVisible, "the editor")
    assert drawn(inbox) == []
    editor.as_form.click()
    await until(lambda: editor.in_form, "the form")
    assert drawn(inbox) == []
    editor.form.value = {**editor.form.value, LONG: "changed"}
    editor.form.edited.emit()
    inbox.flow.asking.submit()
    await until(editor.in_review, "the review")
    assert drawn(inbox) == []
    assert max(laid_out, default=0) <= MOST


async def test_nor_of_another_system_whatever_it_names(inbox, source, until, laid_out):
    document = {
        "tool_name": "run",
        "arguments": {"cmd": "ls"},
        "tool_id": LONG,
        "inputs": {LONG: {LONG: "v"}},
        "steps": [
            {
                "action": {"tool": LONG, "tool_input": {LONG: "x"}, "log": LONG},
                "observation": LONG,
            }
        ],
        "iteration": 1,
        "tool_calls_consumed": 0,
        "tokens_consumed": 0,
        "trace_id": LONG,
    }
    await _left(inbox, source, until, "pending.json", document)
    assert await every_tab(inbox, until) == []
    assert max(laid_out, default=0) <= MOST


async def test_nor_in_what_a_run_notes_of_itself(inbox, source, until, laid_out):
    document = starweaver_document()
    document = json.loads(json.dumps(document))
    for name in ("metadata", "trace_context", "state"):
        if isinstance(document.get(name), dict):
            document[name][LONG] = {LONG: "v"}
    await _left(inbox, source, until, "x.checkpoint.json", document)
    assert await every_tab(inbox, until) == []
    assert max(laid_out, default=0) <= MOST


async def _left(inbox, source: Path, until, name: str, document: Any) -> None:
    store = source / "foreign"
    store.mkdir(mode=0o700)
    (store / ".new").write_text(json.dumps(document), encoding="utf-8")
    (store / ".new").chmod(0o600)
    (store / ".new").rename(store / name)
    row = await until(lambda: next(iter(inbox.model._rows.values()), None), "a row")
    inbox.sidebar.choose_section(inbox.model.section(row.id))
    await shown(inbox, until, row.id)


async def test_nor_in_a_table_of_calls(inbox, source, until, laid_out):
    for number in range(6):
        given = {"k" * 60: {"n": number}, "x": number, "y" * 70: number % 2}
        ask_for(source, agent=f"a{number}", arguments=given)
    ask_for(source, agent="long", arguments={LONG: 1, "x": 9})
    await until(lambda: inbox.model.rowCount() == 7, "the rows")
    inbox.table.step(1)
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    inbox.table.selectAll()
    inbox.table.setFocus()
    QTest.keyClick(inbox.table, Qt.Key.Key_B)
    flow = await until(lambda: inbox.together.flow, "the window of the burst")
    await until(flow.window.on_screen, "the burst on screen")
    assert drawn(flow.window) == []
    assert max(laid_out, default=0) <= MOST
    flow.window.close()


# --- Where one writes -----------------------------------------------------------------------------


def test_a_long_word_is_broken_anywhere_and_words_where_they_end(qtbot):
    text = WrittenText()
    qtbot.addWidget(text)
    modes = text.wordWrapMode()
    text.setPlainText("word " * 2_000)
    assert text.wordWrapMode() is modes.WrapAtWordBoundaryOrAnywhere
    text.setPlainText(f"a {'K' * (LONGEST_WORD + 1)} b")
    assert text.wordWrapMode() is modes.WrapAnywhere
    text.setPlainText("short")
    assert text.wordWrapMode() is modes.WrapAtWordBoundaryOrAnywhere
    QApplication.clipboard().setText(LONG)
    QTest.keyClick(text, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert LONG in text.toPlainText()
    assert text.wordWrapMode() is modes.WrapAnywhere
