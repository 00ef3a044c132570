"""What the empty reading pane says, in the section that is chosen."""

import pytest

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
