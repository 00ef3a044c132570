"""What colleagues read: seen in the pane, told by this window, and gone with the colleague."""

import asyncio
import json
import subprocess
import sys
from typing import cast

import pytest
from PySide6.QtCore import Qt

from lineclear.core.ledger import presence
from lineclear.core.ledger.platform.this import folders
from lineclear.core.ledger.presence import Reader
from lineclear.core.ledger.records import Person
from lineclear.ui.bridge import Bridge
from lineclear.ui.frame.colleagues import Colleagues, named
from lineclear.ui.queue import cells
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.row_table import Role
from lineclear.ui.tasks import Tasks
from tests.ui.sample import a_row, ask_for

BOB = """
import sys
from pathlib import Path
from lineclear.core.ledger import presence
here = presence.announce(Path(sys.argv[1]))
here.tell(sys.argv[2], sys.argv[3])
sys.stdout.write("reading\\n")
sys.stdout.flush()
sys.stdin.read()
"""
ALICE = """
import json, sys
from pathlib import Path
from lineclear.core.ledger import presence
print(json.dumps([one.call for one in presence.readers(Path(sys.argv[1]))]))
"""


@pytest.fixture
def bob(source):
    def reads(name, call):
        started = subprocess.Popen(
            [sys.executable, "-c", BOB, str(source), name, call],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        begun.append(started)
        assert started.stdout is not None
        assert started.stdout.readline() == "reading\n"
        return started

    begun: list[subprocess.Popen[str]] = []
    yield reads
    for one in begun:
        one.kill()
        one.communicate()


def seen_by_another(source):
    done = subprocess.run(
        [sys.executable, "-c", ALICE, str(source)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


async def test_a_colleague_who_reads_is_named_until_they_are_gone(inbox, source, until, bob):
    aid = ask_for(source).shown.aid
    await until(lambda: inbox.model.row(aid), "the row")
    inbox.table.choose(aid)
    await until(lambda: inbox.flow.view.prepared, "the reading")
    facts = inbox.pane.header.facts
    reader = bob("Bob\u202e", aid)
    inbox.colleagues.look()
    # Several people may share an account, each under a name of their own.
    said = f"Bob\u27e6U+202E\u27e7 (uid {folders.user_id()}) is reading this"
    await until(lambda: facts.text().startswith(said))
    assert inbox.colleagues.read_by_others(aid)
    reader.kill()
    reader.wait()
    inbox.colleagues.look()
    await until(lambda: "reading this" not in facts.text(), "Bob is gone")
    assert not inbox.colleagues.read_by_others(aid)


class SeenBy:
    """The bridge of one who calls themself Alice, and saw these colleagues."""

    def __init__(self, *seen: Reader) -> None:
        self.seen = {"call": seen}

    def me(self):
        return Person(uid=folders.user_id(), name="Alice", host="here")

    async def readers(self):
        return self.seen


@pytest.mark.parametrize(
    "seen, said",
    [
        ([(1, "Bob")], "Bob (uid {1}) is reading this"),
        ([(1, "")], "uid {1} is reading this"),
        ([(1, "Bob\u202e")], "Bob\u27e6U+202E\u27e7 (uid {1}) is reading this"),
        ([(1, "Bob"), (2, "Bob")], "Bob (uid {1}) and Bob (uid {2}) are reading this"),
        (
            [(0, "Alice"), (1, "Bob")],
            "Bob (uid {1}) and you, in another window, are reading this",
        ),
        ([(0, "Alice"), (0, "Alice")], "you are reading this in another window"),
        ([(0, "Bob")], "Bob (uid {0}) is reading this"),
        ([(1, "Alice")], "Alice (uid {1}) is reading this"),
    ],
)
async def test_a_reader_is_named_with_the_user_that_they_are(seen, said, qtbot, until):
    mine = folders.user_id()
    bridge = SeenBy(*(Reader(mine + more, name, "call") for more, name in seen))
    tasks = Tasks(asyncio.get_running_loop())
    colleagues = Colleagues(cast("Bridge", bridge), tasks)
    colleagues.look()
    await until(lambda: colleagues.read_by_others("call"), "the look")
    assert colleagues.sentence("call") == said.format(mine, mine + 1, mine + 2)
    await tasks.close()


def test_a_long_name_leaves_room_for_the_user_beside_it():
    assert len(named(Reader(1001, "x" * 200, "call"))) <= 40 + len(" (uid 1001)")
    assert named(Reader(1001, "x" * 200, "call")).endswith(" (uid 1001)")


async def test_others_see_what_is_read_here(inbox, source, until):
    aid = ask_for(source).shown.aid
    await until(lambda: inbox.model.row(aid), "the row")
    inbox.table.choose(aid)
    reading = source / presence.FOLDER
    await until(lambda: list(reading.rglob(presence.READING)), "the word to colleagues")
    assert seen_by_another(source) == [aid]
    inbox.hide()
    await until(lambda: not list(reading.rglob(presence.READING)), "nothing is read any more")


# --- In the table ---------------------------------------------------------------------------------


async def test_a_row_that_somebody_reads_is_marked_and_told_to_screen_readers(
    inbox, source, until, bob
):
    aid = ask_for(source).shown.aid
    await until(lambda: inbox.model.row(aid), "the row")
    cell = inbox.model.index(inbox.model.position(aid), Column.ARGUMENTS)
    repainted = []
    inbox.model.dataChanged.connect(lambda first, *_: repainted.append(first.row()))
    bob(inbox.colleagues._bridge.me().name, aid)
    inbox.colleagues.look()
    await until(lambda: cell.data(Role.READER) == "you, elsewhere", "the mark")
    assert repainted
    assert "you, elsewhere" in cell.data(Qt.ItemDataRole.AccessibleTextRole)


@pytest.mark.parametrize(
    "seen, mark",
    [
        ([(1, "Bob")], "Bob is reading"),
        ([(1, "")], "uid {1} is reading"),
        ([(1, "Bob\u202e")], "Bob\u27e6U+202E\u27e7 is reading"),
        ([(1, "Bob"), (2, "Bob")], "Bob and 1 other read"),
        ([(0, "Alice"), (1, "Bob")], "Bob is reading"),
        ([(0, "Alice"), (0, "Alice")], "you, elsewhere"),
        ([(0, "Bob")], "Bob is reading"),
    ],
)
async def test_a_mark_is_short_and_escaped(seen, mark, qtbot, until):
    mine = folders.user_id()
    bridge = SeenBy(*(Reader(mine + more, name, "call") for more, name in seen))
    tasks = Tasks(asyncio.get_running_loop())
    colleagues = Colleagues(cast("Bridge", bridge), tasks)
    told: list[list[str]] = []
    colleagues.changed.connect(told.append)
    colleagues.look()
    await until(lambda: colleagues.read_by_others("call"), "the look")
    assert colleagues.mark("call") == mark.format(mine, mine + 1)
    assert colleagues.mark("other") == ""
    assert told == [["call"]]
    await tasks.close()


def test_what_somebody_reads_is_one_of_at_most_two_marks():
    row = a_row(1, warnings=("invisible", "first_time"))
    marks = [label for label, _level in cells.chips(row, 2, "Bob is reading")]
    assert marks == ["hidden", "Bob is reading"]


async def test_the_next_call_says_why_it_goes_nowhere(inbox, source, until):
    first, second = (ask_for(source, name).shown.aid for name in ("one", "two"))
    await until(lambda: inbox.model.rowCount() == 2, "the rows")
    inbox.table.choose(first)
    inbox.model.skipped = lambda row_id: row_id == second
    inbox.go.next_waiting()
    assert inbox.table.current_id == first
    said = inbox.status.totals.text()
    assert said == "The other call that waits here is being read elsewhere."
    inbox.overview.show_totals()
    assert inbox.status.totals.text() == said
    inbox.filter.setText("agent:one")
    await until(lambda: inbox.model.rowCount() == 1, "the filter")
    inbox.go.next_waiting()
    assert inbox.status.totals.text() == "No other call waits here."


async def test_colleagues_are_asked_only_while_somebody_could_see_it(inbox, until, monkeypatch):
    await until(inbox.colleagues._timer.isActive, "the looks")
    inbox.hide()
    await until(lambda: not inbox.colleagues._timer.isActive(), "no looks while it is hidden")
    inbox.show()
    await until(inbox.colleagues._timer.isActive, "the looks again")
    inbox.showMinimized()
    await until(lambda: not inbox.colleagues._timer.isActive(), "no looks while it is minimised")
