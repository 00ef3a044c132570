"""The line at a return in its strip: made while away, kept until it was read."""

from datetime import UTC, datetime, timedelta

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.endings import commit_ending
from lineclear.core.ledger.liveness import boottime_ns
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.ui.frame.return_line import ReturnLine
from tests.ui.sample import NOW, a_row, ask_for, row_id


def came(number: int, **more: object) -> Row:
    """A call that was asked after NOW."""
    return a_row(number, asked_at=NOW + timedelta(minutes=1), **more)


class Scene:
    def __init__(self) -> None:
        self.now = NOW
        self.there = True
        self.wanted: list[tuple[str, bool]] = []
        self.steady = 0.0
        self.line = ReturnLine(lambda: self.there, now=lambda: self.now, steady=lambda: self.steady)
        self.host = QWidget()
        QVBoxLayout(self.host).addWidget(self.line.strip)
        self.line.wanted.connect(lambda row, ran: self.wanted.append((row, ran)))

    def shown(self) -> str:
        return "" if self.line.strip.isHidden() else self.line.strip.label.text()

    def press(self, name: str) -> None:
        button = self.line.strip.findChild(QPushButton, name)
        assert button is not None
        button.click()

    def go(self) -> None:
        self.there = False
        self.line.look()

    def passes(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)
        self.steady += minutes * 60
        self.line.look()

    def comes_meanwhile(self, diff: Diff) -> None:
        """The operator goes, this comes, and they have been away for long."""
        self.go()
        self.line.take(diff)
        self.passes(6)


def test_the_line_stands_there_before_the_operator_is_back(qapp):
    scene = Scene()
    scene.go()
    scene.line.take(Diff(added=(came(1), came(2))))
    scene.passes(4)
    assert scene.shown() == ""
    scene.passes(2)
    expected = f"Since {NOW.astimezone():%H:%M}: 2 new."
    assert scene.shown() == expected
    scene.there = True
    scene.line.take(Diff(added=(came(3),)))
    scene.passes(1)
    assert scene.shown() == expected
    scene.press("returnShow")
    assert scene.shown() == ""
    assert scene.wanted == [(row_id(1), False)]


def test_what_may_have_run_is_shown_first(qapp):
    scene = Scene()
    scene.comes_meanwhile(Diff(added=(came(1),), changed=(a_row(5, state=State.UNCERTAIN),)))
    assert scene.shown().endswith(": 1 new, 1 may have run.")
    scene.press("returnShow")
    assert scene.wanted == [(row_id(5), True)]


def test_the_line_tells_only_what_is_still_so(qapp):
    scene = Scene()
    scene.comes_meanwhile(Diff(added=(came(1),), changed=(a_row(5, state=State.UNCERTAIN),)))
    settled = a_row(5, state=State.DONE, outcome="resolved", closed=True)
    scene.line.take(Diff(changed=(settled,)))
    since = f"Since {NOW.astimezone():%H:%M}:"
    assert scene.shown() == f"{since} 1 new."
    scene.there = True
    scene.line.look()
    scene.line.take(Diff(changed=(came(1, state=State.DENIED),)))
    # It stays where it is: without it all below would move under the pointer.
    assert scene.shown() == f"{since} all of it is settled."
    scene.press("returnShow")
    assert scene.wanted == []
    assert scene.shown() == ""


def test_a_line_of_which_nothing_is_left_goes_while_nobody_is_there(qapp):
    scene = Scene()
    scene.comes_meanwhile(Diff(added=(came(1),)))
    scene.line.take(Diff(removed=(row_id(1),)))
    scene.passes(1)
    assert scene.shown() == ""


def test_a_line_that_was_read_does_not_come_back(qapp):
    scene = Scene()
    scene.comes_meanwhile(Diff(added=(came(1),)))
    scene.there = True
    scene.line.look()
    scene.press("returnClose")
    scene.go()
    scene.passes(60)
    assert scene.shown() == ""
    assert scene.wanted == []


def later(returning: ReturnLine, then: datetime) -> None:
    """Let both clocks go on to that time."""
    left = (then - datetime.now(UTC)).total_seconds() + boottime_ns() / 1e9
    returning._now, returning._steady = (lambda: then), (lambda: left)


async def test_show_finds_a_call_that_has_expired_where_it_is_listed(inbox, source, until):
    await until(lambda: inbox.overview.complete, "the first scan")
    returning = inbox.returning
    then = datetime.now(UTC)
    returning._attended = lambda: False
    returning.look()
    expires = datetime.now(UTC) + timedelta(milliseconds=300)
    shown = ask_for(source, expires_at=expires).shown
    await until(lambda: inbox.model.row(shown.aid), "the row")
    await until(lambda: datetime.now(UTC) > expires, "its time")
    with Store.open(shown.store) as store:
        assert commit_ending(store, shown, "expired", "agent")
    await until(lambda: inbox.model.row(shown.aid).state is State.EXPIRED, "its end")
    later(returning, then + timedelta(minutes=6))
    returning.look()
    assert returning.strip.label.text().endswith(": 1 expired.")
    returning._attended = lambda: True
    returning.strip.findChild(QPushButton, "returnShow").click()
    await until(lambda: inbox.flow.current == shown.aid, "the call in the pane")


async def test_show_brings_the_first_call_that_came_into_the_pane(inbox, source, until):
    await until(lambda: inbox.overview.complete, "the first scan")
    returning = inbox.returning
    then = datetime.now(UTC)
    returning._attended = lambda: False
    returning.look()
    aid = ask_for(source).shown.aid
    await until(lambda: inbox.model.row(aid), "the row")
    later(returning, then + timedelta(minutes=6))
    returning.look()
    inbox.filter.setText("tool:nothing")
    returning._attended = lambda: True
    returning.look()
    assert returning.strip.isVisible()
    returning.strip.findChild(QPushButton, "returnShow").click()
    await until(lambda: inbox.flow.current == aid, "the call in the pane")
    assert not returning.strip.isVisible()
