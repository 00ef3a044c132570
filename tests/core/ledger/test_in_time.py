"""A decision cannot be of a time that had not come when its file was written."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.errors import Unreadable
from lineclear.core.ledger.in_time import refuse_to_come
from tests.core.ledger.steps import asked, record, say


@pytest.mark.parametrize("ahead, taken", [(-3600, True), (0, True), (11 * 60, False)])
def test_whatever_time_its_owner_gives_the_file(store, ahead, taken):
    shown = asked(store)
    decision = say(store, shown, "deny")
    path = record(store, f"000001-{shown.aid}.decision.json")
    at = datetime.now(UTC) + timedelta(seconds=ahead)
    os.utime(path, (at.timestamp(), at.timestamp()))
    said = decision.model_copy(update={"at": at})
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        if taken:
            refuse_to_come(said, str(path), folder)
            return
        with pytest.raises(Unreadable, match="was written before that") as refused:
            refuse_to_come(said, str(path), folder)
    finally:
        os.close(folder)
    assert (refused.value.code, refused.value.path) == ("not_expired", str(path))
