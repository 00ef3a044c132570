"""What did not happen is said once, in the words of what kept it from happening."""

import pytest

from lineclear.core.errors import AlreadyDecided, LineclearError, NotConfirmed
from lineclear.ui.reading.banners import failure_notice

FULL = "Not confirmed: the disk is full at /srv/a, writing x; free some space and try again."
UNKNOWN = "It is not known whether it was started: its output is in /srv/a/log."


@pytest.mark.parametrize(
    "why, tone",
    [
        (NotConfirmed(FULL), "stop"),
        (NotConfirmed(UNKNOWN), "stop"),
        (AlreadyDecided("bob denied it."), "care"),
    ],
)
def test_a_failure_is_told_in_its_own_sentence_and_no_other(why: LineclearError, tone: str):
    notice = failure_notice(why)
    assert (notice.text, notice.tone) == (why.sentence, tone)
