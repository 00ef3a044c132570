"""What the pane says of the other calls of a run, and that they are a click away."""

import pytest

from lineclear.core.checkpoints.model import Counters
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.queue.cells import tools
from lineclear.ui.reading.run_line import RunLine
from tests.ui.sample import NOW, SOURCE, a_row

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def run_of(*tools, **more):
    return [
        a_row(
            number, item=f"call_{number}", run="r", agent="releaser", store=SOURCE / "releaser",
            system="starweaver", tool=tool, arguments={"n": number}, asked_at=None,
            file_time=NOW, **more,
        )
        for number, tool in enumerate(tools, 1)
    ]  # fmt: skip


def test_other_calls_are_named_by_their_tools():
    assert tools(run_of("shell")) == "shell"
    assert tools(run_of("pay", "shell", "shell", "mail", "list")) == "shell \u00d72, pay and 2 more"
    assert tools(run_of("a\u202eb")) == "a\u27e6U+202E\u27e7b"


def says(line: RunLine) -> str | None:
    return None if line.isHidden() else line.told.text()


def test_the_line_names_the_others_and_the_whole_run(qtbot):
    line = RunLine()
    qtbot.addWidget(line)
    rows = run_of("shell", "shell", "create_issue")
    ids = [one.id for one in rows]
    line.show_run(rows[2], rows, ids)
    assert says(line) == "Call 3 of 3 of its run, with shell \u00d72"
    assert line.told.accessibleDescription().startswith("This run, 3 calls of 1 run. Steps: 3;")
    assert line.list.accessibleName() == "List the 3 calls of this run"


def test_lanes_of_one_run_tell_what_it_used_in_all(qtbot):
    line = RunLine()
    qtbot.addWidget(line)
    more = {"run": "r", "agent": "a", "run_folder": SOURCE / "a"}
    older = a_row(1, counters=Counters(2, 4, 100), **more)
    newer = a_row(2, tool="pay", counters=Counters(5, 9, 20_000), limits=Counters(10), **more)
    line.show_run(older, [older, newer], [])
    assert says(line) == (
        "1 other call of its run is open: pay \u00b7 the run in all: "
        "5 of 10 iterations \u00b7 9 tool calls \u00b7 20,000 tokens"
    )


def test_nothing_moves_while_a_call_is_read(qtbot):
    line = RunLine()
    qtbot.addWidget(line)
    rows = run_of("shell", "pay")
    ids = [one.id for one in rows]
    line.show_run(rows[0], rows, ids)
    line.show_run(rows[0], rows[:1], ids[:1])
    assert says(line) == "The other calls of its run are over."
    assert not line.list.isEnabled()
    line.show_run(None, [], [])
    assert says(line) is None
    line.show_run(rows[0], rows[:1], ids[:1])
    line.show_run(rows[0], rows, ids)
    assert says(line) is None, "another call that comes meanwhile moves nothing"


async def test_another_call_of_the_run_is_a_choice_away(inbox, until):
    await until(lambda: inbox.overview.complete, "all read")
    rows = run_of("shell", "pay", "mail", process=a_row().process)
    inbox.model.apply(Diff(added=tuple(rows)))
    inbox.table.choose(rows[0].id)
    line = inbox.pane.run
    assert says(line) == "Call 1 of 3 of its run, with pay, mail"
    held = run_of("shell", "pay", state=State.HELD)[1]
    inbox.model.apply(Diff(changed=(held,)))
    entries = line.menu().actions()
    assert [one.text() for one in entries] == [
        "shell \u00b7 Waiting \u00b7 n=1",
        "pay \u00b7 Held \u00b7 n=2",
        "mail \u00b7 Waiting \u00b7 n=3",
    ]
    assert [one.isChecked() for one in entries] == [True, False, False]
    entries[2].trigger()
    assert inbox.flow.view.id == rows[2].id
    assert says(line) == "Call 3 of 3 of its run, with shell, pay"
