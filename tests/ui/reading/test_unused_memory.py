"""What was freed between pieces that are still held goes back to the system."""

import platform
from pathlib import Path

import pytest

from lineclear.ui.reading.unused_memory import give_back

MB = 1 << 20


def resident() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (told,) = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(told) * 1024


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only that library keeps it")
def test_what_was_freed_between_what_is_held_goes_back():
    pieces = [bytes(2000) for _ in range(50_000)]
    held = pieces[::50]
    pieces.clear()
    before = resident()
    give_back()
    assert before - resident() > 50 * MB
    assert len(held) == 1000


def test_it_may_be_asked_on_any_system():
    give_back()
