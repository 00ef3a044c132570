"""A machine with an agent, two operators of one group and others: real users, real processes.

The users stand in a passwd and a group of a mount namespace of its own, so nothing of the machine
is changed. It takes root and util-linux; where something lacks, `machine` says what.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GROUP = 64800
GROUP_NAME = "lc-operators"


@dataclass(frozen=True)
class User:
    name: str
    uid: int
    groups: tuple[int, ...] = (GROUP,)


AGENT = User("lc-agent", 64811)
ALICE = User("lc-alice", 64812)
BOB = User("lc-bob", 64813)
STRANGER = User("lc-stranger", 64814, ())
UNLISTED = User("lc-unlisted", 64815)
"""In the group as the kernel has it, but in no list of its members."""
EVERYBODY = (AGENT, ALICE, BOB, STRANGER, UNLISTED)
MEMBERS = (AGENT, ALICE, BOB)


class Lacking(Exception):
    """What a machine needs and this one has not."""


class Machine:
    """Runs programs as its users; `source` is shared with the group, `own` is each user's home."""

    def __init__(self, folder: Path, namespace: int) -> None:
        self.source = folder / "source"
        self._folder = folder
        self._namespace = namespace

    def own(self, user: User) -> Path:
        return self._folder / user.name

    def words(self, user: User, *words: str | Path) -> list[str]:
        """The command that runs WORDS as that user."""
        groups = [f"--groups={','.join(map(str, user.groups))}"] if user.groups else []
        return [
            "nsenter", f"--mount=/proc/{self._namespace}/ns/mnt", f"--wd={ROOT}", "--",
            "setpriv", f"--reuid={user.uid}", f"--regid={user.uid}",
            *(groups or ["--clear-groups"]), "--", *map(str, words),
        ]  # fmt: skip

    def environment(self, user: User) -> dict[str, str]:
        home = str(self.own(user))
        kept = {name: os.environ[name] for name in ("PATH", "LANGUAGE") if name in os.environ}
        return {
            **kept,
            "HOME": home,
            "LINECLEAR_HOME": f"{home}/lineclear",
            "XDG_RUNTIME_DIR": f"{home}/run",
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(ROOT / "app"),
            "USER": user.name,
            "LOGNAME": user.name,
        }

    def run(self, user: User, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(user, *words),
            env=self.environment(user),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self, user: User, *words: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words(user, *words),
            env=self.environment(user),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def python(self, user: User, code: str, *words: str | Path) -> str:
        """Run CODE; what it printed, or the last line of its error."""
        done = self.run(user, sys.executable, "-c", code, *words)
        return done.stdout.strip() if done.returncode == 0 else done.stderr.splitlines()[-1]

    def lineclear(self, user: User, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return self.run(user, sys.executable, "-m", "lineclear", *words)

    def listed(self, user: User) -> list[dict[str, Any]]:
        done = self.lineclear(user, "list", "--all", "--json", "--source", self.source)
        assert done.returncode == 0, done.stderr
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows

    def settle(self) -> None:
        """Make homes, and a source as the README says to share one."""
        for user in EVERYBODY:
            for folder in (self.own(user), self.own(user) / "run"):
                folder.mkdir(mode=0o700)
                os.chown(folder, user.uid, user.uid)
        self.source.mkdir()
        os.chown(self.source, 0, GROUP)
        self.source.chmod(0o3770)


@contextlib.contextmanager
def machine() -> Iterator[Machine]:
    """Set one up; raises Lacking."""
    if sys.platform == "win32" or os.geteuid() != 0:
        raise Lacking("needs root to act as several users")
    for program in ("unshare", "nsenter", "setpriv", "mount"):
        if shutil.which(program) is None:
            raise Lacking(f"needs {program}")
    folder = Path(tempfile.mkdtemp(prefix="lineclear-users-"))
    folder.chmod(0o711)
    try:
        with _namespace(folder) as pid:
            made = Machine(folder, pid)
            made.settle()
            if made.python(AGENT, "import lineclear, tests; print('here')") != "here":
                raise Lacking("needs an interpreter and a checkout that every user may read")
            yield made
    finally:
        shutil.rmtree(folder)


def _opened(kept: Path) -> Iterator[str]:
    """Commands that let every user reach this interpreter and checkout, also below a private home.

    An empty folder stands in the place of that home, with nothing but what is needed in it.
    """
    needed: dict[Path, list[Path]] = {}
    for path in map(Path, dict.fromkeys((sys.base_prefix, sys.prefix, str(ROOT)))):
        closed = [one for one in path.parents if not one.stat().st_mode & 0o001]
        if closed:
            needed.setdefault(closed[-1], []).append(path)
    for number, (home, paths) in enumerate(needed.items()):
        for index, path in enumerate(paths):
            stage = f"'{kept}/{number}-{index}'"
            yield f"mkdir -p {stage} && mount --bind '{path}' {stage}"
        yield f"mount -t tmpfs -o mode=755 none '{home}'"
        for index, path in enumerate(paths):
            yield f"mkdir -p '{path}' && mount --bind '{kept}/{number}-{index}' '{path}'"


@contextlib.contextmanager
def _namespace(folder: Path) -> Iterator[int]:
    lists = {"passwd": folder / "passwd", "group": folder / "group"}
    users = "".join(f"{one.name}:x:{one.uid}:{one.uid}::/:/bin/sh\n" for one in EVERYBODY)
    own_groups = "".join(f"{one.name}:x:{one.uid}:\n" for one in EVERYBODY)
    names = ",".join(one.name for one in MEMBERS)
    lists["passwd"].write_text(Path("/etc/passwd").read_text() + users)
    lists["group"].write_text(
        f"{Path('/etc/group').read_text()}{own_groups}{GROUP_NAME}:x:{GROUP}:{names}\n"
    )
    steps = [f"mount --bind {path} /etc/{name}" for name, path in lists.items()]
    steps += [*_opened(folder / "kept"), "echo ready", "exec cat"]
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(steps)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        if holder.stdout.readline() != "ready\n":
            raise Lacking("needs the right to a mount namespace of its own")
        yield holder.pid
        assert holder.stdin is not None
        holder.stdin.close()
