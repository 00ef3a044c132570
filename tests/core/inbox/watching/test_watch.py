"""Watching: nothing that appears is missed, whatever the system tells or fails to tell."""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from watchfiles._rust_notify import RustNotify

from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.sources import hints
from lineclear.core.inbox.watching import watch
from lineclear.core.inbox.watching import watched as watched_source
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.watch import InboxWatcher
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.presence import watched
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.inbox.agents import Agent, asked, call, watching

SECONDS = 20.0


class Window:
    """Takes diffs as a window does, in the worker's thread, and lets a test wait for facts."""

    def __init__(self, settings: Settings) -> None:
        self.rows: dict[str, Row] = {}
        self.health: tuple[Any, ...] = ()
        self.complete = 0
        self.sizes: list[int] = []
        self.threads: set[str] = set()
        self.trip: Exception | None = None
        self.left: Callable[[Iterable[str]], object] = list
        """Is given the ids of the rows that go."""
        self._news = threading.Condition()
        self.watcher = InboxWatcher(settings, self._take)

    def _take(self, diff: Diff) -> None:
        with self._news:
            if self.trip is not None:
                trip, self.trip = self.trip, None
                raise trip
            self.threads.add(threading.current_thread().name)
            self.sizes.append(len(diff.added) + len(diff.changed) + len(diff.removed))
            self.left(diff.removed)
            for row_id in diff.removed:
                del self.rows[row_id]
            for row in diff.changed:
                assert row.id in self.rows
                self.rows[row.id] = row
            for row in diff.added:
                assert row.id not in self.rows
                self.rows[row.id] = row
            if diff.health is not None:
                self.health = diff.health
            self.complete += diff.complete
            self._news.notify_all()

    def wait(self, true, seconds=SECONDS):
        """Wait until TRUE(self) holds and give what it gave."""
        deadline = time.monotonic() + seconds
        with self._news:
            while not (fact := true(self)):
                left = deadline - time.monotonic()
                assert left > 0, f"{len(self.rows)} rows, health {self.health}"
                self._news.wait(left)
            return fact

    def tools(self) -> set[str | None]:
        return {row.tool for row in self.rows.values()}

    def __enter__(self):
        self.watcher.start()
        return self

    def __exit__(self, *_) -> None:
        self.watcher.stop()


