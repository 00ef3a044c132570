"""Where agents leave their calls and where operators look, as people really set it up."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desktop import wait_for
from tests.e2e.processes import (
    CLI,
    ROOT,
    agent,
    effects,
    lineclear,
    listed,
    pending_aid,
    started,
    waiting,
)


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


def test_without_any_setting_agent_and_operator_meet_in_the_users_own_folders(
    home: Path, done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("LINECLEAR_HOME")
    store = home / ".local" / "share" / "lineclear" / "agents" / "refund-bot" / "1"
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(store)
        assert [row["id"] for row in listed()] == [aid]
        lineclear("approve", aid, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]
    for folder in (store, store.parent, store.parent.parent, store.parent.parent.parent):
        assert folder.stat().st_mode & 0o077 == 0, folder


@pytest.mark.parametrize("umask", ["0000", "0002", "0077", "0777"])
def test_whatever_the_umask_the_files_are_their_owners_alone(
    home: Path, done: Path, tmp_path: Path, umask: str
):
    store = home / "lineclear" / "agents" / "refund-bot" / "1"
    python = f"exec {sys.executable} -m tests.e2e.agents.refunds {done} bob=10"
    with started(["/bin/sh", "-c", f"umask {umask}; {python}"], tmp_path / "log") as bot:
        aid = waiting(store)
        answer = f"umask {umask}; exec {' '.join(CLI)} approve {aid}"
        subprocess.run(["/bin/sh", "-c", answer], cwd=ROOT, check=True, timeout=30)
        bot.finishes()
    assert effects(done) == ["bob 10"]
    for path in (home / "lineclear").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_store_of_ones_own_is_a_source(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLERK", str(tmp_path))
    store = tmp_path / "somewhere" / "else"
    with agent("clerk", store, log=tmp_path / "log") as bot:
        first = waiting(store)
        assert listed() == []
        for source in (store, store.parent, tmp_path, Path(os.path.relpath(store, ROOT))):
            assert [row["id"] for row in listed("--source", source)] == [first], source
        lineclear("approve", first, "--source", store, expect=0)
        second = waiting(store, after=first)
        lineclear("config", "add-source", store.parent, expect=0)
        lineclear("approve", second, expect=0)
        bot.finishes()


def test_a_source_behind_a_symbolic_link_is_the_folder_behind_it(
    home: Path, done: Path, tmp_path: Path
):
    real = home / "lineclear" / "agents"
    link = tmp_path / "link"
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(real / "refund-bot" / "1")
        link.symlink_to(real)
        assert [row["id"] for row in listed("--source", link)] == [aid]
        lineclear("approve", aid, "--source", link, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]


def test_a_copied_store_is_no_store_and_what_is_decided_in_it_counts_nowhere(
    home: Path, done: Path, tmp_path: Path
):
    real = home / "lineclear" / "agents"
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(real / "refund-bot" / "1")
        copy = tmp_path / "copy"
        subprocess.run(["cp", "-a", real, copy], check=True)
        (row,) = listed("--source", copy)
        assert (row["state"], row["reason_code"]) == ("unreadable", "store_moved")
        lineclear("approve", row["id"], "--source", copy, expect=4)
        assert pending_aid(real / "refund-bot" / "1") == aid
        lineclear("deny", aid, "--reason", "no", expect=0)
        bot.finishes()
    assert effects(done) == []


def test_arguments_of_many_megabytes_and_of_every_script_arrive_as_they_were_approved(
    home: Path, done: Path, tmp_path: Path
):
    store = home / "lineclear" / "agents" / "writer" / "1"
    with agent("writer", done, log=tmp_path / "log") as bot:
        first = waiting(store)
        (row,) = listed()
        text = row["arguments"]["text"]
        assert len(text.encode()) > 4 << 20
        stops = [word for code in row["warnings"] for word in ("--despite", code)]
        lineclear("approve", first, *stops, expect=0)
        (said,) = bot.finishes().said()
        assert said == {"length": len(text), "end": text[-20:]}
    (refused,) = [line for line in bot.text().splitlines() if line.startswith("TypeError")]
    assert "text" in refused


def test_what_doctor_says_of_a_waiting_agent(done: Path, home: Path, tmp_path: Path):
    store = home / "lineclear" / "agents" / "refund-bot" / "1"
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(store)
        told: Any = lineclear("doctor", "--json")
        assert told.code == 0, told
        assert str(home / "lineclear") in told.out
        lineclear("deny", aid, "--reason", "no", expect=0)
        bot.finishes()
    wait_for("the end", lambda: not bot.alive())
