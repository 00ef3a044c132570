"""The entry point: finds the command, runs it, turns every error into a sentence and a code."""

# Commands are imported when they are asked for: `--help` needs no pydantic, `list` no watchfiles.
# ruff: noqa: PLC0415

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Sequence

from lineclear.cli import parsing
from lineclear.cli.exits import Exit, exit_code, sentence
from lineclear.cli.terminal import Terminal, own_terminal
from lineclear.core.errors import LineclearError

Command = Callable[[argparse.Namespace, Terminal], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; only `--help` and usage errors raise SystemExit."""
    parser = parsing.parser()
    options = parser.parse_args(parsing.spelled_out(sys.argv[1:] if argv is None else argv))
    if options.command is None:
        parser.print_help(sys.stderr)
        return Exit.USAGE
    terminal = own_terminal()
    try:
        code = _run(options, terminal)
        terminal.flush()
    except BrokenPipeError:
        terminal.close_output()
        return Exit.PIPE_CLOSED
    except KeyboardInterrupt:
        terminal.complain("Stopped.")
        return Exit.INTERRUPTED
    except (LineclearError, OSError) as error:
        return _fail(error, terminal, debug=options.debug)
    except Exception as error:  # noqa: BLE001  (no traceback may reach an operator)
        return _fail_unexpectedly(error, terminal, debug=options.debug)
    return code


def _run(options: argparse.Namespace, terminal: Terminal) -> int:
    from lineclear.cli import logs

    with logs.as_sentences(terminal, debug=options.debug):
        return _command(options.command)(options, terminal)


def _command(name: str) -> Command:  # noqa: C901, PLR0911, PLR0912  (one line per command)
    match name:
        case "inbox":
            from lineclear.cli import window

            return window.run
        case "list":
            from lineclear.cli import listing

            return listing.run
        case "show":
            from lineclear.cli import showing

            return showing.run
        case "watch":
            from lineclear.cli import watching

            return watching.run
        case "approve" | "deny" | "modify" | "answer" | "take-back" | "resolve":
            from lineclear.cli import deciding

            return deciding.run
        case "resume":
            from lineclear.cli import resuming

            return resuming.run
        case "relaunch":
            from lineclear.cli import relaunching

            return relaunching.run
        case "run-claimed":
            from lineclear.cli import relaunching

            return relaunching.run_claimed
        case "run-logged":
            # Nothing heavier: it is an agent's whole start-up time.
            from lineclear.core import frozen
            from lineclear.core.inbox.relaunch import output_log

            env = frozen.original_environment(os.environ)
            return lambda options, _: output_log.run(options.argv, env)
        case "history":
            from lineclear.cli import history

            return history.run
        case "config":
            from lineclear.cli import configuring

            return configuring.run
        case "doctor":
            from lineclear.cli import doctor

            return doctor.run
        case "tidy":
            from lineclear.cli import tidying

            return tidying.run
        case "demo":
            from lineclear.cli import demonstrating

            return demonstrating.run
        case "demo-agent":
            from lineclear.cli import demonstrating

            return demonstrating.run_agent
        case _:
            raise AssertionError(name)


def _fail(error: BaseException, terminal: Terminal, *, debug: bool) -> int:
    from lineclear.cli import trace

    with contextlib.suppress(OSError, ValueError):
        terminal.flush()
    code = exit_code(error)
    told = sentence(error)
    if code is Exit.AGENT_ERROR and not debug:
        # Whoever mends the agent needs to know where it failed.
        kept = trace.keep(error)
        if kept is not None:
            # The agent's own words may end as they like.
            end = "" if told.endswith((".", "!", "?")) else "."
            told = f"{told}{end} The traceback is in {kept}"
    terminal.complain(told)
    if debug:
        trace.show(error)
    return code


def _fail_unexpectedly(error: Exception, terminal: Terminal, *, debug: bool) -> int:
    from lineclear.cli import trace

    with contextlib.suppress(OSError, ValueError):
        terminal.flush()
    where = None if debug else trace.keep(error)
    told = f"Lineclear failed in a way that it does not know ({type(error).__name__}: {error})."
    report = "Please report it" if where is None else f"Please report it with {where}"
    terminal.complain(f"{told} Nothing was confirmed. {report}.")
    if debug:
        trace.show(error)
    return exit_code(error)
