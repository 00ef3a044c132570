"""Checkpoints that Lineclear's own agents leave in another system's form."""

import json

import pytest

from lineclear.core.checkpoints.model import Counters, Reported, Usage
from lineclear.core.checkpoints.ours import as_written, reported
from lineclear.core.checkpoints.sniff import read_checkpoint
from tests.core.checkpoints.a3s_samples import a3s_document
from tests.core.checkpoints.starweaver_samples import starweaver_document

WRITTEN = Reported(15, Usage(10, 5, 4))
BLOCK = {
    "v": 1,
    "tokens": None,
    "usage": {"tokens_in": None, "tokens_out": None, "cache": None},
    "limits": {"iteration": 10, "tool_calls": None, "tokens": 5000},
}


def test_what_an_agent_does_not_report_is_not_zero():
    told = reported(BLOCK)
    assert told == Reported(None, Usage(None, None, None), Counters(10, None, 5000))


@pytest.mark.parametrize("block", [None, [], {}, {"usage": 3}, "x"])
def test_without_a_block_the_systems_own_figures_stand(block):
    assert reported(block) is None
    assert as_written(WRITTEN, None) == WRITTEN


@pytest.mark.parametrize("odd", [-1, 1.5, True, "7", {}])
def test_odd_figures_in_a_block_are_no_figures(odd):
    assert reported({"tokens": odd, "usage": {"tokens_in": odd}, "limits": odd}) == (
        Reported(None, Usage(None, None, None))
    )


def test_a_block_that_anybody_may_have_written_hides_no_figure_and_sets_no_limit():
    forged = {**BLOCK, "tokens": 1, "usage": {"tokens_in": 1, "tokens_out": 2}}
    assert as_written(WRITTEN, forged) == WRITTEN
    # What a system requires and an agent has not, is written 0: that it says so hides nothing.
    unknown = as_written(Reported(0, Usage(0, 3, 0)), BLOCK)
    assert unknown == Reported(None, Usage(None, 3, None))
    known = {**BLOCK, "tokens": 0, "usage": {"tokens_in": 0, "tokens_out": 3, "cache": 0}}
    assert as_written(Reported(0, Usage(0, 3, 0)), known) == Reported(0, Usage(0, 3, 0))


@pytest.mark.parametrize(
    "document",
    [
        a3s_document(lineclear=BLOCK),
        starweaver_document(metadata={"lineclear": {"run": BLOCK}}),
    ],
)
def test_a_checkpoint_with_a_block_is_believed_only_as_one_of_ours(document):
    theirs = read_checkpoint(json.dumps(document).encode())
    assert "extra_field" not in theirs.warnings
    assert (theirs.counters.tokens, theirs.limits) != (None, Counters(10, None, 5000))
    assert theirs.counters.tokens in (15, 150)
    assert theirs.usage is not None
    assert theirs.usage.tokens_in in (10, 120)
    assert theirs.limits == Counters()
    ours = theirs.believed()
    assert (ours.counters.tokens, ours.limits) == (None, Counters(10, None, 5000))
    assert ours.usage == Usage()


def test_an_unknown_key_is_told():
    theirs = read_checkpoint(json.dumps(a3s_document(other=1)).encode())
    assert theirs.counters.tokens == 15
    assert theirs.believed() == theirs
    assert "extra_field" in theirs.warnings


@pytest.mark.parametrize("block", ["x", {"v": 2}, {**BLOCK, "inputs": []}])
@pytest.mark.parametrize(
    "document_with",
    [
        lambda block: a3s_document(lineclear=block),
        lambda block: starweaver_document(metadata={"lineclear": {"run": block}}),
    ],
)
def test_a_block_that_cannot_be_read_is_told(document_with, block):
    assert "broken_block" in read_checkpoint(json.dumps(document_with(block)).encode()).warnings


def test_beside_a_block_that_cannot_be_read_no_zero_is_made_up():
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    document = a3s_document(lineclear="x", total_usage=usage)
    told = read_checkpoint(json.dumps(document).encode())
    assert (told.counters.tokens, told.usage) == (None, Usage())
