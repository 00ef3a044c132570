"""`lineclear demo`: pretend agents as real processes, and the inbox on them."""

from __future__ import annotations

import argparse
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from lineclear.cli import programs
from lineclear.cli.display import has_display
from lineclear.cli.exits import Exit
from lineclear.cli.listing import short_ids
from lineclear.cli.terminal import Terminal
from lineclear.cli.wording import stops
from lineclear.core import frozen
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator.settings import SourceSetting, load
from lineclear.core.inbox.relaunch import launch
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.core.ledger.state import State
from lineclear.demo.stage import AGENTS, Stage, sweep

_PREFIX: Final = "lineclear-demo-"
_TICK_S: Final = 0.2
_FIRST_CALL_S: Final = 10.0
_WINDOW_ENDS_S: Final = 5.0
_PR_SET_PDEATHSIG: Final = 1


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the demo until its window closes or Ctrl-C; nothing of it is left then."""
    sweep(Path(tempfile.gettempdir()), _PREFIX)
    keep = options.home is not None
    home = Path(os.path.abspath(options.home) if keep else tempfile.mkdtemp(prefix=_PREFIX))  # noqa: PTH100
    stage = Stage(home, launch.own_program(), keep=keep)
    with _signals_as_interrupts():
        try:
            stage.open()
            reason = (
                "The demo's agents run, without a window." if options.no_window else _obstacle()
            )
            if reason is None:
                _run_window(stage, terminal)
            else:
                _go_on_without_window(stage, terminal, reason)
        finally:
            stage.close()
    terminal.say("The demo has ended; its agents are gone.")
    return Exit.DONE


def run_agent(options: argparse.Namespace, _terminal: Terminal) -> int:
    """Be one of the pretend agents: started by the demo, ends with it."""
    # Only a pretend agent needs the agent's side.
    from lineclear.demo import agents  # noqa: PLC0415

    agents.run(options.name, Path(options.home))
    return Exit.DONE


def _obstacle() -> str | None:
    """Tell in one sentence why no window can be opened here; None: it can."""
    try:
        programs.window()
    except LineclearError as why:
        return f"{why.sentence} The demo's agents go on."
    if not has_display():
        return "There is no display, so no window opens; the demo's agents go on."
    return None


def _run_window(stage: Stage, terminal: Terminal) -> None:
    terminal.say(f"The demo runs {len(AGENTS)} pretend agents; nothing real runs.")
    terminal.say("Close the window or press Ctrl-C to end it.")
    terminal.flush()
    window = subprocess.Popen(
        [*programs.window(), "--demo"],
        env=stage.environment,
        preexec_fn=_ending_with_us(),  # noqa: PLW1509 - no other thread runs here yet
    )
    try:
        while window.poll() is None:
            stage.tick()
            with suppress(subprocess.TimeoutExpired):
                window.wait(timeout=_TICK_S)
    finally:
        _end(window)
    if window.returncode != 0:
        raise LineclearError(
            f"The window ended with code {window.returncode}.", code="window_failed"
        )


def _ending_with_us() -> Callable[[], None] | None:
    """Let the system end the window when this process is killed; None where it cannot."""
    if sys.platform != "linux":
        return None
    parent, libc = os.getpid(), ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)  # It was killed before it could be said.

    return ask


def _end(window: subprocess.Popen[bytes]) -> None:
    """See the window out: Ctrl-C reached it too, and it may be saving something."""
    if window.poll() is not None:
        return
    window.terminate()
    try:
        window.wait(timeout=_WINDOW_ENDS_S)
    except subprocess.TimeoutExpired:
        window.kill()
        window.wait()


def _go_on_without_window(stage: Stage, terminal: Terminal, told: str) -> NoReturn:
    """Say how to answer from another terminal, and keep the agents going until Ctrl-C."""
    terminal.say(told)
    terminal.say("Answer them from another terminal:")
    program = _typed_program(stage.command)
    terminal.say()
    terminal.say(f"    export LINECLEAR_HOME={shlex.quote(str(stage.home))}")
    terminal.say(f"    {program} list")
    for line in _examples(stage, program):
        terminal.say(f"    {line}")
    terminal.say()
    terminal.say("Ctrl-C ends the demo." + ("" if stage.keep else " Its folder is removed then."))
    terminal.flush()
    while True:
        stage.tick()
        time.sleep(_TICK_S)


def _typed_program(command: tuple[str, ...]) -> str:
    """Give what a person types: the name alone where the PATH has it."""
    if shutil.which("lineclear"):
        return "lineclear"
    script = frozen.beside("lineclear")
    return shlex.quote(str(script)) if script.exists() else shlex.join(command)


def _examples(stage: Stage, program: str) -> Iterator[str]:
    """Give commands with the id of a call that really waits."""
    waiting = _first_waiting(stage)
    short = "ID" if waiting is None else short_ids([waiting.id])[waiting.id]
    yield f"{program} show {short}"
    yield f"{program} approve {short}"
    yield f"{program} deny {short} --reason 'not today'"
    yield f"{program} watch"


def _first_waiting(stage: Stage) -> Row | None:
    deadline = time.monotonic() + _FIRST_CALL_S
    settings = load(stage.home)
    while time.monotonic() < deadline:
        stage.tick()
        for row in scan_once(settings, (SourceSetting(path=stage.source),)):
            if row.state is State.PENDING and not stops(row):
                return row
        time.sleep(_TICK_S)
    return None


@contextmanager
def _signals_as_interrupts() -> Iterator[None]:
    """Let a closed terminal and a polite kill end the demo as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
