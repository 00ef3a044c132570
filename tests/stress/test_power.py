"""Each step of the ledger, with the power lost after any change that it makes on disk."""

import pytest

from tests.stress.tracing import unsupported

pytestmark = pytest.mark.skipif(unsupported() is not None, reason=unsupported() or "")

STATES = {
    "publish": 20,
    "approve": 8,
    "deny": 8,
    "run": 16,
    "hear-denial": 9,
    "expire": 33,
    "other-call": 30,
    "take-back": 15,
    "modify": 8,
    "run-modified": 16,
    "big-result": 20,
    "withdraw": 15,
    "resolve": 9,
    "observe-approval": 20,
    "observe-denial": 14,
    "claim": 5,
    "put-back": 3,
}
"""Different states that each step can leave at least."""


@pytest.mark.parametrize("step", STATES)
def test_no_loss_of_power_breaks_a_promise(step, harness):
    report = harness("power", step)
    assert report["violations"] == []
    assert report["kills"] >= STATES[step]


@pytest.mark.parametrize(
    "words",
    [
        ("publish", "--without", "sync"),
        ("run", "--without", "sync"),
        ("run", "--without", "sync-folder"),
        ("observe-approval", "--without", "sync-folder"),
        ("approve", "--told-early"),
        ("resolve", "--told-early"),
    ],
    ids=" ".join,
)
def test_the_harness_catches_a_step_that_syncs_less(words, harness):
    assert harness("power", *words)["violations"] != []
