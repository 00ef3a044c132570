"""Which letters look like others, told of long texts piece by piece as of short ones at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.checkpoints.characters import pieces, scripts

LETTERS = st.text(st.sampled_from("aZ\u0436\u0391\u6f221_ .\u0301\u00e9"), max_size=14)


@given(LETTERS, st.integers(1, 5))
@settings(max_examples=2_000, deadline=None)
def test_a_word_that_mixes_is_found_wherever_it_is_cut(text, piece):
    with pytest.MonkeyPatch.context() as shorter:
        shorter.setattr(pieces, "PIECE", piece)
        found = scripts.mixes_in_word(text)
    assert found == (scripts._MIXED_WORD.search(text) is not None)
