"""A call that is over and listed no more is told as over, not as gone."""

import json

from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.ui.queue.sections import Section
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    waiting_state,
)
from tests.ui.test_window import says, select


async def test_a_call_that_ended_is_not_told_as_removed(inbox, source, until):
    state = waiting_state(approval("call_1"), batch=[call("call_1")])
    folder = source / "web"
    folder.mkdir(mode=0o700)
    document = starweaver_document(state)
    badinputs.put(folder / "r.checkpoint.json", json.dumps(document).encode())
    settings = Settings(sources=(SourceSetting(path=source),))
    (row,) = scan_once(settings, settings.sources)
    shown = read_detail(row).shown
    assert shown is not None
    decide(read_detail(row), Verdict("approve"), Origin.CLI, settings)
    await until(lambda: _state(inbox, row.id) is State.APPROVED, "the word")
    inbox.sidebar.choose_section(Section.HANDED_OVER)
    await select(inbox, until, row.id)
    with Store.open(folder) as store:
        verified = read_decision(store, shown)
        assert isinstance(verified, Verified)
        assert begin(store, shown, verified)
        finish(store, shown, "ok", result="went on")
    inbox.flow.view.take(Diff(removed=(row.id,)))
    await until(lambda: says(inbox, "standing").startswith("Finished"), "how it ended")
    assert inbox.flow.view.frozen is None


def _state(inbox, row_id):
    row = inbox.model.row(row_id)
    return None if row is None else row.state
