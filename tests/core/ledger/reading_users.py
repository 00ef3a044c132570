"""Three users at one source: two operators of one group read, a stranger looks; run as root.

python -m tests.core.ledger.reading_users FOLDER: prints one JSON object of what each of them saw.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lineclear.core.ledger import presence
from lineclear.core.ledger.folders import make_folders
from tests.core.ledger.two_users import OPERATOR, OPERATORS, STRANGER, as_user

BOB = OPERATOR + 10
CALL = "3f" * 16
LISTED = frozenset({OPERATOR, BOB})
_CHILDREN: list[int] = []


def seen(source: Path) -> list[Any]:
    return [[one.uid, one.name, one.call] for one in presence.readers(source, operators=LISTED)]


def while_bob_reads(source: Path, look: Callable[[], Any]) -> Any:
    """What LOOK gives while another user's inbox has the call before it."""

    def reads() -> Any:
        here = presence.announce(source)
        if here is None:
            return "not announced"
        here.tell("Bob", CALL)
        looked = look()
        here.tell("Bob", None)
        return [looked, look()]

    return as_user(BOB, [OPERATORS], reads)


def as_child(uid: int, groups: list[int], act: Callable[[], Any]) -> Callable[[], Any]:
    """Ask for what a user sees in a process that still has the right to become that user."""
    ask, asked = os.pipe()
    answer, answered = os.pipe()
    pid = os.fork()
    if pid == 0:
        while os.read(ask, 1):
            os.write(answered, json.dumps(as_user(uid, groups, act)).encode() + b"\n")
        os._exit(0)

    _CHILDREN.append(pid)

    def question() -> Any:
        os.write(asked, b"?")
        text = b""
        while not text.endswith(b"\n"):
            text += os.read(answer, 4096)
        return json.loads(text)

    return question


def rehearse() -> None:
    """Load what is imported late: the other users may not be allowed to read this interpreter."""
    with TemporaryDirectory() as stage:
        here = presence.announce(Path(stage))
        assert here is not None
        here.tell("nobody", CALL)
        # Its own words are none of a colleague's, so it reads them as any other would.
        (reading,) = Path(stage).rglob(presence.READING)
        presence.Reading.decode(reading.read_bytes())
        seen(Path(stage))
        here.close()


def main(folder: Path) -> dict[str, Any]:
    rehearse()
    source = folder / "agents"
    make_folders(source, group=OPERATORS)
    os.chown(source, 0, OPERATORS)
    source.chmod(0o3770)
    operator = as_child(OPERATOR, [OPERATORS], lambda: seen(source))
    stranger = as_child(STRANGER, [], lambda: seen(source))
    told = {
        "operator": while_bob_reads(source, operator),
        "stranger": while_bob_reads(source, stranger),
    }
    # Bob's inbox is gone: whatever it left counts no more.
    told["afterwards"] = operator()
    for pid in _CHILDREN:
        os.kill(pid, signal.SIGKILL)
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
