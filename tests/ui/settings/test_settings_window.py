"""The settings: real window, real file; applied at once, kept over a restart, nothing lost."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QWidget

from lineclear.core.inbox.operator import settings_change
from lineclear.core.inbox.operator.settings import (
    LaunchSetting,
    Settings,
    SourceSetting,
    load,
    save,
    settings_path,
)
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding.arming import Act
from lineclear.ui.frame.sidebar import Role
from lineclear.ui.reading.banners import Notice
from lineclear.ui.settings import following
from lineclear.ui.settings.desk import COMMANDS, FOLDERS, GENERAL, HISTORY, KEYS, LOOK
from lineclear.ui.settings.window import SettingsWindow
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow
from tests.core.inbox.agents import call
from tests.core.inbox.history.ledgers import ran
from tests.core.ledger.aging import age
from tests.ui.sample import ask_for
from tests.ui.test_markup import interpreting

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", r"raise\(\)", extend=True)


@asynccontextmanager
async def started(qapp: QApplication, until: Any) -> AsyncIterator[MainWindow]:
    """The program as `app.run` starts it, ended cleanly."""
    tasks = Tasks(asyncio.get_running_loop())
    failures: list[str] = []
    tasks.on_error = lambda name, error: failures.append(f"{name}: {error!r}")
    look = Theme(qapp, dark=False)
    since = following.mark()
    loaded = settings_change.load_for_window()
    bridge = Bridge(loaded.settings)
    window = MainWindow(bridge, look, tasks, qapp)
    window.resize(1320, 820)
    window.desk.begin(loaded.said, None if loaded.said else since)
    window.show()
    window.activateWindow()
    bridge.start()
    await until(window.on_screen, "the window on screen")
    try:
        yield window
    finally:
        window.quit()
        window.hide()
        await tasks.close()
        await bridge.stop()
        look.choose("system")
        look.stop()
        window.deleteLater()
        await asyncio.sleep(0)
    assert failures == []


@pytest.fixture
async def window(qapp, source, until) -> AsyncIterator[MainWindow]:
    save(Settings(sources=(SourceSetting(path=source),)))
    async with started(qapp, until) as made:
        yield made


def opened(window: MainWindow, page: str = "") -> SettingsWindow:
    window.actions_table["settings"].trigger()
    shown = window.desk.window
    assert shown is not None
    if page:
        shown.turn_to(page)
    return shown


def page_of(window: MainWindow, page: str) -> Any:
    """One page of the settings, which has the fields that the test is about."""
    return opened(window, page).pages[page]


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(settings_path().read_text())
    return found


def named(root: QWidget, name: str) -> Any:
    found = root.findChild(QWidget, name)
    assert found is not None, name
    return found


# --- The window itself --------------------------------------------------------------------------


async def test_it_stands_beside_the_main_window_and_esc_closes_it(window, until):
    QTest.mouseClick(window.top.settings, Qt.MouseButton.LeftButton)
    shown = window.desk.window
    assert shown.isVisible()
    assert shown.isModal() is False
    assert window.isEnabled()
    await until(lambda: QApplication.activeWindow() is shown, "its turn")
    QTest.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()


async def test_every_page_is_reached_by_the_keyboard_and_names_its_controls(window):
    shown = opened(window)
    assert list(shown.pages) == [GENERAL, FOLDERS, COMMANDS, KEYS, LOOK, HISTORY]
    shown.list.setFocus()
    for page in shown.pages.values():
        assert shown.stack.currentWidget() is page
        QTest.keyClick(shown.list, Qt.Key.Key_Down)
    nameless = [
        f"{type(each).__name__} {each.objectName()}"
        for each in shown.findChildren(QWidget)
        if each.focusPolicy() is not Qt.FocusPolicy.NoFocus
        and not each.objectName().startswith("qt_")
        and not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
        and not isinstance(each, QLabel)
        and type(each).__name__ not in {"QWidget", "QStackedWidget", "QComboBoxListView"}
    ]
    assert nameless == []
    assert interpreting(shown) == []


async def test_what_is_set_is_kept_over_a_restart(qapp, source, until):
    save(Settings(sources=(SourceSetting(path=source),)))
    async with started(qapp, until) as window:
        page = page_of(window, GENERAL)
        page.name.setFocus()
        QTest.keyClicks(page.name, "ann")
        QTest.keyClick(page.name, Qt.Key.Key_Return)
        page.after.press("next")
        page.hold.press(5)
        page.dead.pick(86400.0)
        page.presence.click()
        page.quiet.click()
        await until(lambda: kept().get("quiet_hours"), "the quiet hours")
    assert kept() == {
        "v": 1,
        "sources": [{"path": str(source)}],
        "operator": "ann",
        "after_decision": "next",
        "hold_s": 5,
        "valid_dead_s": 86400.0,
        "presence": False,
        "quiet_hours": "22:00-07:00",
    }
    async with started(qapp, until) as window:
        page = page_of(window, GENERAL)
        assert page.name.text() == "ann"
        assert f"ann (uid {os.geteuid()})" in page.about_name.text()
        assert page.hold._group.checkedId() == 2
        assert window.attention.quiet_hours(datetime.fromisoformat("2026-03-04T23:00+01:00"))
        assert not window.attention.quiet_hours(datetime.fromisoformat("2026-03-04T12:00+01:00"))


# --- Applied at once ----------------------------------------------------------------------------


async def test_density_and_theme_take_effect_at_once(window, source, until):
    ask_for(source)
    await until(lambda: window.model.rowCount() == 1, "a row")
    page = page_of(window, LOOK)
    assert window.table.row_height == 28
    page.rows.press(40)
    await until(lambda: window.table.row_height == 40, "high rows")
    page.rows.press(24)
    await until(lambda: window.table.row_height == 24, "low rows")
    look = window.table.itemDelegate()._look
    assert not look.tokens.dark
    page.theme.press("dark")
    await until(lambda: look.tokens.dark, "the dark")
    page.theme.press("light")
    await until(lambda: not look.tokens.dark, "the light")
    page.still.click()
    await until(lambda: look.still, "stillness")


async def test_colleagues_are_told_only_while_they_may_be(window, source, until):
    aid = ask_for(source).shown.aid
    await until(lambda: window.table.choose(aid), "the row")

    def reading() -> list[Path]:
        return list(source.glob(".watched/*/reading.json"))

    await until(reading, "what is read")
    settings_change.change(lambda now: now.model_copy(update={"presence": False}))
    await until(lambda: not reading(), "silence")
    settings_change.change(lambda now: now.model_copy(update={"presence": True}))
    await until(reading, "what is read, again")


async def test_no_key_typed_into_the_settings_reaches_a_call(window, source, until):
    aid = ask_for(source).shown.aid
    await until(lambda: window.table.choose(aid), "the row")
    await until(lambda: window.flow.arming.readiness(Act.APPROVE).ready, "the call to be ready")
    shown = opened(window, LOOK)
    await until(lambda: QApplication.activeWindow() is shown, "its turn")
    for key in (Qt.Key.Key_A, Qt.Key.Key_Return, Qt.Key.Key_D):
        QTest.keyClick(QApplication.focusWidget() or shown, key)
    assert window.flow.arming.armed is None
    assert not window.flow.arming.readiness(Act.APPROVE).ready
    assert not window.pane.editor.isVisible()


async def test_letters_are_switched_off_and_on(window, until):
    page = page_of(window, KEYS)
    page.letters.click()
    await until(
        lambda: (
            [one.toString() for one in window.actions_table["deny"].shortcuts()] == ["Ctrl+Shift+D"]
        ),
        "no letters",
    )


async def test_polling_reaches_the_watcher_and_a_pause_takes_the_rows_away(window, source, until):
    ask_for(source)
    await until(lambda: window.model.rowCount() == 1, "a row")
    page = page_of(window, FOLDERS)
    card = page.cards[source]
    await until(lambda: card.health.text() == "1 open call in 1 store", "its health")
    card.polling.click()
    watched = window._bridge._watcher._state.watched
    await until(lambda: [one.polled for one in watched.values()] == [True], "polling")
    card.levels.setFocus()
    card.levels.setValue(7)
    QTest.keyClick(card.levels, Qt.Key.Key_Return)
    await until(lambda: [one.setting.depth for one in watched.values()] == [7], "the depth")
    card.paused.click()
    await until(lambda: window.model.rowCount() == 0, "no row")
    assert "Paused" in card.health.text()
    card.paused.click()
    await until(lambda: window.model.rowCount() == 1, "the row again")


async def test_a_folder_is_removed_only_after_its_sentence(window, source, until):
    ask_for(source)
    page = page_of(window, FOLDERS)
    card = page.cards[source]
    card.remove.click()
    assert kept()["sources"]
    assert any("Nothing on disk is touched" in each.text() for each in card.findChildren(QLabel))
    card.keep.click()
    assert not card.really.isVisible()
    card.remove.click()
    card.confirm.click()
    await until(lambda: kept()["sources"] == [], "nothing watched")
    await until(window.empty.isVisible, "the empty window")
    assert list(source.iterdir())
    assert page.none.text() == "No folder is watched."


async def test_a_folder_that_holds_too_much_is_refused_in_words(window, until):
    shown = opened(window, FOLDERS)
    steps: Any = next(each for each in shown.children() if hasattr(each, "ask_folder"))
    await steps._watch(Path("/"))
    page: Any = shown.pages[FOLDERS]
    assert "whole machine" in page.wide_why.text()
    assert page.wide_why.isVisible()


async def test_a_folder_that_holds_too_much_is_watched_on_an_explicit_word(
    window, until, monkeypatch
):
    monkeypatch.setattr("lineclear.ui.bridge.too_wide", lambda path: f"{path} is too wide.")
    shown = opened(window, FOLDERS)
    page: Any = shown.pages[FOLDERS]
    steps: Any = next(each for each in shown.children() if hasattr(each, "ask_folder"))
    before = kept()["sources"]
    wide = Path(before[0]["path"]) / "wide"
    wide.mkdir()
    await steps._watch(wide)
    assert page.wide.isVisible()
    assert page.wide_why.text() == f"{wide} is too wide."
    page.wide.findChild(QPushButton, "leaveWide").click()
    assert not page.wide.isVisible()
    assert kept()["sources"] == before
    await steps._watch(wide)
    page.wide.findChild(QPushButton, "takeWide").click()
    await until(lambda: kept()["sources"] == [*before, {"path": str(wide)}], "the folder")
    assert not shown.told.isVisible()


async def test_the_sidebars_menu_leads_to_a_folder(window, source, until):
    await until(window.sidebar.source_model.rowCount, "the folder")
    menu = window.desk.folder_menu(source)
    told = [each.text() for each in menu.actions() if each.text()]
    assert told == ["Pause", "Remove\u2026", "Settings of folders\u2026"]
    menu.actions()[1].trigger()
    assert window.desk.window.pages[FOLDERS].cards[source].really.isVisible()
    menu.deleteLater()


# --- The file -----------------------------------------------------------------------------------


async def test_what_another_program_writes_is_taken_in_within_two_seconds(window, until):
    page = page_of(window, LOOK)
    settings_change.change(lambda now: now.model_copy(update={"row_height": 40}))
    await until(lambda: window.table.row_height == 40, "the other's setting", 2.5)
    assert page.rows._group.checkedId() == 2


async def test_a_file_damaged_meanwhile_is_said_and_what_held_goes_on(window, until):
    whole = settings_path().read_text()
    settings_path().write_text("{")
    await until(window.desk.strip.isVisible, "the strip")
    assert "cannot be understood" in window.desk.strip.label.text()
    assert "stays in force" in window.desk.strip.label.text()
    shown = opened(window, LOOK)
    page: Any = shown.pages[LOOK]
    page.rows.press(40)
    await until(shown.told.isVisible, "why nothing was saved")
    assert settings_path().read_text() == "{"
    assert page.rows._group.checkedId() == 1
    assert "cannot be understood" in shown.told.text()
    left = shown.told.mapTo(shown, shown.told.contentsRect().topLeft()).x()
    assert shown.way_out.mapTo(shown, shown.way_out.rect().topLeft()).x() == left
    settings_path().write_text(whole)
    await until(lambda: not window.desk.strip.isVisible(), "the strip's end")
    await until(lambda: not shown.told.isVisible(), "the end of what the settings say of it")
    assert not shown.way_out.isVisible()


@pytest.mark.parametrize("where", ["settingsFileAside", "keepAside"])
async def test_a_file_damaged_meanwhile_is_kept_aside_on_request(window, until, where):
    settings_change.change(lambda now: now.model_copy(update={"operator": "ann"}))
    await until(lambda: window._bridge.settings.operator == "ann", "the setting")
    damaged = '{"v":1,"operator":"ann","row_height":31}'
    settings_path().write_text(damaged)
    await until(window.desk.strip.isVisible, "the strip")
    page = page_of(window, LOOK)
    page.rows.press(40)
    way_out = window.desk.window.way_out
    await until(way_out.isVisible, "the way out")
    (way_out if where == "keepAside" else named(window, where)).click()
    await until(lambda: "is kept as" in window.desk.strip.label.text(), "where it is kept")
    (aside,) = settings_path().parent.glob("settings.json.damaged-*")
    assert str(aside) in window.desk.strip.label.text()
    assert aside.read_text() == damaged
    assert not way_out.isVisible()
    assert not window.desk.window.told.isVisible()
    assert not named(window, "settingsFileAside").isVisible()
    page.rows.press(40)
    await until(lambda: window.table.row_height == 40, "the change")
    assert json.loads(settings_path().read_text())["operator"] == "ann"


async def test_a_damaged_file_is_kept_aside_at_the_start_and_said(qapp, until):
    settings_path().parent.mkdir(parents=True)
    settings_path().write_text('{"operator": "ann", "operator": "bob"}')
    async with started(qapp, until) as window:
        assert window.desk.strip.isVisible()
        (aside,) = settings_path().parent.glob("settings.json.damaged-*")
        told = window.desk.strip.label.text()
        assert str(aside) in told
        assert "twice" in told
        assert aside.read_text() == '{"operator": "ann", "operator": "bob"}'
        page_of(window, LOOK).rows.press(40)
        await until(lambda: settings_path().exists(), "a new file")
        await until(lambda: window.desk.following._taken == following.mark(), "a look at it")
        assert window.desk.strip.isVisible()
        named(window, "settingsFileRead").click()
        assert not window.desk.strip.isVisible()


# --- Commands -----------------------------------------------------------------------------------


async def test_a_command_is_written_tried_and_removed(window, source, until, tmp_path):
    aid = ask_for(source, "refund-bot").shown.aid
    await until(lambda: window.model.rowCount() == 1, "a row")
    page = page_of(window, COMMANDS)
    page.add.click()
    editor = page.editor
    editor.program.setText("python3")
    editor.save()
    assert "Say for which agent" in editor.error.text()
    editor.agent.setText("refund-bot")
    editor.save()
    assert "absolute path" in editor.error.text()
    ran = tmp_path / "ran"
    script = f"open({str(ran)!r}, 'w')"
    editor.program.setText(sys.executable)
    editor.arguments.setPlainText(f"-c\n{script}\n{{store}}")
    editor.env.setPlainText("MODE=prod")
    editor.save()
    await until(lambda: page.cards, "its card")
    assert load().launch == (
        LaunchSetting(
            agent="refund-bot",
            argv=(sys.executable, "-c", script, "{store}"),
            env={"MODE": "prod"},
        ),
    )
    page.cards[0].tried.click()
    assert page.call.itemText(0) == f"refund-bot \u00b7 send_refund \u00b7 {aid[:8]}"
    await until(page.would.text.toPlainText, "what would run")
    lines = page.would.text.toPlainText().split("\n")
    assert lines[1:5] == [
        f"  {sys.executable}",
        "  -c",
        f"  {script}",
        f"  {source / 'refund-bot' / '1'}",
    ]
    assert "  MODE=prod" in lines
    assert page.would.wrong.text() == "Program and folder are there."
    assert "Nothing was started" in page.about.text()
    assert not ran.exists()
    page.cards[0].remove_wanted.emit()
    await until(lambda: load().launch == (), "no command")


async def test_a_run_proposes_a_command_and_an_operator_trusts_exactly_what_was_shown(
    window, source, until
):
    shown = ask_for(source, "refund-bot").shown
    toml = shown.store.parent / "resume.toml"
    toml.write_text(f'argv = ["{sys.executable}", "-V", "{{store}}"]\ncwd = "/"\n')
    await until(lambda: window.table.choose(shown.aid), "the row")
    banner = await until(lambda: window.pane.beside.findChild(QWidget, "proposal"), "the offer")
    assert banner.accessibleName() == "This run proposes a command to resume it with."
    named(window.pane, "proposalAction").click()
    proposal = await until(lambda: window.desk.proposals.window, "the proposal")
    assert not proposal.trust.isEnabled()
    assert interpreting(proposal) == []
    toml.write_text('argv = ["/bin/rm", "-rf", "/srv"]\n')
    await until(proposal.trust.isEnabled, "the button")
    proposal.trust.click()
    await until(lambda: load().launch, "the command")
    assert load().launch == (
        LaunchSetting(
            source=shown.store.parent, argv=(sys.executable, "-V", "{store}"), cwd=Path("/")
        ),
    )
    window.flow.view.turned.emit()
    banner = await until(
        lambda: next(
            (
                each
                for each in window.pane.beside.findChildren(QWidget, "proposal")
                if "no longer the one" in each.accessibleName()
            ),
            None,
        ),
        "the warning",
    )
    assert banner.property("banner") == "care"


async def test_a_proposal_that_cannot_be_read_is_said_and_cannot_be_trusted(window, source, until):
    shown = ask_for(source, "refund-bot").shown
    (shown.store.parent / "resume.toml").write_text('argv = ["<b>python3</b>"]')
    await until(lambda: window.table.choose(shown.aid), "the row")
    await until(lambda: window.pane.beside.findChild(QWidget, "proposal"), "the sentence")
    assert window.pane.beside.findChild(QWidget, "proposalAction") is None
    assert interpreting(window) == []


async def test_a_long_proposal_cannot_be_trusted_before_its_end_was_in_view(window, source, until):
    shown = ask_for(source, "refund-bot").shown
    argv = json.dumps([sys.executable, *(f"--option-{n}" for n in range(80)), "rm -rf /srv"])
    (shown.store.parent / "resume.toml").write_text(f"argv = {argv}")
    await until(lambda: window.table.choose(shown.aid), "the row")
    await until(lambda: window.pane.beside.findChild(QWidget, "proposalAction"), "the offer")
    named(window.pane, "proposalAction").click()
    proposal = await until(lambda: window.desk.proposals.window, "the proposal")
    await until(lambda: proposal._settled, "its being read")
    assert not proposal.trust.isEnabled()
    assert proposal.why.text() == "Its end has not been in view."
    bar = proposal.would.text.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert proposal.trust.isEnabled()
    proposal.later.click()
    assert load().launch == ()


# --- Sign-in and old records ----------------------------------------------------------------------


async def test_the_window_starts_at_sign_in_only_where_it_was_switched_on(
    window, until, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "etc"))
    program = tmp_path / "lineclear-inbox"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    page = page_of(window, GENERAL)
    box, entry = page.autostart, tmp_path / "config" / "autostart" / "lineclear.desktop"

    def said(text: str) -> bool:
        return any(text in each.text() for each in page.findChildren(QLabel))

    await until(lambda: said("Nothing starts by itself."), "how it stands")
    assert not box.isChecked()
    box.click()
    await until(entry.exists, "the entry")
    assert str(program) in entry.read_text()
    await until(lambda: box.isChecked() and said("next session"), "it to be said")
    box.click()
    await until(lambda: not entry.exists(), "no entry")


async def test_old_records_are_shown_before_they_go(window, source, until):
    lane = source / "old-bot" / "1"
    for number in range(3):
        ran(lane, said=call(arguments={"n": number}, agent="old-bot"))
    age(lane, days=100)
    page = page_of(window, HISTORY)
    assert not page.old.look.isEnabled(), "off by default"
    page.age.pick(90)
    await until(page.old.look.isEnabled, "the age")
    assert kept()["ledger_days"] == 90
    page.old.look.click()
    await until(page.old.list.isVisible, "what would go")
    lines = page.old.list.toPlainText().splitlines()
    assert [line.split("  ")[1] for line in lines] == ["000001", "000002"]
    assert page.old.told.text().startswith("2 calls, ")
    records = lane / ".approvals"
    assert len(list(records.glob("*.request.json"))) == 3
    page.old.remove.click()
    await until(lambda: page.old.told.text() == "2 calls removed.", "the removal")
    assert [one.name for one in records.glob("*.request.json")] == ["000003.request.json"]
    assert not page.old.list.isVisible()


# --- Where it opens -----------------------------------------------------------------------------


async def test_it_opens_whole_over_the_main_window(window):
    shown = opened(window, LOOK)
    screen = window.screen().availableGeometry()
    assert screen.contains(shown.geometry())
    far = shown.geometry().center() - window.frameGeometry().center()
    assert abs(far.x()) <= max(0, window.width() - shown.width()) + 40


async def test_all_folders_paused_nobody_says_that_nothing_waits(window, source, until):
    shown = ask_for(source, "refund-bot").shown
    await until(lambda: window.table.choose(shown.aid), "the row")
    menu = window.desk.folder_menu(source)
    next(one for one in menu.actions() if one.text() == "Pause").trigger()
    await until(lambda: window.status.watching.text() == "1 paused", "what is watched")
    assert window.status.totals.text() == ""
    assert window.sidebar.source_model.index(0).data(Role.NOTE) == "paused"
    window.table.clearSelection()
    menu = window.desk.folder_menu(source)
    next(one for one in menu.actions() if one.text() == "Watch it again").trigger()
    await until(lambda: window.status.watching.text() == "watching 1 folder", "it is watched")
    await until(lambda: window.model.row(shown.aid), "the call")


async def test_a_failure_a_warning_and_a_proposal_make_two_banners(window, source, until):
    shown = ask_for(source, "refund-bot").shown
    toml = shown.store.parent / "resume.toml"
    toml.write_text(f'argv = ["{sys.executable}", "-V", "{{store}}"]\ncwd = "/"\n')
    await until(lambda: window.table.choose(shown.aid), "the row")
    await until(window.pane.beside.isVisible, "the offer")
    flow = window.flow
    failed = Notice("stop", "Not confirmed: disk full. Not decided; try again.", name="failed")
    flow._failed(flow.view.row, failed, "approve")
    banners = window.pane.banners
    assert not window.pane.beside.isVisible()
    assert len([one for one in banners._shown if one.name != "warning_notes"]) <= 2
    flow.view.notice = None
    flow._refresh()
    assert window.pane.beside.isVisible()
