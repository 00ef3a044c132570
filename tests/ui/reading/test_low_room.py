"""In a window as small as may be, the text of the call is read, and who asks."""

import pytest

from tests.ui.sample import ask_for
from tests.ui.test_window import select

LINES = 3
"""Of the call, beside two warnings."""
ARGUMENTS = {"path": "/etc/hosts", "note": "a\u202eb", "content": "one line\n" * 200}

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


async def test_some_lines_of_the_call_and_who_asks_are_in_view(inbox, source, until):
    shown = ask_for(source, tool="write_file", arguments=ARGUMENTS).shown
    inbox.resize(640, 420)
    await select(inbox, until, shown.aid)
    view = inbox.pane.call.searchable()
    assert inbox.pane.banners.number() >= 2
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
