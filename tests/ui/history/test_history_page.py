"""The history's page in the real window, over a real ledger and a real database."""

import asyncio
import csv
import json
import os
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.history.database import history_path
from lineclear.core.inbox.history.entry import Fact, Kind
from lineclear.core.inbox.history.recorder import News
from lineclear.core.inbox.history.search import Pivot, Search
from lineclear.core.inbox.history.writing import History
from lineclear.core.ledger.decide import Verdict
from lineclear.ui.deciding.arming import Act
from lineclear.ui.deciding.verdicts import Lasting
from lineclear.ui.history import pivot_table, told
from lineclear.ui.history.entry_table import row_height
from lineclear.ui.history.told import Column
from lineclear.ui.labels import WholeLabel
from lineclear.ui.queue.sections import Section
from tests.core.inbox.history.ledgers import add, fact
from tests.ui.sample import ask_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
MARKUP = "<img src=x><b>bold</b>\u202egpj"


def press(window, key: Qt.Key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, key, modifier)


def click(widget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def button(window, name: str) -> QPushButton:
    found: QPushButton | None = window.findChild(QPushButton, name)
    assert found is not None, name
    return found


def written(*facts) -> None:
    with History.open() as history:
        add(history, *facts)


async def opened(inbox, until, rows: int | None = None):
    inbox.sidebar.choose_section(Section.HISTORY)
    page = inbox.history.page
    await until(page.table.isVisible if rows != 0 else page.empty.isVisible, "the page")
    if rows is not None:
        await until(lambda: len(calls(page)) == rows, f"{rows} rows")
    return page


def entries(page):
    return [page.model.entry(place) for place in range(page.model.rowCount())]


def calls(page):
    return [entry for entry in entries(page) if entry.fact.stage]


def events(page):
    model = page.model
    return [
        model.index(place, Column.TIME).data()
        for place, entry in enumerate(entries(page))
        if not entry.fact.stage
    ]


def cells(page, entry):
    place = page.model.position(entry)
    return [page.model.index(place, column).data() for column in Column]


def choose_call(page, **said):
    (entry,) = [
        each
        for each in calls(page)
        if all(getattr(each.fact, name) == value for name, value in said.items())
    ]
    page.table.choose(page.model.position(entry))
    return entry


# --- What is recorded ---------------------------------------------------------------------------


async def test_a_decision_of_this_window_is_recorded_with_what_was_seen(inbox, source, until):
    shown = ask_for(source).shown
    await until(lambda: inbox.table.choose(shown.aid), "the row")
    inbox.table.setFocus()
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "ready")
    press(inbox, Qt.Key.Key_A)
    await asyncio.sleep(0.3)
    press(inbox, Qt.Key.Key_Return)

    def recorded():
        with Search.open() as search:
            return search.call(shown.aid)

    (entry,) = await until(recorded, "the row of the history")
    said = entry.fact
    assert (said.verdict, said.found, said.through) == ("approve", 0, "key")
    assert (said.front_end, said.tab, said.end_seen) == ("window", "call", 1)
    assert 700 <= said.shown_ms < 60_000
    assert "first_time" in str(said.warnings).split()
    assert said.digest == shown.sha256


async def test_a_denial_on_another_tab_says_so_and_its_clock_stands(inbox, source, until):
    shown = ask_for(source).shown
    await until(lambda: inbox.table.choose(shown.aid), "the row")
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    inbox.pane.tabs.setCurrentWidget(inbox.pane.file)
    before = inbox.flow.sight.now()
    await asyncio.sleep(0.3)
    after = inbox.flow.sight.now()
    assert (after.tab, after.seconds) == ("file", before.seconds)
    inbox.pane.tabs.setCurrentWidget(inbox.pane.call)
    await until(lambda: inbox.flow.sight.now().seconds > before.seconds, "the clock to go on")


async def test_what_a_standing_word_denies_was_seen_by_nobody(inbox, source, until):
    first = ask_for(source, arguments={"n": 1}).shown
    await until(lambda: inbox.model.row(first.aid), "the row")
    given = Lasting("Stop.", datetime.now(UTC), frozenset())
    inbox.flow.standing.add(inbox.model.row(first.aid), given)
    second = ask_for(source, agent="refund-bot/2", arguments={"n": 2})
    del second
    word = inbox.flow.standing._words.active(datetime.now(UTC))[0]
    row = inbox.model.row(first.aid)
    await inbox.flow.standing._deny(row, word)

    def recorded():
        with Search.open() as search:
            return search.call(first.aid)

    (entry,) = await until(recorded, "the row of the history")
    assert (entry.fact.end_seen, entry.fact.shown_ms, entry.fact.through) == (0, 0, "standing")


