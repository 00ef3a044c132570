import sys

import pytest

from lineclear.core import frozen

BUNDLE = "/opt/lineclear/_internal"
STARTED = {
    "HOME": "/home/ann",
    "LD_LIBRARY_PATH": f"{BUNDLE}:/opt/cuda/lib",
    "LD_LIBRARY_PATH_ORIG": "/opt/cuda/lib",
    "_PYI_ARCHIVE_FILE": "/opt/lineclear/lineclear",
    "_PYI_PARENT_PROCESS_LEVEL": "1",
}


@pytest.fixture
def bundled(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/lineclear/lineclear-inbox")


def test_from_source_the_environment_is_passed_on_as_it_is():
    assert not frozen.is_frozen()
    assert frozen.original_environment(STARTED) == STARTED


def test_a_bundle_passes_the_library_path_on_that_it_was_started_with(bundled):
    assert frozen.original_environment(STARTED) == {
        "HOME": "/home/ann",
        "LD_LIBRARY_PATH": "/opt/cuda/lib",
    }


def test_a_bundle_that_was_started_without_a_library_path_passes_none_on(bundled):
    assert frozen.original_environment({"LD_LIBRARY_PATH": BUNDLE, "LANG": "C"}) == {"LANG": "C"}


@pytest.mark.parametrize("platform, name", [("linux", "lineclear"), ("win32", "lineclear.exe")])
def test_the_other_program_stands_beside_this_one(bundled, monkeypatch, platform, name):
    monkeypatch.setattr(sys, "platform", platform)
    assert frozen.beside("lineclear").as_posix() == f"/opt/lineclear/{name}"
