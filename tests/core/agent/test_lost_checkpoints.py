"""Checkpoints that are not where they were: what cannot be looked at, is renamed, or is gone."""

import os
import shutil
import socket

import pytest

from lineclear import AgentExecutor, Allow, Tool
from lineclear.core.agent.checkpoint_files import FileCheckpointHandler, checkpoint_name
from lineclear.core.agent.errors import ResumeError, ResumeIOError, ResumeSerializeError
from lineclear.core.agent.resume import kept_runs, resume
from lineclear.core.agent.run_marks import RUN_KEPT
from lineclear.core.checkpoints.a3s import file_name
from lineclear.core.errors import Unreadable
from tests.core.agent.test_unread_checkpoints import NEEDS_POSIX, RUN, WAYS, Bot, Died, ask_and_die

ALL = ["mail 0", "pay 1", "mail 2", "mail 3"]


def exchange(path, kind):
    """Put something else in the place of a folder or file."""
    path.rename(path.with_name("moved"))
    if kind == "dangling":
        path.symlink_to(path.parent / "not mounted")
    elif kind == "link":
        path.symlink_to("moved")
    elif kind == "circle":
        path.symlink_to(path.name)
    elif kind == "file":
        path.write_text("x")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        # A socket's own path is short, wherever the test's folder lies.
        here = os.open(path.parent, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


async def stops(bot, way, *said):
    """Resume it twice: nothing runs, nothing is removed, and the sentence says what to do."""
    ran, there = bot.effects, everything(bot.store)
    for _ in range(2):
        with pytest.raises(Unreadable) as refused:
            await bot.go_on(way)
        for words in said:
            assert words in refused.value.sentence
    assert bot.effects == ran
    assert [name for name in there if not (bot.store / name).is_symlink()] == [
        name
        for name in everything(bot.store)
        if name in there and not (bot.store / name).is_symlink()
    ]


@NEEDS_POSIX
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["dangling", "link", "circle", "file", "pipe"])
@pytest.mark.parametrize("place", ["v1", "v1/loop_checkpoints"])
async def test_a_folder_that_cannot_be_looked_at_is_not_an_empty_one(source, place, kind, way):
    bot = Bot(source / "bot", handler=False)
    await bot.die("plan 4")
    exchange(bot.store / place, kind)
    await stops(bot, way, f"{bot.store / place} is ", "in its place and try again")


@NEEDS_POSIX
@pytest.mark.parametrize("kept", ["loop", "execution"])
async def test_a_socket_in_the_place_of_a_file_is_named_with_its_cure(source, kept):
    bot = Bot(source / "bot", loop=kept == "loop", handler=kept != "loop")
    await bot.die("plan 4")
    file = bot.loop_file if kept == "loop" else bot.execution_file
    exchange(file, "socket")
    (file.with_name("moved")).unlink()
    await stops(bot, WAYS[1], f"{file} is a device, pipe or socket", "look what stands there")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kept", ["loop", "execution", "both"])
@pytest.mark.parametrize("name", ["{} (copy)", "of another run", "CAPITALS"])
async def test_a_renamed_one_is_named_with_its_own_name(source, kept, name, way):
    bot = Bot(source / "bot", loop=kept != "execution", handler=kept != "loop")
    await bot.die("plan 4")
    (bot.store / RUN_KEPT).unlink()  # As an earlier version left it.
    # Where both are kept, the one that came further.
    file = bot.loop_file if kept == "loop" else bot.execution_file
    another = file_name("run-9") if kept == "loop" else checkpoint_name("run-9")
    names = {"CAPITALS": file.name.upper(), "of another run": another}
    renamed = file.rename(file.with_name(names.get(name, name.format(file.name))))
    with pytest.raises(Unreadable) as refused:
        await bot.go_on(way)
    assert str(renamed) in refused.value.sentence
    assert bot.effects == ALL
    renamed.rename(file)
    assert await bot.go_on(way) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ALL