# --- The page -----------------------------------------------------------------------------------


async def test_calls_stand_newest_first_with_who_and_how_they_ended(inbox, until):
    me, ann = os.geteuid(), os.geteuid() + 1
    denied_by_ann = {"verdict": "deny", "ended": "denied", "by_name": "ann", "by_uid": ann}
    written(
        fact(1, ended="ok", shown_ms=4200, end_seen=1),
        fact(2, **denied_by_ann, end_seen=0, shown_ms=12_000),
        fact(3, ended="uncertain", tool="bash", by_uid=me),
    )
    page = await opened(inbox, until, 3)
    newest, denied, oldest = calls(page)
    assert cells(page, newest)[1:6] == ["bash", "Approved", "bob", "refund-bot", "May have run"]
    by = f"ann ({ann})"
    assert cells(page, denied)[2:] == ["Denied", by, "refund-bot", "Denied", "12 s", "not seen"]
    assert cells(page, oldest)[5:] == ["Finished", "4.2 s", "seen"]
    await until(lambda: page.count.text() == "3 calls", "the count")


async def test_a_search_narrows_and_says_how_far(inbox, until):
    written(*(fact(n, tool="bash" if n % 3 else "mail") for n in range(30)))
    page = await opened(inbox, until, 30)
    inbox.actions_table["filter"].trigger()
    assert page.search.hasFocus()
    QTest.keyClicks(page.search, "tool:mail")
    await until(lambda: len(calls(page)) == 10, "ten rows")
    await until(lambda: page.count.text() == "10 of 30 calls", "the count")
    press(inbox, Qt.Key.Key_Return)
    assert page.table.hasFocus()
    assert page.table.currentIndex().row() == 0
    press(inbox, Qt.Key.Key_Escape)
    await until(lambda: len(calls(page)) == 30, "all rows")
    assert page.search.text() == ""


async def test_a_word_that_is_not_understood_is_said_and_finds_nothing(inbox, until):
    written(fact(1))
    page = await opened(inbox, until, 1)
    page.search.setText("ended:sideways")
    await until(page.empty.isVisible, "the sentence")
    told = page.empty.text()
    begins = "Not understood: ended:sideways. Write ended:finished, ended:untouched, "
    assert told.startswith(begins)
    assert told.endswith(" or ended:open.")
    assert page.empty.property("tone") == "care"


async def test_a_mistyped_field_is_said_where_nothing_is_found(inbox, until):
    written(fact(1))
    page = await opened(inbox, until, 1)
    page.search.setText("persn:ada")
    await until(page.empty.isVisible, "the sentence")
    assert page.empty.text() == (
        "No call matches. Esc clears the search."
        " persn: is no field; person: is one. Write for example by:alice."
    )
    page.search.setText("tool:nothing")
    told = "No call matches. Esc clears the search."
    await until(lambda: page.empty.text() == told, "the plain sentence")
    assert page.empty.property("tone") == "muted"
    # A field of which nothing is typed yet leaves nothing out.
    page.search.setText("ended:")
    await until(lambda: len(calls(page)) == 1, "the row")


async def test_nothing_was_decided(inbox, until):
    page = await opened(inbox, until)
    page.search.setText("tool:nothing")
    told = "No call matches. Esc clears the search."
    await until(lambda: page.empty.isVisible() and page.empty.text() == told, "the sentence")


async def test_j_and_k_go_through_the_rows_and_decide_nothing(inbox, source, until):
    written(*(fact(n) for n in range(5)))
    waiting = ask_for(source).shown
    await until(lambda: inbox.table.choose(waiting.aid), "the waiting call")
    page = await opened(inbox, until, 5)
    page.table.setFocus()
    press(inbox, Qt.Key.Key_J)
    press(inbox, Qt.Key.Key_J)
    assert page.table.currentIndex().row() == 1
    press(inbox, Qt.Key.Key_K)
    assert page.table.currentIndex().row() == 0
    assert inbox.flow.current == ""
    for key in (Qt.Key.Key_A, Qt.Key.Key_Return, Qt.Key.Key_D, Qt.Key.Key_B, Qt.Key.Key_Z):
        press(inbox, key)
    assert inbox.flow.arming.armed is None
    assert inbox.together.flow is None
    with Search.open() as search:
        assert search.call(waiting.aid) == ()


