"""The bridge cuts diffs, keeps settings, and gives the window's thread nothing to wait for."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator import settings as settings_file
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.feed import Diff
from lineclear.ui.bridge import AT_ONCE, Bridge, pieces
from lineclear.ui.frame import window_state
from tests.ui.sample import a_row, ask_for, row_id


def test_a_large_diff_arrives_in_pieces_with_its_flags_last():
    rows = tuple(a_row(number) for number in range(1_200))
    diff = Diff(rows, rows[:3], tuple(row_id(number) for number in range(700)), (), complete=True)
    cut = pieces(diff)
    assert max(len(one.added) + len(one.changed) + len(one.removed) for one in cut) == AT_ONCE
    assert tuple(row for one in cut for row in one.added) == rows
    assert sum(len(one.removed) for one in cut) == 700
    assert [one.complete for one in cut] == [False] * (len(cut) - 1) + [True]
    assert cut[-1].health == ()


def test_a_small_diff_is_passed_on_as_it_is():
    diff = Diff(added=(a_row(1),))
    assert pieces(diff) == [diff]


async def test_rows_arrive_in_the_windows_thread(qapp, source, until):
    ask_for(source)
    bridge = Bridge(Settings(), only=(source,))
    threads: list[int] = []
    bridge.arrived.connect(lambda _diff: threads.append(threading.get_ident()))
    bridge.start()
    await until(lambda: threads, "a diff")
    await bridge.stop()
    assert set(threads) == {threading.get_ident()}


async def test_reading_leaves_the_loop_free(qapp, source, until):
    ask_for(source, arguments={"text": "line\n" * 200_000})
    bridge = Bridge(Settings(), only=(source,))
    rows = []
    bridge.arrived.connect(lambda diff: rows.extend(diff.added))
    bridge.start()
    await until(lambda: rows, "a row")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    ticking = asyncio.get_running_loop().create_task(tick())
    prepared = await bridge.read(rows[0])
    ticking.cancel()
    await bridge.stop()
    assert prepared.lines == 200_004
    assert ticks > 3


async def test_a_folder_and_a_command_are_kept_beside_what_was_there(qapp, tmp_path: Path):
    first = SourceSetting(path=tmp_path / "one")
    settings_file.save(Settings(sources=(first,), operator="ann"))
    bridge = Bridge(settings_file.load(), only=(tmp_path / "shown",))
    await bridge.add_source(tmp_path / "two")
    await bridge.add_source(tmp_path / "two")
    row = a_row(1, agent="refund-bot", source=tmp_path / "one")
    await bridge.set_command(row, ("/usr/bin/env", "a"))
    await bridge.set_command(row, ("/usr/bin/env", "b"))
    await bridge.stop()
    kept = settings_file.load()
    assert [one.path.name for one in kept.sources] == ["one", "two"]
    assert [one.argv for one in kept.launch] == [("/usr/bin/env", "b")]
    assert kept.operator == "ann"
    # The command line's folders are watched, and never written down.
    assert [one.path.name for one in bridge.settings.sources] == ["shown"]


async def test_a_whole_machine_is_not_watched_by_a_slip_in_the_dialog(qapp, tmp_path: Path):
    bridge = Bridge(settings_file.load())
    with pytest.raises(Refusal, match="whole machine") as told:
        await bridge.add_source(Path("/"))
    await bridge.stop()
    assert told.value.code == "too_wide"
    assert "/" not in [str(one.path) for one in settings_file.load().sources]


def test_a_pipe_in_place_of_the_windows_state_holds_nothing_up(home: Path):
    home.mkdir(parents=True, exist_ok=True)
    os.mkfifo(home / window_state.NAME)
    assert window_state.read_state(home) == window_state.WindowState()
