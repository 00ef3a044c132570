"""What colleagues read: seen in the pane, told by this window, and gone with the colleague."""

import json
import subprocess
import sys

import pytest

from lineclear.core.ledger import presence
from tests.ui.sample import ask_for

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
    await until(lambda: facts.text().startswith("Bob\u27e6U+202E\u27e7 is reading this"))
    assert inbox.colleagues.read_by_others(aid)
    reader.kill()
    reader.wait()
    inbox.colleagues.look()
    await until(lambda: "is reading" not in facts.text(), "Bob is gone")
    assert not inbox.colleagues.read_by_others(aid)


async def test_others_see_what_is_read_here(inbox, source, until):
    aid = ask_for(source).shown.aid
    await until(lambda: inbox.model.row(aid), "the row")
    inbox.table.choose(aid)
    reading = source / presence.FOLDER
    await until(lambda: list(reading.rglob(presence.READING)), "the word to colleagues")
    assert seen_by_another(source) == [aid]
    inbox.hide()
    await until(lambda: not list(reading.rglob(presence.READING)), "nothing is read any more")
