"""Each step of the ledger, killed at its system calls and with its system calls failing."""

import pytest

from tests.stress.tracing import unsupported

pytestmark = pytest.mark.skipif(unsupported() is not None, reason=unsupported() or "")

STOPS = {
    "publish": 150,
    "approve": 90,
    "deny": 90,
    "run": 230,
    "hear-denial": 190,
    "expire": 230,
    "other-call": 350,
    "take-back": 120,
    "modify": 90,
    "run-modified": 230,
    "big-result": 250,
    "withdraw": 150,
    "resolve": 90,
    "foreign-approve": 90,
    "claim": 130,
    "put-back": 150,
    "take-one-back": 120,
}
"""Stops that each step has at least; fewer would mean that the harness has gone blind."""


@pytest.mark.parametrize("step", STOPS)
def test_no_kill_and_no_failing_call_breaks_a_promise(step, harness, full):
    every, errnos = (1, 6) if full else (3, 2)
    report = harness("sweep", step, "--every", every, "--errnos", errnos)
    assert report["violations"] == []
    assert report["kills"] * every >= STOPS[step]
    assert report["failures"] * every >= STOPS[step] // 2 * errnos
    assert report["ends"]["killed"] == report["kills"]


def test_the_harness_catches_a_tool_that_runs_before_its_start_record(harness):
    report = harness("sweep", "careless-run", "--every", 3, "--errnos", 1)
    assert any("2, not 1" in line for line in report["violations"])


def test_the_harness_catches_a_word_given_before_the_record(harness):
    report = harness("sweep", "careless-approve", "--every", 3, "--errnos", 1)
    assert any("'recorded deny', not 'already approve" in line for line in report["violations"])
