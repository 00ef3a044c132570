"""A checkpoint with many calls costs what its length says, not its length times its calls."""

import cProfile
import json
import pstats
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lineclear.cli.main import main
from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.foreign import show_foreign
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    waiting_state,
)


def left(source: Path, many: int) -> Path:
    """A run that waits for MANY approvals."""
    state = waiting_state(
        *(approval(f"call_{n}", arguments={"command": f"rm {n}"}) for n in range(many)),
        batch=[call(f"call_{n}", arguments={"command": f"rm {n}"}) for n in range(many)],
    )
    source.mkdir(mode=0o700)
    (source / "web").mkdir(mode=0o700)
    path = source / "web" / "run.checkpoint.json"
    return badinputs.put(path, json.dumps(starweaver_document(state)).encode())


def steps(work: Callable[[], Any], *, of: str = "") -> int:
    """Count what WORK calls, or how often it calls the function OF."""
    profile = cProfile.Profile()
    profile.runcall(work)
    stats: Any = pstats.Stats(profile)
    return sum(calls for (_, _, name), (_, calls, *_) in stats.stats.items() if of in ("", name))


def settings_of(source: Path) -> Settings:
    return Settings(sources=(SourceSetting(path=source),))


def decide_one(source: Path, number: int) -> None:
    settings = settings_of(source)
    row = scan_once(settings, settings.sources)[number]
    verdict = Verdict("deny", reason="no")
    decide(read_detail(row), verdict, Origin.CLI, settings)


@pytest.mark.parametrize("decided", [0, 5])
def test_a_list_costs_no_more_per_call_where_there_are_more(tmp_path, decided):
    costs = []
    for many in (50, 200):
        source = tmp_path / str(many)
        left(source, many)
        for number in range(decided):
            decide_one(source, number)
        settings = settings_of(source)
        costs.append(steps(partial(scan_once, settings, settings.sources)))
    assert costs[1] < 5 * costs[0]


def test_a_file_is_parsed_once_per_look_however_many_of_its_calls_are_decided(tmp_path):
    left(tmp_path / "agents", 6)
    settings = settings_of(tmp_path / "agents")
    for number in range(6):
        decide_one(tmp_path / "agents", number)
    assert steps(lambda: scan_once(settings, settings.sources), of="read_checkpoint") == 1


def test_a_decision_at_the_command_line_parses_its_checkpoint_once(tmp_path, capsys):
    source = tmp_path / "agents"
    assert left(source, 400).stat().st_size > 128 << 10
    settings = settings_of(source)
    for number, word in enumerate((["approve"], ["deny", "--reason", "no"])):
        row = scan_once(settings, settings.sources)[number]
        argv = [word[0], row.id, *word[1:], "--source", str(source)]
        assert steps(partial(main, argv), of="pending_calls") == 1
        assert row.id[:8] in capsys.readouterr().out


def test_a_decision_costs_no_more_per_call_where_there_are_more(tmp_path):
    costs = []
    for many in (50, 200):
        source = tmp_path / str(many)
        left(source, many)
        decide_one(source, 0)
        costs.append(steps(partial(decide_one, source, 1)))
    assert costs[1] < 5 * costs[0]


def test_the_bytes_that_name_many_calls_are_hashed_once(tmp_path):
    path = left(tmp_path / "agents", 50)
    file = show_foreign(path)[0].file
    assert file is not None
    assert file.sha256 is file.sha256