async def test_leaving_shows_the_queue_as_it_was_left(inbox, source, until):
    written(fact(1))
    waiting = ask_for(source).shown
    await until(lambda: inbox.table.choose(waiting.aid), "the waiting call")
    page = await opened(inbox, until, 1)
    assert not inbox.filter.isVisible()
    assert page.search.isVisible()
    inbox.sidebar.choose_section(Section.WAITING)
    assert inbox.table.isVisible()
    assert inbox.filter.isVisible()
    assert not page.search.isVisible()
    await until(lambda: inbox.flow.current == waiting.aid, "the call in the pane")
    assert inbox.pane.isVisible()


async def test_n_leaves_the_history_for_the_next_waiting_call(inbox, source, until):
    written(fact(1))
    waiting = ask_for(source).shown
    await until(lambda: inbox.model.row(waiting.aid), "the row")
    page = await opened(inbox, until, 1)
    page.table.setFocus()
    press(inbox, Qt.Key.Key_N)
    assert inbox.sidebar.section() is Section.WAITING
    await until(lambda: inbox.flow.current == waiting.aid, "the call in the pane")


async def test_rows_that_come_while_nobody_reads_are_shown_at_once(inbox, source, until):
    page = await opened(inbox, until)
    page.table.viewport().setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    shown = ask_for(source).shown
    await until(lambda: inbox.table.model() and inbox.model.row(shown.aid), "the row")
    row = inbox.model.row(shown.aid)
    detail = (await inbox._bridge.read(row)).detail
    await inbox.flow._verdicts.decide(
        detail, row, Verdict("deny", reason="No."), Origin.CLICK, sight=inbox.flow.sight.now()
    )
    await until(lambda: len(calls(page)) == 1, "the decision on the page")
    assert calls(page)[0].fact.found == 0


async def test_rows_that_come_under_a_readers_eyes_wait_for_a_click(inbox, until):
    written(*(fact(n) for n in range(150)))
    page = await opened(inbox, until, 150)
    page.table.verticalScrollBar().setValue(400)
    before = page.table.rowAt(0)
    written(fact(500))
    inbox.history.take(News(added=(calls(page)[0],)))
    await until(page.newer.isVisible, "the pill")
    assert (page.table.rowAt(0), len(calls(page))) == (before, 150)
    click(page.newer)
    await until(lambda: len(calls(page)) == 151, "the new row")
    assert not page.newer.isVisible()


# --- Gaps ---------------------------------------------------------------------------------------


async def test_a_gap_is_a_row_that_says_when_nobody_watched(inbox, until):
    now = datetime.now(UTC)
    begin, end = now - timedelta(hours=3), now - timedelta(hours=1)
    with History.open() as history:
        history.note(Kind.WATCHING, now - timedelta(hours=5), watcher="x")
        history.note(Kind.STOPPED, begin, watcher="x", killed=True)
        # This window watched by its own row since: the gap ends with what began before it.
        history.note(Kind.WATCHING, end, watcher="y")
    page = await opened(inbox, until)
    inbox.history.look()
    local = [moment.astimezone() for moment in (begin, end)]
    wanted = f"Nobody watched from {local[0]:%H:%M} to {local[1]:%H:%M}."

    def told():
        return [said for said in events(page) if said.startswith("Nobody watched")]

    await until(told, "the gap")
    if local[0].date() == local[1].date() == now.astimezone().date():
        assert told() == [f"{wanted} The window before was killed."]


async def test_a_history_kept_aside_is_told_in_a_strip(inbox, until):
    assert not inbox.history.strip.isVisible()
    inbox._bridge._tell(News(sentence=f"The history was damaged; it is kept as {MARKUP}."))
    await until(inbox.history.strip.isVisible, "the strip")
    text = inbox.history.strip.label.text()
    assert text.startswith("The history was damaged; it is kept as <img src=x>")
    assert "\u202e" not in text
    assert "\u27e6U+202E\u27e7" in text
    click(button(inbox, "closeHistoryTold"))
    assert not inbox.history.strip.isVisible()


