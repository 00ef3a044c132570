"""Kills one step of the ledger at each system call, or fails each call, then recovers and judges.

    python -m tests.stress.sweep FOLDER STEP [--every N] [--errnos K]

Prints one JSON object: kills, failures, what came of them, and the violations, which are none.
"""

from __future__ import annotations

import argparse
import errno
import json
import logging
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.stress.acting import Place
from tests.stress.foreign import foreign_steps
from tests.stress.steps import REFUSED, Step, careless_steps, judged, must, native_steps
from tests.stress.tracing import Ended, Tracer, Watch

ERRNOS = (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EACCES, errno.ENOMEM, errno.EINTR)

FALSE_WORDS = (
    *("raw", "seen", "never", "error no_exclusive_publish"),
    *("refused changed", "refused gone", "refused started"),
    *("refused not_approved", "refused picked_up"),
)
"""What a failing call must not make anybody say: it would not be so."""


@dataclass
class Report:
    kills: int = 0
    failures: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


class Sweep:
    """Runs one step once per fault, each time in a fresh store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tracer = Tracer(folder)
        self.report = Report()
        self.place = Place(folder / "case")

    def run(self, step: Step, *, every: int, errnos: int) -> Report:
        # Once without a watch: what is imported late must not be counted.
        self._fresh(step)
        must(step.act(self.place), step.clean)
        list(step.judge(self.place, None))
        clean = Watch()
        self._fresh(step)
        must(str(self._act(step, clean).told), step.clean)
        for stop in range(1, clean.stops + 1, every):
            self._case(step, Watch(kill_at_stop=stop))
            self.report.kills += 1
        for call in range(1, len(clean.calls) + 1, every):
            for turn in range(errnos):
                number = ERRNOS[(call + turn) % len(ERRNOS)]
                self._case(step, Watch(fail_call=call, errno=number))
                self.report.failures += 1
        return self.report

    def _case(self, step: Step, watch: Watch) -> None:
        self._fresh(step)
        end = self._act(step, watch)
        name = f"{watch.hit} (stop {watch.kill_at_stop}, call {watch.fail_call})"
        faults = [] if watch.hit else ["the fault did not happen"]
        self.report.ends[end.told or "killed"] += 1
        if watch.fail_call:
            if end.told is None or end.told.startswith(FALSE_WORDS):
                faults.append(f"told {end.told}")
            if end.told is not None and end.told.startswith("unfit") and end.told not in REFUSED:
                faults.append(f"told {end.told}")
            if left := self.place.temporaries():
                faults.append(f"left {left}")
        faults += judged(step, self.place, end.told)
        self.report.violations += [f"{name}: {fault}" for fault in faults]

    def _fresh(self, step: Step) -> None:
        shutil.rmtree(self.place.folder, ignore_errors=True)
        self.place.folder.mkdir()
        step.prepare(self.place)

    def _act(self, step: Step, watch: Watch) -> Ended:
        return self.tracer.run(lambda: step.act(self.place), watch)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("step")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--errnos", type=int, default=len(ERRNOS))
    wanted = parser.parse_args()
    # A failing call is warned of, again and again; here only what came of it counts.
    logging.disable()
    sweep = Sweep(wanted.folder)
    known = {**native_steps(), **foreign_steps(), **careless_steps()}
    report = sweep.run(known[wanted.step], every=wanted.every, errnos=wanted.errnos)
    sys.stdout.write(json.dumps(report.__dict__))


if __name__ == "__main__":
    main()
