"""A run of an executor of ours and a copy of what it keeps: one goes on, and none twice unsaid."""

import shutil
import sys

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.resumed import told
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.state import State
from tests.core.inbox.rows.test_kept_runs import die, started
from tests.core.inbox.rows.test_stopped_runs import WORD, until

AGAIN = "resumed_before"
WAITS = "import sys, time\nwhile not __import__('os').path.exists(sys.argv[1]): time.sleep(0.01)"


@pytest.fixture
def settings(source, tmp_path):
    """A dead executor, a copy of its loop checkpoint, and a command that waits for `go`."""
    agent = started(source, "free", tmp_path / "mark", "stay")
    assert agent.stdout.readline() == "one step done\n"
    die(agent)
    shutil.copytree(source / "bot/v1/loop_checkpoints", source / "copy/v1/loop_checkpoints")
    argv = (sys.executable, "-c", WAITS, str(tmp_path / "go"))
    made = Settings(
        sources=(SourceSetting(path=source),), launch=(LaunchSetting(source=source, argv=argv),)
    )
    save(made)
    yield made
    (tmp_path / "go").touch()


def row_of(settings: Settings, name: str) -> Row:
    rows = scan_once(settings, settings.sources)
    (row,) = [row for row in rows if row.store.name == name and not row.closed]
    return row


def test_a_run_of_ours_that_was_resumed_from_a_copy_says_so_and_needs_a_word(settings, tmp_path):
    (tmp_path / "go").touch()
    relaunch(read_detail(row_of(settings, "copy")), settings, despite=WORD)
    until(lambda: any(row.outcome == "untouched" for row in scan_once(settings, settings.sources)))
    row = row_of(settings, "bot")
    assert (row.system, row.state, row.warnings) == ("lineclear", State.RESUMABLE, (AGAIN,))
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings)
    assert refused.value.code == AGAIN
    relaunch(read_detail(row), settings, despite=frozenset({AGAIN}))


def test_what_was_seen_before_is_looked_at_anew(settings, tmp_path):
    (tmp_path / "go").touch()
    before = row_of(settings, "bot")
    relaunch(read_detail(row_of(settings, "copy")), settings, despite=WORD)
    until(lambda: any(row.outcome == "untouched" for row in scan_once(settings, settings.sources)))
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(before), settings)
    assert refused.value.code == AGAIN


def test_an_agent_of_ours_that_takes_no_lock_yet_goes_on_all_the_same(settings, source):
    launched = relaunch(read_detail(row_of(settings, "bot")), settings)
    copy = row_of(settings, "copy")
    with pytest.raises(Refusal) as refused:
        run_claimed(copy.store, copy.id, settings)
    assert refused.value.code == "alive"
    assert f"since it was started as process {launched.pid} in {source / 'bot'}." in str(
        refused.value.sentence
    )


# --- What an agent of ours did with it ---------------------------------------------------------


def goes_on(source, tmp_path, *words) -> None:
    """Go on with the run in its own folder, by the agent's own program."""
    agent = started(source, "free", tmp_path / "mark", "resume", *words)
    if "stay" in words:
        # Resumed, and killed before it could do anything.
        assert agent.stdout.readline() == "one step done\n"
        die(agent)
        return
    assert agent.communicate()[0] == "one step done\ndone\n"


def test_a_copy_of_a_run_that_an_agent_of_ours_ended_says_so_and_needs_a_word(
    settings, source, tmp_path
):
    assert row_of(settings, "copy").warnings == ("may_be_running",)
    goes_on(source, tmp_path)
    row = row_of(settings, "copy")
    assert row.warnings == ("may_be_running", AGAIN)
    assert row.resumed is not None
    assert (row.resumed.store, row.resumed.id, row.resumed.outcome) == (source / "bot", None, "ok")
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings, despite=WORD)
    assert refused.value.code == AGAIN
    assert told(row.resumed) in refused.value.sentence
    assert told(row.resumed).startswith(f"in {source / 'bot'} at ")
    assert told(row.resumed).endswith("; it ended: ok.")
    (tmp_path / "go").touch()
    relaunch(read_detail(row), settings, despite=WORD | {AGAIN})
    until(lambda: any(row.outcome == "untouched" for row in scan_once(settings, settings.sources)))


def test_a_run_that_was_only_resumed_and_died_again_is_known_too(settings, source, tmp_path):
    assert row_of(settings, "copy").resumed is None
    goes_on(source, tmp_path, "stay")
    row = row_of(settings, "copy")
    assert row.resumed is not None
    assert (row.warnings, row.resumed.outcome) == (("may_be_running", AGAIN), None)
    # The agent's own folder says all that there is to say of it.
    assert row_of(settings, "bot").warnings == ()


def test_notes_that_nobody_can_read_are_shown_and_nothing_is_resumed(settings, source, tmp_path):
    goes_on(source, tmp_path, "stay")
    (source / "bot" / "runs.json").write_text('{"v": 1}')
    rows = scan_once(settings, settings.sources)
    (broken,) = [row for row in rows if row.path == source / "bot" / "runs.json"]
    assert (broken.state, broken.reason_code) == (State.UNREADABLE, "damaged")
    assert str(source / "bot" / "runs.json") in (broken.reason or "")
    agent = started(source, "free", tmp_path / "mark", "resume")
    agent.communicate()
    assert agent.returncode != 0
