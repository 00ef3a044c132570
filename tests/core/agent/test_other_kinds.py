"""Runs that go on in an executor which does not write the kinds of checkpoints they left."""

import json
from pathlib import Path

import pytest

from lineclear.core.agent.resume import resume
from lineclear.core.errors import NothingPending, Unreadable
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import scan_once
from tests.core.agent.test_unread_checkpoints import RUN, WAYS, Bot, damage

BOTH = {"loop": True, "handler": True}
LOOP = {"loop": True, "handler": False}
HANDLER = {"loop": False, "handler": True}
NEITHER = {"loop": False, "handler": False}
MAY = "[MAY HAVE RUN"


def bot(source: Path, **kinds: bool) -> Bot:
    return Bot(source / "bot", **kinds)


def listed(source: Path) -> list[tuple[str, str | None]]:
    settings = Settings(sources=(SourceSetting(path=source),))
    rows = scan_once(settings, settings.sources)
    return [(str(row.state), row.reason_code) for row in rows if not row.closed]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("resumed", [LOOP, NEITHER, HANDLER], ids=["loop", "neither", "handler"])
@pytest.mark.parametrize(
    "case",
    [
        (BOTH, "ran 2", None),
        (HANDLER, "ran 2", None),
        (BOTH, "plan 3", "mail 2"),
        (HANDLER, "plan 3", "mail 2"),
        (LOOP, "plan 3", "mail 2"),
    ],
    ids=["both, in a tool", "handler, in a tool", "both", "handler", "loop"],
)
async def test_it_goes_on_from_whichever_came_further(source, case, resumed, way):
    left, at, said = case
    await bot(source, **left).die(at)
    assert listed(source) == [("resumable", None)]
    told = await bot(source, **resumed).go_on(way)
    assert bot(source).effects == ["mail 0", "pay 1", "mail 2", "mail 3"]
    assert told is not None
    third = told.split("; ")[2]
    assert third == said if said is not None else third.startswith(MAY)
    assert listed(source) == []
    with pytest.raises(NothingPending):
        await resume(source / "bot", bot(source, **BOTH).make)
    assert len(bot(source).effects) == 4


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("resumed", [LOOP, NEITHER, HANDLER], ids=["loop", "neither", "handler"])
@pytest.mark.parametrize("left", [BOTH, HANDLER], ids=["both", "handler"])
async def test_killed_again_it_makes_no_call_a_second_time(source, left, resumed, way):
    await bot(source, **left).die("ran 2")
    await bot(source, **resumed).die_again("ran 3", way)
    told = await bot(source, **resumed).go_on(way)
    assert bot(source).effects == ["mail 0", "pay 1", "mail 2", "mail 3"]
    assert told is not None
    assert [one.startswith(MAY) for one in told.split("; ")] == [False, False, True, True]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["torn", "newer", "encrypted", "block"])
@pytest.mark.parametrize(
    "resumed, other",
    [(LOOP, "execution_file"), (NEITHER, "execution_file"), (HANDLER, "loop_file")],
    ids=["loop", "neither", "handler"],
)
async def test_one_of_another_kind_that_cannot_be_read_stops_it(source, resumed, other, kind, way):
    await bot(source, **BOTH).die("plan 3")
    file = getattr(bot(source), other)
    damage(file, kind)
    with pytest.raises(Unreadable) as stopped:
        await bot(source, **resumed).go_on(way)
    assert str(file) in stopped.value.sentence
    assert len(bot(source).effects) == 3


async def test_a_checkpoint_of_another_program_stays_and_its_run_is_not_to_be_resumed(source):
    await bot(source, **BOTH).die("plan 3")
    file = bot(source).execution_file
    document = json.loads(file.read_bytes())
    del document["metadata"]["lineclear"]
    raw = json.dumps(document).encode()
    file.write_bytes(raw)
    await bot(source, **LOOP).go_on(WAYS[1])
    assert file.read_bytes() == raw
    assert listed(source) == []
    assert RUN in json.loads((source / "bot" / "runs.json").read_bytes())["runs"][0]["run_id"]
