"""The window on agents that are gone: resume, settle what may have run, foreign stores."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lineclear.core.inbox.deciding.settling import comes_of
from lineclear.core.inbox.operator import settings as settings_file
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.records import Outcome, Person
from lineclear.core.ledger.store import Shown, Store
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from lineclear.ui.window import MainWindow
from tests.ui.sample import a_row, ask_for
from tests.ui.test_window import click, decision_of, press, ready, says, select

FIXTURES = Path(__file__).parent.parent / "data" / "fixtures" / "lc_agents"
LOOP = "id_cnVuLTE.json"
START_AND_DIE = """\
import pathlib, sys
from lineclear.core.ledger.start import begin, read_decision
from lineclear.core.ledger.store import Store
with Store.open(pathlib.Path(sys.argv[1])) as store:
    shown = store.read_request(int(sys.argv[2]))
    assert begin(store, shown, read_decision(store, shown))
"""


def dead_agent(source: Path) -> Shown:
    """A request of an agent that held its lock and is gone."""
    AgentLock.acquire(source / "refund-bot").close()
    return ask_for(source).shown


def started_and_dead(source: Path, me: Person) -> Shown:
    """An approved call whose process started it and died."""
    shown = dead_agent(source)
    with Store.open(shown.store) as store:
        decide(store, shown, Verdict("approve"), me, valid_for_s=900)
    argv = [sys.executable, "-c", START_AND_DIE, str(shown.store), str(shown.seq)]
    subprocess.run(argv, check=True, timeout=30)
    return shown


def outcome_of(shown: Shown) -> Outcome | None:
    with Store.open(shown.store) as store:
        return store.records(shown.seq, shown.aid).outcome


async def set_command(window: MainWindow, until, code: str) -> None:
    click(window.pane.set_command)
    assert window.pane.editor.line.hasFocus()
    window.pane.editor.line.setText(f"{sys.executable} -c '{code}' {{store}}")
    press(window, Qt.Key.Key_Return)
    await until(lambda: not window.pane.editor.isVisible(), "the command saved")


# --- Resuming -----------------------------------------------------------------------------------


async def test_a_dead_agent_is_approved_and_resumed_in_one_step(inbox, source, until):
    shown = dead_agent(source)
    await select(inbox, until, shown.aid)
    assert re.match(
        r"The agent died (at|after) \d\d:\d\d\. Nothing runs until someone resumes",
        says(inbox, "sentence"),
    )
    await set_command(inbox, until, 'import sys; print("resumed", sys.argv[1])')
    assert settings_file.load().launch[0].agent == "refund-bot"
    await until(lambda: inbox.pane.bar.approve.text() == "Approve and resume", "the new offer")
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    await until(lambda: decision_of(shown), "a decision")
    await until(
        lambda: f"resumed {shown.store}" in inbox.pane.console.text.toPlainText(), "its output"
    )
    assert inbox.pane.tabs.currentWidget() is inbox.pane.console


async def test_r_then_enter_resumes_an_approved_call(inbox, source, until):
    shown = dead_agent(source)
    await select(inbox, until, shown.aid)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    await until(inbox.pane.bar.take_back.isEnabled, "the decision")
    await until(inbox.pane.bar.take_back.isVisible, "the offer")
    assert decision_of(shown) is not None
    await set_command(inbox, until, 'print("once more")')
    await until(inbox.pane.bar.resume.isVisible, "Resume")
    await ready(inbox, until, Act.RESUME)
    inbox.table.setFocus()
    press(inbox, Qt.Key.Key_R)
    assert says(inbox, "sentence") == "Press Enter to resume \u00b7 Esc to cancel"
    await until(lambda: inbox.flow.arming._elapsed(inbox.flow.arming._armed[1]) > 0.3)
    press(inbox, Qt.Key.Key_Return)
    await until(lambda: "once more" in inbox.pane.console.text.toPlainText(), "its output")


async def test_what_was_resumed_is_not_resumed_again_while_it_goes_on(inbox, source, until):
    shown = dead_agent(source)
    with Store.open(shown.store) as store:
        decide(store, shown, Verdict("approve"), inbox.flow.view.me, valid_for_s=900)
    await until(lambda: inbox.model.counts()[Section.HANDED_OVER] == 1, "the row")
    inbox.sidebar.choose_section(Section.HANDED_OVER)
    await select(inbox, until, shown.aid)
    assert "Nothing runs until refund-bot is resumed" in says(inbox, "standing")
    end = source / "end"
    code = f"import os, time\nwhile not os.path.exists({str(end)!r}): time.sleep(0.02)"
    await set_command(inbox, until, code.replace("'", '"'))
    await until(inbox.pane.bar.resume.isVisible, "Resume")
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    await until(lambda: "was resumed and runs as pid" in says(inbox, "standing"), "that it runs")
    assert "dead" not in says(inbox, "facts")
    await until(lambda: inbox.model.row(shown.aid).resumed_as, "the row to know")
    assert not inbox.pane.bar.resume.isVisible()
    assert not inbox.pane.set_command.isVisible()
    assert inbox.pane.bar.take_back.isVisible()
    # Another look at it, as another window would have: what is recorded tells it too.
    inbox.flow.view.show("")
    inbox.flow.view.show(shown.aid)
    await until(lambda: "was resumed and runs as pid" in says(inbox, "standing"), "the record")
    assert not inbox.pane.bar.resume.isVisible()
    end.touch()
    await until(inbox.pane.bar.resume.isVisible, "Resume once more")
    assert "Nothing runs until refund-bot is resumed" in says(inbox, "standing")
    await until(lambda: says(inbox, "sentence").startswith("The last resume ended"), "why")
    await until(lambda: inbox.model.row(shown.aid).resumed_as is None, "the row to know that, too")


async def test_a_command_that_is_none_is_refused(inbox, source, until):
    shown = dead_agent(source)
    await select(inbox, until, shown.aid)
    click(inbox.pane.set_command)
    inbox.pane.editor.line.setText("no-such-program-anywhere {store}")
    press(inbox, Qt.Key.Key_Return)
    assert "no such program" in says(inbox, "sentence")
    assert settings_file.load().launch == ()


async def test_a_run_of_which_nobody_can_tell_is_resumed_on_the_operators_word(
    inbox, source, until
):
    folder = source / "code" / "v1" / "loop_checkpoints"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(FIXTURES.parent / "a3s" / "store_layout" / "v1" / "loop_checkpoints" / LOOP, folder)
    await until(lambda: inbox.model.counts()[Section.TO_RESUME] == 1, "the row")
    inbox.sidebar.choose_section(Section.TO_RESUME)
    await select(inbox, until, inbox.model.id_at(0))
    assert "stopped" not in says(inbox, "standing")
    await set_command(inbox, until, 'print("on my word")')
    await until(lambda: inbox.pane.bar.resume.text() == "Resume\u2026", "the offer")
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    assert says(inbox, "sentence") == (
        "It may still be running: this file cannot tell. Resume it only if you know that nothing"
        " runs."
    )
    # Esc takes it back, and a second click too soon counts for nothing.
    press(inbox, Qt.Key.Key_Escape)
    assert inbox.pane.bar.resume.text() == "Resume\u2026"
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    click(inbox.pane.bar.resume)
    assert not list((source / "code").glob(".approvals/*.launch-*"))
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)
    await until(lambda: "on my word" in inbox.pane.console.text.toPlainText(), "its output")


# --- What may have run --------------------------------------------------------------------------


async def uncertain(inbox: MainWindow, source: Path, until) -> Shown:
    shown = started_and_dead(source, inbox._bridge.me())
    await until(lambda: inbox.model.counts()[Section.MAY_HAVE_RUN] == 1, "the row")
    inbox.sidebar.choose_section(Section.MAY_HAVE_RUN)
    await select(inbox, until, shown.aid)
    await ready(inbox, until, Act.RESUME)
    return shown


@pytest.mark.parametrize("button, resolution", [("it_ran", "ran"), ("it_did_not", "not_run")])
async def test_it_is_settled_with_a_note(inbox, source, until, button, resolution):
    shown = await uncertain(inbox, source, until)
    assert "Nobody knows whether it took effect" in says(inbox, "standing")
    click(getattr(inbox.pane.bar, button))
    assert inbox.pane.editor.title.text().endswith(comes_of(a_row(1), resolution))
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert "Say in a few words what you found." in says(inbox, "sentence")
    QTest.keyClicks(inbox.pane.editor.text, "seen in the ledger")
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    outcome = await until(lambda: outcome_of(shown), "an outcome")
    assert (outcome.outcome, outcome.resolution) == ("resolved", resolution)
    assert "seen in the ledger" in (outcome.result or "")
    await until(lambda: inbox.model.counts()[Section.MAY_HAVE_RUN] == 0, "the count")


async def test_it_can_be_asked_again_or_left(inbox, source, until):
    shown = await uncertain(inbox, source, until)
    click(inbox.pane.bar.leave_it)
    assert outcome_of(shown) is None
    click(inbox.pane.bar.ask_again)
    outcome = await until(lambda: outcome_of(shown), "an outcome")
    assert outcome.resolution == "ask_again"


async def test_its_key_can_be_copied(inbox, source, until):
    shown = await uncertain(inbox, source, until)
    button = inbox.findChild(object, "callKeyAction")
    click(button)
    assert QApplication.clipboard().text() == shown.aid


# --- Foreign stores -----------------------------------------------------------------------------


async def a_foreign_call(inbox, source, until):
    """A call of another program, in view; gives its id."""
    store = source / "seed"
    store.mkdir(mode=0o700)
    shutil.copy(FIXTURES / "v018_sample_pending.json", store / ".new")
    (store / ".new").chmod(0o600)
    (store / ".new").rename(store / "pending.json")
    await until(lambda: inbox.model.rowCount() == 1, "the row")
    aid = inbox.model.id_at(0)
    await select(inbox, until, aid)
    return aid


async def test_a_foreign_call_is_modified_in_its_own_systems_form(inbox, source, until):
    aid = await a_foreign_call(inbox, source, until)
    assert inbox.pane.bar.approve.text() == "Record approval"
    press(inbox, Qt.Key.Key_M)
    inbox.pane.modify.yours.setPlainText('{"path": "/tmp/b"}')
    press(inbox, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    record = source / "seed" / ".approvals" / f"{aid}.decision.json"
    await until(record.exists, "the decision")
    native = json.loads(record.read_bytes())["native"]
    assert native["Modify"]["arguments"] == {"path": "/tmp/b"}


async def test_a_foreign_file_that_is_rewritten_freezes_the_pane(inbox, source, until):
    store = source / "seed"
    store.mkdir(mode=0o700)
    target = store / "pending.json"
    text = (FIXTURES / "v018_sample_pending.json").read_text()

    def write(body: str) -> None:
        (store / ".new").write_text(body)
        (store / ".new").chmod(0o600)
        (store / ".new").rename(target)

    write(text)
    await until(lambda: inbox.model.rowCount() == 1, "the row")
    first = inbox.model.id_at(0)
    await select(inbox, until, first)
    write(text.replace('"iteration": ', '"iteration": 1'))
    banner = await until(lambda: inbox.findChild(object, "frozen"), "the frozen banner")
    assert "This call" in banner.accessibleName()
    assert not inbox.pane.bar.approve.isVisible()
    press(inbox, Qt.Key.Key_U)
    await until(lambda: inbox.flow.current not in ("", first), "the new one")


async def test_an_unreadable_file_says_why_and_offers_nothing(inbox, source, until):
    store = source / "seed"
    store.mkdir(mode=0o700)
    (store / ".new").write_text('{"tool_name": "a", "tool_name": "b"}')
    (store / ".new").chmod(0o600)
    (store / ".new").rename(store / "pending.json")
    await until(lambda: inbox.model.counts()[Section.UNREADABLE] == 1, "the row")
    inbox.sidebar.choose_section(Section.UNREADABLE)
    inbox.table.step(1)
    assert "Cannot be read" in says(inbox, "standing")
    assert not inbox.pane.bar.approve.isVisible()
    assert not inbox.pane.bar.deny.isVisible()
