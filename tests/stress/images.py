"""One step of the ledger killed on a real file system, of which then only the disk's part is left.

    python -m tests.stress.images FOLDER STEP FILE_SYSTEM [--every N]

The store lies on a small image. When the step is killed at a system call, the image is copied as
it is, without what the kernel still holds in memory; the copy is mounted, which replays its
journal, and the store in it is recovered and judged. Needs root.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.stress.acting import Place
from tests.stress.steps import Step, judged, must, native_steps
from tests.stress.sweep import Report
from tests.stress.tracing import GO_ON, SKIP, Tracer, Watch

_MIB = 1 << 20
_SYS_ADMIN = 21
MAKE = {
    "ext4": (16 * _MIB, ["mkfs.ext4", "-q", "-F"]),
    "xfs": (320 * _MIB, ["mkfs.xfs", "-q", "-f"]),
    "btrfs": (128 * _MIB, ["mkfs.btrfs", "-q", "-f"]),
}


def unsupported(file_system: str) -> str | None:
    """Say why images of that file system cannot be mounted here, None if they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux, to mount images"
    if shutil.which(MAKE[file_system][1][0]) is None:
        return f"needs {MAKE[file_system][1][0]}"
    if file_system not in Path("/proc/filesystems").read_text().split():
        return f"this kernel has no {file_system}"
    status = Path("/proc/self/status").read_text().splitlines()
    rights = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff"))
    if not rights >> _SYS_ADMIN & 1 or not Path("/dev/loop-control").exists():
        return "this container may not mount images"
    return None


@dataclass(frozen=True)
class Mounted(Place):
    """A store on an image; what the tool does happens elsewhere and lasts."""

    outside: Path = Path()

    @property
    def effects(self) -> Path:
        return self.outside / "effects"


class Forgetful(Watch):
    """Says of every sync that it is done, as a careless program would."""

    def entering(self, name: str, arguments: list[int]) -> int:
        answer = super().entering(name, arguments)
        return SKIP if answer == GO_ON and name in ("fsync", "fdatasync") else answer


class Images:
    """Runs one step on fresh copies of one image."""

    def __init__(self, folder: Path, file_system: str) -> None:
        self.folder = folder
        self.size, self.make = MAKE[file_system]
        self.tracer = Tracer(folder)
        self.report = Report()
        self.mount_point = folder / "mounted"
        self.mount_point.mkdir()
        self.place = Mounted(self.mount_point / "home", folder)
        # Always the same device: a store on another one is another store.
        self.device = _output("losetup", "--find")

    def run(self, step: Step, *, every: int, without_sync: bool = False) -> Report:
        template, image, cut = (self.folder / name for name in ("template", "image", "cut"))
        with template.open("wb") as file:
            file.truncate(self.size)
        _output(*self.make, str(template))
        with self._mounted(template):
            self.place.folder.mkdir()
            step.prepare(self.place)
            must(str(len(self.place.ran())), "0")
        clean = Watch()
        _copy(template, image)
        with self._mounted(image):
            must(str(self.tracer.run(lambda: step.act(self.place), clean).told), step.clean)
            list(judged(step, self.place, step.clean))
        # The last one is not killed: what it was told must last.
        for stop in [*range(1, clean.stops + 1, every), clean.stops + 1]:
            self.place.effects.unlink(missing_ok=True)
            _copy(template, image)
            with self._mounted(image):
                watch = Forgetful(kill_at_stop=stop) if without_sync else Watch(kill_at_stop=stop)
                end = self.tracer.run(lambda: step.act(self.place), watch)
                # Before anything else is written back.
                _copy(image, cut)
            with self._mounted(cut):
                faults = judged(step, self.place, end.told)
            self.report.kills += 1
            self.report.ends[end.told or "killed"] += 1
            self.report.violations += [f"{watch.hit} ({stop}): {fault}" for fault in faults]
        return self.report

    @contextmanager
    def _mounted(self, image: Path) -> Iterator[None]:
        self._attach(image)
        try:
            _output("mount", self.device, str(self.mount_point))
            try:
                yield
            finally:
                _output("umount", str(self.mount_point))
        finally:
            _output("losetup", "--detach", self.device)

    def _attach(self, image: Path) -> None:
        """Bind the device to an image; the last one lets go of it a moment after it is told to."""
        deadline = time.monotonic() + 20
        while True:
            argv = ["losetup", self.device, str(image)]
            if subprocess.run(argv, capture_output=True, check=False).returncode == 0:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.device} stays in use")
            os.sched_yield()


def _copy(source: Path, target: Path) -> None:
    _output("cp", "--sparse=always", str(source), str(target))


def _output(*argv: str) -> str:
    ran = subprocess.run(argv, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other run of this module uses the loop devices."""
    with (Path(tempfile.gettempdir()) / "lineclear-stress-images.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("step")
    parser.add_argument("file_system", choices=sorted(MAKE))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--without-sync", action="store_true")
    wanted = parser.parse_args()
    logging.disable()
    step = native_steps()[wanted.step]
    with alone():
        images = Images(wanted.folder, wanted.file_system)
        report = images.run(step, every=wanted.every, without_sync=wanted.without_sync)
    sys.stdout.write(json.dumps(report.__dict__))


if __name__ == "__main__":
    main()
