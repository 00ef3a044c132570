"""The self-check: a call from its question to its outcome, through the real window."""

import asyncio
import json
import os
import subprocess
import sys
import threading

import pytest

from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.ui.deciding.arming import SETTLE_S
from lineclear.ui.self_check import AGENT, SelfCheck, click


def test_it_decides_a_call_sees_its_outcome_and_ends_without_a_word(tmp_path, home):
    hidden = ("XDG_RUNTIME_DIR", "LINECLEAR_HOME")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "lineclear.ui.app", "--self-check"],
        cwd=tmp_path,
        env={**env, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    passed = json.loads(done.stdout)
    assert list(passed) == ["painted", "shown", "finished"]
    assert passed["painted"] < passed["shown"]
    assert passed["finished"] - passed["shown"] >= SETTLE_S, "approved before it was armed"
    assert list(tmp_path.iterdir()) == [], "it left something behind"
    # Nothing of the operator's own: Qt and fonts may keep their caches.
    assert {each.name for each in home.iterdir()} <= {"run", ".cache"}


def test_it_ends_well_however_much_qt_has_to_say(tmp_path, home):
    done = subprocess.run(
        [sys.executable, "-m", "lineclear.ui.app", "--self-check"],
        cwd=tmp_path,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": "*=true"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(json.loads(done.stdout)) == ["painted", "shown", "finished"]


async def test_it_says_which_step_failed_and_ends_the_window(inbox, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    ended = []
    inbox.ended.connect(lambda: ended.append(True))
    check = SelfCheck(elsewhere, limit_s=0.5)
    await check.operate(inbox)
    assert check.failure == "The sample call did not come into view within 0.5 seconds."
    assert list(check.passed) == ["painted"]
    assert ended == [True]
    # Its agent waits on in this process: it is told to stop, and does.
    settings = Settings(sources=(SourceSetting(path=elsewhere),))
    (row,) = scan_once(settings, settings.sources)
    decide(read_detail(row), Verdict("deny", reason="over"), Origin.CLICK, settings)
    asking = [thread for thread in threading.enumerate() if thread.name == AGENT]
    for thread in asking:
        await asyncio.to_thread(thread.join, 10)
    assert not any(thread.is_alive() for thread in asking)


@pytest.mark.parametrize("enabled", [True, False])
def test_its_click_is_that_of_a_pointer(qapp, enabled):
    from lineclear.ui.buttons import DecisionButton

    button = DecisionButton("Approve", "approve")
    pressed: list[Origin] = []
    button.pressed_by.connect(pressed.append)
    button.setEnabled(enabled)
    button.show()
    click(button)
    assert pressed == ([Origin.CLICK] if enabled else [])
