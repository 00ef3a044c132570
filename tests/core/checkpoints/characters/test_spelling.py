"""Ids in other spellings are one id; ids that differ stay two."""

import pytest

from lineclear.core.checkpoints.characters.spelling import spelled


@pytest.mark.parametrize(
    "name",
    ["CAF\u00c9_1", "cafe\u0301_1", " caf\u00e9_1\n", "ca\u200bf\u00e9_1", "\uff43af\u00e9_1"],
)  # fmt: skip
def test_spellings_of_one_id_are_one(name):
    assert spelled(name) == "caf\u00e9_1"


@pytest.mark.parametrize("name", ["run_1", "run_2", "run_11", "run 1", "r\u0443n_1", ""])
def test_other_ids_stay_what_they_are(name):
    assert spelled(name) == name
