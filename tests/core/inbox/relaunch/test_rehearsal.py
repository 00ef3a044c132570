"""What a resume command would do is told whole, and nothing is started to find out."""

import sys
from pathlib import Path

from lineclear.core.inbox.operator.settings import LaunchSetting
from lineclear.core.inbox.relaunch.rehearsal import rehearse
from tests.ui.sample import a_row

OWN = {"PATH": "/usr/bin", "HOME": "/home/ann", "AWS_SECRET_ACCESS_KEY": "s3cret"}


def test_placeholders_are_filled_in_for_a_call():
    setting = LaunchSetting(agent="bot", argv=(sys.executable, "agent.py", "{store}", "{aid}"))
    row = a_row(7)
    assert rehearse(setting, row).argv == (sys.executable, "agent.py", str(row.store), row.id)
    assert rehearse(setting).argv == setting.argv


def test_the_environment_is_told_by_name_and_secrets_of_ours_stay_here(tmp_path):
    setting = LaunchSetting(
        agent="bot", argv=(sys.executable,), cwd=tmp_path, env={"MODE": "prod", "PATH": "/opt"}
    )
    would = rehearse(setting, inherited=OWN)
    assert would.passed == ("HOME",)
    assert would.added == {"MODE": "prod", "PATH": "/opt"}
    assert would.wrong == ()
    assert "s3cret" not in "\n".join(would.lines())


def test_every_argument_has_a_line_and_nothing_in_it_can_hide(tmp_path):
    argv = (sys.executable, "a b", "", " x", "two\nlines", "\u202egnp.exe")
    lines = rehearse(LaunchSetting(agent="bot", argv=argv, cwd=tmp_path), inherited=OWN).lines()
    assert lines[:8] == [
        "Program and arguments",
        f"  {sys.executable}",
        "  a b",
        "  \u201c\u201d",
        "  \u201c x\u201d",
        "  two\u23celines",
        "  \u27e6U+202E\u27e7gnp.exe",
        "Started in",
    ]


def test_what_would_keep_it_from_starting_is_said(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("no program")
    text.chmod(0o600)
    gone = tmp_path / "gone"
    told = rehearse(LaunchSetting(agent="bot", argv=(str(text),), cwd=gone)).wrong
    assert told == (
        f"{text} may not be executed.",
        f"There is no folder {gone} to start it in.",
    )
    missing = LaunchSetting(agent="bot", argv=(str(gone),), cwd=tmp_path)
    assert rehearse(missing).wrong == (f"There is no program {gone}.",)


def test_nothing_is_started(tmp_path):
    ran = tmp_path / "ran"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o700)
    assert rehearse(LaunchSetting(agent="bot", argv=(str(script),), cwd=tmp_path)).wrong == ()
    assert not Path(ran).exists()
