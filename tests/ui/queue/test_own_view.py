"""Snoozing and saved filters in the real window, and how the filter line helps."""

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu

from lineclear.core.inbox.operator import operator_state
from lineclear.core.inbox.operator.operator_state import OperatorState, SavedFilter
from lineclear.ui.queue.filter_hints import replaced, suggestions
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.sections import Section
from tests.ui.sample import ask_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def press(inbox, key, modifier=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(QApplication.focusWidget() or inbox, key, modifier)


def menu_of(inbox, name):
    return inbox.findChild(QMenu, name)


def choose(menu, text):
    next(each for each in menu.actions() if each.text() == text).trigger()
    menu.close()


async def call(inbox, source, until, **more):
    shown = ask_for(source, **more).shown
    await until(lambda: inbox.table.choose(shown.aid), "the row")
    inbox.table.setFocus()
    return shown.aid


def records_in(source):
    return {path.name: path.read_bytes() for path in source.glob("*/*/.approvals/*.json")}


# --- Snooze -------------------------------------------------------------------------------------


async def test_z_opens_the_choices_and_puts_the_call_off(inbox, source, until):
    aid = await call(inbox, source, until)
    before = records_in(source)
    press(inbox, Qt.Key.Key_Z)
    menu = menu_of(inbox, "snoozeMenu")
    assert [each.text() for each in menu.actions()] == [
        "Snooze 15 min",
        "Snooze 1 h",
        "Snooze until tomorrow 9:00",
    ]
    choose(menu, "Snooze 1 h")
    counts = inbox.model.counts()
    assert (counts[Section.WAITING], counts[Section.SNOOZED]) == (0, 1)
    await until(lambda: operator_state.load().state.snoozed.get(aid), "the file")
    left = operator_state.load().state.snoozed[aid] - datetime.now(UTC)
    assert timedelta(minutes=59) < left <= timedelta(minutes=60)
    # The operator's own affair: the store holds what it held.
    assert records_in(source) == before
    inbox.sidebar.choose_section(Section.SNOOZED)
    await until(lambda: inbox.table.choose(aid), "the snoozed row")
    inbox.table.setFocus()
    inbox.actions_table["snooze"].trigger()
    choose(menu_of(inbox, "snoozeMenu"), "Show it again now")
    assert inbox.model.counts()[Section.WAITING] == 1
    await until(lambda: not operator_state.load().state.snoozed, "the file")


async def test_the_context_menu_of_a_row_has_the_same_choices(inbox, source, until):
    await call(inbox, source, until)
    inbox.table.open_menu(inbox.table.current_place())
    assert "Snooze 15 min" in [each.text() for each in menu_of(inbox, "callMenu").actions()]
    menu_of(inbox, "callMenu").close()


async def test_a_call_that_expires_is_put_off_until_five_minutes_before(inbox, source, until):
    expires = datetime.now(UTC) + timedelta(minutes=30)
    aid = await call(inbox, source, until, expires_at=expires)
    press(inbox, Qt.Key.Key_Z)
    menu = menu_of(inbox, "snoozeMenu")
    texts = [each.text() for each in menu.actions()]
    assert texts[0] == "Snooze 15 min"
    assert texts[1].endswith("5 min before it expires")
    assert len(texts) == 2
    menu.actions()[1].trigger()
    menu.close()
    back = inbox.model.snoozed_until(aid)
    assert abs(back - (expires - timedelta(minutes=5))) < timedelta(seconds=2)


async def test_a_call_that_expires_soon_cannot_be_put_off(inbox, source, until):
    expires = datetime.now(UTC) + timedelta(minutes=4)
    await call(inbox, source, until, expires_at=expires)
    press(inbox, Qt.Key.Key_Z)
    menu = menu_of(inbox, "snoozeMenu")
    assert not any(each.isEnabled() for each in menu.actions())
    menu.close()
    assert inbox.model.counts()[Section.SNOOZED] == 0


# --- The filter line ----------------------------------------------------------------------------


def values(field):
    return {
        "tool": ["bash", "send_refund", "send mail", "se\u202end"],
        "agent": ["refund-bot", "ci"],
    }.get(field, [])


@pytest.mark.parametrize(
    "before, words",
    [
        ("", []),
        ("to", ["tool:"]),
        ("-a", ["-agent:", "-age:"]),
        ("x st", ["state:"]),
        ("refund", []),
        ("tool:se", ['tool:"send mail"', "tool:send_refund"]),
        ("tool:bash agent:", ["agent:ci", "agent:refund-bot"]),
        ("tool:bash", []),
        ("is:n", ["is:new"]),
        ("has:hid", ["has:hidden"]),
        ("nothing:x", []),
        ('"tool:se', []),
    ],
)
def test_how_a_filter_may_go_on(before, words):
    assert [each.word for each in suggestions(before, values)] == words


def test_a_word_takes_the_place_of_the_unfinished_one():
    assert replaced("tool:bash ag", "agent:") == "tool:bash agent:"
    assert replaced("tool:se", 'tool:"send mail"') == 'tool:"send mail" '


async def test_the_line_shows_how_it_may_go_on_and_takes_it(inbox, source, until):
    await call(inbox, source, until, tool="send_refund")
    press(inbox, Qt.Key.Key_Slash)
    QTest.keyClicks(inbox.filter, "to")
    below = inbox.filter._below
    assert below.isVisible()
    assert inbox.filter.hasFocus()
    press(inbox, Qt.Key.Key_Down)
    press(inbox, Qt.Key.Key_Return)
    assert inbox.filter.text() == "tool:"
    QTest.keyClicks(inbox.filter, "sen")
    press(inbox, Qt.Key.Key_Down)
    press(inbox, Qt.Key.Key_Tab)
    assert inbox.filter.text() == "tool:send_refund "
    assert inbox.filter.hasFocus()
    assert not below.isVisible()
    press(inbox, Qt.Key.Key_Down)
    assert inbox.table.hasFocus()


async def test_escape_closes_the_help_first_and_then_the_filter(inbox, source, until):
    await call(inbox, source, until)
    press(inbox, Qt.Key.Key_Slash)
    QTest.keyClicks(inbox.filter, "tol:bash")
    below = inbox.filter._below
    assert below.said.text() == "tol: is no field; tool: is one."
    press(inbox, Qt.Key.Key_Escape)
    assert not below.isVisible()
    assert inbox.filter.text() == "tol:bash"
    press(inbox, Qt.Key.Key_Escape)
    assert inbox.filter.text() == ""


async def test_what_is_wrong_with_a_filter_is_said_once(inbox, source, until):
    await call(inbox, source, until)
    press(inbox, Qt.Key.Key_Slash)
    QTest.keyClicks(inbox.filter, "age:soon")
    await until(lambda: "no length of time" in inbox.empty.sentence.text(), "the sentence")
    below = inbox.filter._below
    assert below is None or not below.isVisible()


async def test_a_word_that_is_not_finished_hides_nothing(inbox, source, until):
    await call(inbox, source, until)
    for line in ("tool:", "age:>", "is:ne", "-"):
        assert not parse_filter(line)
    assert parse_filter("tol:bash").hints == ("tol: is no field; tool: is one.",)


# --- Saved filters ------------------------------------------------------------------------------


async def test_a_filter_is_saved_applied_and_deleted(inbox, source, until):
    await call(inbox, source, until)
    inbox.filter.setText("tool:send_refund age:<1h")
    inbox.own_view.saved.open()
    choose(menu_of(inbox, "savedFiltersMenu"), "Save this filter\u2026")
    dialog = inbox.findChild(QInputDialog, "filterName")
    dialog.setTextValue("young & mine")
    dialog.accept()
    saved = SavedFilter(name="young & mine", line="tool:send_refund age:<1h")
    await until(lambda: operator_state.load().state.filters == (saved,), "the file")
    inbox.filter.clear()
    inbox.own_view.saved.open()
    choose(menu_of(inbox, "savedFiltersMenu"), "young && mine\ttool:send_refund age:<1h")
    assert inbox.filter.text() == saved.line
    inbox.own_view.saved.open()
    choose(menu_of(inbox, "deleteFilters"), "young && mine")
    await until(lambda: operator_state.load().state.filters == (), "the file")


async def test_a_filter_that_is_wrong_or_empty_is_not_saved(inbox):
    for line in ("", "age:soon"):
        inbox.filter.setText(line)
        inbox.own_view.saved.open()
        menu = menu_of(inbox, "savedFiltersMenu")
        assert not menu.actions()[0].isEnabled()
        menu.close()
        menu.deleteLater()
        QApplication.sendPostedEvents(menu)


@pytest.fixture
def kept(home):
    (home / "lineclear").mkdir()
    return home / "lineclear"


async def test_a_clock_that_is_put_right_does_not_prolong_a_snooze(inbox, source, until):
    aid = await call(inbox, source, until)
    snoozing = inbox.own_view.snoozing
    began = datetime.now(UTC), snoozing._steady()
    ahead = timedelta(hours=24)
    put_off = began[0] + ahead + timedelta(minutes=15)
    snoozing._model.snooze({aid: put_off})
    snoozing._keep({aid: put_off}, {aid: 900.0})
    snoozing._read = began[0] + ahead, began[1]
    snoozing.look_at_clock()
    back = await until(lambda: inbox.model.snoozed_until(aid), "the snoozed call")
    assert timedelta(minutes=14) < back - began[0] <= timedelta(minutes=16)
    assert abs(snoozing._kept.state.snoozed[aid] - back) < timedelta(seconds=1)
    snoozing.look_at_clock()
    assert inbox.model.snoozed_until(aid) == back


class TestAtTheNextStart:
    @pytest.fixture(autouse=True)
    def left(self, kept, source):
        self.aid = ask_for(source).shown.aid
        until = datetime.now(UTC) + timedelta(minutes=30)
        state = OperatorState(snoozed={self.aid: until, "gone": until - timedelta(days=1)})
        operator_state.save(state, kept)

    async def test_what_was_snoozed_is_snoozed(self, left, inbox, until):
        await until(lambda: inbox.model.counts()[Section.SNOOZED] == 1, "the count")
        assert inbox.model.counts()[Section.WAITING] == 0
        assert not inbox.own_view.strip.isVisible()


class TestADamagedFile:
    @pytest.fixture(autouse=True)
    def left(self, kept):
        (kept / "inbox.json").write_bytes(b"{")

    async def test_is_kept_aside_and_said(self, left, inbox, kept):
        assert inbox.own_view.strip.isVisible()
        said = inbox.own_view.strip.label.text()
        (aside,) = kept.glob("inbox.json.damaged-*")
        assert aside.name in said