async def test_a_damaged_file_is_kept_aside_and_said(inbox, source, until):
    await until(lambda: history_path().exists(), "the history")
    await until(lambda: inbox._bridge.recorder.wait(0), "the recorder at rest")
    for beside in ("-wal", "-shm"):
        history_path().with_name(history_path().name + beside).unlink(missing_ok=True)
    history_path().write_bytes(b"no database" * 1000)
    shown = ask_for(source).shown
    await until(lambda: inbox.model.row(shown.aid), "the row")
    row = inbox.model.row(shown.aid)
    detail = (await inbox._bridge.read(row)).detail
    await inbox.flow._verdicts.decide(
        detail, row, Verdict("deny", reason="No."), Origin.CLICK, sight=inbox.flow.sight.now()
    )
    await until(inbox.history.strip.isVisible, "the strip", seconds=20)
    assert "kept as" in inbox.history.strip.label.text()


# --- One row ------------------------------------------------------------------------------------


async def test_a_row_is_shown_whole_and_what_is_hostile_in_it_is_escaped(inbox, until):
    written(
        fact(
            1,
            tool=MARKUP,
            reason=MARKUP,
            verdict="deny",
            by_name=MARKUP,
            ended="denied",
            arguments='{"api_key":"\u2022\u2022\u2022\u2022 40 characters","n":1.50}',
            warnings="first_time",
            end_seen=0,
            shown_ms=4200,
            tab="call",
            through="key",
        )
    )
    page = await opened(inbox, until, 1)
    choose_call(page, verdict="deny")
    detail = inbox.history.detail
    assert detail.isVisible()
    said = detail.said()
    assert "<img src=x><b>bold</b>" in said
    assert "\u202e" not in said
    assert '"api_key": "\u2022\u2022\u2022\u2022 40 characters"' in said
    assert '"n": 1.50' in said
    assert "had not been in view" in said
    assert "4.2 s \u00b7 part: Call" in said
    assert "by key" in said
    for label in detail.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText
    assert "<img" not in page.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole).replace(
        "&lt;img", ""
    )


async def test_a_call_that_is_still_in_its_store_is_read_in_the_usual_pane(inbox, source, until):
    shown = ask_for(source).shown
    await until(lambda: inbox.model.row(shown.aid), "the row")
    row = inbox.model.row(shown.aid)
    detail = (await inbox._bridge.read(row)).detail
    await inbox.flow._verdicts.decide(
        detail, row, Verdict("approve"), Origin.CLICK, sight=inbox.flow.sight.now()
    )
    page = await opened(inbox, until, 1)
    choose_call(page, call=shown.aid)
    await until(lambda: inbox.flow.current == shown.aid, "the call in the pane")
    assert inbox.pane.isVisible()
    click(inbox.history.side.record)
    assert inbox.history.detail.isVisible()
    assert inbox.flow.current == ""
    assert "Approved by" in inbox.history.detail.said()
    click(inbox.history.side.call)
    await until(lambda: inbox.flow.current == shown.aid, "the call again")


# --- Sums ---------------------------------------------------------------------------------------


async def test_a_click_on_a_person_narrows_to_what_that_person_decided(inbox, until):
    written(
        *(fact(n, by_name="ann", by_uid=1001, end_seen=0) for n in range(4)),
        *(fact(n, verdict="deny") for n in range(4, 10)),
    )
    page = await opened(inbox, until, 10)
    click(button(inbox, "historyPeople"))
    await until(lambda: page.sums.rowCount() == 2, "two persons")
    rows = [
        [page.sums.index(row, column).data() for column in range(page.sums.columnCount())]
        for row in range(2)
    ]
    assert rows[0][:5] == ["bob (1000)", "6", "", "", "6"]
    assert rows[1][:5] == ["ann (1001)", "4", "4", "", ""]
    assert rows[1][7] == "4"
    where = page.totals.visualRect(page.sums.index(1, 0)).center()
    QTest.mouseClick(page.totals.viewport(), Qt.MouseButton.LeftButton, pos=where)
    await until(lambda: len(calls(page)) == 4, "her calls")
    assert {entry.fact.by_name for entry in calls(page)} == {"ann"}
    chip = button(inbox, "narrowing0")
    assert chip.text().startswith("Person: ann (1001)")
    press(inbox, Qt.Key.Key_Escape)
    await until(lambda: len(calls(page)) == 10, "all calls")
    assert inbox.findChild(QPushButton, "narrowing0") is None or not page._chips.isVisible()


