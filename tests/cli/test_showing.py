import hashlib
import itertools
import json
import os
import subprocess
import sys
from datetime import datetime

import pytest

from lineclear.core.checkpoints.characters.text import reveal
from lineclear.core.ledger.ask import Call, ask
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.records import parse_instant
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.cli.program import agent, lineclear, listed, only_row, wait_for
from tests.cli.test_listing import HOSTILE, foreign
from tests.core.checkpoints.starweaver_samples import starweaver_document, waiting_state


def shown(tmp_path, *words):
    (row,) = listed("--source", tmp_path)
    done = lineclear("show", row["id"], "--source", tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def step(tool, value, observation):
    tool_input = {"type": "object", "value": value}
    action = {"tool": tool, "tool_input": tool_input, "log": "", "tool_call_id": "c1"}
    return {"action": action, "observation": observation}


def test_a_call_is_shown_whole(tmp_path):
    foreign(
        tmp_path,
        arguments={"sql": "SELECT 1;\n  DROP TABLE a;\n", "limit": 3.50, "tags": ["a", "b"]},
        steps=[step("ls", {"path": "/tmp"}, "a\nb"), step("cat", {"path": "a"}, "x" * 5000)],
        iteration=2,
    )
    text = shown(tmp_path)
    assert "send_money\n" in text
    assert "Budget     2 iterations · 2 tool calls · tokens not reported" in text
    assert "  sql:\n    │ SELECT 1;⏎\n    │   DROP TABLE a;⏎\n" in text
    assert "  limit: 3.5\n" in text
    assert 'tags: [\n    "a",\n    "b"\n  ]\n' in text
    assert 'Step 1 of 2: ls\n  path: "/tmp"\n  →\n  a⏎\n  b\n' in text
    assert "x" * 5000 in text
    assert f"{tmp_path}/theirs/pending.json" in text
    assert "[foreign]" in text


def test_what_is_shown_can_be_turned_back_into_what_the_agent_wrote(tmp_path):
    foreign(tmp_path, arguments=HOSTILE)
    line = next(line for line in shown(tmp_path).splitlines() if line.startswith('  "'))
    assert json.loads(reveal(line)) == HOSTILE


def test_json_holds_what_the_list_holds_and_more(tmp_path):
    steps = [step("ls", {"path": "/tmp"}, "a")]
    foreign(tmp_path, steps=steps, trace_id="t-1")
    told = json.loads(shown(tmp_path, "--json"))
    (row,) = listed("--source", tmp_path)
    assert {**told, **row} == told
    assert told["path"] == f"{tmp_path}/theirs/pending.json"
    assert told["inputs"] == {"input": "pay"}
    assert told["steps"] == [
        {
            "tool": "ls",
            "input": {"path": "/tmp"},
            "observation": "a",
            "log": "",
            "tool_call_id": "c1",
        }
    ]
    assert told["trace_id"] == "t-1"


def test_next_is_what_can_be_typed(tmp_path):
    foreign(tmp_path, arguments={"path": "a\u202eb"})
    command = next(line for line in shown(tmp_path).splitlines() if "lineclear approve" in line)
    _, *words = command.split()
    assert words[-2:] == ["--source", str(tmp_path)]
    assert lineclear(*words).returncode == 0


@pytest.mark.parametrize(
    "words,told",
    [
        (("approve",), "approved by"),
        (("deny", "--reason", "wrong\x1b customer"), "denied by"),
        (("modify", "--arguments", '{"to":"eve"}'), "approved with other arguments by"),
    ],
)
def test_the_decision_is_told_with_who_and_when(tmp_path, words, told):
    lineclear("config", "set", "operator", "alice")
    with agent(tmp_path) as bot:
        row = only_row()
        bot.kill()
        lineclear(words[0], row["id"], *words[1:])
        text = lineclear("show", row["id"]).stdout
    assert f"Decision   {told} alice at " in text
    if words[0] == "modify":
        assert 'Arguments as changed by the operator\n  to: "eve"\n' in text
    if words[0] == "deny":
        assert "wrong⟦U+001B⟧ customer" in text
    # No factory makes an agent with a Gate.
    assert "lineclear resume " not in text
    assert "lineclear config set-launch --agent bot -- PROGRAM ARGUMENTS\n" in text


def test_the_result_of_a_finished_call_is_shown(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        lineclear("approve", row["id"])
        assert bot.process.wait(20) == 0
    text = lineclear("show", row["id"]).stdout
    assert "State      finished" in text
    assert "Result\n  done\n" in text
    assert "Next" not in text


def test_what_cannot_be_read_is_shown_with_its_reason(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "pending.json").write_text('{"a":1,"a":2}')
    text = shown(tmp_path)
    assert "State      unreadable [duplicate_key]: " in text
    assert f"{tmp_path}/bad/pending.json" in text
    (row,) = listed("--source", tmp_path)
    for words in (("approve",), ("deny", "--reason", "x"), ("modify", "--arguments", "{}")):
        done = lineclear(words[0], row["id"], *words[1:], "--source", tmp_path)
        assert done.returncode == 4
        assert "[duplicate_key]" in done.stderr


def test_no_such_call(tmp_path):
    done = lineclear("show", "0" * 32)
    assert done.returncode == 5
    assert done.stderr.startswith("lineclear: No call has an id that begins with")


def two_names_with_one_prefix(folder):
    """Find two store names whose rows, named after their paths, share their first 8 digits."""
    seen: dict[str, str] = {}
    for number in itertools.count():
        path = f"{folder}/{number}/pending.json"
        prefix = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
        if prefix in seen:
            return prefix, (seen[prefix], str(number))
        seen[prefix] = str(number)
    raise AssertionError


def test_a_prefix_that_fits_two_calls_is_ambiguous_and_the_list_gives_longer_ones(tmp_path):
    prefix, names = two_names_with_one_prefix(tmp_path)
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "pending.json").touch()
    assert {row["id"][:8] for row in listed("--source", tmp_path)} == {prefix}
    done = lineclear("show", prefix, "--source", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("lineclear: 2 calls have an id that begins with")
    lines = lineclear("list", "--source", tmp_path).stdout.splitlines()[1:3]
    for short in (line.split()[0] for line in lines):
        assert lineclear("show", short, "--source", tmp_path).returncode == 0


THREE_FORMS = """
import asyncio, sys
from pathlib import Path
from lineclear import Action, AgentExecutor, FileCheckpointHandler, Tool

store = Path(sys.argv[1])

class Model:
    def plan(self, inputs, steps):
        return Action(("look", "restart")[len(steps)], {"host": "db-3"})

def look(host: str) -> str:
    return "seen"

async def main():
    tools = {"look": Tool(look, asks=False), "restart": Tool(look)}
    handler = FileCheckpointHandler(store)
    async with AgentExecutor(Model(), tools, store=store, checkpoints=handler) as run:
        await run.invoke("go")

asyncio.run(main())
"""


def test_other_checkpoints_of_a_run_are_named(tmp_path):
    argv = [sys.executable, "-c", THREE_FORMS, str(tmp_path / "bot")]
    process = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: [row["tool"] for row in listed("--source", tmp_path)] == ["restart"])
        text = shown(tmp_path)
        told = json.loads(shown(tmp_path, "--json"))
        (loop,) = (tmp_path / "bot").rglob("id_*.json")
        loop.write_bytes(b"{")
        torn = shown(tmp_path)
        torn_json = json.loads(shown(tmp_path, "--json"))
    finally:
        process.kill()
        process.wait()
    (execution,) = (tmp_path / "bot").glob("*.checkpoint.json")
    assert "Other checkpoints of this run\n" in text
    assert f"; {loop}\n" in text
    assert "  Execution: run " in text
    assert {one["path"]: (one["system"], one["iteration"]) for one in told["others"]} == {
        str(loop): ("a3s", 1),
        str(execution): ("starweaver", 1),
    }
    assert {one["status"] for one in told["others"]} == {None, "waiting"}
    assert told["others_unread"] == []
    # Never left out in silence.
    (unread,) = torn_json["others_unread"]
    assert (unread["path"], unread["reason_code"]) == (str(loop), "not_json")
    assert f"  Unreadable [not_json]: {unread['reason']}; {loop}\n" in torn
    assert [one["system"] for one in torn_json["others"]] == ["starweaver"]


def test_a_waiting_call_is_shown_with_its_reason_and_its_conversation(tmp_path):
    said = {"kind": "user_prompt", "content": [{"kind": "text", "text": "clean up\x1b"}]}
    history = [{"kind": "request", "parts": [said]}]
    path = tmp_path / "web" / "run.checkpoint.json"
    path.parent.mkdir(mode=0o700)
    state = waiting_state(message_history=history)
    badinputs.put(path, json.dumps(starweaver_document(state)).encode())
    told = shown(tmp_path)
    assert "shell needs approval" in told.split("Why it asks (the agent's words)")[1]
    assert "clean up" in told
    assert "\x1b" not in told
    assert "found in its program's own file, written" in told
    assert json.loads(shown(tmp_path, "--json"))["asked_because"] == "shell needs approval"


SECRETS = {
    "api_key": "sk-live-51HxQ2eZvKYlo2C9aB7dE4fG6hJ8kL0m",
    "note": "hi",
    "env": {"PASSWORD": "hunter2!", "script": "line one\nexport T=1\n"},
    "imitation": "⟦•••• 40 characters⟧",
}


def test_secrets_are_masked_as_in_the_window_and_printed_when_wanted(tmp_path):
    log = "Authorization: Bearer ghp_abcdefghij0123456789ABCDEFGHIJ012345"
    foreign(tmp_path, arguments=SECRETS, steps=[step("env", {"password": "pw-1"}, log)])
    text = shown(tmp_path)
    for secret in (SECRETS["api_key"], "hunter2!", "pw-1", "ghp_"):
        assert secret not in text
    assert "  api_key: ⟦•••• 40 characters⟧\n" in text
    assert '  note: "hi"\n' in text
    assert '    "PASSWORD": ⟦•••• 8 characters⟧,\n' in text
    # What an agent wrote imitates no mask.
    assert '  imitation: "⟦U+27E6⟧•••• 40 characters⟦U+27E7⟧"\n' in text
    assert "  password: ⟦•••• 4 characters⟧\n" in text
    assert "4 secrets are masked; --show-secrets prints them.\n" in text
    openly = shown(tmp_path, "--show-secrets")
    for secret in (SECRETS["api_key"], "hunter2!", "pw-1", log):
        assert secret in openly
    assert "•••• 8" not in openly
    assert "--show-secrets" not in openly


def test_json_is_exact_and_its_help_says_so(tmp_path):
    foreign(tmp_path, arguments=SECRETS)
    assert json.loads(shown(tmp_path, "--json"))["arguments"] == SECRETS
    told = " ".join(lineclear("show", "--help").stdout.split())
    assert "--json prints everything exactly, secrets too" in told
    told = " ".join(lineclear("list", "--help").stdout.split())
    assert "Secrets are masked in the table, not in JSON" in told


def test_a_secret_of_several_lines_and_one_within_a_text(tmp_path):
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    foreign(tmp_path, arguments={"text": f"first\n{key}\nlast", "pin": 4711, "password": 4711})
    text = shown(tmp_path)
    assert "MIIE" not in text
    assert "KEY-----⏎\n    │ ⟦•••• 64 characters⟧⏎\n    │ -----END" in text
    assert "  password: ⟦•••• 4 digits⟧\n" in text


def test_the_call_that_does_the_same_is_named_in_list_show_and_refusal(tmp_path):
    for name in ("refund-bot", "night-bot"):
        with Store.create(tmp_path / name / "1") as store:
            ask(store, Call("send_refund", {"customer": "C-1204"}, name))
    rows = {row["agent"]: row for row in listed("--source", tmp_path)}
    mine, other = rows["night-bot"], rows["refund-bot"]
    assert mine["twin"]["agent"] == "refund-bot"
    assert (mine["twin"]["id"], mine["twin"]["state"]) == (other["id"], "pending")
    asked = parse_instant(mine["twin"]["at"])
    assert isinstance(asked, datetime)
    at = local_time(asked)
    sentence = (
        f"The same call of refund-bot also waits, asked at {at}. Approving both can run it twice."
    )
    done = lineclear("show", mine["id"], "--source", tmp_path)
    assert f"Stop       {sentence} [twin]\n" in done.stdout
    # The note stands with every call of an agent that runs as whoever looks.
    assert mine["user"] == os.geteuid()
    forge = "The agent runs as the same user as you and could forge decisions."
    assert f"Note       {forge} [same_user]\n" in done.stdout
    refused = lineclear("approve", mine["id"], "--source", tmp_path)
    assert refused.returncode != 0
    assert sentence in refused.stderr
    assert "--despite twin" in refused.stderr
