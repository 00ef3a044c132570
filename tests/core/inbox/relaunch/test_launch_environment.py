"""What the settings give an agent's environment is the agent's: our worker keeps its own places."""

import sys

import pytest

from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch.launch import relaunch
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.turn import FOLDER
from lineclear.core.places import state
from tests.core.inbox.rows.test_stopped_runs import WORD, until
from tests.core.inbox.runs.test_beside import looped


@pytest.mark.parametrize("name", ["LINECLEAR_HOME", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"])
def test_an_agents_other_home_moves_neither_our_settings_nor_the_turn(
    source, tmp_path, monkeypatch, name
):
    # As on a machine that sets none of ours: then each of them says where our places are.
    if name != "LINECLEAR_HOME":
        monkeypatch.delenv("LINECLEAR_HOME")
    if name == "HOME":
        monkeypatch.delenv("XDG_STATE_HOME")
        monkeypatch.delenv("XDG_CONFIG_HOME")
    other = tmp_path / "other"
    other.mkdir()
    looped(source / "b0")
    program = ("-c", f"import os; print('in', os.environ[{name!r}])")
    launch = LaunchSetting(
        source=source, argv=(sys.executable, *program), env={name: str(other)}, cwd=tmp_path
    )
    settings = Settings(sources=(SourceSetting(path=source),), launch=(launch,))
    save(settings)
    (row,) = scan_once(settings, settings.sources)
    launched = relaunch(read_detail(row), settings, despite=WORD)
    ended = until(
        lambda: (
            [row for row in scan_once(settings, settings.sources, every_closed=True) if row.closed]
            or "[" in launched.log.read_text()
        )
    )
    assert ended is not True, launched.log.read_text()
    assert launched.log.read_text() == f"in {other}\n"
    assert (state() / FOLDER).is_dir()
    assert list(other.iterdir()) == []