def leave(folder: Path, tool="send_money", **said) -> Path:
    """Leave a checkpoint as another program does: a temporary beside it, then a rename."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = badinputs.put(folder / "pending.json.tmp", badinputs.encoded(tool_name=tool, **said))
    return draft.rename(folder / "pending.json")


def listening(window: Window) -> Window:
    """Wait until the first scan is done, which comes after the listeners."""
    window.wait(lambda one: one.complete)
    return window


# --- The plain way -----------------------------------------------------------------------------


def test_what_stands_there_comes_first_and_once(source):
    for number in range(30):
        leave(source / f"bot{number}", f"tool{number}")
    with Window(watching(source)) as window:
        listening(window)
        assert window.tools() == {f"tool{number}" for number in range(30)}
        assert window.complete == 1
        assert [(one.ok, one.stores, one.calls) for one in window.health] == [(True, 30, 30)]
    assert window.threads == {"inbox-watcher"}


def test_an_event_brings_a_row_long_before_the_timer(source, monkeypatch):
    monkeypatch.setattr(watch, "TICK_S", 3600.0)
    (source / "bot").mkdir(mode=0o700)
    with Window(watching(source)) as window:
        listening(window)
        leave(source / "bot", "first")
        window.wait(lambda one: one.tools() == {"first"})
        leave(source / "bot", "second")
        window.wait(lambda one: one.tools() == {"second"})
        (source / "bot" / "pending.json").unlink()
        window.wait(lambda one: not one.rows)
        shown = asked(source / "native" / "1")
        window.wait(lambda one: shown.aid in one.rows)
        leave(source / "deep" / "er" / "bot", "third")
        window.wait(lambda one: "third" in one.tools())
        shutil.rmtree(source / "deep")
        window.wait(lambda one: "third" not in one.tools())


def test_without_events_the_timer_finds_everything(source):
    settings = Settings(sources=(SourceSetting(path=source, polling=True),))
    with Window(settings) as window:
        listening(window)
        leave(source / "bot", "polled")
        window.wait(lambda one: one.tools() == {"polled"})


def test_death_of_an_agent_is_seen(source):
    agent = Agent(source / "bot")
    with Window(watching(source)) as window:
        window.wait(lambda one: any(row.process is Process.ALIVE for row in one.rows.values()))
        agent.kill()
        window.wait(lambda one: all(row.process is Process.DEAD for row in one.rows.values()))


def test_large_changes_come_in_parts(source):
    for number in range(1200):
        leave(source / f"bot{number}", f"tool{number}")
    with Window(watching(source)) as window:
        listening(window)
        assert len(window.rows) == 1200
        shutil.rmtree(source)
        source.mkdir(mode=0o700)
        window.wait(lambda one: not one.rows)
    assert max(window.sizes) <= 500


def test_a_store_is_looked_at_when_asked_for(source, monkeypatch):
    monkeypatch.setattr(watch, "TICK_S", 3600.0)
    monkeypatch.setattr(hints.Listener, "_listen", lambda self: self._stop.wait())
    settings = Settings(sources=(SourceSetting(path=source, polling=True),))
    with Window(settings) as window:
        listening(window)
        leave(source / "bot", "hidden")
        window.watcher.look_again(source / "bot")
        window.wait(lambda one: one.tools() == {"hidden"})
        leave(source / "other", "elsewhere")
        window.watcher.look_again()
        window.wait(lambda one: one.tools() == {"hidden", "elsewhere"})


def test_agents_can_tell_that_somebody_watches(source):
    assert not watched(source)
    with Window(watching(source)) as window:
        listening(window)
        assert watched(source)
    assert not watched(source)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="Linux tells what is open")
def test_a_paused_folder_is_let_go_so_that_its_disk_can_be_unmounted(source):
    def held() -> list[Path]:
        found = []
        for one in Path("/proc/self/fd").iterdir():
            # Another thread may have closed it.
            with contextlib.suppress(OSError):
                found.append(one.readlink())
        return [one for one in found if one.is_relative_to(source)]

    def until(fact: Callable[[], Any]) -> None:
        end = time.monotonic() + 20
        while not fact():
            assert time.monotonic() < end
            time.sleep(0.01)

    leave(source / "bot")
    with Window(watching(source)) as window:
        listening(window)
        # What says that somebody watches is a lock, and nothing else is kept open.
        shelf = source / ".watched"
        until(lambda: held() and all(one.is_relative_to(shelf) for one in held()))
        window.watcher.apply(Settings(sources=(SourceSetting(path=source, paused=True),)))
        until(lambda: not held())


# --- Losses ------------------------------------------------------------------------------------


def test_a_burst_of_renames_loses_nothing(source):
    for number in range(50):
        (source / f"bot{number}").mkdir(mode=0o700)
    with Window(watching(source)) as window:
        listening(window)
        for turn in range(40):
            for number in range(50):
                leave(source / f"bot{number}", f"tool{number}.{turn}")
        window.wait(lambda one: one.tools() == {f"tool{number}.39" for number in range(50)})


def test_brand_new_folders_lose_nothing(source):
    with Window(watching(source)) as window:
        listening(window)
        for number in range(300):
            leave(source / f"run{number}" / "inner", f"tool{number}")
        window.wait(lambda one: len(one.rows) == 300)


def test_more_events_than_the_system_keeps_lose_nothing(source):
    for number in range(20):
        (source / f"bot{number}").mkdir(mode=0o700)
    with Window(watching(source)) as window:
        listening(window)
        noise = source / "noise"
        noise.mkdir()
        for number in range(20_000):
            (noise / f"{number}").touch()
        for number in range(20):
            leave(source / f"bot{number}", f"tool{number}")
        window.wait(lambda one: len(one.rows) == 20)


@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_a_root_that_is_made_again_is_listened_to_again(source, gap, monkeypatch):
    leave(source / "old", "old")
    with Window(watching(source)) as window:
        listening(window)
        shutil.rmtree(source)
        time.sleep(gap)
        source.mkdir(mode=0o700)
        leave(source / "new", "new")
        window.wait(lambda one: one.tools() == {"new"})
        # And from now on by events again.
        monkeypatch.setattr(watched_source, "_IDLE_SHARE", 1e-9)
        leave(source / "new", "newer")
        window.wait(lambda one: one.tools() == {"newer"})


def test_a_root_that_was_swapped_is_seen(source):
    leave(source / "bot", "before")
    other = source.with_name("other")
    leave(other / "bot", "after")
    with Window(watching(source)) as window:
        listening(window)
        source.rename(source.with_name("aside"))
        other.rename(source)
        window.wait(lambda one: one.tools() == {"after"})
        leave(source / "bot", "later")
        window.wait(lambda one: one.tools() == {"later"})


def test_a_root_that_goes_is_told_long_before_the_timer(source, monkeypatch):
    leave(source / "bot")
    monkeypatch.setattr(watch, "TICK_S", 3600.0)
    with Window(watching(source)) as window:
        listening(window)
        source.rename(source.with_name("away"))
        window.wait(lambda one: one.health[0].missing)


def test_a_missing_root_keeps_its_rows_and_says_since_when(source):
    leave(source / "bot")
    with Window(watching(source)) as window:
        listening(window)
        source.rename(source.with_name("aside"))
        window.wait(lambda one: one.health and not one.health[0].ok)
        assert "is missing since" in window.health[0].sentence
        assert len(window.rows) == 1
        source.with_name("aside").rename(source)
        window.wait(lambda one: one.health[0].ok)
        assert len(window.rows) == 1


def test_a_root_that_comes_later_is_found(tmp_path):
    source = tmp_path / "later"
    with Window(watching(source)) as window:
        listening(window)
        leave(source / "bot", "first")
        window.wait(lambda one: one.tools() == {"first"})


def test_a_name_that_is_no_text_does_not_end_the_watch(source):
    with Window(watching(source)) as window:
        listening(window)
        store = Path(os.fsdecode(os.fsencode(source) + b"/bot-\xff"))
        leave(store, "odd")
        window.wait(lambda one: one.tools() == {"odd"})
        (row,) = window.rows.values()
        assert row.agent == "bot-\\xff"
        leave(source / "plain", "plain")
        window.wait(lambda one: one.tools() == {"odd", "plain"})
        leave(store, "odd again")
        window.wait(lambda one: one.tools() == {"odd again", "plain"})


def test_a_source_whose_own_name_is_no_text_is_walked(tmp_path):
    source = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    leave(source / "bot", "first")
    with Window(watching(source)) as window:
        listening(window)
        window.wait(lambda one: one.tools() == {"first"})
        leave(source / "bot", "second")
        window.wait(lambda one: one.tools() == {"second"})
        assert "its name is no UTF-8" in window.health[0].sentence


# --- The supervisor ----------------------------------------------------------------------------


def test_a_listener_that_dies_is_started_again(source, monkeypatch):
    born: list[int] = []

    class Dying:
        def __init__(self, *args: Any) -> None:
            born.append(1)
            self._inner = notify(*args)

        def __enter__(self):
            return self

        def __exit__(self, *_) -> None:
            self._inner.close()

        def watch(self, *args: Any):
            if len(born) < 3:
                raise RuntimeError("the watch broke")
            return self._inner.watch(*args)

    notify = RustNotify
    monkeypatch.setattr(hints, "RustNotify", Dying)
    with Window(watching(source)) as window:
        window.wait(lambda one: one.health and "the watch broke" in one.health[0].sentence)
        leave(source / "bot", "meanwhile")
        window.wait(lambda one: one.tools() == {"meanwhile"})
        deadline = time.monotonic() + SECONDS
        while len(born) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_deaf_listener_is_replaced_and_at_last_given_up(source, monkeypatch):
    """As on a network mount: the system accepts the watch and tells nothing."""
    monkeypatch.setattr(watch, "TICK_S", 0.2)
    born: list[int] = []

    def deaf(listener: hints.Listener) -> None:
        born.append(1)
        listener._tell(hints.News(listener.root, listener, began=True))
        listener._stop.wait()

    monkeypatch.setattr(hints.Listener, "_listen", deaf)
    stop = threading.Event()

    def go_on() -> None:
        number = 0
        while not stop.wait(0.05):
            leave(source / "bot", f"tool{number}")
            number += 1

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        with Window(watching(source)) as window:
            window.wait(
                lambda one: one.health and "does not tell of changes" in one.health[0].sentence,
            )
            assert window.health[0].ok
            assert len(born) == watch._DEAF_LISTENERS
            leave(source / "other", "still seen")
            window.wait(lambda one: "still seen" in one.tools())
    finally:
        stop.set()
        writer.join()


def test_a_used_up_number_of_watches_is_told(source, monkeypatch):
    def refuse(*_: Any) -> Any:
        raise OSError(28, 'OS file watch limit reached. about ["/x"]')

    monkeypatch.setattr(hints, "RustNotify", refuse)
    with Window(watching(source)) as window:
        window.wait(lambda one: one.health and "max_user_watches" in one.health[0].sentence)
        assert window.health[0].ok
        leave(source / "bot", "by the timer")
        window.wait(lambda one: one.tools() == {"by the timer"})


def test_an_error_in_the_worker_is_told_and_does_not_end_it(source, caplog):
    with Window(watching(source)) as window:
        listening(window)
        window.trip = ValueError("boom")
        leave(source / "a", "lost in the window")
        window.wait(lambda one: one.health and not one.health[0].ok)
        assert "ValueError: boom" in window.health[0].sentence
        leave(source / "b", "after")
        window.wait(lambda one: "after" in one.tools())
    assert "a round of the inbox's worker failed" in caplog.text


# --- Settings and the end ----------------------------------------------------------------------


def test_new_settings_are_taken_without_a_restart(source, tmp_path):
    other = tmp_path / "other"
    leave(source / "bot", "here")
    leave(other / "bot", "there")
    with Window(watching(source)) as window:
        listening(window)
        window.watcher.apply(watching(source, other))
        window.wait(lambda one: one.tools() == {"here", "there"})
        launch = (LaunchSetting(source=other, argv=("/bin/true",)),)
        window.watcher.apply(watching(other, launch=launch))
        window.wait(lambda one: one.tools() == {"there"})
        window.wait(lambda one: all(row.resumable_by for row in one.rows.values()))
        window.wait(lambda one: [each.path for each in one.health] == [other])
        assert not watched(source)
        leave(other / "bot", "by event")
        window.wait(lambda one: one.tools() == {"by event"})
        paused = Settings(sources=(SourceSetting(path=other, paused=True),))
        window.watcher.apply(paused)
        window.wait(lambda one: not one.rows)


def test_stopping_is_quick_and_may_be_repeated(source):
    leave(source / "bot")
    window = Window(watching(source))
    with window:
        listening(window)
        began = time.monotonic()
        window.watcher.stop()
        assert time.monotonic() - began < 2.0
    window.watcher.stop()
    names = {thread.name for thread in threading.enumerate()}
    assert "inbox-watcher" not in names


def test_stopping_what_never_started_is_harmless(source):
    InboxWatcher(watching(source), lambda _: None).stop()


def test_a_watcher_without_sources_is_complete_at_once():
    with Window(Settings(sources=())) as window:
        window.wait(lambda one: one.complete)
        assert window.health == ()


def test_states_pass_through_the_watch(source):
    from lineclear.core.inbox.deciding.path import Origin, decide
    from lineclear.core.inbox.watching.scan import read_detail
    from lineclear.core.ledger.decide import Verdict

    shown = asked(source / "bot" / "1", call())
    with Window(watching(source)) as window:
        row = window.wait(lambda one: one.rows.get(shown.aid))
        decide(read_detail(row), Verdict("deny", reason="no"), Origin.KEY, Settings())
        window.wait(lambda one: one.rows[shown.aid].state is State.DENIED)
