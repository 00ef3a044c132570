"""What the empty reading pane says, in the section that is chosen."""

import pytest

from lineclear.ui.frame.actions import key_list
from lineclear.ui.frame.section_hints import section_hint
from lineclear.ui.queue.sections import Section
from tests.ui.test_window import says


@pytest.mark.parametrize("section", [each for each in Section if each is not Section.HISTORY])
async def test_approving_is_told_only_where_something_can_be_approved(inbox, section):
    inbox.sidebar.choose_section(section)
    told = says(inbox, "hint")
    assert told == section_hint(section)
    approves = section in (Section.WAITING, Section.SNOOZED)
    assert ("approves" in told) is approves


async def test_a_letter_that_is_switched_off_is_not_named(inbox):
    assert says(inbox, "hint") == "Select a call. a then Enter approves, d denies."
    changed = inbox._bridge.settings.model_copy(update={"letters": False})
    inbox._bridge.settings = changed
    inbox._bridge.settings_changed.emit(changed)
    told = "Select a call. Ctrl+Shift+A then Enter approves, Ctrl+Shift+D denies."
    assert says(inbox, "hint") == told
    inbox.sidebar.choose_section(Section.TO_RESUME)
    assert "Ctrl+Shift+R then Enter" in says(inbox, "hint")
    keys = [keys for _group, entries in key_list(letters=False) for keys, _text in entries]
    assert not [each for each in keys if len(each.split(" ")[0]) == 1]
