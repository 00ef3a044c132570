"""`lineclear history`, and that whatever the command line decides is in it."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from lineclear.cli.parsing import parser
from tests.cli.program import agent, lineclear, listed, only_row, wait_for


def history(*words) -> list[dict[str, Any]]:
    done = lineclear("history", "list", "--json", *words)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert isinstance(rows, list)
    return rows


def asked_and(command, tmp_path, *words, **said):
    """Let an agent ask and the command line answer; gives the call's id."""
    with agent(tmp_path, **said) as bot:
        row = waiting(said.get("name", "bot"))
        done = lineclear(command, row["id"], *words)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert bot.process.wait(20) == 0
    return row["id"]


def waiting(name, state="pending"):
    """Wait until the call of an agent is listed in a state."""
    return wait_for(
        lambda: next(
            (row for row in listed() if (row["agent"], row["state"]) == (name, state)), None
        )
    )


def test_what_the_command_line_decides_is_recorded_as_given_here(tmp_path):
    approved = asked_and("approve", tmp_path, "--note", "as agreed", name="one")
    denied = asked_and("deny", tmp_path, "--reason", "wrong customer", name="two", tool="bash")
    modified = asked_and("modify", tmp_path, "--arguments", '{"to":"carol"}', name="three")
    # Without a look at the stores: the commands themselves wrote it.
    rows = {row["call"]: row for row in history("--no-look")}
    assert {*rows} == {approved, denied, modified}
    assert {row["verdict"] for row in rows.values()} == {"approve", "deny", "modify"}
    assert all(row["found"] == 0 and row["through"] == "cli" for row in rows.values())
    assert rows[approved]["note"] == "as agreed"
    assert rows[denied]["reason"] == "wrong customer"
    assert rows[modified]["given"] == '{"to":"carol"}'
    # What the agents did then is found by the next look.
    rows = {row["call"]: row for row in history()}
    assert [rows[one].get("ended") for one in (approved, denied, modified)] == [
        "ok",
        "denied",
        "ok",
    ]
    assert all(row["found"] == 0 for row in rows.values())
    # What is listed of a modified call is what ran, and it is marked.
    (line,) = (one for one in lineclear("history").stdout.splitlines() if " modified " in one)
    assert '{"to":"carol"}' in line
    (line,) = (one for one in lineclear("list", "--all").stdout.splitlines() if " three " in one)
    assert ('to="carol"' in line, line.rstrip().endswith("changed")) == (True, True)
    assert lineclear("history", "verify").stdout.startswith("Chain intact · 3 decisions · checked")


