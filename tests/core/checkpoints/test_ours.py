"""Checkpoints that Lineclear's own agents leave in another system's form."""

import pytest

from lineclear.core.checkpoints.model import Counters, Usage
from lineclear.core.checkpoints.ours import Reported, reported
from lineclear.core.checkpoints.sniff import read_checkpoint
from tests.core.checkpoints.a3s_samples import a3s_document

WRITTEN = Reported(15, Usage(10, 5, 4))
BLOCK = {
    "v": 1,
    "tokens": None,
    "usage": {"tokens_in": None, "tokens_out": None, "cache": None},
    "limits": {"iteration": 10, "tool_calls": None, "tokens": 5000},
}


def test_what_an_agent_does_not_report_is_not_zero():
    told = reported(BLOCK, WRITTEN)
    assert (told.tokens, told.usage) == (None, Usage(None, None, None))
    assert told.limits == Counters(10, None, 5000)


@pytest.mark.parametrize("block", [None, [], {}, {"usage": 3}, "x"])
def test_without_a_block_the_systems_own_figures_stand(block):
    assert reported(block, WRITTEN) == WRITTEN


@pytest.mark.parametrize("odd", [-1, 1.5, True, "7", {}])
def test_odd_figures_in_a_block_are_no_figures(odd):
    assert reported({"tokens": odd, "usage": {"tokens_in": odd}, "limits": odd}, WRITTEN) == (
        Reported(None, Usage(None, None, None))
    )


def test_a_loop_checkpoint_with_a_block_tells_so():
    import json

    read = read_checkpoint(json.dumps(a3s_document(lineclear=BLOCK)).encode())
    assert read.counters.tokens is None
    assert read.limits.tokens == 5000
    assert "extra_field" not in read.warnings
    theirs = read_checkpoint(json.dumps(a3s_document(other=1)).encode())
    assert theirs.counters.tokens == 15
    assert theirs.limits == Counters()
    assert "extra_field" in theirs.warnings
