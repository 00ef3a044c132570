"""A reading that nobody waits for ends, and one that takes its time tells how far it is."""

import threading

import pytest

from lineclear.ui.reading.halting import LOOK_EVERY, Halt, Halted
from lineclear.ui.reading.shown_text import exact_text
from tests.ui.sample import ask_for

LONG = list(range(300_000))


def test_lines_are_given_on_and_counted():
    halt = Halt()
    assert list(halt.through(range(LOOK_EVERY + 1))) == list(range(LOOK_EVERY + 1))
    assert halt.lines == 2 * LOOK_EVERY
    halt.stop()
    with pytest.raises(Halted):
        list(halt.through([1]))


def test_a_text_ends_while_it_is_made():
    halt = Halt()
    ended = []

    def make():
        try:
            exact_text(LONG, halt)
        except Halted as why:
            ended.append(why)

    maker = threading.Thread(target=make)
    maker.start()
    while not halt.lines:
        assert maker.is_alive()
    halt.stop()
    maker.join(20)
    assert len(ended) == 1
    assert halt.lines < len(LONG)


async def test_turning_to_another_call_stops_the_reading_of_the_one_before(inbox, source, until):
    long = ask_for(source, agent="long", arguments={"numbers": LONG}).shown
    short = ask_for(source, agent="short", arguments={"amount": 1}).shown
    await until(lambda: inbox.model.rowCount() == 2)
    view = inbox.flow.view
    inbox.table.choose(long.aid)
    await until(lambda: view.id == long.aid)
    halt = view._halt
    await until(lambda: halt.lines > 0)
    assert view.prepared is None
    inbox.table.choose(short.aid)
    await until(lambda: view.prepared is not None)
    assert view.id == short.aid
    assert view.notice is None
    with pytest.raises(Halted):
        halt.look()
    assert halt.lines < len(LONG)
    inbox.table.choose(long.aid)
    await until(lambda: "lines" in inbox.pane._wait.text(), "lines", 60)
    await until(lambda: view.prepared is not None, "the long call", 60)
    assert inbox.pane.call.shown == long.aid
