"""Every state in which a power loss can leave a store, rebuilt, recovered and judged.

    python -m tests.stress.power FOLDER STEP

The step runs once while its calls on files are recorded. A loss after any of them keeps what was
synced, any subset of the later changes of names, and of unsynced data all, nothing, half, or
zeros. Prints one JSON object: the states, what came of them, and the violations, which are none.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lineclear.core.ledger.layout import LOCK
from tests.stress.acting import Place
from tests.stress.foreign import foreign_steps_by_bytes
from tests.stress.steps import Step, judged, must, native_steps, steps_after_a_kill
from tests.stress.sweep import Report, Sweep
from tests.stress.tracing import GO_ON, KILL, Watch

_AT_FDCWD = -100
_NAMED = frozenset(
    {"open", "openat", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat"}
    | {"rename", "renameat", "renameat2"}
)


@dataclass(frozen=True)
class Change:
    """One recorded call; which fields count depends on its kind."""

    kind: str
    """create, mkdir, link, rename, unlink; write, sync, sync-folder."""
    path: str = ""
    inode: int = 0
    source: str = ""
    data: bytes = b""

    @property
    def folders(self) -> set[str]:
        """The folders whose sync makes a change of names last; one is enough, it is atomic."""
        paths = [self.path, self.source] if self.kind == "rename" else [self.path]
        return {str(Path(path).parent) for path in paths}


class Recorder(Watch):
    """Notes every change below a folder, in order, with the bytes that were written."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = str(root)
        self.changes: list[Change] = []
        self.kill_after_link = False
        self._wanted: Change | None = None

    def entering(self, name: str, arguments: list[int]) -> int:
        super().entering(name, arguments)
        self._wanted = self._read(name, arguments)
        return 0

    def leaving(self, name: str, arguments: list[int], value: int) -> int:
        super().leaving(name, arguments, value)
        change, self._wanted = self._wanted, None
        if change is None or value < 0:
            return 0
        if change.kind == "create":
            inode = Path(f"/proc/{self.pid}/fd/{value}").stat().st_ino
            change = Change("create", change.path, inode)
        elif change.kind == "link":
            change = Change("link", change.path, os.lstat(change.path).st_ino)
        elif change.kind == "rename":
            inode = os.lstat(change.path).st_ino
            change = Change("rename", change.path, inode, change.source)
        elif change.kind == "write":
            change = Change("write", "", change.inode, "", change.data[:value])
        self.changes.append(change)
        return KILL if change.kind == "link" and self.kill_after_link else GO_ON

    def _read(self, name: str, arguments: list[int]) -> Change | None:
        """Describe the call before it happens; None for one that changes nothing below root."""
        if name in _NAMED:
            change = self._named(name, arguments)
            kept = change is not None and self._below(change.path)
            return change if kept else None
        if name in ("write", "fsync", "fdatasync"):
            opened = Path(f"/proc/{self.pid}/fd/{arguments[0]}")
            path = str(opened.readlink())
            if not self._below(path):
                return None
            found = opened.stat()
            if name == "write":
                data = self._memory(arguments[1], arguments[2])
                return Change("write", inode=found.st_ino, data=data)
            if stat.S_ISDIR(found.st_mode):
                return Change("sync-folder", path)
            return Change("sync", inode=found.st_ino)
        return None

    def _named(self, name: str, arguments: list[int]) -> Change | None:
        at = name.endswith(("at", "at2"))
        first, rest = (arguments[0], arguments[1:]) if at else (_AT_FDCWD, arguments)
        path = self._path(first, rest[0])
        if name.startswith("open"):
            return (
                None
                if os.path.lexists(path) or not rest[1] & os.O_CREAT
                else Change("create", path)
            )
        if name.startswith("mkdir"):
            return Change("mkdir", path)
        if name.startswith("unlink"):
            return Change("unlink", path)
        second = self._path(rest[1], rest[2]) if at else self._path(_AT_FDCWD, rest[1])
        return Change("link" if name.startswith("link") else "rename", second, source=path)

    def _below(self, path: str) -> bool:
        return path.startswith(self.root) and not path.endswith(LOCK)

    def _path(self, folder: int, address: int) -> str:
        name = os.fsdecode(self._memory(address, 4096).split(b"\0", 1)[0])
        if name.startswith("/"):
            return name
        # The kernel takes a descriptor's low 32 bits, with their sign.
        number = (folder & 0xFFFFFFFF) - (1 << 32 if folder & 0x80000000 else 0)
        link = "cwd" if number == _AT_FDCWD else f"fd/{number}"
        base = Path(f"/proc/{self.pid}/{link}").readlink()
        return str(base) if name == "." else f"{base}/{name}"

    def _memory(self, address: int, size: int) -> bytes:
        fd = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)
        try:
            # To the end of the page first: the next one may not be there.
            here = min(size, 4096 - address % 4096)
            data = os.pread(fd, here, address)
            return data if here == size else data + self._rest(fd, address + here, size - here)
        finally:
            os.close(fd)

    @staticmethod
    def _rest(fd: int, address: int, size: int) -> bytes:
        try:
            return os.pread(fd, size, address)
        except OSError:
            return b""


