"""A long call that the window let go of is freed in another thread."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.inbox.rows.row import Detail
from lineclear.ui.reading.outgoing import Outgoing
from lineclear.ui.reading.prepared import Prepared
from tests.badinputs import FIXTURES
from tests.ui.sample import a_row

SAMPLE = FIXTURES / "lc_agents" / "v018_arguments_null.json"


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as made:
        yield made


def read() -> Prepared:
    document = json.loads(SAMPLE.read_bytes())
    document["arguments"] = {"items": [{"n": n} for n in range(100)]}
    checkpoint = read_checkpoint(json.dumps(document).encode())
    detail = Detail(a_row(), None, checkpoint, b"", a_row().store)
    arguments = checkpoint.calls[0].arguments
    return Prepared(detail, arguments, "", 1, whole_fields=True, masked=arguments)


def test_it_is_kept_while_the_window_holds_any_reading_of_it(qtbot, pool):
    outgoing = Outgoing(pool)
    prepared = read()
    other = replace(prepared, lines=2)
    outgoing.keep(prepared.detail.checkpoint)
    outgoing._look()
    assert len(outgoing._kept) == 1
    del prepared
    outgoing._look()
    assert len(outgoing._kept) == 1
    assert other.arguments["items"][99] == {"n": 99}
    del other
    outgoing._look()
    assert outgoing._kept == []


def test_what_was_read_again_is_let_go_all_the_same(qtbot, pool):
    outgoing = Outgoing(pool)
    prepared = read()
    outgoing.keep(prepared.detail.checkpoint)
    outgoing.keep(prepared.detail.checkpoint)
    del prepared
    outgoing._look()
    assert outgoing._kept == []


def test_what_others_still_hold_of_it_stays_whole(qtbot, pool):
    outgoing = Outgoing(pool)
    prepared = read()
    arguments = prepared.arguments
    outgoing.keep(prepared.detail.checkpoint)
    del prepared
    outgoing._look()
    pool.shutdown()
    assert arguments["items"][99] == {"n": 99}
    assert len(arguments["items"]) == 100
