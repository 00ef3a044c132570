"""Every call that ended today is told of while a window is open, not only a store's last one."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineclear.core.inbox.operator.settings import SourceSetting
from lineclear.core.inbox.rows import ended_calls
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.scan import Scanner, scan_once
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests.core.inbox.agents import watching

ANN = this_person("ann")
NOW = datetime.now(UTC)


def one_call(folder, to, how="ok"):
    with Store.create(folder) as store:
        asked = ask(store, Call("pay", {"to": to}, "bot"))
        assert isinstance(asked, Asked)
        if how == "withdrawn":
            return
        decide(store, asked.shown, Verdict("approve"), ANN, valid_for_s=900.0)
        finish(store, asked.shown, how, result="done")


def told(scanner, source):
    for _store in scanner.scan_source(SourceSetting(path=source)):
        pass
    rows = [row for store in scanner.stores.values() for row in store.rows if row.closed]
    return sorted(row.arguments["to"] for row in rows)


def test_all_that_ended_today_is_given_to_a_window(source):
    settings = watching(source)
    scanner = Scanner(settings, ended_today=True)
    for number, to in enumerate("abc", 1):
        one_call(source / "bot" / "1", to)
        assert told(scanner, source) == list("abc")[:number]
    assert told(Scanner(settings, ended_today=True), source) == ["a", "b", "c"]
    assert len(scan_once(settings, settings.sources)) == 1, "a list tells the last one"


def test_a_call_that_was_asked_anew_did_not_finish(source):
    one_call(source / "bot" / "1", "a", how="withdrawn")
    one_call(source / "bot" / "1", "b")
    assert told(Scanner(watching(source), ended_today=True), source) == ["b"]


def test_what_ended_on_another_day_is_history(source, monkeypatch):
    one_call(source / "bot" / "1", "a")
    one_call(source / "bot" / "1", "b")
    now = datetime.now(UTC)
    assert ended_calls.same_day(now, now)
    assert not ended_calls.same_day(now - timedelta(days=1), now)
    scanner = Scanner(watching(source), ended_today=True)
    monkeypatch.setattr(
        "lineclear.core.inbox.watching.store_reading.same_day", lambda _at, _now: False
    )
    assert told(scanner, source) == ["b"]


def a_foreign(number, **more):
    said = {"sha256": f"{number:064x}", "ended_at": NOW, "closed": True, "outcome": "ok", **more}
    return Row(
        id=f"{number:032x}", system="starweaver", state=State.DONE, source=Path("/srv"),
        store=Path("/srv/web"), agent="web", run="r", **said,
    )  # fmt: skip


def test_of_another_systems_store_each_checkpoint_of_today_counts():
    first, again = a_foreign(1, outcome="error"), a_foreign(2, sha256=f"{1:064x}")
    yesterday = a_foreign(3, ended_at=NOW - timedelta(days=1))
    last, anew = a_foreign(4), a_foreign(5, outcome="withdrawn")
    closed = [yesterday, first, again, anew, last]
    assert ended_calls.of_today(closed, [last], NOW) == [again]
