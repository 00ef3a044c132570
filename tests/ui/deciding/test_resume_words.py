"""The words that a resume needs of its operator: asked for in the window, given by its button."""

import sys
from pathlib import Path

import pytest

from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch.launch import run_claimed
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from lineclear.ui.window import MainWindow
from tests import badinputs
from tests.core.inbox.runs.test_beside import asked, failed, waiting
from tests.ui.sample import a_decision, a_row, ask_for
from tests.ui.test_window import click, ready, says, select

NAMED = {"trace_id": "r-1", "tool_id": "t-1"}


@pytest.fixture
async def settings(inbox, source) -> Settings:
    """A command for each agent of the source, which the window knows as well."""
    launch = LaunchSetting(source=source, argv=(sys.executable, "-c", "print('went on')"))
    made = Settings(sources=(SourceSetting(path=source),), launch=(launch,))
    save(made)
    await inbox._bridge.take_settings()
    return made


def left(source: Path, name: str) -> None:
    """The same call, by another program, in a folder of that name."""
    (source / name).mkdir(mode=0o700)
    badinputs.put(source / name / "pending.json", badinputs.encoded(**NAMED))


def row_of(settings: Settings, name: str) -> Row:
    found = scan_once(settings, settings.sources)
    return next(row for row in found if row.store.name == name and not row.closed)


def approve(settings: Settings, name: str) -> Row:
    row = row_of(settings, name)
    despite = frozenset({"twin", "handed_over_before"}) & set(row.warnings)
    decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings, despite=despite)
    return row


async def chosen(window: MainWindow, until, section: Section, aid: str) -> None:
    await until(lambda: window.model.counts()[section] >= 1, "the row")
    window.sidebar.choose_section(section)
    await select(window, until, aid)


async def test_an_approved_call_that_ran_elsewhere_since_is_resumed_on_the_word(
    inbox, source, settings, until
):
    for name in ("first", "second"):
        left(source, name)
    first, second = (approve(settings, name) for name in ("first", "second"))
    assert run_claimed(first.store, first.id, settings) == 0
    await until(lambda: inbox.model.counts()[Section.HANDED_OVER] == 1, "the first to end")
    await chosen(inbox, until, Section.HANDED_OVER, second.id)
    await until(lambda: inbox.pane.bar.resume.text() == "Resume\u2026", "the offer")
    assert inbox.pane.bar.take_back.isVisible()
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    assert inbox.pane.bar.resume.text() == "It did not run: resume"
    assert says(inbox, "sentence") == "Start it again only if you know that it did not run."
    told = inbox.findChild(object, "warning_handed_over_before").accessibleName()
    assert told.startswith("An earlier answer to this call was handed over; it may have run.")
    assert f"Answered before in {source / 'first'}: approved by " in told
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    await until(lambda: "went on" in inbox.pane.console.text.toPlainText(), "its output")


async def test_a_waiting_copy_says_where_the_other_was_answered(inbox, source, settings, until):
    left(source, "first")
    first = approve(settings, "first")
    assert run_claimed(first.store, first.id, settings) == 0
    left(source, "second")
    second = row_of(settings, "second")
    await select(inbox, until, second.id)
    banner = await until(
        lambda: inbox.findChild(object, "warning_handed_over_before"), "the warning"
    )
    assert "Answered before in " in banner.accessibleName()
    assert "/first: approved by " in banner.accessibleName()
    assert inbox.pane.bar.approve.text() == "Approve anyway"


async def test_a_run_beside_a_file_that_cannot_be_read_says_which_and_asks(
    inbox, source, settings, until
):
    failed(source / "web")
    waiting(source / "web", b"{")
    (row,) = [one for one in scan_once(settings, settings.sources) if one.sha256 is not None]
    await chosen(inbox, until, Section.TO_RESUME, row.id)
    assert "waiting.checkpoint.json beside it cannot be read" in says(inbox, "standing")
    await until(inbox.pane.bar.resume.isVisible, "the offer")
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    assert inbox.pane.bar.resume.text() == "Resume despite that"
    assert says(inbox, "sentence").startswith("Resume it only if you know that nothing runs, and")
    assert inbox.findChild(object, "warning_unread_beside") is not None
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    await until(lambda: "went on" in inbox.pane.console.text.toPlainText(), "its output")


async def test_a_run_with_an_open_call_in_another_folder_cannot_be_resumed(
    inbox, source, settings, until
):
    failed(source / "web")
    waiting(source / "other", asked())
    (row,) = [one for one in scan_once(settings, settings.sources) if one.tool is None]
    await chosen(inbox, until, Section.TO_RESUME, row.id)
    await until(lambda: f"is open in {source / 'other'}" in says(inbox, "standing"), "why")
    assert not inbox.pane.bar.resume.isVisible()
    assert says(inbox, "sentence") == "It cannot be resumed yet."


async def test_an_approved_call_says_which_other_one_of_its_run_holds_it_back(
    inbox, source, settings, until
):
    waiting(source / "web", asked())
    waiting(source / "other", asked("run_1", "call_2", path="/srv"))
    row = approve(settings, "web")
    await chosen(inbox, until, Section.HANDED_OVER, row.id)
    banner = await until(lambda: inbox.findChild(object, "heldBack"), "why")
    assert f"is open in {source / 'other'}; deny that first." in banner.accessibleName()
    assert not inbox.pane.bar.resume.isVisible()
    assert inbox.pane.bar.take_back.isVisible()


async def test_what_was_hinted_before_gives_way_to_what_an_opened_form_says(inbox, source, until):
    shown = ask_for(source).shown
    await until(lambda: inbox.table.choose(shown.aid), "the row")
    await until(lambda: inbox.flow._offer.deny, "the offer")
    inbox.actions_table["resume"].trigger()
    assert says(inbox, "sentence") == "There is nothing to resume here."
    inbox.flow.deny()
    assert says(inbox, "sentence").startswith("The agent gets this text instead of a result")


@pytest.mark.parametrize(
    "state, told",
    [
        (State.APPROVED, "it runs what was approved."),
        (State.LAPSED, "it asks anew."),
        (State.DENIED, "it reads the denial."),
        (State.EXPIRED, "it reads that the time was over."),
        (State.RESUMABLE, "it goes on from here."),
    ],
)
def test_the_bar_says_what_a_resume_starts(state, told):
    row = a_row(
        1,
        agent="refund-bot",
        state=state,
        process=Process.DEAD,
        resumable_by="settings",
        decision=a_decision() if state is State.APPROVED else None,
    )
    offer = offers.offer(row)
    assert offer.resume == "Resume"
    assert offer.sentence == f"This starts refund-bot again, and {told}"
    ended = offers.resumed(offer, None, ended=True)
    assert ended.sentence == "The last resume ended before it came to this. See Output."
