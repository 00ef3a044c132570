"""Runs one command and keeps its output in a log of bounded size, whoever else ends meanwhile.

A window that started an agent may be closed; then somebody has to go on reading what the agent
prints, or it would block, and somebody has to stop a log from filling the disk. This file is both a
module and a program of its own: it needs nothing but the standard library, so that it starts fast.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

LIMIT = 16 << 20
"""Bytes of a log at most."""
TAIL = 64 << 10
"""Of an output that is longer, its last bytes are kept as well."""
GO = b"go\n"
"""What has to be read from standard input before the command is started."""
NOT_TOLD_TO = 3
"""Exit code when nobody said go."""
NOT_STARTED = 127
"""Exit code when the command could not be started, as shells have it."""
_CUT = b"\n[... output left out: a log holds 16 MiB ...]\n"


class BoundedOutput:
    """Writes output to a file until the bound, then keeps only the end for later."""

    def __init__(self, sink: int, limit: int = LIMIT, tail: int = TAIL) -> None:
        self._sink = sink
        self._room = limit - tail - len(_CUT)
        self._tail_bytes = tail
        self._held = b""
        self._left_out = False

    def write(self, chunk: bytes) -> None:
        """Take output in."""
        head, rest = chunk[: self._room], chunk[self._room :]
        self._room -= len(head)
        _write_all(self._sink, head)
        if rest:
            held = self._held + rest
            self._left_out = self._left_out or len(held) > self._tail_bytes
            self._held = held[-self._tail_bytes :]

    def close(self) -> None:
        """Write the end that was kept; the file stays open."""
        if self._left_out:
            _write_all(self._sink, _CUT)
        _write_all(self._sink, self._held)
        self._held = b""


def copy_output(source: int, output: BoundedOutput) -> None:
    """Read until all writers have closed their end."""
    while True:
        try:
            chunk = os.read(source, 1 << 16)
        except InterruptedError:
            continue
        except OSError:
            break
        if not chunk:
            break
        output.write(chunk)
    output.close()


def run(argv: Sequence[str], env: Mapping[str, str] | None = None) -> int:
    """Wait to be told, run the command, log what it and its children print; give its exit code.

    ENV is the command's environment where it is not this program's own.
    """
    if os.read(0, len(GO)) != GO:
        return NOT_TOLD_TO
    # Whoever ends the agent's session ends the agent; its last words are still to be written.
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        signal.signal(number, signal.SIG_IGN)
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            close_fds=True,
            env=env,
            preexec_fn=None if os.name == "nt" else _heed_signals,  # noqa: PLW1509
        )
    except OSError as why:
        _write_all(1, os.fsencode(f"{argv[0]} could not be started: {why.strerror}.\n"))
        return NOT_STARTED
    assert child.stdout is not None
    copy_output(child.stdout.fileno(), BoundedOutput(1))
    return child.wait()


def _heed_signals() -> None:
    """Give the command the signals that this program does not listen to."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _write_all(sink: int, chunk: bytes) -> None:
    # A full disk loses output, not the agent, which would block on a pipe that nobody reads.
    with contextlib.suppress(OSError):
        while chunk:
            chunk = chunk[os.write(sink, chunk) :]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]) & 0xFF)
