import asyncio
import os
import threading

import pytest

from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.agent.tools import Tool


@pytest.fixture
def threads():
    threads = LedgerThreads()
    yield threads
    threads.close()


async def test_a_step_gives_its_value_or_its_failure(threads):
    assert await threads.run(lambda: 41) == 41
    with pytest.raises(KeyError):
        await threads.run(lambda: os.environ["LINECLEAR_ABSENT"])


async def test_a_cancelled_step_is_finished_first(threads):
    began, go_on = threading.Event(), threading.Event()
    finished = []

    def step():
        began.set()
        assert go_on.wait(20)
        finished.append(True)

    task = asyncio.get_running_loop().create_task(threads.run(step))
    await asyncio.to_thread(began.wait, 20)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert finished == [True]


async def test_a_cancelled_sync_tool_ends_before_its_run_does():
    began, go_on = threading.Event(), threading.Event()

    def wipe(disk: str) -> str:
        began.set()
        assert go_on.wait(20)
        return f"wiped {disk}"

    results = []

    async def run():
        results.append(await Tool(wipe).run({"disk": "a"}, ""))
        await asyncio.Event().wait()

    task = asyncio.get_running_loop().create_task(run())
    await asyncio.to_thread(began.wait, 20)
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert results == ["wiped a"]


async def test_a_timeout_around_a_sync_tool_is_still_a_timeout():
    began, go_on = threading.Event(), threading.Event()

    def wipe() -> str:
        began.set()
        assert go_on.wait(20)
        return "wiped"

    async def limited():
        async with asyncio.timeout(0.05):
            result = await Tool(wipe).run({}, "")
            await asyncio.sleep(0)
            return result

    task = asyncio.get_running_loop().create_task(limited())
    await asyncio.to_thread(began.wait, 20)
    await asyncio.sleep(0.1)
    go_on.set()
    with pytest.raises(TimeoutError):
        await task
