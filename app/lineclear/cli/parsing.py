"""The words of the command line: subcommands, options and their help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from lineclear.cli.argument_parser import Parser

_EXIT_CODES: Final = """\
exit codes:
  0  done (a decision: durable)
  1  a file could not be read or written, or the write is not confirmed
  2  the command was not understood, or the id fits more than one call
  3  already decided (by whom and when is printed)
  4  refused (the reason code is printed in brackets)
  5  not found, or nothing waits
  6  another process holds it, or goes on with it already
  7  the call may have run
  8  the agent's own error
  9  the history's chain is broken (the first broken row is named)
"""

_DESCRIPTION: Final = """\
The approval inbox for AI agents: see the tool calls that wait for a person, and decide.
"""


class _Version(argparse.Action):
    """`--version`, looked up only when it is asked for."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        _namespace: argparse.Namespace,
        _values: str | Sequence[object] | None,
        _option: str | None = None,
    ) -> None:
        sys.stdout.write(f"lineclear {version()}\n")
        parser.exit()


def version() -> str:
    """Give the installed version."""
    # A quarter of the start-up time, needed for this answer alone.
    from importlib import metadata  # noqa: PLC0415

    try:
        return metadata.version("lineclear")
    except metadata.PackageNotFoundError:
        return "0 (not installed)"


def parser() -> Parser:
    """Build the whole command line."""
    top = Parser(
        prog="lineclear",
        description=_DESCRIPTION,
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", parser_class=Parser
    )
    _looking(commands)
    _deciding(commands)
    _agents(commands)
    _history(commands)
    _machine(commands)
    _internal(commands)
    return top


Commands = argparse._SubParsersAction  # noqa: SLF001  (it has no public name)