async def test_beside_sums_no_call_stays_in_the_pane(inbox, source, until):
    shown = ask_for(source).shown
    await until(lambda: inbox.model.row(shown.aid), "the row")
    written(fact(1))
    page = await opened(inbox, until, 1)
    choose_call(page)
    await until(lambda: "Approved" in inbox.history.detail.said(), "its record")
    click(button(inbox, "historyPeople"))
    await until(lambda: page.sums.rowCount() == 1, "one person")
    assert inbox.history.detail.said() == "\nClick a line, or press Enter on it, for its calls."
    assert inbox.history.side.shows_record()
    click(button(inbox, "historyCalls"))
    await until(lambda: "Approved" in inbox.history.detail.said(), "the record again")


async def test_ends_that_were_not_seen_are_a_click_away(inbox, until):
    written(*(fact(n, end_seen=(0, 1, None)[n % 3]) for n in range(9)))
    page = await opened(inbox, until, 9)
    inbox.history.turn(Pivot.END)
    await until(lambda: page.sums.rowCount() == 3, "three ways")
    labels = [page.sums.bucket(row).label for row in range(3)]
    page.totals.choose(labels.index("end not seen"))
    page.totals.setFocus()
    press(inbox, Qt.Key.Key_Return)
    await until(lambda: len(calls(page)) == 3, "the three")
    assert {entry.fact.end_seen for entry in calls(page)} == {0}


# --- Export, verify, merge ----------------------------------------------------------------------


async def exported(inbox, until, path, *, arguments=False, jsonl=False):
    click(button(inbox, "historyExport"))
    dialog = await until(lambda: inbox.findChild(QWidget, "exportHistory"), "the dialog")
    assert not dialog.arguments.isChecked()
    dialog.arguments.setChecked(arguments)
    (dialog.jsonl if jsonl else dialog.csv).setChecked(True)
    dialog.file.setText(str(path))
    click(dialog.write)
    await until(lambda: not dialog.going, "the end of writing")
    return dialog


async def test_an_export_has_no_arguments_unless_asked_and_no_cell_computes(inbox, until, tmp_path):
    written(fact(1, tool="=cmd|' /C calc'!A0", arguments='{"customer":"C-1204"}'))
    await opened(inbox, until, 1)
    path = tmp_path / "out.csv"
    dialog = await exported(inbox, until, path)
    assert dialog.said.text() == f"1 row written to {path}."
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert "arguments" not in row
    assert row["tool"].startswith("'=cmd")
    assert "C-1204" not in path.read_text()
    # A file that is there is replaced only when that is said.
    click(dialog.write)
    await until(dialog.replace.isVisible, "the question")
    assert "is there already" in dialog.said.text()
    dialog.arguments.setChecked(True)
    click(dialog.replace)
    await until(lambda: "C-1204" in path.read_text(), "the arguments")


