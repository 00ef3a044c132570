"""A widget in a cycle is destroyed in the window's thread, whichever thread makes garbage."""

import gc
import threading

import pytest
from PySide6.QtWidgets import QWidget

from lineclear.core.checkpoints.uncollected import uncollected
from lineclear.ui.collecting import ALL_AFTER_S, LATEST, ROUNDS, Collector


class Watched(QWidget):
    """Says in which thread it ends."""

    ends: list[int]

    def __del__(self) -> None:
        self.ends.append(threading.get_ident())


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def idle():
    return [False]


@pytest.fixture
def collector(qapp, clock, idle):
    made = Collector(lambda: idle[0], clock=lambda: clock[0])
    yield made
    made.stop()
    assert gc.isenabled()


def cycle(ends: list[int]) -> None:
    widget = Watched()
    widget.ends = ends
    widget.myself = widget  # type: ignore[attr-defined]  # The cycle.


def litter() -> None:
    for _ in range(200_000):
        pair: list[object] = []
        pair.append(pair)


def in_a_thread(work) -> None:
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()


def test_another_threads_garbage_destroys_no_widget_there(collector):
    ends: list[int] = []
    cycle(ends)
    in_a_thread(litter)
    assert ends == []
    collector.look()
    assert ends == [threading.get_ident()]


def test_without_it_the_widget_would_end_in_that_thread(qapp):
    # What the module is for: Python itself gives no such promise.
    ends: list[int] = []
    gc.enable()

    def make() -> None:
        pair: list[object] = [ends]
        pair.append(pair)

        class Ending:
            def __del__(self) -> None:
                ends.append(threading.get_ident())

        pair.append(Ending())

    make()
    in_a_thread(litter)
    assert ends
    assert ends[0] != threading.get_ident()


def test_all_is_looked_at_once_an_hour_when_nobody_is_there(collector, clock, idle):
    gc.collect()
    ends: list[int] = []
    cycle(ends)
    gc.freeze()
    clock[0] = ALL_AFTER_S
    collector.look()
    assert ends == []
    idle[0] = True
    collector.look()
    assert ends == [threading.get_ident()]


def test_what_a_long_checkpoint_was_made_into_is_never_looked_through(collector):
    gc.collect()
    gc.unfreeze()
    with uncollected():
        built = [[number] for number in range(50_000)]
        collector.look()
        assert gc.get_count()[0] >= 50_000, "nothing is collected meanwhile"
    before = gc.get_freeze_count()
    collector.look()
    assert gc.get_freeze_count() - before >= 50_000
    assert gc.get_count()[0] < 50_000
    assert len(built) == 50_000
    ends: list[int] = []
    cycle(ends)
    litter()
    collector.look()
    assert ends == [threading.get_ident()], "all else is collected as ever"


def test_builds_in_two_threads_leave_the_collector_as_it_was(collector):
    collector.stop()
    assert gc.isenabled()
    both = threading.Barrier(2)

    def build() -> None:
        with uncollected():
            both.wait()
            both.wait()

    worker = threading.Thread(target=build)
    worker.start()
    with uncollected():
        both.wait()
        both.wait()
        worker.join()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_all_is_looked_through_when_nobody_is_there_or_long_after(collector, idle, monkeypatch):
    looks: list[str] = []
    monkeypatch.setattr(collector, "_whole", lambda: looks.append("whole"))
    counts = [(0, 0, ROUNDS + 1)]
    monkeypatch.setattr(gc, "get_count", lambda: counts[0])
    collector.look()
    assert looks == []
    idle[0] = True
    collector.look()
    assert looks == ["whole"]
    idle[0] = False
    counts[0] = (0, 0, LATEST + 1)
    collector.look()
    assert looks == ["whole", "whole"]
