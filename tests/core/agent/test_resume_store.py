import asyncio
import json
import os

import pytest

from lineclear import (
    FileResumeStore,
    MayHaveRun,
    MemoryResumeStore,
    PendingApproval,
    ResumeError,
    ResumeIOError,
    ResumeSerializeError,
    ResumeStore,
    StoreHeld,
)
from lineclear.core.agent.run_folder import RunFolder
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import look


def pending(**changes) -> PendingApproval:
    step = {
        "action": {
            "tool": "ls",
            "tool_input": {"type": "string", "value": "/tmp"},
            "log": "",
        },
        "observation": "a",
    }
    fields = {
        "tool_name": "delete_file",
        "arguments": {"path": "/tmp/ä", "size": 1.50},
        "tool_id": "",
        "inputs": {"input": "clean up"},
        "steps": [step],
        "iteration": 2,
        "tool_calls_consumed": 3,
        "tokens_consumed": 41,
        "trace_id": "9f0b4f2e-0000-4000-8000-000000000001",
    }
    return PendingApproval.from_document(fields | changes)


@pytest.fixture
def path(source):
    return source / "bot"


@pytest.fixture(params=["memory", "file"])
async def store(request, path):
    if request.param == "memory":
        yield MemoryResumeStore()
    else:
        async with FileResumeStore(path) as store:
            yield store


async def test_what_is_saved_is_loaded_until_it_is_cleared(store):
    assert isinstance(store, ResumeStore)
    assert await store.load_pending() is None
    await store.clear_pending()
    await store.save_pending(pending())
    assert await store.load_pending() == pending()
    await store.clear_pending()
    assert await store.load_pending() is None
    await store.clear_pending()


async def test_the_folder_is_made_and_no_draft_stays(path):
    async with FileResumeStore(path / "deep") as store:
        await store.save_pending(pending())
    assert sorted(p.name for p in (path / "deep").iterdir()) == [
        ".approvals",
        "agent.lock",
        "pending.json",
    ]
    saved = json.loads((path / "deep" / "pending.json").read_bytes())
    assert saved["arguments"] == {"path": "/tmp/ä", "size": 1.5}
    assert saved["lineclear"]["agent"] == "deep"


async def test_another_process_or_store_loads_without_the_lock(path):
    async with FileResumeStore(path) as store:
        await store.save_pending(pending())
        other = FileResumeStore(path)
        assert await other.load_pending() == pending()
        with pytest.raises(StoreHeld):
            await other.save_pending(pending(iteration=3))
        with pytest.raises(StoreHeld):
            await other.claim()
        await other.close()
    assert look(path).process is Process.DEAD
    async with FileResumeStore(path) as third:
        assert await third.load_pending() == pending()
        assert await third.claim() is not None


async def test_looking_takes_no_lock_and_makes_nothing(path):
    async with FileResumeStore(path) as store:
        assert await store.load_pending() is None
        assert await store.claim() is None
        await store.clear_pending()
    assert not path.exists()


async def test_saving_another_call_withdraws_the_one_before(path, operator):
    async with FileResumeStore(path) as store:
        await store.save_pending(pending())
        await store.save_pending(pending())
        assert operator.outcomes() == ["open"]
        await store.save_pending(pending(tool_name="wipe"))
    assert operator.outcomes() == ["withdrawn", "open"]


async def test_clearing_withdraws_what_nobody_started(path, operator):
    async with FileResumeStore(path) as store:
        await store.save_pending(pending())
        await store.clear_pending()
        assert operator.outcomes() == ["withdrawn"]
        assert not (path / "pending.json").exists()
        await store.save_pending(pending())
        operator.approve()
        await store.clear_pending()
    assert operator.outcomes() == ["withdrawn", "withdrawn"]


async def test_a_cleared_store_has_nothing_to_go_on_with(path):
    async with FileResumeStore(path) as store:
        await store.save_pending(pending())
        await store.clear_pending()
        assert await store.claim() is None


