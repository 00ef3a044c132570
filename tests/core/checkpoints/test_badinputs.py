"""Every hostile checkpoint gets the one answer that the manifest gives for it."""

from typing import Any

import pytest

from lineclear.core.checkpoints.characters.text import reveal, unisolated, visible
from lineclear.core.checkpoints.lc_agents import PendingApproval
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.checkpoints.warnings import LEVELS, SENTENCES, Level, call_warnings
from lineclear.core.errors import Unreadable
from tests.badinputs import FILES, BadFile

REFUSED = [case for case in FILES if case.reason_code is not None]
ACCEPTED = [case for case in FILES if case.reason_code is None]
MORE = {
    # Its own system reads it back now, but not as the step that this call becomes.
    "deep_126": {"too_deep_for_writer"},
}


def name(case: BadFile) -> str:
    return case.name


def test_the_manifest_is_all_there():
    assert len(REFUSED) == 37
    assert len(ACCEPTED) == 36


@pytest.mark.parametrize("case", REFUSED, ids=name)
def test_is_refused_with_its_reason_code_and_a_sentence(case: BadFile):
    with pytest.raises(Unreadable) as refused:
        read_checkpoint(case.raw)
    assert refused.value.code == case.reason_code
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert len(sentence) < 200


@pytest.mark.parametrize("case", REFUSED, ids=name)
def test_the_agents_library_refuses_the_same_bytes_with_the_same_code(case: BadFile):
    with pytest.raises(Unreadable) as refused:
        PendingApproval.decode(case.raw)
    assert refused.value.code == case.reason_code


@pytest.mark.parametrize("case", ACCEPTED, ids=name)
def test_is_shown_whole_with_its_flags(case: BadFile):
    checkpoint = read_checkpoint(case.raw)
    (call,) = checkpoint.calls
    assert checkpoint.raw == case.raw
    assert set(call_warnings(checkpoint, call)) == case.flags | MORE.get(case.name, set())
    assert call.tool == checkpoint.document["tool_name"]
    assert call.arguments == checkpoint.document["arguments"]


@pytest.mark.parametrize("case", ACCEPTED, ids=name)
def test_every_text_of_it_can_be_shown_and_got_back(case: BadFile):
    rest: list[Any] = [read_checkpoint(case.raw).document]
    texts = 0
    while rest:
        item = rest.pop()
        if isinstance(item, str):
            shown = visible(item).text
            assert all(c.isprintable() or c in "\n⏎" for c in unisolated(shown))
            assert reveal(shown) == item
            texts += 1
        elif isinstance(item, dict):
            rest += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            rest += item
    assert texts > 9


def test_what_hides_or_imitates_is_a_stop():
    for case in ACCEPTED:
        for flag in case.flags & {"control", "invisible", "marker_char", "mixed_scripts"}:
            assert LEVELS[flag] is Level.STOP
            assert SENTENCES[flag]
