"""What the window says of a resume is what its worker says: it started the agent, or why not."""

import json
import subprocess
import sys
from contextlib import contextmanager

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.run_name import name_of
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.layout import APPROVALS, WORKERS
from lineclear.core.ledger.lock import AgentLock
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from tests.ui.test_dead_agents import a_foreign_call, set_command
from tests.ui.test_window import click, ready, says, select

GOES_ON = """
import sys
from pathlib import Path
from lineclear.core.ledger.going_lock import going_on
with going_on(sys.argv[1], Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def going_on_in(folder, shown):
    """Another process of this operator goes on with the run of a call."""
    argv = [sys.executable, "-c", GOES_ON, name_of(shown), str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


async def an_approved_call(inbox, source, until, code):
    """A call of another program in view, approved, with a command that resumes it."""
    aid = await a_foreign_call(inbox, source, until)
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    await until(lambda: inbox.model.counts()[Section.HANDED_OVER] == 1, "the approval")
    inbox.sidebar.choose_section(Section.HANDED_OVER)
    await select(inbox, until, aid)
    await set_command(inbox, until, code)
    await until(inbox.pane.bar.resume.isVisible, "Resume")
    return aid


async def resume(inbox, until):
    await until(inbox.pane.bar.resume.isVisible, "Resume")
    await ready(inbox, until, Act.RESUME)
    click(inbox.pane.bar.resume)


async def test_what_its_worker_was_refused_was_not_started(inbox, source, until, tmp_path):
    aid = await an_approved_call(inbox, source, until, "print(1)")
    shown = read_detail(inbox.model.row(aid)).shown
    heard: list[Row] = []
    inbox.flow._undertaking.started.connect(heard.append)
    with going_on_in(tmp_path / "elsewhere", shown) as other:
        await resume(inbox, until)
        banner = await until(lambda: inbox.findChild(object, "failed"), "why")
        assert banner.accessibleName() == (
            f"It goes on already: process {other.pid} resumed it in {tmp_path / 'elsewhere'}."
        )
        assert says(inbox, "sentence") != "Starting\u2026"
        assert heard == []
        other.communicate()
    await resume(inbox, until)
    await until(lambda: says(inbox, "sentence") == "seed was started again.", "that it did")
    assert [row.id for row in heard] == [aid]
    (record,) = (source / "seed" / ".approvals").glob("*.start.json")
    assert json.loads(record.read_bytes())["owner"]["pid"]
    await until(lambda: inbox.findChild(object, "failed") is None, "no word of the first")


async def test_while_a_worker_has_not_said_its_word_other_acts_go_on(inbox, source, until):
    await an_approved_call(inbox, source, until, "print(1)")
    with AgentLock.acquire(source / "seed" / APPROVALS / WORKERS):
        await resume(inbox, until)
        await until(lambda: says(inbox, "sentence") == "Starting\u2026", "the word")
        await until(lambda: not inbox.flow._busy, "the end of the act")
        waited = await until(
            lambda: says(inbox, "sentence") != "Starting\u2026" and says(inbox, "sentence"),
            "what it waits for",
        )
        assert str(source / "seed") in waited
    await until(lambda: says(inbox, "sentence") == "seed was started again.", "that it did")
