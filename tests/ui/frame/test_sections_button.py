"""Where the sections are folded away, what may have run is still told."""

from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from tests.ui.sample import a_row


async def test_what_may_have_run_is_marked_where_the_sections_are_away(inbox, until):
    button = inbox.top.sections
    inbox.resize(700, 500)
    await until(button.isVisible, "the button")
    inbox.model.apply(Diff(added=(a_row(1),)))
    inbox.overview.count()
    assert (button.text(), bool(button.property("alarm"))) == ("Sections", False)
    inbox.model.apply(Diff(added=(a_row(2, state=State.UNCERTAIN),)))
    inbox.overview.count()
    assert (button.text(), bool(button.property("alarm"))) == ("Sections \u00b7 1", True)
    assert button.accessibleName() == "Sections, 1 may have run"
    assert "1 may have run" in button.toolTip()
    inbox.resize(800, 500)
    await until(lambda: button.text() == "Sections \u00b7 1 may have run", "its words")
    inbox.resize(1300, 800)
    await until(button.isHidden, "the sections again")
