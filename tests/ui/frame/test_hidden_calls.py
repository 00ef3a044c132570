"""Calls behind a link are not shown, so the window never says that nothing waits."""

from lineclear.ui.frame.sidebar import Role
from lineclear.ui.queue.sections import Section
from tests.core.inbox.agents import asked


async def test_an_agent_that_was_moved_behind_a_link_is_told_of(inbox, source, tmp_path, until):
    asked(source / "bot" / "1")
    await until(lambda: inbox.model.rowCount() == 1, "the call")
    away = tmp_path / "big"
    (source / "bot").rename(away)
    (source / "bot").symlink_to(away)
    await until(lambda: inbox.model.counts()[Section.UNREADABLE] == 1, "the link")
    await until(inbox.status.trouble.isVisible, "the trouble")
    await until(lambda: f"Watch {away} itself" in inbox.empty.sentence.text(), "the cure")
    assert "Nothing waits" not in inbox.empty.sentence.text()
    assert "Nothing waits" not in inbox.status.totals.text()
    assert inbox.sidebar.source_model.index(0).data(Role.MARK) == "trouble"
