import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import badinputs
from tests.cli.program import agent, lineclear, listed, only_row, wait_for
from tests.cli.test_listing import foreign
from tests.core.checkpoints.starweaver_samples import (
    call,
    deferred,
    deferred_call,
    starweaver_document,
    waiting_state,
)


def decided(home, bot="bot", lane="1"):
    folder = home / "lineclear" / "agents" / bot / lane / ".approvals"
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.decision.json"))]


def test_approve_lets_the_waiting_agent_run_once(tmp_path, home):
    with agent(tmp_path) as bot:
        row = only_row()
        done = lineclear("approve", row["id"][:8], "--note", "as agreed")
        assert (done.returncode, done.stderr) == (0, "")
        assert "bot is waiting and runs it at once." in done.stdout
        assert bot.process.wait(20) == 0
        assert bot.runs() == [{"to": "bob", "amount": 10}]
    (decision,) = decided(home)
    assert (decision["verdict"], decision["note"]) == ("approve", "as agreed")
    assert decision["shown"]["origin"] == "cli"
    row = only_row(state="done")
    assert row["outcome"] == "ok"
    assert not (home / "lineclear/agents/bot/1/pending.json").exists()


def test_a_dead_agent_with_a_gate_is_started_again_by_its_person_or_its_command(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        bot.kill()
    only_row(state="pending")
    done = lineclear("approve", row["id"])
    assert done.returncode == 0
    assert done.stdout.endswith(
        "Nothing runs until bot is started again. Start it as ever, or set the command that does: "
        "lineclear config set-launch --agent bot -- PROGRAM ARGUMENTS\n"
    )
    lineclear("config", "set-launch", "--agent", "bot", "--", sys.executable, "bot.py")
    assert f"lineclear relaunch {row['id']}\n" in lineclear("show", row["id"]).stdout


def test_json_gives_the_decision(tmp_path, home):
    with agent(tmp_path):
        row = only_row()
        done = lineclear("deny", row["id"], "--reason", "wrong customer", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told == {"id": row["id"], "decision": decided(home)[0]}
    assert told["decision"]["reason"] == "wrong customer"


def test_modify_runs_the_operators_arguments_with_their_numbers(tmp_path, home):
    with agent(tmp_path) as bot:
        row = only_row()
        done = lineclear("modify", row["id"], "--arguments", '{"to":"bob","amount":7.50}')
        assert done.returncode == 0, done.stderr
        assert bot.process.wait(20) == 0
        assert bot.runs() == [{"to": "bob", "amount": 7.5}]
    folder = home / "lineclear/agents/bot/1/.approvals"
    (path,) = folder.glob("*.decision.json")
    assert '"amount":7.50' in path.read_text()


def test_an_answer_is_given_to_the_agent_in_place_of_a_run(tmp_path, home):
    with agent(tmp_path) as bot:
        row = only_row()
        for words in (("--status", "failed", "--response", '"no"'), ("--empty",)):
            refused = lineclear("answer", row["id"], *words)
            assert refused.returncode == 4
            assert "[unsupported]" in refused.stderr
        hidden = lineclear("answer", row["id"], "--response", '"R\\u202e88"')
        assert (hidden.returncode, "[invisible]" in hidden.stderr) == (4, True)
        done = lineclear("answer", row["id"], "--response", '{"refund":1e2}')
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("bot gets it at once; the tool does not run.\n")
        assert bot.process.wait(20) == 0
        assert bot.runs() == []
        assert bot.process.stdout is not None
        assert bot.process.stdout.read() == "settled\n"
    (decision,) = decided(home)
    assert (decision["verdict"], decision["result"]) == ("result", {"refund": 100.0})
    assert only_row(state="done")["outcome"] == "ok"


def waits_for_an_answer(source, *batch):
    batch = batch or (deferred_call(),)
    state = waiting_state(batch=list(batch), deferred_tool_returns=[deferred()])
    state["pending_approval_tool_returns"] = []
    path = source / "web" / "run.checkpoint.json"
    path.parent.mkdir(mode=0o700, parents=True)
    badinputs.put(path, json.dumps(starweaver_document(state)).encode())
    (row,) = listed("--source", source)
    return row


@pytest.mark.parametrize(
    "batch, code",
    [
        (call("call_d", "drop_db", {"title": "EVIL"}), "arguments_differ"),
        (call("other", "create_issue", {"title": "T"}), "answers_no_call"),
    ],
)
def test_an_answer_to_another_call_than_was_asked_needs_a_word(tmp_path, batch, code):
    source = tmp_path / "source"
    row = waits_for_an_answer(source, batch)
    assert code in row["warnings"]
    words = ("answer", row["id"], "--text", "done", "--source", source)
    refused = lineclear(*words)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert f"[{code}]" in refused.stderr
    assert f"[{code}]" in lineclear("show", row["id"], "--source", source).stdout
    assert lineclear(*words, "--despite", code).returncode == 0


def test_an_answer_that_nobody_typed_is_none(tmp_path):
    row = waits_for_an_answer(tmp_path / "source")
    done = lineclear("answer", row["id"], "--source", tmp_path / "source")
    assert done.returncode == 2
    assert "--empty" in done.stderr
    assert only_row("--source", tmp_path / "source")["decision"] is None


@pytest.mark.parametrize(
    "words, result",
    [
        (("--empty",), {"status": "completed"}),
        (("--text", "it's {done}"), {"status": "completed", "response": "it's {done}"}),
        (("--status", "cancelled"), {"status": "cancelled"}),
    ],
)
def test_what_was_typed_is_the_answer(tmp_path, words, result):
    row = waits_for_an_answer(tmp_path / "source")
    done = lineclear("answer", row["id"], *words, "--source", tmp_path / "source")
    assert (done.returncode, done.stderr) == (0, "")
    assert only_row("--source", tmp_path / "source")["decision"]["result"] == result


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
def test_a_file_without_an_end_is_not_read_to_its_end():
    done = lineclear("answer", "0" * 8, "--response-file", "/dev/zero")
    assert (done.returncode, "more than 16 MiB" in done.stderr) == (2, True)


def test_modified_arguments_may_come_from_a_file_or_standard_input(tmp_path):
    words = ("--source", tmp_path / "source")
    store = foreign(tmp_path / "source")
    (row,) = listed(*words)
    done = lineclear("modify", row["id"], *words, "--arguments-file", tmp_path / "absent")
    assert done.returncode == 1
    assert str(tmp_path / "absent") in done.stderr
    done = lineclear("modify", row["id"], *words, "--arguments-file", "-", stdin=b"\xff")
    assert done.returncode == 2
    done = lineclear(
        "modify", row["id"], *words, "--arguments-file", "-", "--note", "less",
        stdin=b'{"to":"bob","amount":1.0}',
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = (store / ".approvals").glob("*.decision.json")
    native = '"native":{"Modify":{"arguments":{"to":"bob","amount":1.0},"note":"less"}}'
    assert native in path.read_text()


GUARDED = """
import asyncio
from lineclear import Gate

async def main():
    with Gate("bot") as gate:
        @gate.guard
        async def send(to: str, amount: float) -> str:
            return f"sent {amount} to {to}"
        print(await send("bob", 10.0), flush=True)

asyncio.run(main())
"""


def test_changed_arguments_that_the_agent_cannot_use_are_refused_with_the_field(home):
    with subprocess.Popen([sys.executable, "-c", GUARDED], stdout=subprocess.PIPE) as bot:
        try:
            row = only_row(state="pending")
            for arguments, told in (
                ('{"to":"bob","amount":"7"}', "The argument 'amount' must be a number."),
                ('{"to":"bob"}', "The argument 'amount' is missing."),
                ('{"to":"bob","amount":7,"cc":"eve"}', "The argument 'cc' is not taken."),
            ):
                done = lineclear("modify", row["id"], "--arguments", arguments)
                assert done.returncode == 4
                assert told in done.stderr
                assert done.stderr.endswith("[invalid_arguments]\n")
            assert decided(home) == []
            fitting = '{"to":"bob","amount":7}'
            assert lineclear("modify", row["id"], "--arguments", fitting).returncode == 0
            assert bot.communicate(timeout=20)[0] == b"sent 7 to bob\n"
        finally:
            bot.kill()
    done = lineclear("approve", row["id"])
    assert done.returncode == 3
    assert re.search(
        r"send \(.{8}\) was approved with changes by .+ at \d\d:\d\d and ran already\.\n$",
        done.stderr,
    )


def test_what_the_agent_refused_is_told_with_its_own_words(tmp_path, home):
    folder = home / "lineclear" / "agents" / "bot" / "1"
    with agent(tmp_path) as bot:
        row = only_row()
        assert lineclear("approve", row["id"]).returncode == 0
        assert bot.process.wait(20) == 0
    # As an agent does that could not use what was approved.
    (path,) = (folder / ".approvals").glob("*.outcome.json")
    outcome = json.loads(path.read_text())
    outcome |= {"outcome": "refused", "code": "invalid_arguments"}
    outcome |= {"result": "", "preview": "The argument 'to' is missing."}
    outcome["result_sha256"] = hashlib.sha256(b"").hexdigest()
    path.write_text(json.dumps(outcome))
    done = lineclear("approve", row["id"])
    assert done.returncode == 3
    assert "bot refused the decision: The argument 'to' is missing." in done.stderr
    assert (
        "[invalid_arguments]: The argument 'to' is missing." in lineclear("show", row["id"]).stdout
    )


def test_hidden_characters_in_changed_arguments_need_their_code(tmp_path):
    words = ("--source", tmp_path)
    foreign(tmp_path)
    (row,) = listed(*words)
    changed = ("modify", row["id"], *words, "--arguments", '{"to":"b\u200bob"}')
    done = lineclear(*changed)
    assert done.returncode == 4
    assert done.stderr.endswith(" Having looked, add: --despite invisible [invisible]\n")
    assert lineclear(*changed, "--despite", "invisible").returncode == 0


@pytest.mark.parametrize(
    "text,code",
    [
        ("{", "not_json"),
        ("", "empty"),
        ("{'a': 1}", "not_json"),
        ('{"a":1,"a":2}', "duplicate_key"),
        ('{"a":NaN}', "not_json"),
        ("99999999999999999999999999", "big_int"),
        ("[" * 200 + "]" * 200, "too_deep"),
    ],
)
def test_arguments_that_are_no_json_are_refused_before_anything_is_read(text, code):
    done = lineclear("modify", "0" * 8, f"--arguments={text}")
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr


@pytest.mark.parametrize(
    "words,told",
    [
        (("deny", "--reason", " "), "`--reason` is empty"),
        (("deny", "--reason", "x" * 20_001), "at most 20,000 characters"),
        (("deny", "--reason", os.fsdecode(b"\xff")), "is not UTF-8 text"),
        (("approve", "--note", ""), "`--note` is empty"),
        (("approve", "--despite", "nonsense"), "There is no warning nonsense"),
        (("resolve", "--ran"), "`--ran` needs `--note`"),
        (("resolve", "--not-run"), "`--not-run` needs `--note`"),
    ],
)
def test_words_that_no_record_could_hold_are_refused_before_anything_is_read(words, told):
    done = lineclear(words[0], "0" * 8, *words[1:])
    assert done.returncode == 2
    assert told in done.stderr


def test_the_longest_reason_is_kept_whole(tmp_path):
    words = ("--source", tmp_path)
    foreign(tmp_path)
    (row,) = listed(*words)
    reason = "ü" * 20_000
    assert lineclear("deny", row["id"], "--reason", reason, *words).returncode == 0
    assert only_row(*words)["decision"]["reason"] == reason


def test_the_second_operator_is_told_who_was_first_and_when(tmp_path, home):
    lineclear("config", "set", "operator", "alice\x1b[31m")
    with agent(tmp_path) as bot:
        row = only_row()
        bot.kill()
        assert lineclear("approve", row["id"]).returncode == 0
        lineclear("config", "set", "operator", "bob")
        done = lineclear("deny", row["id"], "--reason", "no")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "approved by alice" in done.stderr
    assert "\x1b" not in done.stderr
    assert any(char.isdigit() for char in done.stderr.split("at")[-1])
    assert [one["verdict"] for one in decided(home)] == ["approve"]


def test_an_ended_call_is_decided_already(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        assert lineclear("approve", row["id"]).returncode == 0
        assert bot.process.wait(20) == 0
    done = lineclear("approve", row["id"])
    assert done.returncode == 3
    assert "approved by" in done.stderr


def test_ids_must_name_exactly_one_call(tmp_path):
    foreign(tmp_path)
    (row,) = listed("--source", tmp_path)
    for prefix, code in ((row["id"][:7], 2), ("f" * 8 if row["id"][0] != "f" else "0" * 8, 5)):
        done = lineclear("approve", prefix, "--source", tmp_path)
        assert done.returncode == code, done.stderr
        assert done.stderr.count("\n") == 1


def test_a_stop_warning_is_refused_by_its_code_until_it_is_named(tmp_path):
    words = ("--source", tmp_path)
    foreign(tmp_path, arguments={"path": "notes-\u202etxt.exe"})
    (row,) = listed(*words)
    done = lineclear("approve", row["id"], *words)
    assert done.returncode == 4
    code = done.stderr.rstrip().rpartition(" ")[2].strip("[]")
    assert code in row["warnings"]
    assert lineclear("approve", row["id"], *words, "--despite", "padding").returncode == 4
    stops = [word for code in row["warnings"] for word in ("--despite", code)]
    assert lineclear("approve", row["id"], *words, *stops).returncode == 0


def test_a_stop_warning_keeps_nobody_from_denying(tmp_path):
    words = ("--source", tmp_path)
    foreign(tmp_path, arguments={"path": "notes-\u202etxt.exe"})
    (row,) = listed(*words)
    done = lineclear("deny", row["id"], "--reason", "no", *words)
    assert done.returncode == 0
    # Nobody can promise that another system's agent learns of it before it is relaunched.
    assert "theirs is told why when it is relaunched." in done.stdout


def test_an_agent_cannot_answer_itself(tmp_path):
    code = (
        "import subprocess, sys, threading, json\n"
        "from lineclear.core.agent.gate import Gate\n"
        "import asyncio\n"
        "def run(*words):\n"
        "    return subprocess.run([sys.executable, '-m', 'lineclear', *words],\n"
        "                          capture_output=True, text=True)\n"
        "def answer():\n"
        "    rows = []\n"
        "    while not rows: rows = json.loads(run('list', '--json').stdout)\n"
        "    done = run('approve', rows[0]['id'])\n"
        "    print(done.returncode, done.stderr, flush=True)\n"
        "    import os; os._exit(0)\n"
        "threading.Thread(target=answer, daemon=True).start()\n"
        "asyncio.run(Gate('self').ask('send', {}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("4 ")
    assert "[self_approval]" in done.stdout


def test_an_approval_that_nobody_picked_up_is_taken_back(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        bot.kill()
        assert lineclear("take-back", row["id"]).returncode == 4
        assert lineclear("approve", row["id"]).returncode == 0
        only_row(state="approved")
        done = lineclear("take-back", row["id"])
        assert (done.returncode, done.stderr) == (0, "")
        row = only_row()
    assert row["outcome"] == "withdrawn"
    ended = rf"Ended      taken back by {re.escape(row['taken_back_by'])} at \d\d:\d\d:\d\d\n"
    assert re.search(ended, lineclear("show", row["id"]).stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
def test_a_call_that_its_agent_gave_up_says_since_when(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        bot.process.send_signal(signal.SIGINT)
        bot.process.wait(20)
        row = only_row(state="done")
    assert row["outcome"] == "withdrawn"
    shown = lineclear("show", row["id"]).stdout
    assert re.search(r"Ended      withdrawn by its agent at \d\d:\d\d:\d\d\n", shown)


def test_what_was_picked_up_is_not_taken_back(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        assert lineclear("approve", row["id"]).returncode == 0
        assert bot.process.wait(20) == 0
    assert lineclear("take-back", row["id"]).returncode == 4


@pytest.mark.parametrize(
    "words,resolution,result",
    [
        (("--ran", "--note", "refund R-88 exists"), "ran", "refund R-88 exists"),
        (("--not-run", "--note", "checked"), "not_run", "[NOT RUN: checked]"),
        (("--ask-again",), "ask_again", None),
    ],
)
def test_a_call_that_may_have_run_is_settled_by_a_person(tmp_path, words, resolution, result):
    with agent(tmp_path, "die") as bot:
        row = only_row()
        assert lineclear("resolve", row["id"], *words).returncode == 4
        assert lineclear("approve", row["id"]).returncode == 0
        bot.process.wait(20)
        row = only_row(state="uncertain")
        done = lineclear("approve", row["id"])
        assert done.returncode == 7
        done = lineclear("resolve", row["id"], *words, "--json")
        assert done.returncode == 0, done.stderr
        outcome = json.loads(done.stdout)["outcome"]
        assert (outcome["outcome"], outcome["resolution"]) == ("resolved", resolution)
        if result is not None:
            assert outcome["result"] == result
        told = {"ran": "it ran", "not_run": "it did not run", "ask_again": "it is asked again"}
        ended = rf"Ended      settled by {re.escape(outcome['by']['name'])} at \d\d:\d\d:\d\d: "
        assert re.search(ended + told[resolution], lineclear("show", row["id"]).stdout)
        assert lineclear("resolve", row["id"], *words).returncode in (3, 4)
        assert len(bot.runs()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_decision_that_cannot_be_written_is_not_confirmed(tmp_path):
    words = ("--source", tmp_path)
    store = foreign(tmp_path)
    (row,) = listed(*words)
    command = [sys.executable, "-m", "lineclear", "approve", row["id"], *map(str, words)]
    # A full disk, as far as this process can tell.
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert str(store) in done.stderr
    assert "Traceback" not in done.stderr
    assert only_row(*words)["state"] == "pending"
    assert lineclear("approve", row["id"], *words).returncode == 0


def test_a_decision_stays_done_when_nobody_reads_the_answer(tmp_path):
    words = ("--source", tmp_path)
    foreign(tmp_path)
    (row,) = listed(*words)
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write) as closed:
        done = subprocess.run(
            [sys.executable, "-m", "lineclear", "approve", row["id"], *map(str, words)],
            stdout=closed, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0
    assert "It is done" in done.stderr
    assert wait_for(lambda: listed(*words))[0]["state"] == "approved"
