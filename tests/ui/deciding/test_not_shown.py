"""A call that is read while its folder leaves the watch: told as it is, and alive again after."""

import shutil

import pytest
from PySide6.QtCore import Qt

from lineclear.core.inbox.operator.settings import SourceSetting
from lineclear.ui.deciding.arming import Act
from lineclear.ui.labels import PlainLabel
from tests.ui.sample import ask_for
from tests.ui.test_window import click, decision_of, press, ready, says, select


def watch(inbox, *sources: SourceSetting) -> None:
    """What a change in the settings does, without a file of settings."""
    bridge = inbox._bridge
    bridge._only = sources
    bridge._take(bridge._in_force)


def shown_text(inbox) -> str:
    labels = inbox.pane.findChildren(PlainLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


NOTHING = "Nothing can be decided here until its folder is watched again."


@pytest.mark.parametrize(
    "paused, standing",
    [(False, "Its folder is not watched any more."), (True, "Its folder is paused.")],
)
async def test_a_folder_that_is_not_watched_is_not_a_file_that_is_gone(
    inbox, source, until, paused, standing
):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    watch(inbox, *([SourceSetting(path=source, paused=True)] if paused else []))
    await until(lambda: says(inbox, "standing") == standing, "what is said of it")
    assert not inbox.pane.bar.approve.isVisible()
    said = shown_text(inbox)
    assert "removed" not in said
    assert "gone" not in said
    assert said.count(NOTHING) == 1
    watch(inbox, SourceSetting(path=source))
    await until(inbox.pane.bar.approve.isVisible, "Approve again")
    assert says(inbox, "standing").startswith("Waits for your word")
    assert inbox.flow.view.notice is None
    await ready(inbox, until, Act.APPROVE)


async def test_a_link_that_leads_elsewhere_removed_no_file(inbox, source, tmp_path, until):
    link, other = tmp_path / "link", tmp_path / "other"
    other.mkdir(mode=0o700)
    link.symlink_to(source)
    watch(inbox, SourceSetting(path=link))
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    link.unlink()
    link.symlink_to(other)
    await until(
        lambda: says(inbox, "standing") == "Its folder is not watched any more.", "what is said"
    )
    link.unlink()
    link.symlink_to(source)
    await until(inbox.pane.bar.approve.isVisible, "Approve again")


async def test_what_came_back_as_another_is_offered_and_not_shown_by_itself(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    watch(inbox)
    await until(lambda: inbox.flow.view.frozen is not None, "the frozen pane")
    ask_for(source, arguments={"customer": "C-9"})
    watch(inbox, SourceSetting(path=source))
    await until(lambda: inbox.flow.view.frozen.successor, "what is there instead")
    assert inbox.flow.view.prepared.arguments == {"customer": "C-1204", "amount": 80}
    assert not inbox.pane.bar.approve.isVisible()


async def test_a_file_that_went_meanwhile_is_told_once_its_folder_is_watched_again(
    inbox, source, until
):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    watch(inbox, SourceSetting(path=source, paused=True))
    await until(lambda: says(inbox, "standing") == "Its folder is paused.", "the pause")
    shutil.rmtree(source / "refund-bot")
    watch(inbox, SourceSetting(path=source))
    await until(lambda: says(inbox, "standing") == "Its file is gone.", "the truth of now")


async def test_that_nothing_can_be_approved_is_said_once(inbox, source, until):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    shutil.rmtree(source / "refund-bot")
    await until(lambda: says(inbox, "standing") == "Its file is gone.", "the frozen pane")
    inbox.table.setFocus()
    press(inbox, Qt.Key.Key_A)
    await until(lambda: "There is nothing to approve here." in shown_text(inbox), "the answer")
    press(inbox, Qt.Key.Key_Return)
    assert shown_text(inbox).count("There is nothing to approve here.") == 1


async def test_a_held_word_says_why_it_was_not_written(inbox, source, until):
    shown = ask_for(source).shown
    bridge = inbox._bridge
    bridge.settings = bridge.settings.model_copy(update={"hold_s": 60})
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    assert inbox.flow.holding.holds(shown.aid)
    watch(inbox, SourceSetting(path=source, paused=True))
    await until(lambda: not inbox.flow.holding.holds(shown.aid), "the end of the word")
    told = "Your word was not written. This call is not shown any more: its folder is paused."
    await until(lambda: says(inbox, "sentence").startswith(told), "why it was not")
    assert decision_of(shown) is None