@dataclass
class State:
    """What a loss leaves: folders, and files with their bytes."""

    point: int
    effects: bytes
    folders: set[str]
    files: dict[str, bytes]


@dataclass
class History:
    """The recorded run, and what stood before it."""

    before: dict[str, int]
    """Paths and inodes of the files that stood there."""
    held: dict[int, bytes]
    """What those held, durably."""
    folders: set[str]
    changes: list[Change]
    effects: list[bytes]
    """What the tool's own file held after each change; it is another system's, and durable."""

    def forget(self, kind: str) -> None:
        """Drop the changes of one kind."""
        kept = [n for n, change in enumerate(self.changes) if change.kind != kind]
        self.changes = [self.changes[n] for n in kept]
        self.effects = [self.effects[0], *(self.effects[n + 1] for n in kept)]

    def states(self) -> Iterator[State]:
        for point in range(len(self.changes) + 1):
            done = self.changes[:point]
            synced_at: dict[str, int] = {}
            for number, change in enumerate(done):
                if change.kind == "sync-folder":
                    synced_at[change.path] = number
            named = [
                (number, change)
                for number, change in enumerate(done)
                if change.kind in ("create", "mkdir", "link", "rename", "unlink")
            ]
            open_ones = [
                n
                for n, change in named
                if all(n > synced_at.get(folder, -1) for folder in change.folders)
            ]
            for kept in subsets(open_ones):
                lost = set(open_ones) - kept
                folders, names = self._names([change for n, change in named if n not in lost])
                for contents in self._contents(done, set(names.values())):
                    files = {
                        path: contents[inode]
                        for path, inode in names.items()
                        if str(Path(path).parent) in folders
                    }
                    yield State(point, self.effects[point], folders, files)

    def _names(self, changes: list[Change]) -> tuple[set[str], dict[str, int]]:
        names = dict(self.before)
        folders = set(self.folders)
        for change in changes:
            if change.kind == "mkdir":
                folders.add(change.path)
            elif change.kind == "unlink":
                names.pop(change.path, None)
            else:
                if change.kind == "rename":
                    names.pop(change.source, None)
                names[change.path] = change.inode
        return folders, names

    def _contents(self, done: list[Change], named: set[int]) -> Iterator[dict[int, bytes]]:
        written = dict(self.held)
        synced = {inode: len(data) for inode, data in self.held.items()}
        for change in done:
            if change.kind == "write":
                written[change.inode] = written.get(change.inode, b"") + change.data
            elif change.kind == "sync":
                synced[change.inode] = len(written.get(change.inode, b""))
        inodes = sorted(named)
        choices = []
        for inode in inodes:
            full, safe = written.get(inode, b""), synced.get(inode, 0)
            rest = len(full) - safe
            possible = {full, full[:safe], full[: safe + rest // 2], full[:safe] + bytes(rest)}
            choices.append(sorted(possible))
        for chosen in itertools.product(*choices):
            yield dict(zip(inodes, chosen, strict=True))


def subsets(numbers: list[int]) -> Iterator[set[int]]:
    for size in range(len(numbers) + 1):
        yield from map(set, itertools.combinations(numbers, size))


class PowerCut(Sweep):
    """Cuts the power after each change of one step."""

    def cut(self, step: Step, *, without: str = "", told_early: bool = False) -> Report:
        """Judge every state; WITHOUT drops syncs of that kind, as a careless program would.

        TOLD_EARLY judges as if the step told its end as soon as its last link was made.
        """
        history = self._record(step)
        history.forget(without)
        links = [n for n, change in enumerate(history.changes) if change.kind == "link"]
        over_at = links[-1] + 1 if told_early else len(history.changes)
        seen: set[tuple[object, ...]] = set()
        for state in history.states():
            over = state.point >= over_at
            mark = (
                over,
                state.effects,
                frozenset(state.folders),
                frozenset(state.files.items()),
            )
            if mark in seen:
                continue
            seen.add(mark)
            self._rebuild(state, history)
            told = step.clean if over else None
            self.report.kills += 1
            faults = judged(step, self.place, told)
            where = history.changes[state.point - 1] if state.point else "nothing"
            self.report.violations += [f"after {where}: {fault}" for fault in faults]
            self.report.ends["told" if over else "cut"] += 1
        return self.report

    def _record(self, step: Step) -> History:
        # Once without a record: what is imported late must not be in it.
        self._fresh(step)
        if step.first is not None:
            step.first(self.place)
        must(step.act(self.place), step.clean)
        self._fresh(step)
        root = self.place.store
        files = [path for path in root.rglob("*") if path.is_file()]
        before = {str(path): path.stat().st_ino for path in files}
        held = {path.stat().st_ino: path.read_bytes() for path in files}
        folders = {str(self.place.folder), *(str(p) for p in root.rglob("*") if p.is_dir())}
        if root.exists():
            folders.add(str(root))
        recorder = EffectsRecorder(self.place)
        first = step.first
        if first is not None:
            recorder.kill_after_link = True
            must(str(self.tracer.run(lambda: first(self.place), recorder).told), "None")
            recorder.kill_after_link = False
        must(str(self.tracer.run(lambda: step.act(self.place), recorder).told), step.clean)
        return History(before, held, folders, recorder.changes, recorder.effects)

    def _rebuild(self, state: State, history: History) -> None:
        """Put what the disk holds back into the folder that it was: records name its inode."""
        store, aside = self.place.store, self.place.folder.with_name("aside")
        if store.exists():
            store.rename(aside)
        for old in (self.place.folder, *aside.iterdir()):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        self.place.folder.mkdir(mode=0o700)
        if str(store) in state.folders:
            aside.rename(store)
        for folder in sorted(state.folders - {str(self.place.folder), str(store)}):
            Path(folder).mkdir(mode=0o700)
        if state.effects:
            self.place.effects.write_bytes(state.effects)
        for path, data in state.files.items():
            Path(path).write_bytes(data)
            Path(path).chmod(0o600)


class EffectsRecorder(Recorder):
    """Notes what the tool had done when each change was made."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.store)
        self._place = place
        self.effects = [b""]

    def leaving(self, name: str, arguments: list[int], value: int) -> int:
        before = len(self.changes)
        answer = super().leaving(name, arguments, value)
        path = self._place.effects
        held = path.read_bytes() if path.exists() else b""
        if len(self.changes) > before:
            self.effects += [held] * (len(self.changes) - before)
        else:
            # A cut right after the tool's own deed, before the next change here.
            self.effects[-1] = held
        return answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("step")
    parser.add_argument("--without", default="", choices=["sync", "sync-folder"])
    parser.add_argument("--told-early", action="store_true")
    wanted = parser.parse_args()
    logging.disable()
    cutter = PowerCut(wanted.folder)
    step = {**native_steps(), **steps_after_a_kill(), **foreign_steps_by_bytes()}[wanted.step]
    report = cutter.cut(step, without=wanted.without, told_early=wanted.told_early)
    sys.stdout.write(json.dumps(report.__dict__))


if __name__ == "__main__":
    main()
