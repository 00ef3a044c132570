import subprocess
import sys

from lineclear.core.ledger import presence

WATCHER = """
import sys
from pathlib import Path
from lineclear.core.ledger import presence
assert presence.announce(Path(sys.argv[1])) is not None
sys.stdout.write("watching\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def test_a_source_is_watched_exactly_while_somebody_announced_it(tmp_path):
    assert not presence.watched(tmp_path)
    first = presence.announce(tmp_path)
    second = presence.announce(tmp_path)
    assert first is not None
    assert second is not None
    assert presence.watched(tmp_path)
    first.close()
    assert presence.watched(tmp_path)
    second.close()
    assert not presence.watched(tmp_path)
    assert list((tmp_path / presence.FOLDER).iterdir()) == []


def test_a_killed_watcher_watches_no_longer_and_leaves_nothing_for_ever(tmp_path):
    watcher = subprocess.Popen(
        [sys.executable, "-c", WATCHER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "watching\n"
        assert presence.watched(tmp_path)
        watcher.kill()
        watcher.wait()
    assert not presence.watched(tmp_path)
    ours = presence.announce(tmp_path)
    assert ours is not None
    assert len(list((tmp_path / presence.FOLDER).iterdir())) == 1
    ours.close()


def test_a_source_where_nothing_may_be_written_is_announced_by_nobody(tmp_path):
    blocked = tmp_path / "source"
    blocked.write_text("a file, no folder")
    assert presence.announce(blocked) is None