def _add(
    commands: Commands[Parser],
    name: str,
    summary: str,
    *,
    json: bool = False,
    sources: bool = False,
    description: str | None = None,
) -> Parser:
    command = commands.add_parser(
        name,
        help=summary,
        description=description or summary[:1].upper() + summary[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if sources:
        command.add_argument(
            "--source",
            dest="sources",
            action="append",
            metavar="DIR",
            help="look only in this folder, not in the configured ones (repeatable)",
        )
    if json:
        command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)
    return command


def _looking(commands: Commands[Parser]) -> None:
    inbox = _add(commands, "inbox", "open the window", sources=True)
    inbox.add_argument(
        "--detach", action="store_true", help="return at once and leave the window open"
    )
    listing = _add(
        commands,
        "list",
        "print the calls that wait",
        json=True,
        sources=True,
        description="Print the calls that wait, and what their runs have used. --json prints an"
        " array, one object per\nrow. Its iteration (turn, step), tool_calls, tokens, usage {in,"
        ' out, cache} and limits are those of\nits whole run: rows with the same "run_folder",'
        ' "agent" and "run" tell of the same one, so a sum\ntakes the newest of each run once,'
        " whole: that of the highest iteration. What an agent does\nnot report is null, never 0;"
        ' so is what was not read of a large file ("partly_read").'
        " Secrets are masked in the table,\nnot in JSON.",
    )
    listing.add_argument(
        "--all", action="store_true", help="every closed call too, not only the newest per store"
    )
    show = _add(
        commands,
        "show",
        "print one call whole",
        json=True,
        sources=True,
        description="Print one call whole. Passwords, tokens and keys are masked as in the window:"
        " \u2022\u2022\u2022\u2022 40 characters.\n--json prints everything exactly, secrets too.",
    )
    _add_id(show)
    show.add_argument("--show-secrets", action="store_true", help="print what is masked, too")
    _add(
        commands,
        "watch",
        "follow what happens, until Ctrl-C",
        json=True,
        sources=True,
        description="Follow what happens, until Ctrl-C. --json prints one object per line:\n"
        "{added, changed, removed, health, complete}. Secrets are masked in the lines,\n"
        "not in JSON.",
    )


def _add_id(command: Parser) -> None:
    command.add_argument("id", metavar="ID", help="the call's id, or 8 or more of its first digits")


def _add_despite(command: Parser) -> None:
    command.add_argument(
        "--despite",
        action="append",
        default=[],
        metavar="CODE",
        help="do it although the call carries this warning (repeatable)",
    )


def _deciding(commands: Commands[Parser]) -> None:
    approve = _add(commands, "approve", "let the call run", json=True, sources=True)
    _add_id(approve)
    approve.add_argument("--note", metavar="TEXT", help="a note for the record")
    _add_despite(approve)

    deny = _add(commands, "deny", "do not let the call run", json=True, sources=True)
    _add_id(deny)
    deny.add_argument("--reason", required=True, metavar="TEXT", help="what the agent is told")

    modify = _add(
        commands, "modify", "let the call run with other arguments", json=True, sources=True
    )
    _add_id(modify)
    arguments = modify.add_mutually_exclusive_group(required=True)
    arguments.add_argument("--arguments", metavar="JSON", help="the arguments to run with, whole")
    arguments.add_argument(
        "--arguments-file", metavar="FILE", help="read them from a file, - for standard input"
    )
    modify.add_argument("--note", metavar="TEXT", help="a note for the record and the agent")
    _add_despite(modify)

    answer = _add(
        commands, "answer", "give a call's result; its tool does not run", json=True, sources=True
    )
    _add_id(answer)
    answer.add_argument(
        "--status",
        choices=["completed", "failed", "cancelled"],
        help="how a call that runs elsewhere ended (with an answer: completed)",
    )
    response = answer.add_mutually_exclusive_group()
    response.add_argument("--response", metavar="JSON", help="what the agent gets")
    response.add_argument("--text", metavar="TEXT", help="what the agent gets, as plain text")
    response.add_argument("--empty", action="store_true", help="it completed and gave nothing")
    response.add_argument(
        "--response-file", metavar="FILE", help="read it from a file, - for standard input"
    )
    answer.add_argument("--note", metavar="TEXT", help="a note for the record and the agent")
    _add_despite(answer)

    take_back = _add(
        commands,
        "take-back",
        "take back an approval that nobody picked up",
        json=True,
        sources=True,
    )
    _add_id(take_back)

    resolve = _add(commands, "resolve", "settle a call that may have run", json=True, sources=True)
    _add_id(resolve)
    how = resolve.add_mutually_exclusive_group(required=True)
    how.add_argument(
        "--ran", dest="resolution", action="store_const", const="ran",
        help="it ran: the note is its result for an agent of ours",
    )  # fmt: skip
    how.add_argument(
        "--not-run", dest="resolution", action="store_const", const="not_run",
        help="it did not run: an agent of ours is told so, with the note",
    )  # fmt: skip
    how.add_argument(
        "--ask-again", dest="resolution", action="store_const", const="ask_again",
        help="it did not run, and the agent asks for it anew",
    )  # fmt: skip
    resolve.add_argument(
        "--note",
        metavar="TEXT",
        help="what you found: an agent of ours gets it, for another program's it is kept here",
    )


def _agents(commands: Commands[Parser]) -> None:
    resume = _add(
        commands,
        "resume",
        "go on with an agent that died",
        description="Go on with an agent that died: takes the store's lock, reads the decision,\n"
        "runs the call at most once and continues the agent's loop. 0: it came to its end, or\n"
        "suspended itself as it was told to, which is said; 8: the agent's own error.",
    )
    resume.add_argument("store", metavar="STORE", help="the store, or the agent's run folder")
    resume.add_argument(
        "--agent",
        required=True,
        metavar="MODULE:FACTORY",
        help="factory(store) gives the AgentExecutor; found from this folder and sys.path",
    )
    resume.add_argument(
        "--python",
        metavar="PROGRAM",
        help="the agent's own Python; a packaged lineclear finds that of the active virtual\n"
        "environment, else python3",
    )
    resume.add_argument(
        "--despite",
        action="append",
        default=[],
        choices=["may_be_running", "resumed_before", "unread_beside"],
        help="resumed_before: what the run did, resumed from another folder, may be done again;"
        " of a run that another program left also may_be_running: you know that nothing runs,"
        " which a file alone cannot tell, and unread_beside, as for relaunch",
    )
    relaunch = _add(
        commands,
        "relaunch",
        "start the configured resume command of a call's agent",
        json=True,
        sources=True,
    )
    _add_id(relaunch)
    relaunch.add_argument(
        "--despite",
        action="append",
        default=[],
        choices=["may_be_running", "handed_over_before", "resumed_before", "unread_beside"],
        help="may_be_running: you know that nothing runs, which a file alone cannot tell;"
        " handed_over_before: you know that the same call did not run;"
        " resumed_before: what the run did, resumed from another folder, may be done again;"
        " unread_beside: you know that no call of the run waits in the file that cannot be read",
    )
    demo = _add(
        commands, "demo", "start pretend agents and open the inbox on them: nothing real runs"
    )
    demo.add_argument(
        "--home", metavar="DIR", help="use this folder and keep it; default: a temporary one"
    )
    demo.add_argument(
        "--no-window", action="store_true", help="start the agents only, answer with this command"
    )


_HISTORY: Final = """\
What was decided, by whom, what they saw of it, and how it ended. Without an action: `list`.

A FILTER is words, all of which must fit, and fields: tool:bash agent:refund by:alice
ended:failed verdict:denied end:unseen found:yes since:2d until:2026-11-29 "rm -rf"
A minus excludes, after --: lineclear history -- -tool:read
"""
_HISTORY_ACTIONS: Final = ("list", "totals", "export", "verify", "merge", "path")


def spelled_out(argv: Sequence[str]) -> list[str]:
    """Put in the action that `history` takes when none is named."""
    words = list(argv)
    if words[:1] == ["history"] and not {*words[1:2]} & {*_HISTORY_ACTIONS, "-h", "--help"}:
        words.insert(1, "list")
    return words


def _history(commands: Commands[Parser]) -> None:
    history = _add(commands, "history", "what was decided, and how it ended", description=_HISTORY)
    actions = history.add_subparsers(
        dest="action", metavar="ACTION", title="actions", parser_class=Parser
    )
    listing = _add(actions, "list", "print decisions, newest first", json=True, sources=True)
    _add_filter(listing)
    listing.add_argument("--limit", type=_number, default=50, metavar="N", help="how many; 0: all")
    listing.add_argument(
        "--gaps", action="store_true", help="also when nobody watched, and what was removed"
    )
    totals = _add(actions, "totals", "add decisions up", json=True, sources=True)
    _add_filter(totals)
    totals.add_argument(
        "--by",
        choices=["person", "tool", "agent", "end"],
        default="person",
        help="end: whether the end of the call had been in view; default: person",
    )
    export = _add(
        actions,
        "export",
        "write decisions to a file",
        sources=True,
        description="Write decisions to a file: .csv, or .jsonl for JSON Lines. In CSV no cell\n"
        "begins as a formula does. An existing file is left alone unless --replace is given.\n"
        "`arguments` are those that were asked; a modified call ran with those in `given`:\n"
        "`runs_with` names the column that counts.",
    )
    export.add_argument("file", metavar="FILE", help="where to, - for standard output")
    _add_filter(export)
    export.add_argument("--format", choices=["csv", "jsonl"], help="default: by the file's name")
    export.add_argument(
        "--arguments", action="store_true", help="also arguments, answers and results"
    )
    export.add_argument("--replace", action="store_true", help="replace a file that is there")
    verify = _add(
        actions,
        "verify",
        "check that nothing was changed or removed",
        json=True,
        description="Check the hash of every row and the chain that they form. 0: intact;\n"
        "9: broken, the first broken row is named; 5: there is no history.",
    )
    verify.add_argument(
        "--noted",
        metavar="HASH",
        help="a last hash that was printed before: it must still be there",
    )
    verify.add_argument(
        "--file", metavar="FILE", help="another history, for example one that was kept aside"
    )
    merge = _add(
        actions,
        "merge",
        "take in the history of another machine",
        json=True,
        description="Take in the history of another machine, or one that was kept aside. Its\n"
        "chains are verified before; its rows keep their origin; twice is once.",
    )
    merge.add_argument("file", metavar="OTHER.db")
    _add(actions, "path", "print where the history stands", json=True)


def _add_filter(command: Parser) -> None:
    command.add_argument("filter", nargs="*", metavar="FILTER", help="see `lineclear history -h`")
    command.add_argument(
        "--no-look",
        action="store_true",
        help="do not look for what the stores hold beyond the history",
    )


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return int(text)


def _machine(commands: Commands[Parser]) -> None:
    config = _add(commands, "config", "print or change the settings")
    actions = config.add_subparsers(
        dest="action", metavar="ACTION", title="actions", parser_class=Parser
    )
    _add(actions, "show", "print all settings", json=True)
    _add(actions, "path", "print where the settings stand", json=True)
    get = _add(actions, "get", "print one setting", json=True)
    get.add_argument("key", metavar="KEY")
    put = _add(actions, "set", "change one setting")
    put.add_argument("key", metavar="KEY")
    put.add_argument("value", metavar="VALUE", help="as JSON, or plain text")
    _add(actions, "keep-aside", "keep a file that cannot be understood aside, and begin anew")
    unset = _add(actions, "unset", "go back to the default of one setting")
    unset.add_argument("key", metavar="KEY")

    add = _add(actions, "add-source", "watch a folder")
    add.add_argument("folder", metavar="DIR")
    add.add_argument(
        "--polling", action="store_true", help="look on a timer: for network and sync folders"
    )
    add.add_argument("--depth", type=int, metavar="N", help="how deep stores lie in it (1 to 16)")
    add.add_argument(
        "--yes", action="store_true", help="watch a whole home folder or file system, too"
    )
    remove = _add(actions, "remove-source", "watch a folder no longer")
    remove.add_argument("folder", metavar="DIR")

    launch = _add(
        actions,
        "set-launch",
        "set the resume command of an agent or a source",
        description="Set the resume command of an agent or a source. Nothing in it ever comes\n"
        "from a checkpoint; {store}, {aid} and {checkpoint} are replaced. For example:\n\n"
        "  lineclear config set-launch --agent refund-bot --cwd . -- \\\n"
        "      lineclear resume {store} --agent refunds:make",
    )
    _add_launch_target(launch)
    launch.add_argument("--cwd", metavar="DIR", help="the folder to start it in")
    launch.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE",
        help="set this variable for it, and for nothing else: a HOME or LINECLEAR_HOME of its own"
        " moves neither the settings nor the history (repeatable)",
    )  # fmt: skip
    launch.add_argument("argv", nargs="+", metavar="PROGRAM [ARGUMENT ...]")
    unlaunch = _add(actions, "remove-launch", "remove the resume command of an agent or a source")
    _add_launch_target(unlaunch)
    trust = _add(
        actions,
        "trust",
        "show the command that a run proposes in its resume.toml, and let it count",
        description="Show exactly what a run proposes to be resumed with (its resume.toml), and\n"
        "copy that into the settings, for this run's folder alone. What the file\n"
        "says later changes nothing.",
    )
    trust.add_argument("store", metavar="STORE", help="the run's folder, or a store in it")
    trust.add_argument("--yes", action="store_true", help="do not ask; needed without a terminal")

    _add(
        commands,
        "doctor",
        "say what is written to, what is watched, and what is wrong",
        json=True,
        sources=True,
    )
    tidy = _add(
        commands,
        "tidy",
        "show the records of calls that closed long ago, and remove them on your word",
        json=True,
        sources=True,
    )
    tidy.add_argument("--days", type=int, metavar="N", help="older than this (else: ledger_days)")
    tidy.add_argument("--yes", action="store_true", help="do not ask; needed without a terminal")


def _add_launch_target(command: Parser) -> None:
    target = command.add_mutually_exclusive_group(required=True)
    target.add_argument("--agent", metavar="NAME", help="for the agent of this name")
    target.add_argument("--source", metavar="DIR", help="for every agent of this source")


def _internal(commands: Commands[Parser]) -> None:
    """Commands that Lineclear's own programs start; without help, they are not listed."""
    claimed = commands.add_parser("run-claimed")
    claimed.add_argument("store")
    claimed.add_argument("aid")
    claimed.add_argument("--source", dest="sources", action="append")
    claimed.add_argument("--debug", action="store_true")
    logged = commands.add_parser("run-logged")
    logged.add_argument("argv", nargs=argparse.REMAINDER)
    logged.set_defaults(debug=False)
    agent = commands.add_parser("demo-agent")
    agent.add_argument("name")
    agent.add_argument("home")
    agent.add_argument("--debug", action="store_true")