def test_taking_back_and_settling_are_recorded(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        bot.kill()
    lineclear("approve", row["id"])
    lineclear("take-back", row["id"])
    (taken,) = history("--no-look")
    assert (taken["verdict"], taken["ended"]) == ("approve", "taken_back")
    with agent(tmp_path, "die", name="other") as bot:
        row = waiting("other")
        lineclear("approve", row["id"])
        bot.process.wait(20)
    waiting("other", "uncertain")
    assert history()[0]["ended"] == "uncertain"
    lineclear("resolve", row["id"], "--ran", "--note", "seen in the bank")
    assert history("--no-look")[0]["ended"] == "resolved_ran"
    assert "settled: it ran" in lineclear("history").stdout


def test_a_decision_that_others_gave_is_found(tmp_path, monkeypatch, home):
    with agent(tmp_path) as bot:
        row = only_row()
        # A colleague's Lineclear: settings and history of their own, the same folder of agents.
        elsewhere = home / "colleague"
        source = home / "lineclear" / "agents"
        done = lineclear("approve", row["id"], "--source", source, LINECLEAR_HOME=str(elsewhere))
        assert done.returncode == 0, done.stderr
        bot.process.wait(20)
    (found,) = history()
    assert (found["found"], found["call"], found["ended"]) == (1, row["id"], "ok")
    assert "found" in lineclear("history").stdout
    # The colleague's own history says that it was given there; merged, that counts.
    done = lineclear("history", "merge", elsewhere / "history.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert "taken in; the chain was intact." in done.stdout
    assert lineclear("history", "merge", elsewhere / "history.db").stdout == (
        "Nothing new: all its rows are here.\n"
    )
    assert len(history()) == 1
    assert lineclear("history", "verify").returncode == 0


def test_filters_totals_and_limits(tmp_path):
    asked_and("approve", tmp_path, name="refund", tool="send")
    asked_and("deny", tmp_path, "--reason", "no", name="ci", tool="bash")
    assert [row["tool"] for row in history("tool:bash")] == ["bash"]
    assert [row["tool"] for row in history("agent:refund", "verdict:approved")] == ["send"]
    assert history("since:1h", "ended:failed") == []
    assert len(history("--limit", "1")) == 1
    assert len(history("--limit", "0")) == 2
    assert [row["tool"] for row in history("--", "-tool:bash")] == ["send"]
    table = lineclear("history", "--limit", "1").stdout
    assert table.startswith("TIME")
    assert "1 of 2; --limit shows more." in table
    assert lineclear("history", "tool:none").stdout == "No call matches.\n"
    totals = json.loads(lineclear("history", "totals", "--by", "tool", "--json").stdout)
    assert [(one["tool"], one["calls"], one["denied"]) for one in totals] == [
        ("bash", 1, 1),
        ("send", 1, 0),
    ]
    wrong = lineclear("history", "ended:soon", "tool:x")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Not understood: ended:soon. Write ended:finished or ended:untouched or " in wrong.stderr
    mistyped = lineclear("history", "persn:ada")
    assert (mistyped.returncode, mistyped.stdout) == (0, "No call matches.\n")
    assert "persn: is no field; person: is one. Write by:alice." in mistyped.stderr


def test_export_is_whole_and_neutral_and_asks_before_it_replaces(tmp_path):
    asked_and("deny", tmp_path, "--reason", "=1+1", arguments={"card": "4111"})
    path = tmp_path / "out.csv"
    done = lineclear("history", "export", path)
    assert (done.returncode, done.stdout) == (0, f"1 row written to {path}.\n")
    text = path.read_text()
    assert "'=1+1" in text
    assert ",=1+1" not in text
    assert "4111" not in text
    again = lineclear("history", "export", path)
    assert (again.returncode, path.read_text()) == (2, text)
    assert "is there already; nothing was written. --replace replaces it." in again.stderr
    done = lineclear("history", "export", path, "--replace", "--arguments", "--format", "jsonl")
    assert done.returncode == 0
    assert json.loads(path.read_text())["arguments"] == '{"card":"4111"}'
    assert lineclear("history", "export", tmp_path / "out.txt").returncode == 2
    printed = lineclear("history", "export", "-", "--no-look").stdout
    assert printed.splitlines() == text.splitlines()


def test_verify_names_the_first_broken_row_and_exits_with_nine(tmp_path, home):
    asked_and("approve", tmp_path)
    database = home / "lineclear" / "history.db"
    done = lineclear("history", "verify", "--json")
    head = json.loads(done.stdout)["heads"]
    noted = next(iter(head.values()))
    assert lineclear("history", "verify", "--noted", noted[:12]).returncode == 0
    assert lineclear("history", "verify", "--noted", "0" * 64).returncode == 9
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE entries SET verdict = 'deny' WHERE kind = 'decision'")
    done = lineclear("history", "verify")
    assert done.returncode == 9
    assert done.stdout.startswith("Chain broken at row 2 of ")
    assert done.stdout.endswith("its content is not what was recorded.\n")
    refused = lineclear("history", "merge", database, LINECLEAR_HOME=str(home / "other"))
    assert refused.returncode == 4
    assert "was not merged. Chain broken at row 2" in refused.stderr


def test_without_a_history_verify_says_so(home):
    done = lineclear("history", "verify")
    assert (done.returncode, done.stdout) == (5, "")
    assert "There is no history yet in" in done.stderr
    assert lineclear("history").stdout == "Nothing was decided yet.\n"


def test_a_history_that_cannot_be_written_keeps_nobody_from_deciding(tmp_path, home):
    with agent(tmp_path) as bot:
        row = only_row()
        (home / "lineclear" / "history.db").mkdir()
        done = lineclear("approve", row["id"])
        assert done.returncode == 0
        assert "Approved." in done.stdout
        assert "The decision is given all the same." in done.stderr
        assert bot.process.wait(20) == 0


def test_a_damaged_history_is_kept_aside_and_said(tmp_path, home):
    with agent(tmp_path) as bot:
        row = only_row()
        (home / "lineclear" / "history.db").write_bytes(b"rubbish" * 1000)
        done = lineclear("approve", row["id"])
        assert done.returncode == 0
        bot.process.wait(20)
    assert "is damaged. It is kept as" in done.stderr
    (kept,) = (home / "lineclear").glob("history.db.aside-*")
    assert kept.read_bytes() == b"rubbish" * 1000
    assert len(history()) == 1
    assert "history kept aside" in lineclear("history", "list", "--gaps").stdout


def test_retention_follows_the_setting(tmp_path, home):
    asked_and("approve", tmp_path)
    assert lineclear("config", "set", "history_days", "30").returncode == 0
    assert len(history()) == 1
    assert lineclear("config", "set", "history_days", "0").returncode == 2


@pytest.mark.parametrize("words", [["history", "-h"], ["history", "list", "-h"]])
def test_help_is_help(words):
    done = lineclear(*words)
    assert done.returncode == 0
    assert "usage: lineclear history" in done.stdout


def test_an_agents_text_never_reaches_the_terminal_raw(tmp_path):
    asked_and(
        "deny",
        tmp_path,
        "--reason",
        "no\x1b[31m",
        tool="ev\u202eil",
        arguments={"a": "\x1b]0;x\x07"},
    )
    shown = wait_for(lambda: lineclear("history").stdout)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "ev⟦U+202E⟧il" in shown


def test_a_filter_may_stand_behind_an_option(home):
    parsed = parser().parse_args(
        ["history", "export", "x.csv", "--format", "csv", "agent:x", "tool:y"]
    )
    assert parsed.file == "x.csv"
    assert parsed.filter == ["agent:x", "tool:y"]
    with pytest.raises(SystemExit):
        parser().parse_args(["history", "export", "x.csv", "--nope", "agent:x"])
