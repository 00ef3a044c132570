import json
import signal

import pytest

from lineclear.core.agent.waiting import notice
from lineclear.core.places import default_source

ASYNC = """
import asyncio, sys
from lineclear import Gate

async def main():
    gate = Gate("bot", sys.argv[1])

    @gate.guard
    async def pay(amount: int) -> str:
        print("ran", flush=True)
        await asyncio.Event().wait()

    await pay(5)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

SYNC = """
import sys
from lineclear import Gate

gate = Gate("bot", sys.argv[1])

@gate.guard
def pay(amount: int) -> str:
    print("ran", flush=True)
    sys.stdin.readline()

try:
    pay(5)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("script", [ASYNC, SYNC], ids=["async", "sync"])
def test_ctrl_c_while_waiting_withdraws_and_ends(script, source, operator, start):
    child = start(script, source)
    shown = operator.wait_for_one()
    child.process.send_signal(signal.SIGINT)
    assert child.line() == "interrupted"
    assert child.end() == 0
    assert operator.outcomes() == ["withdrawn"]
    assert not (shown.store / "pending.json").exists()


@pytest.mark.parametrize("script", [ASYNC, SYNC], ids=["async", "sync"])
def test_ctrl_c_while_the_tool_runs_is_an_error_in_the_ledger(script, source, operator, start):
    child = start(script, source)
    shown = operator.approve()
    assert child.line() == "ran"
    child.process.send_signal(signal.SIGINT)
    assert child.line() == "interrupted"
    outcome = operator.records(shown).outcome
    assert outcome is not None
    assert outcome.outcome == "error"
    assert outcome.code in ("cancelled", "interrupted")


def test_a_request_names_the_process_that_waits(source, operator, start):
    child = start(SYNC, source)
    operator.wait_for_one()
    lock = json.loads((source / "bot" / "agent.lock").read_bytes())
    assert lock["pid"] == child.process.pid


def test_a_notice_of_the_default_source_needs_no_option(home):
    assert notice("bot", "pay", "3f2a19c4" + "0" * 24, default_source()) == (
        "bot waits for a person: pay. Answer in Lineclear, or: lineclear approve 3f2a19c4"
        f" (no window watches {default_source()}; open one with: lineclear inbox)"
    )


def test_a_notice_quotes_the_folder_and_escapes_the_tool(tmp_path):
    source = tmp_path / "my agents"
    text = notice("bot", "pay\u202e\x1b[2J", "3f2a19c4" + "0" * 24, source)
    assert f"lineclear approve 3f2a19c4 --source '{source}'" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_notice_says_where_a_folder_behind_a_link_really_is(tmp_path):
    source, real = tmp_path / "agents", tmp_path / "big" / "bot"
    source.mkdir()
    real.mkdir(parents=True)
    (source / "bot").symlink_to(real)
    text = notice("bot", "pay", "3f2a19c4" + "0" * 24, source, source / "bot")
    assert f"Its folder {source / 'bot'} is a link to {real}" in text
    assert f"lineclear config add-source {real}" in text
    assert f"lineclear approve 3f2a19c4 --source {real}" in text
    (tmp_path / "again").symlink_to(source)
    (source / "real").mkdir()
    plain = notice("bot", "pay", "3f2a19c4" + "0" * 24, tmp_path / "again", source / "real")
    assert "is a link" not in plain