@pytest.mark.parametrize("kept", ["loop", "execution"])
async def test_a_copy_beside_the_runs_own_file_is_nothing(source, kept):
    bot = Bot(source / "bot", loop=kept == "loop", handler=kept != "loop")
    await bot.die("plan 4")
    file = bot.loop_file if kept == "loop" else bot.execution_file
    shutil.copy(file, file.with_name(f"{file.name}.bak"))
    assert await kept_runs(bot.store) == {RUN}
    assert await bot.go_on(WAYS[2]) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ALL
    # It does not make a run that has ended one to resume.
    async with bot.make(bot.store) as executor:
        assert await executor.resume() is None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kept", ["loop", "execution", "both"])
async def test_one_that_is_gone_is_missed_until_the_note_is_removed_too(source, kept, way):
    bot = Bot(source / "bot", loop=kept != "execution", handler=kept != "loop")
    await bot.die("plan 4")
    gone = bot.loop_file if kept == "loop" else bot.execution_file
    gone.unlink()
    await stops(
        bot, way, f"{gone}, the last checkpoint of run {RUN}, is not there any more", RUN_KEPT
    )
    (bot.store / RUN_KEPT).unlink()
    assert await bot.go_on(way) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == (ALL if kept == "both" else [*ALL, "mail 2", "mail 3"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("other", ["no handler", "another folder"])
async def test_one_that_is_kept_elsewhere_is_named_where_it_stands(source, other, way):
    bot = Bot(source / "bot")
    bot.kept = source / "bot-cp"
    await bot.die("plan 4")
    there = bot.execution_file
    again = Bot(source / "bot", handler=other == "another folder")
    await stops(
        again, way, f"{there}, the last checkpoint of run {RUN}, is in a folder", "`checkpoints=`"
    )
    # With the handler of that folder it goes on; and what is gone from it is missed there.
    moved = there.rename(source / "moved")
    for one in (bot, again):
        await stops(one, way, f"{there}, the last checkpoint of run {RUN}, is not there any more")
    moved.rename(there)
    assert await bot.go_on(way) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ALL


async def test_an_open_call_needs_none(source, operator):
    bot = Bot(source / "bot", handler=False, approval=False)
    await ask_and_die(bot, operator)
    exchange(bot.store / "v1", "dangling")
    operator.approve()
    assert await bot.go_on(WAYS[2]) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ALL


@NEEDS_POSIX
@pytest.mark.parametrize("kind", ["dangling", "link", "file"])
async def test_a_store_that_is_none_is_said_to_be_none(source, kind):
    bot = Bot(source / "bot")
    await bot.die("plan 4")
    exchange(bot.store, kind)
    with pytest.raises(Unreadable, match=f"{bot.store} is .* in its place and try again"):
        await resume(bot.store, bot.make)
    assert bot.effects == ALL


@NEEDS_POSIX
async def test_a_store_below_a_link_that_leads_nowhere_is_not_empty(source):
    (source / "disk").symlink_to("not mounted")
    with pytest.raises(Unreadable, match=r"disk is a symbolic link, .* leads nowhere now"):
        await resume(source / "disk" / "bot", Bot(source / "bot").make)


async def test_a_pending_call_that_leads_nowhere_stops(source):
    bot = Bot(source / "bot", handler=False)
    await bot.die("plan 2")
    (bot.store / "pending.json").symlink_to("nowhere")
    with pytest.raises(ResumeIOError, match=r"pending\.json"):
        await bot.go_on(WAYS[2])
    assert bot.effects == ALL[:2]


# --- begun again, not resumed -----------------------------------------------------------------


async def test_the_fence_of_a_run_that_begins_afresh_outlives_its_next_death(source):
    bot = Bot(source / "bot", handler=False)
    await bot.die("plan 2")
    bot.loop_file.unlink()
    # Another run's call is the newest one, so that the ledger's last word is not this run's.
    async with bot.make(bot.store) as executor:
        await executor.invoke("go", run_id="run-8")
    ran = bot.effects
    await bot.die("plan 1")
    assert bot.effects == ran
    async with bot.make(bot.store) as executor:
        said = await executor.invoke("go", run_id=RUN)
    assert said.startswith("[MAY HAVE RUN: ")
    assert said.endswith("; pay 1; mail 2; mail 3")
    assert bot.effects == [*ran, "mail 2", "mail 3"]


@pytest.mark.parametrize("kept", ["loop", "both"])
async def test_the_end_of_the_last_run_is_known_without_runs_json(source, kept):
    bot = Bot(source / "bot", handler=kept == "both")
    async with bot.make(bot.store) as executor:
        first = await executor.invoke("go", run_id=RUN)
    (bot.store / "runs.json").unlink()
    async with bot.make(bot.store) as executor:
        if kept == "both":
            assert await executor.invoke("go", run_id=RUN) == first
        else:
            with pytest.raises(ResumeError, match="run-7 ended here at"):
                await executor.invoke("go", run_id=RUN)
    assert bot.effects == ALL


class DyingAtTheEnd(FileCheckpointHandler):
    """Ends the process once the last boundary is kept."""

    async def checkpoint(self, checkpoint):
        said = await super().checkpoint(checkpoint)
        if checkpoint.node == "run_complete":
            raise Died
        return said


async def test_a_run_that_died_after_its_last_boundary_has_ended_when_the_next_one_starts(source):
    bot = Bot(source / "bot")
    dying = AgentExecutor(
        bot,
        {"pay": bot.tool("pay"), "mail": Tool(bot.tool("mail"), asks=False)},
        store=bot.store,
        approval=lambda call: Allow(),
        checkpoints=DyingAtTheEnd(bot.store),
    )
    async with dying:
        with pytest.raises(Died):
            await dying.invoke("go", run_id=RUN)
    assert (bot.loop_file.exists(), bot.execution_file.exists()) == (True, True)
    async with bot.make(bot.store) as executor:
        await executor.invoke("go", run_id="run-8")
        assert await executor.resume() is None
        with pytest.raises(ResumeError, match="run-7 ended here at"):
            await executor.invoke("go", run_id=RUN)
    assert (bot.loop_file.exists(), bot.execution_file.exists()) == (False, False)
    assert bot.effects == [*ALL, *ALL]


async def test_another_run_of_almost_the_same_id_is_another_run(source):
    bot = Bot(source / "bot")
    async with bot.make(bot.store) as executor:
        await executor.invoke("go", run_id=f" {RUN}")
        with pytest.raises(ResumeError, match=f"There is nothing of run {RUN} to resume"):
            await executor.resume(run_id=RUN)


async def test_notes_that_cannot_be_read_are_told_with_their_own_cure(source):
    bot = Bot(source / "bot")
    await bot.die("plan 4")
    for name, cure in (
        ("runs.json", "put a whole copy back or remove it"),
        (RUN_KEPT, "remove it"),
    ):
        (bot.store / name).unlink(missing_ok=True)
        (bot.store / name).write_text("{")
        (bot.store / name).chmod(0o600)
        with pytest.raises((Unreadable, ResumeSerializeError), match=rf"{name}.*{cure}") as refused:
            await bot.go_on(WAYS[1])
        assert "checkpoint" not in str(refused.value) or name == RUN_KEPT
        (bot.store / name).unlink()
    assert bot.effects == ALL


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("decided", [False, True])
async def test_the_copy_of_a_call_without_its_ledger_is_told_and_not_handed_over(
    source, operator, decided, way
):
    bot = Bot(source / "bot", loop=False, handler=False, approval=False)
    await ask_and_die(bot, operator)
    shutil.rmtree(bot.store / ".approvals")
    if decided:
        # Without a mark of its own: of another program, as far as the operator's side can tell.
        (bot.store / ".approvals").mkdir(mode=0o700)
    for _ in range(2):
        with pytest.raises(ResumeSerializeError, match=r"pending\.json.* without the ledger") as no:
            await bot.go_on(way)
        assert no.value.code == "ledger_gone"
    assert bot.effects == ALL[:1]
    # The way on that it names.
    (bot.store / "pending.json").rename(source / "moved.json")
    async with bot.make(bot.store) as executor:
        with operator.later(operator.approve):
            assert (await executor.invoke("go", run_id=RUN)).endswith("mail 2; mail 3")