async def test_an_export_holds_what_the_search_finds(inbox, until, tmp_path):
    written(*(fact(n, tool="bash" if n % 3 else "mail") for n in range(30)))
    page = await opened(inbox, until, 30)
    page.search.setText("tool:mail")
    await until(lambda: page.count.text() == "10 of 30 calls", "the search")
    path = tmp_path / "out.jsonl"
    await exported(inbox, until, path, jsonl=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {row["tool"] for row in rows} == {"mail"}
    assert len(rows) == 10


async def test_stop_leaves_no_file(inbox, until, tmp_path):
    written(*(fact(n) for n in range(5000)))
    await opened(inbox, until)
    click(button(inbox, "historyExport"))
    dialog = await until(lambda: inbox.findChild(QWidget, "exportHistory"), "the dialog")
    path = tmp_path / "out.csv"
    dialog.file.setText(str(path))
    dialog._begin()
    dialog._stop_it()
    await until(lambda: not dialog.going, "the end of writing")
    assert dialog.said.text() == "Stopped; nothing was written."
    assert list(tmp_path.glob("*out*")) == []


async def test_verify_says_that_the_chain_is_intact_and_names_the_row_that_is_not(inbox, until):
    written(*(fact(n) for n in range(12)))
    page = await opened(inbox, until, 12)
    click(button(inbox, "historyVerify"))
    await until(lambda: "\u00b7" in page.verdict.text(), "the verdict")
    assert page.verdict.text() == "Chain intact \u00b7 12 decisions \u00b7 checked now"
    assert page.verdict.property("tone") == "ok"
    with sqlite3.connect(history_path()) as database:
        database.execute("UPDATE entries SET by_name = 'mallory' WHERE tool IS NOT NULL")
    database.close()
    click(button(inbox, "historyVerify"))
    await until(lambda: page.verdict.text().startswith("Chain broken at row"), "the verdict")
    assert page.verdict.property("tone") == "stop"
    assert isinstance(page.verdict, WholeLabel)


async def test_checked_now_becomes_a_time(inbox, until):
    written(fact(1))
    page = await opened(inbox, until, 1)
    click(button(inbox, "historyVerify"))
    await until(lambda: "checked now" in page.verdict.text(), "the verdict")
    inbox.history._verified_at -= timedelta(minutes=2)
    at = inbox.history._verified_at.astimezone()
    inbox.history.second()
    assert f"checked at {at:%H:%M}" in page.verdict.text() or ":" in page.verdict.text()
    assert "checked now" not in page.verdict.text()


async def test_another_history_is_taken_in_and_a_broken_one_is_refused(inbox, until, tmp_path):
    written(fact(1))
    other = tmp_path / "bob" / "history.db"
    with History.open(other) as history:
        add(history, *(fact(n, by_name="carol") for n in range(50, 53)))
    page = await opened(inbox, until, 1)
    inbox.history.merge(other)
    await until(lambda: len(calls(page)) == 4, "the rows of both")
    assert "taken in; the chain was intact." in page.verdict.text()
    await until(lambda: any(" \u00b7 On " in said for said in events(page)), "whose they are")
    with sqlite3.connect(other) as database:
        database.execute("UPDATE entries SET by_name = 'mallory' WHERE tool IS NOT NULL")
    database.close()
    inbox.history.merge(other)
    await until(lambda: page.verdict.property("tone") == "stop", "the refusal")
    assert len(calls(page)) == 4


# --- Size and room ------------------------------------------------------------------------------


async def test_the_model_keeps_qts_rules_from_page_to_page(inbox, until):
    written(*(fact(n) for n in range(450)))
    page = await opened(inbox, until)
    tester = QAbstractItemModelTester(
        page.model, QAbstractItemModelTester.FailureReportingMode.Fatal
    )
    for wanted in (400, 450):
        page.table.scrollToBottom()
        await until(lambda: len(calls(page)) >= wanted, f"{wanted} rows", seconds=30)  # noqa: B023
    page.search.setText("by:bob -tool:bash")
    await until(lambda: len(calls(page)) <= 200, "the search")
    del tester


async def test_a_hundred_thousand_rows_come_page_by_page(inbox, until):
    with History.open() as history:
        for first in range(0, 100_000, 10_000):
            add(history, *(fact(n, tool=f"tool-{n % 7}") for n in range(first, first + 10_000)))
    page = await opened(inbox, until)
    inbox.history.look()
    await until(lambda: 150 < page.model.rowCount() <= 210, "the first page only", seconds=20)
    longest = 0.0
    loop = asyncio.get_running_loop()
    for _ in range(10):
        before = page.model.rowCount()
        began = loop.time()
        page.table.scrollToBottom()
        await until(lambda: page.model.rowCount() > before, "the next page")  # noqa: B023
        longest = max(longest, loop.time() - began)
    assert page.model.rowCount() <= 210 + 10 * 400
    # A page costs what it holds, not what the history holds; the machine may be busy.
    assert longest < 2.0
    page.search.setText("tool:tool-3")
    await until(lambda: {each.fact.tool for each in calls(page)} == {"tool-3"}, "the search")
    await until(lambda: page.count.text() == "14,286 of 100,000 calls", "the count", seconds=30)


async def test_where_there_is_little_room_the_tool_stays_and_a_menu_holds_the_rest(inbox, until):
    written(fact(1))
    page = await opened(inbox, until, 1)
    assert not page.more.isVisible()
    inbox.resize(640, 420)
    await until(page.more.isVisible, "the menu's button")
    assert not page.table.isColumnHidden(Column.TOOL)
    assert page.table.columnWidth(Column.TOOL) > 60
    click(page.more)
    menu = await until(lambda: page.findChild(QWidget, "historyMenu"), "the menu")
    names = [action.text() for action in menu.actions() if action.text()]
    assert names[:2] == ["Calls", "People"]
    assert {"Export\u2026", "Verify", "Merge\u2026"} <= set(names)
    menu.close()


@pytest.mark.parametrize("name", ["historySearch", "historyTable", "historyTotals"])
async def test_parts_have_names_for_a_screen_reader(inbox, name):
    assert inbox.findChild(QWidget, name).accessibleName()


async def test_a_row_is_told_in_one_sentence(inbox, until):
    written(fact(1, ended="ok", end_seen=0, by_uid=os.geteuid() + 1))
    page = await opened(inbox, until, 1)
    (entry,) = calls(page)
    index = page.model.index(page.model.position(entry), Column.TIME)
    said = index.data(Qt.ItemDataRole.AccessibleTextRole)
    by = f"bob ({os.geteuid() + 1})"
    assert said.startswith(f"send_refund of refund-bot, Approved by {by}, ")
    assert said.endswith(", Finished, end not seen")


async def test_agent_and_arguments_stand_below_every_row_at_any_width(inbox, until):
    written(fact(1, ended="ok", arguments='{"customer":"C-1","path":"/srv/\\u202ex"}'))
    page = await opened(inbox, until, 1)
    (entry,) = calls(page)
    assert told.below(entry.fact) == (
        "refund-bot",
        'customer "C-1"   path "/srv/\u27e6U+202E\u27e7x"',
    )
    for width in (1280, 740):
        inbox.resize(width, 600)
        await until(lambda: inbox.width() == width, "the width")  # noqa: B023
        row = page.model.position(entry)
        rect = page.table.visualRect(page.model.index(row, Column.TOOL))
        assert rect.height() == row_height()
        picture = page.table.viewport().grab().toImage()
        below = range(rect.bottom() - 16, rect.bottom() - 6)
        ground = picture.pixel(picture.width() - 3, rect.top() + 6)
        inked = {x for x in range(10, 200) for y in below if picture.pixel(x, y) != ground}
        assert len(inked) > 30, "nothing is drawn below"


async def test_whose_end_was_not_seen_is_told_at_any_width(inbox, until):
    written(*(fact(n, ended="error" if n else "ok", end_seen=n % 2) for n in range(5)))
    page = await opened(inbox, until, 5)
    inbox.history.turn(Pivot.PERSON)
    await until(page.sums.rowCount, "the sums")
    ends = pivot_table.HEADINGS.index("End not seen") + 1
    assert not page.totals.isColumnHidden(ends)
    assert not page.totals.below
    wide = page.totals.rowHeight(0)
    inbox.resize(740, 560)
    await until(lambda: page.totals.isColumnHidden(ends), "little room")
    said = [text for _column, text in page.sums.below(0, page.totals.below)]
    assert said[:2] == ["End not seen 3", "Failed 4"]
    assert page.totals.rowHeight(0) > wide
    picture = page.totals.viewport().grab().toImage()
    rect = page.totals.visualRect(page.sums.index(0, 0))
    ground = picture.pixel(picture.width() - 3, rect.bottom() - 4)
    lines = range(rect.bottom() - 16, rect.bottom() - 6)
    assert any(picture.pixel(x, y) != ground for x in range(10, 80) for y in lines)


@pytest.mark.parametrize("text", ["", "no json", "[1, 2]", '{"a": 1', '"' + "x" * 9000 + '"'])
def test_what_is_no_object_is_shown_as_it_stands(text):
    wanted = told.below(Fact(kind="outcome", at="", arguments=text, agent="bot"))
    assert wanted[0] == "bot"
    assert wanted[1][:100] == text[:100]


def test_calls_and_decisions_are_told_together():
    """96 calls beside 26 decisions were a riddle."""
    assert told.found(96, 96, 26, narrowed=False) == "96 calls \u00b7 26 decided by people"
    assert told.found(15, 96, 1, narrowed=True) == "15 of 96 calls \u00b7 1 decided by a person"
    assert told.found(3, 3, 3, narrowed=False) == "3 calls"
