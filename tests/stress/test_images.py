"""Each step killed on a real file system, whose image is then what the disk had received."""

import pytest

from tests.stress import images


@pytest.fixture(params=sorted(images.MAKE))
def file_system(request, full):
    reason = images.unsupported(request.param)
    if reason is not None:
        pytest.skip(reason)
    if not full and request.param != "ext4":
        pytest.skip("only with LINECLEAR_STRESS=full")
    return request.param


@pytest.mark.parametrize("step, stops", [("approve", 90), ("run", 200)])
def test_what_the_disk_received_keeps_every_promise(step, stops, file_system, harness, full):
    every = 1 if full else 12
    report = harness("images", step, file_system, "--every", every)
    assert report["violations"] == []
    assert report["kills"] * every >= stops


def test_the_images_catch_a_program_that_does_not_sync(file_system, harness):
    report = harness("images", "approve", file_system, "--every", 20, "--without-sync")
    assert any("not 'already approve by alice'" in line for line in report["violations"])
