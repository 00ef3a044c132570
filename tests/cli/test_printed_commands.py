"""Each command that a sentence of the core or the command line prints is taken as it is printed."""

import ast
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lineclear
from lineclear.cli import findings, listing
from lineclear.cli.parsing import parser
from lineclear.core.agent.waiting import notice
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.deciding.path import Origin, may_decide
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.relaunch.command import no_command
from lineclear.core.inbox.relaunch.startable import refuse_unless_resumable
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.liveness import current_owner
from lineclear.core.ledger.records import Start, new_nonce
from lineclear.core.ledger.start import may_have_run, observe_fact
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests.cli.program import lineclear as run
from tests.cli.program import listed

PACKAGE = Path(lineclear.__file__).parent
NASTY = Path("/srv/it's here/$(id)")


def commands_in(text: str) -> list[str]:
    """What stands between backticks; else from the program's name to the end, or a parenthesis."""
    quoted = re.findall(r"`(lineclear [^`]+)`", text)
    rest = re.sub(r"`[^`]*`", "", text)
    return quoted + re.findall(r"(?<![\w/.-])lineclear [a-z].*?(?= \(|\)$|$)", rest, re.MULTILINE)


def understood(command: str) -> bool:
    try:
        parser().parse_args(shlex.split(command)[1:])
    except SystemExit as end:
        # `-h` ends with 0.
        return end.code == 0
    return True


def named(command: str) -> bool:
    """Whether it is the name of a command alone, as a sentence speaks of it."""
    return not re.search(r"[^a-z -]| -", command) and understood(f"{command} -h")


def row(**said) -> Row:
    fixed = {"id": "3f" * 16, "source": NASTY, "store": NASTY / "bot", "agent": "bot", "run": "r"}
    return Row(**{"system": "starweaver", "state": State.PENDING, "tool": "t", **fixed, **said})


def refusals() -> Iterator[str]:
    yield no_command("bot", NASTY).sentence
    yield no_command("a bot\x1b[2J", NASTY).sentence
    for attempt in (
        lambda: may_decide(row(kind="deferred"), Origin.CLI, "approve"),
        lambda: refuse_unless_resumable(row(state=State.LAPSED, reason="It lapsed.")),
    ):
        with pytest.raises(LineclearError) as refused:
            attempt()
        yield refused.value.sentence


def test_a_refusal_that_names_a_way_out_names_one_that_is_understood():
    for sentence in refusals():
        (command,) = commands_in(sentence)
        assert understood(command), command


def test_a_refusal_without_a_command_says_both_ways_to_set_one():
    told = no_command("bot", Path("/srv/bot")).sentence
    assert "`lineclear config set-launch --agent bot -- PROGRAM ARGUMENTS`" in told
    assert "Settings, Resume commands in the window" in told
    # A name that cannot be typed is no argument.
    unsaid = no_command("a\x1bbot", Path("/srv/bot")).sentence
    assert "`lineclear config set-launch --source /srv/bot -- PROGRAM ARGUMENTS`" in unsaid


def test_what_an_agent_logs_is_understood():
    for source in (NASTY, Path("/srv")):
        commands = commands_in(notice("bot", "tool", "3f" * 16, source))
        assert [command.split()[1] for command in commands] == ["approve", "inbox"]
        for command in commands:
            assert understood(command), command


def test_the_doctor_and_an_empty_list_name_what_is_understood():
    told = [*listing._nothing(Settings(sources=()))]
    source = SourceSetting(path=NASTY)
    told += [one.sentence for one in findings.look_at_agents_side(Settings(sources=(source,)))]
    commands = [command for text in told for command in commands_in(text)]
    assert commands
    for command in commands:
        assert understood(command), command


@pytest.mark.parametrize("start", ["dead", "damaged"])
def test_a_call_that_may_have_run_is_settled_by_the_command_as_it_is_printed(tmp_path, start):
    # In a folder that no settings name.
    folder = tmp_path / "some where" / "bot"
    folder.parent.mkdir(mode=0o700)
    with Store.create(folder) as store:
        asked = ask(store, Call(tool="pay", arguments={}, agent="bot"))
        assert isinstance(asked, Asked)
        shown = asked.shown
        if start == "damaged":
            store.commit("start", shown.seq, shown.aid, b"{")
        else:
            gone = current_owner().model_copy(update={"start_ticks": 1})
            record = Start(
                v=1,
                nonce=new_nonce(),
                **store.bound(shown.aid),
                owner=gone,
                at=datetime.now(UTC),
                decision={},
            )
            store.commit("start", shown.seq, shown.aid, record.encode())
            assert commands_in(may_have_run(shown, record).sentence)
        with pytest.raises(LineclearError) as told:
            observe_fact(store, shown)
    command, *_ = commands_in(told.value.sentence)
    done = run(*shlex.split(command)[1:])
    assert (done.returncode, done.stderr) == (0, ""), command
    assert [one["outcome"] for one in listed("--all", "--source", folder)] == ["resolved"]


def written_commands() -> Iterator[tuple[str, str]]:
    """Give each command between backticks in the program's texts; values in it are X."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        # Docstrings are read by developers.
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) in docs:
                continue
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "X"
                    for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            for command in re.findall(r"`(lineclear [^`]+)`", text):
                yield path.name, command


def test_every_command_between_backticks_in_a_text_is_understood():
    written = list(written_commands())
    assert len(written) > 5
    assert [one for one in written if not (understood(one[1]) or named(one[1]))] == []