async def test_a_call_that_may_have_run_is_not_claimed(path, start, operator):
    child = start(
        """
        import asyncio, sys
        from lineclear import AgentExecutor, Action, Finish
        class Agent:
            def plan(self, inputs, steps):
                return Finish("") if steps else Action("hang", {})
        def hang():
            print("ran", flush=True)
            sys.stdin.readline()
        asyncio.run(AgentExecutor(Agent(), {"hang": hang}, store=sys.argv[1]).invoke("x"))
        """,
        path,
    )
    operator.approve()
    await asyncio.to_thread(child.line)
    child.kill()
    async with FileResumeStore(path) as store:
        assert (await store.load_pending()) is not None
        with pytest.raises(MayHaveRun):
            await store.claim()


async def test_a_lane_belongs_to_its_run_folder(source):
    run = RunFolder("bot", source, None, "test")
    lane = FileResumeStore(source / "bot" / "1")
    assert lane.agent == "bot"
    with pytest.raises(StoreHeld):
        await lane.save_pending(pending())
    run.close()
    await lane.save_pending(pending())
    assert not (source / "bot" / "1" / "agent.lock").exists()
    with pytest.raises(StoreHeld):
        RunFolder("bot", source, None, "test")
    await lane.close()


@pytest.mark.parametrize(
    "raw, why",
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (b"[]", "array"),
        (b'{"tool_name": "x"}', "missing"),
        (b"\xff", "UTF-8"),
    ],
)
async def test_a_file_that_cannot_be_parsed_is_told_and_kept(path, raw, why):
    path.mkdir(mode=0o700)
    file = path / "pending.json"
    file.write_bytes(raw)
    async with FileResumeStore(path) as store:
        for step in (store.load_pending, store.claim, store.clear_pending):
            with pytest.raises(ResumeSerializeError, match=why) as error:
                await step()
            assert str(error.value).startswith(f"resume store serialization error: parse {file}: ")
            assert isinstance(error.value, ResumeError)
    assert file.read_bytes() == raw


async def test_a_file_that_cannot_be_read_is_another_error(path):
    path.mkdir(mode=0o700)
    (path / "pending.json").mkdir()
    async with FileResumeStore(path) as store:
        with pytest.raises(ResumeIOError, match="resume store io error"):
            await store.load_pending()


async def test_a_takeover_that_was_killed_in_the_middle_goes_on(path, operator):
    path.mkdir(mode=0o700)
    (path / "pending.claimed.json").write_bytes(pending().encode())
    async with FileResumeStore(path) as store:
        assert await store.load_pending() == pending()
        assert await store.claim() is not None
    assert not (path / "pending.claimed.json").exists()
    assert operator.outcomes() == ["open"]


@pytest.mark.parametrize("name", ["run-end.json", "run-begun.json"])
async def test_a_pipe_in_place_of_a_note_is_refused_instead_of_waited_for(path, name):
    path.mkdir(mode=0o700)
    os.mkfifo(path / name, 0o600)
    async with FileResumeStore(path) as store:
        with pytest.raises(ResumeSerializeError, match=f"parse {path / name}: .* not a file"):
            await asyncio.wait_for(
                store.ended_runs() if "end" in name else store.begun_calls("run-1"), 20
            )


@pytest.mark.parametrize("name", ["pending.json", "pending.claimed.json"])
@pytest.mark.parametrize("changes", [{}, {"tool_name": "pay"}])
async def test_a_file_of_another_program_beside_an_open_call_takes_no_word_away(
    path, operator, name, changes
):
    async with FileResumeStore(path) as store:
        await store.save_pending(pending())
    (shown,) = operator.open_calls()
    operator.approve(shown)
    theirs = pending(**changes).encode()
    (path / name).write_bytes(theirs)
    async with FileResumeStore(path) as store:
        if name == "pending.claimed.json" and not changes:
            # It became this very call; who did that was killed before the file was away.
            assert await store.claim() is not None
            return
        with pytest.raises(ResumeSerializeError, match=shown.aid[:8]) as refused:
            await store.claim()
        assert refused.value.code == "pending_differs"
        assert (path / name).read_bytes() == theirs
        records = operator.records(shown)
        assert (records.decision.verdict, records.start, records.outcome) == ("approve", None, None)
        (path / name).rename(path / "aside")
        found = await store.claim()
        assert found is not None
        assert found.pending == pending()
