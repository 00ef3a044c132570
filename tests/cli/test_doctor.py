import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lineclear.cli.findings import file_system
from tests.cli.program import agent, lineclear, only_row
from tests.cli.test_listing import foreign


def findings(*words, code=0):
    done = lineclear("doctor", "--json", *words)
    assert done.returncode == code, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] == (code == 0)
    return report["findings"]


def told(found, check, level):
    return [one["sentence"] for one in found if (one["check"], one["level"]) == (check, level)]


def test_on_a_fresh_machine_nothing_is_wrong(home):
    found = findings()
    assert {one["level"] for one in found} <= {"ok", "note"}
    (sentence,) = told(found, "agents", "note")
    assert f"write to {home}/lineclear/agents (from LINECLEAR_HOME); the first one" in sentence
    text = lineclear("doctor").stdout
    assert text.endswith("\nNothing is wrong.\n")
    assert not (home / "lineclear").exists()


def test_both_sides_are_told(home, tmp_path):
    with agent(tmp_path):
        only_row()
        found = findings()
    source = f"{home}/lineclear/agents"
    assert told(found, "agents", "ok") == [
        f"Agents on this machine write to {source} (from LINECLEAR_HOME)."
    ]
    assert told(found, "publish", "ok") == [
        f"{source} takes decisions: a file can be published once."
    ]
    assert told(found, "locks", "ok") == [f"{source}: 1 agents run, 0 have ended."]
    assert told(found, "calls", "ok") == ["1 waiting"]
    assert [path.name for path in Path(source).iterdir()] == ["bot"]


def test_a_default_source_that_nobody_watches_is_a_warning(tmp_path):
    lineclear("config", "set", "sources", "[]")
    found = findings()
    assert len(told(found, "agents", "warn")) == 1
    assert told(found, "settings", "warn") == [
        "No folder is watched: lineclear config add-source DIR"
    ]


def test_a_missing_source_fails(tmp_path):
    lineclear("config", "add-source", tmp_path)
    tmp_path.rmdir()
    (sentence,) = told(findings(code=1), "source", "fail")
    assert sentence.startswith(f"{tmp_path} is not there")
    tmp_path.mkdir()


def test_where_a_source_that_is_a_link_leads_is_told(tmp_path):
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "current").symlink_to(tmp_path / "disk")
    notes = told(findings("--source", tmp_path / "current"), "source", "note")
    assert f"{tmp_path / 'current'} is a link, now to {tmp_path / 'disk'}." in notes
    notes = told(findings("--source", tmp_path / "disk"), "source", "note")
    assert not any("is a link" in note for note in notes)


def test_a_source_that_others_can_change_fails(tmp_path):
    tmp_path.chmod(0o777)
    assert len(told(findings("--source", tmp_path, code=1), "source", "fail")) == 1
    tmp_path.chmod(0o1777)
    assert told(findings("--source", tmp_path), "source", "fail") == []


def test_settings_that_others_can_change_fail(home):
    lineclear("config", "set", "letters", "false")
    (home / "lineclear" / "settings.json").chmod(0o666)
    assert len(told(findings(code=1), "settings", "fail")) == 1


def test_damaged_settings_are_told_and_everything_else_is_left(home):
    (home / "lineclear").mkdir()
    (home / "lineclear" / "settings.json").write_text("{")
    (sentence,) = told(findings(code=1), "settings", "fail")
    assert str(home / "lineclear" / "settings.json") in sentence


def test_leftovers_are_counted_with_their_age(tmp_path):
    store = foreign(tmp_path)
    (store / "pending.json.tmp").write_text("{")
    ledger = store / ".approvals"
    ledger.mkdir(mode=0o700)
    old = ledger / (".tmp." + "0" * 32)
    old.write_text("")
    os.utime(old, (time.time() - 7300, time.time() - 7300))
    (sentence,) = told(findings("--source", tmp_path), "temporaries", "note")
    assert sentence.startswith(f"2 temporary files are left in {tmp_path}, the oldest 2 h old")
    assert old.exists()


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "pending.json").write_text("")
    (sentence,) = told(findings("--source", tmp_path), "calls", "warn")
    assert sentence.startswith(f"{tmp_path}/bad is unreadable [empty]: ")


def test_a_resume_command_that_is_gone_fails(home, tmp_path):
    program = tmp_path / "resume"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    lineclear("config", "set-launch", "--agent", "bot", "--", program)
    assert told(findings(), "launch", "ok") == [f"bot is resumed by {program}."]
    program.unlink()
    (sentence,) = told(findings(code=1), "launch", "fail")
    assert str(program) in sentence


def test_file_systems_are_told_from_the_mount_table(tmp_path):
    assert file_system(tmp_path) not in (None, "proc")
    (tmp_path / "link").symlink_to("/proc")
    assert file_system(tmp_path / "link") == "proc"


needs_mounts = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux, to mount a disk"
)


def on_a_disk(folder, prepare, options=""):
    """Let doctor look at FOLDER while a small disk of its own is mounted there."""
    mount = f'mount -t tmpfs -o size=64k,mode=700{options} disk "$0"'
    script = f'{mount} && ( {prepare} ); exec "$@"'
    words = [sys.executable, "-m", "lineclear", "doctor", "--json", "--source", str(folder)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, str(folder), *words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return json.loads(done.stdout)["findings"]


@needs_mounts
def test_a_full_disk_takes_no_decisions(tmp_path):
    found = on_a_disk(tmp_path, 'head -c 1M /dev/zero > "$0/filler" 2>/dev/null')
    assert told(found, "publish", "fail") == [
        f"Nothing can be recorded in {tmp_path}: No space left on device."
    ]
    assert told(found, "publish", "ok") == []


@needs_mounts
def test_a_read_only_disk_takes_no_decisions(tmp_path):
    found = on_a_disk(tmp_path, "true", ",ro")
    (sentence,) = told(found, "publish", "fail")
    assert sentence.startswith(f"{tmp_path} is on a disk that is mounted read-only")


def test_failures_and_warnings_are_counted_in_words(tmp_path):
    lineclear("config", "set", "sources", "[]")
    assert lineclear("doctor").stdout.endswith("\nno failures, 2 warnings.\n")
    lineclear("config", "unset", "sources")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "pending.json").write_text("")
    text = lineclear("doctor", "--source", tmp_path).stdout
    assert text.endswith("\nno failures, 1 warning.\n")
