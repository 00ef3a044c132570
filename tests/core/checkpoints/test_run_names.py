"""A file that is no checkpoint says of which run it is only where that is sure."""

import pytest

from lineclear.core.agent.checkpoint_files import checkpoint_name
from lineclear.core.checkpoints.run_names import file_stem, runs_in

R1, R2 = file_stem("r1"), file_stem("r2")


def test_an_agents_own_file_is_named_by_that_digest():
    assert checkpoint_name("r1") == f"{R1}.checkpoint.json"


@pytest.mark.parametrize(
    "name, raw, runs",
    [
        # JSON says it, at its head and in its state, whatever its name.
        (R2, b'{"run_id":"R1","state":{"run_id":"r3"}}', {"r1", "r3"}),
        (R2, b'{"payload":{"run_id":" r1"}}', {"r1"}),
        # Deeper down it is somebody's argument.
        ("x", b'{"tool":{"run_id":"r1"}}', None),
        # What is no JSON is believed by its name and its text together.
        (R1, b'{"run_id":"r1",', {"r1"}),
        (R1, b'{"run_id":"r2",', None),
        ("x", b'{"run_id":"r1",', None),
        (R1, b'{"run_id":"\\u0072\\u0031",', {"r1"}),
        # A key that stands twice has two meanings.
        ("x", b'{"run_id":"r1","run_id":"r2"}', None),
        (R1, b"", None),
    ],
)
def test_which_runs_a_file_is_of(name, raw, runs):
    assert runs_in(f"{name}.checkpoint.json", raw) == runs


def test_its_name_tells_of_a_run_that_is_known():
    assert runs_in(f"{R1}.checkpoint.json", b"", ["r2", "r1"]) == frozenset({"r1"})
