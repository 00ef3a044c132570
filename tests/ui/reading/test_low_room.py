"""In a window as small as may be, the text of the call is read, and who asks."""

import pytest
from PySide6.QtWidgets import QWidget

from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.store import Store
from lineclear.ui.labels import WholeLabel
from tests.core.inbox.history.ledgers import BOB
from tests.ui.sample import ask_for
from tests.ui.test_window import select

LINES = 3
"""Of the call, beside two warnings."""
LONG_REASON = "Wrong customer, see https://tickets.example.com/" + "dispute-2026/" * 12
ARGUMENTS = {"path": "/etc/hosts", "note": "a\u202eb", "content": "one line\n" * 200}

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


async def test_some_lines_of_the_call_and_who_asks_are_in_view(inbox, source, until):
    shown = ask_for(source, tool="write_file", arguments=ARGUMENTS).shown
    inbox.resize(640, 420)
    await select(inbox, until, shown.aid)
    view = inbox.pane.call.searchable()
    assert len(inbox.pane.banners.findChildren(WholeLabel)) >= 2
    line = view.fontMetrics().lineSpacing()
    await until(lambda: view.viewport().height() >= LINES * line, "lines of the call")
    assert inbox.pane.header.facts.isVisible()
    assert inbox.pane.banners.whole()


async def test_with_room_again_all_is_as_it_was(inbox, source, until):
    shown = ask_for(source, tool="write_file", arguments=ARGUMENTS).shown
    await select(inbox, until, shown.aid)
    banners, header = inbox.pane.banners, inbox.pane.header
    before = banners.height()
    inbox.resize(640, 420)
    await until(lambda: banners.height() < before, "closer banners")
    assert header.standing.isHidden()
    inbox.resize(1320, 820)
    await until(lambda: banners.height() == before, "the banners as they were")
    await until(header.standing.isVisible, "where it stands")


def cut(editor) -> list[str]:
    """Names of what in an editor is lower than it needs, or lies over its neighbour."""
    inside = [one for one in editor.findChildren(QWidget) if one.isVisible()]
    parts = [one for one in inside if one.parentWidget() is editor]
    wrong = [
        one.objectName()
        for one in parts
        if one.height() < min(one.sizeHint().height(), one.minimumHeight() or 10_000)
        or not editor.rect().contains(one.geometry())
    ]
    for one in parts:
        wrong += [
            f"{one.objectName()} over {other.objectName()}"
            for other in parts
            if other is not one and one.geometry().intersects(other.geometry())
        ]
    return wrong


async def test_a_reason_is_typed_beside_warnings_and_nothing_of_it_is_cut(inbox, source, until):
    shown = ask_for(source, tool="write_file", arguments=ARGUMENTS).shown
    inbox.resize(640, 420)
    await select(inbox, until, shown.aid)
    inbox.flow.deny()
    editor = inbox.pane.editor
    await until(lambda: editor.isVisible() and not cut(editor), "the whole editor")
    assert inbox.pane.banners.whole()
    assert editor.cancel.isVisible()
    assert editor.lasting.isVisible()


async def test_a_text_that_was_not_sent_stays_whole_and_can_be_left(inbox, source, until):
    shown = ask_for(source).shown
    inbox.resize(640, 420)
    await select(inbox, until, shown.aid)
    inbox.flow.deny()
    editor = inbox.pane.editor
    editor.text.setPlainText("my own draft")
    with Store.open(shown.store) as store:
        decide(store, shown, Verdict("deny", reason=LONG_REASON), BOB, valid_for_s=900.0)
    await until(lambda: inbox.flow.view.frozen, "the frozen pane")
    await until(lambda: not cut(editor) and inbox.pane.banners.whole(), "the whole of both")
    assert editor.text.isReadOnly()
    assert editor.text.toPlainText() == "my own draft"
    assert not editor.button.isVisible()
    assert not editor.lasting.isVisible()
    editor.cancel.click()
    assert not editor.isVisible()
