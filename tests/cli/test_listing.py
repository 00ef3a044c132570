import json
import os
import re
from datetime import datetime
from typing import Any

import pytest

from lineclear.cli.listing import short_ids
from tests.cli.program import agent, lineclear, listed, only_row

KEYS: dict[str, Any] = {
    "id": str,
    "system": str,
    "state": str,
    "outcome": (str, type(None)),
    "store": str,
    "agent": str,
    "tool": (str, type(None)),
    "arguments": object,
    "iteration": (int, type(None)),
    "tool_calls": (int, type(None)),
    "tokens": (int, type(None)),
    "limits": dict,
    "usage": (dict, type(None)),
    "process": str,
    "kind": str,
    "reason_code": (str, type(None)),
    "warnings": list,
    "asked_at": (str, type(None)),
    "file_time": (str, type(None)),
    "expires_at": (str, type(None)),
    "decision": (dict, type(None)),
}


def foreign(folder, name="theirs", **keys):
    document = {
        "tool_name": "send_money",
        "arguments": {"to": "bob", "amount": 10},
        "tool_id": "",
        "inputs": {"input": "pay"},
        "steps": [],
        "iteration": 1,
        "tool_calls_consumed": 2,
        "tokens_consumed": None,
        "trace_id": None,
        **keys,
    }
    store = folder / name
    store.mkdir(mode=0o700, parents=True)
    path = store / "pending.json"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False))
    path.chmod(0o600)
    return store


def test_each_row_has_the_promised_fields_and_types(tmp_path):
    foreign(tmp_path / "source")
    with agent(tmp_path):
        row = only_row()
        rows = [row, *listed("--source", tmp_path / "source")]
    assert len(rows) == 2
    for row in rows:
        assert {*row} == {*KEYS}
        for name, kind in KEYS.items():
            assert isinstance(row[name], kind), name
        assert {*row["limits"]} == {"iteration", "tool_calls", "tokens"}


def test_a_live_agents_call_is_listed_as_it_asked(tmp_path, home):
    with agent(tmp_path, arguments={"to": "bob", "amount": 10.50}):
        row = only_row()
    assert re.fullmatch("[0-9a-f]{32}", row["id"])
    assert row["system"] == "lineclear"
    assert row["state"] == "pending"
    assert row["store"] == f"{home}/lineclear/agents/bot/1"
    assert row["agent"] == "bot"
    assert row["tool"] == "send"
    assert row["arguments"] == {"to": "bob", "amount": 10.5}
    assert row["process"] == "alive"
    assert row["decision"] is None
    assert datetime.fromisoformat(row["asked_at"]).tzinfo is not None


def test_what_a_foreign_system_does_not_report_is_null(tmp_path):
    store = foreign(tmp_path)
    (row,) = listed("--source", tmp_path)
    assert row["system"] == "lc-agents"
    assert row["store"] == str(store)
    assert row["process"] == "unknown"
    assert row["asked_at"] is None
    assert row["usage"] is None
    assert row["tokens"] is None
    assert (row["iteration"], row["tool_calls"]) == (1, 2)
    assert "foreign" in row["warnings"]


def test_numbers_stand_as_in_the_file(tmp_path):
    store = foreign(tmp_path)
    path = store / "pending.json"
    text = path.read_text().replace('"amount": 10', '"amount": 10.00, "big": 18446744073709551615')
    path.write_text(text)
    done = lineclear("list", "--json", "--source", tmp_path)
    assert '"amount":10.00,"big":18446744073709551615' in done.stdout


def test_dead_agents_calls_stay_and_say_so(tmp_path):
    with agent(tmp_path) as bot:
        only_row()
        bot.kill()
        row = only_row()
    assert (row["state"], row["process"]) == ("pending", "dead")


def test_the_table_is_for_a_person(tmp_path):
    foreign(tmp_path)
    done = lineclear("list", "--source", tmp_path)
    header, line, empty, total = done.stdout.splitlines()
    assert header.split()[:5] == ["ID", "STATE", "AGENT", "TOOL", "ARGUMENTS"]
    assert line.split()[1:4] == ["waiting", "theirs", "send_money"]
    assert 'to="bob" amount=10' in line
    assert (empty, total) == ("", "1 waiting · 2 tool calls used")
    assert "\x1b" not in done.stdout


HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e\u2066\u200b\u2028\U000e0041"


def test_hostile_text_never_reaches_the_terminal_raw(tmp_path):
    name = "na\x1b[31mme"
    foreign(
        tmp_path,
        name=name,
        tool_name="bash" + HOSTILE,
        arguments={"command" + HOSTILE: HOSTILE, "list": [HOSTILE]},
        inputs={HOSTILE: HOSTILE},
        steps=[
            {
                "action": {
                    "tool": HOSTILE,
                    "tool_input": {"type": "string", "value": HOSTILE},
                    "log": HOSTILE,
                },
                "observation": HOSTILE,
            }
        ],
        trace_id=HOSTILE,
    )
    (row,) = listed("--source", tmp_path)
    assert row["tool"] == "bash" + HOSTILE
    for words in (("list",), ("list", "--json"), ("show", row["id"]), ("doctor",),
                  ("show", row["id"], "--json"), ("approve", row["id"])):  # fmt: skip
        done = lineclear(*words, "--source", tmp_path)
        for shown in (done.stdout, done.stderr):
            assert not {char for char in shown if not char.isprintable()} - {"\n"}, words
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_a_locale_without_the_characters_is_no_obstacle(tmp_path, variables):
    store = foreign(tmp_path, name="Köln", arguments={"city": "Köln 漢 \u202e"})
    (row,) = listed("--source", tmp_path)
    for words in (("list",), ("show", row["id"])):
        done = lineclear(*words, "--source", tmp_path, **variables)
        assert done.returncode == 0, done.stderr
        assert "send_money" in done.stdout
    done = lineclear("list", "--json", "--source", tmp_path, **variables)
    assert json.loads(done.stdout)[0]["store"] == str(store)


def test_a_store_whose_name_is_no_text_is_listed(tmp_path):
    foreign(tmp_path).rename(tmp_path / os.fsdecode(b"\xff\xfe"))
    (row,) = listed("--source", tmp_path)
    assert row["store"] == f"{tmp_path}/\\xff\\xfe"
    done = lineclear("list", "--source", tmp_path)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_sources_replace_the_configured_ones(tmp_path):
    foreign(tmp_path / "one")
    foreign(tmp_path / "two", tool_name="other")
    words = ("--source", tmp_path / "one", "--source", tmp_path / "two")
    assert {row["tool"] for row in listed(*words)} == {"send_money", "other"}
    assert len(listed("--source", tmp_path / "one", "--source", tmp_path / "one")) == 1
    assert listed() == []


def test_a_source_that_is_no_folder_is_named(tmp_path):
    done = lineclear("list", "--source", tmp_path / "absent")
    assert done.returncode == 1
    assert str(tmp_path / "absent") in done.stderr
    assert done.stdout == ""


def test_a_configured_source_that_is_gone_is_told_beside_the_list(tmp_path):
    foreign(tmp_path / "there")
    (tmp_path / "gone").mkdir()
    for name in ("there", "gone"):
        lineclear("config", "add-source", tmp_path / name)
    (tmp_path / "gone").rmdir()
    for words in (("list",), ("list", "--json")):
        done = lineclear(*words)
        assert done.returncode == 0
        assert "send_money" in done.stdout
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"lineclear: {tmp_path}/gone is missing since ")


def test_nothing_is_told_as_nothing(home):
    done = lineclear("list")
    assert done.stdout == f"Nothing waits in {home}/lineclear/agents.\n"
    assert lineclear("list", "--json").stdout == "[]\n"


def test_short_ids_name_one_call_each():
    assert short_ids(["a" * 32, "a" * 12 + "b" * 20, "c" * 32]) == {
        "a" * 32: "a" * 13,
        "a" * 12 + "b" * 20: "a" * 12 + "b",
        "c" * 32: "c" * 8,
    }
