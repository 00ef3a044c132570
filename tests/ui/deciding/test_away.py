"""A folder that goes while a call of it is read: said in the pane at once, and nothing is armed."""

from lineclear.ui.deciding.arming import Act
from tests.ui.sample import ask_for
from tests.ui.test_window import ready, says, select


async def test_a_missing_folder_takes_the_verdicts_away_though_the_pointer_rests_in_the_table(
    inbox, source, until
):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    inbox.model.keeps_still = lambda: True
    gone = source.with_name("gone")
    source.rename(gone)
    await until(lambda: not inbox.pane.bar.approve.isVisible(), "no Approve")
    assert says(inbox, "standing") == "Its folder is missing: this is how it was last seen."
    assert says(inbox, "sentence") == "Nothing can be decided until the folder is back."
    assert inbox.model.rowCount() == 1
    gone.rename(source)
    await until(inbox.pane.bar.approve.isVisible, "Approve again")
    assert says(inbox, "standing").startswith("Waits for your word")
    await ready(inbox, until, Act.APPROVE)


async def test_what_could_not_be_read_is_read_once_it_is_back(inbox, source, until):
    shown = ask_for(source).shown
    # The one in view was read before the folder went.
    read = ask_for(source, agent="z-bot", arguments={"q": 1}).shown
    await until(lambda: inbox.model.rowCount() == 2, "the rows")
    await select(inbox, until, read.aid)
    await ready(inbox, until)
    gone = source.with_name("gone")
    source.rename(gone)
    await until(lambda: inbox.table.choose(shown.aid), "the row")
    await until(
        lambda: inbox.flow.view.notice is not None and inbox.flow.view.notice.name == "unread",
        "what is wrong with it",
    )
    gone.rename(source)
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    await until(lambda: inbox.flow.view.notice is None, "no notice")
    await until(inbox.pane.bar.approve.isVisible, "Approve")
