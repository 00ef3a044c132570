import json
import os
import re
from datetime import datetime
from typing import Any

import pytest

from lineclear.cli.listing import short_ids
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.core.ledger.records import Limits, Tokens
from tests import badinputs
from tests.cli.program import agent, lineclear, listed, only_row
from tests.core.checkpoints.starweaver_samples import (
    USAGE,
    approval,
    starweaver_document,
    waiting_state,
)
from tests.core.checkpoints.starweaver_samples import call as tool_call
from tests.core.inbox.agents import asked, call
from tests.core.inbox.rows.test_stopped_runs import left
from tests.core.inbox.runs.test_handed_together import left as left_waiting

KEYS: dict[str, Any] = {
    "id": str,
    "system": str,
    "state": str,
    "outcome": (str, type(None)),
    "store": str,
    "agent": str,
    "run": str,
    "run_folder": str,
    "tool": (str, type(None)),
    "arguments": object,
    "iteration": (int, type(None)),
    "tool_calls": (int, type(None)),
    "tokens": (int, type(None)),
    "limits": dict,
    "usage": (dict, type(None)),
    "partly_read": bool,
    "process": str,
    "user": (int, type(None)),
    "died_at": (str, type(None)),
    "suspended": (str, type(None)),
    "resumed_as": (int, type(None)),
    "waited_for": bool,
    "may_answer": bool,
    "kind": str,
    "reason_code": (str, type(None)),
    "warnings": list,
    "asked_at": (str, type(None)),
    "file_time": (str, type(None)),
    "expires_at": (str, type(None)),
    "decision": (dict, type(None)),
    "answered_before": (dict, type(None)),
    "taken_back_by": (str, type(None)),
    "taken_back_by_uid": (int, type(None)),
    "twin": (dict, type(None)),
    "repeats": (dict, type(None)),
    "resumed_before": (dict, type(None)),
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
    header, line, empty, total, used = done.stdout.splitlines()
    assert header.split()[:5] == ["ID", "STATE", "AGENT", "TOOL", "ARGUMENTS"]
    assert line.split()[1:4] == ["waiting", "theirs", "send_money"]
    assert 'to="bob" amount=10' in line
    assert (empty, total) == ("", "1 waiting")
    assert used == "Used: 1 iteration · 2 tool calls · tokens not reported"
    assert "\x1b" not in done.stdout


def test_the_footer_has_the_whole_set_for_all_runs_and_for_each_that_has_several_rows(tmp_path):
    source = tmp_path / "source"
    foreign(source, name="pay", trace_id="pay-1", tokens_consumed=300)
    foreign(source, name="mute", trace_id="mute-1")
    left(source, turn=4)
    left_waiting(source)
    lines = lineclear("list", "--source", source).stdout.splitlines()
    start = lines.index("") + 1
    used = (
        "Used by 4 runs: 7 iterations, steps and turns · 7 tool calls"
        " · 465 tokens (130 in of 2 runs, 35 out of 2 runs, 16 cache of 2 runs;"
        " 1 run not reported)"
    )
    of_run = "1 step · 2 tool calls · 150 tokens (120 in, 30 out, 12 cache)"
    assert lines[start:] == [
        "5 waiting · 1 to resume",
        used,
        f"  3 of web, run run_1: {of_run}",
    ]
    by_run: dict[str, list[Any]] = {}
    for row in listed("--source", source):
        by_run.setdefault(row["run"], []).append(row)
    assert {run: len(of_run) for run, of_run in by_run.items()} == {
        "pay-1": 1, "mute-1": 1, "run-1": 1, "run_1": 3,
    }  # fmt: skip
    # As the help says: the largest of each run once, and null is not reported.
    told = [max((row["tokens"] for row in of if row["tokens"] is not None), default=None)
            for of in by_run.values()]  # fmt: skip
    assert sorted(map(str, told)) == ["15", "150", "300", "None"]


def test_limits_are_told_where_they_are_known(tmp_path):
    limits = Limits(iteration=10, tool_calls=20)
    for name, run in (("one", "t-1"), ("two", "t-2")):
        said = call(
            agent=name, iteration=3, tool_calls=4, trace_id=run, limits=limits, tokens=312_000,
            usage=Tokens(tokens_in=300_000, tokens_out=12_000),
        )  # fmt: skip
        asked(tmp_path / name / "1", said)
    done = lineclear("list", "--source", tmp_path)
    assert done.stdout.splitlines()[-1] == (
        "Used by 2 runs: 6 of 20 iterations · 8 of 40 tool calls"
        " · 624000 tokens (600000 in, 24000 out)"
    )
    asked(tmp_path / "three" / "1", call(agent="three", iteration=1, trace_id="t-3"))
    done = lineclear("list", "--source", tmp_path)
    # One of three has no limit, so there is none for all of them.
    assert done.stdout.splitlines()[-1] == (
        "Used by 3 runs: 7 iterations (2 runs limited to 20 in all)"
        " · 8 of 40 tool calls (1 run not reported)"
        " · 624000 tokens (600000 in, 24000 out; 1 run not reported)"
    )


def test_what_nobody_reports_is_said_and_what_nobody_can_read_counts_for_nothing(tmp_path):
    source = tmp_path / "source"
    asked(source / "one" / "1", call(agent="one"))
    (source / "broken").mkdir(mode=0o700)
    (source / "broken" / "pending.json").write_text("{")
    done = lineclear("list", "--source", source)
    assert done.stdout.splitlines()[-2:] == [
        "1 waiting · 1 unreadable",
        "Used: iterations not reported · tool calls not reported · tokens not reported",
    ]
    (source / "one").rename(tmp_path / "elsewhere")
    assert lineclear("list", "--source", source).stdout.splitlines()[-1] == "1 unreadable"


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


def waiting_run(source, store, run, tokens, *, calls=1):
    state = waiting_state(
        *(approval(f"call_{n}") for n in range(calls)),
        batch=[tool_call(f"call_{n}") for n in range(calls)],
        run_id=run,
        usage={**USAGE, "total_tokens": tokens},
    )
    document = starweaver_document(state, run_id=run)
    document["metadata"] = {"trace_id": "t" * 32}
    path = source / store / "run.checkpoint.json"
    path.parent.mkdir(mode=0o700, parents=True)
    badinputs.put(path, json.dumps(document).encode())


def test_runs_that_share_a_trace_are_added_up_each(tmp_path):
    source = tmp_path / "source"
    for number, tokens in enumerate((1000, 2000, 4000)):
        waiting_run(source, f"k{number}", f"run_{number}", tokens, calls=2)
    rows = listed("--source", source)
    assert {row["run"] for row in rows} == {"run_0", "run_1", "run_2"}
    # By the rule that `list --help` gives.
    largest = {(row["run_folder"], row["agent"], row["run"]): row["tokens"] for row in rows}
    assert sum(largest.values()) == 7000
    told = lineclear("list", "--source", source).stdout
    assert "7000 tokens" in told.split("Used by 3 runs")[1].splitlines()[0]
    assert "2 of k1, run run_1: " in told


def test_calls_of_one_checkpoint_stand_together_in_its_own_order(tmp_path):
    source = tmp_path / "source"
    for store in ("k0", "k1"):
        waiting_run(source, store, f"run_{store}", 1, calls=12)
        os.utime(source / store / "run.checkpoint.json", ns=(10**18, 10**18))
    folder = scan_once(Settings(sources=()), (SourceSetting(path=source),))
    by_file = [(row.agent, row.item) for row in folder]
    expected = [[(store, f"call_{n}") for n in range(12)] for store in ("k0", "k1")]
    assert by_file in (expected[0] + expected[1], expected[1] + expected[0])


def test_a_large_file_is_listed_with_all_that_its_system_reports(tmp_path):
    text = [{"role": "user", "content": [{"type": "text", "text": "x" * (5 << 20)}]}]
    source = tmp_path / "source"
    source.mkdir(mode=0o700)
    left(source, messages=text, turn=7)
    (row,) = listed("--source", source)
    shown = json.loads(lineclear("show", row["id"], "--json", "--source", source).stdout)
    for name in ("iteration", "tool_calls", "tokens", "usage", "partly_read"):
        assert row[name] == shown[name]
    assert row["tokens"] is not None
    assert "not re" not in lineclear("list", "--source", source).stdout


def test_what_cannot_be_looked_into_is_not_said_to_be_empty(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir(mode=0o700)
    assert lineclear("config", "add-source", folder).returncode == 0
    folder.rmdir()
    done = lineclear("list")
    assert "is missing since" in done.stderr
    assert "Nothing waits" not in done.stdout
    assert done.returncode == 1
    assert lineclear("list", "--json").returncode == 1
    assert lineclear("list", "--source", tmp_path).returncode == 0
