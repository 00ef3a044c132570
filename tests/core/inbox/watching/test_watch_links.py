"""Watched folders that are links, or become links: what is shown is what is there now."""

import os
import sys
from pathlib import Path

import pytest

from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching import watch
from lineclear.core.inbox.watching import watched as watched_source
from lineclear.core.ledger.presence import READING, watched
from lineclear.core.ledger.state import State
from tests.core.inbox.agents import Agent, asked
from tests.core.inbox.watching.test_watch import Window, leave, listening

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right that few have there")


@pytest.fixture(params=[False, True], ids=["events", "polling"])
def seen(request):
    """Settings by which folders are watched: by events, or by looking every two seconds."""

    def settings(*folders: Path) -> Settings:
        sources = (SourceSetting(path=folder, polling=request.param) for folder in folders)
        return Settings(sources=tuple(sources))

    return settings


def lead(link: Path, target: Path) -> None:
    """Let LINK lead to TARGET, as `ln -sfn` and tools that deploy do: in one step."""
    draft = link.with_name("draft")
    draft.symlink_to(target)
    draft.rename(link)


def by_events(window: Window, monkeypatch, folder: Path) -> None:
    """Changes below the folder are told by events, which no timer helps."""
    monkeypatch.setattr(watched_source, "_IDLE_SHARE", 1e-9)
    monkeypatch.setattr(watch, "TICK_S", 3600.0)
    leave(folder, "told")
    window.wait(lambda one: "told" in one.tools())


# --- From one folder to another ----------------------------------------------------------------


def test_a_folder_that_a_link_replaces_is_followed(source, tmp_path, seen):
    leave(source / "bot", "before")
    leave(tmp_path / "disk" / "bot", "after")
    with Window(seen(source)) as window:
        listening(window)
        source.rename(tmp_path / "aside")
        source.symlink_to(tmp_path / "disk")
        window.wait(lambda one: one.tools() == {"after"})
        (row,) = window.rows.values()
        assert (row.source, row.store) == (source, tmp_path / "disk" / "bot")
        leave(tmp_path / "disk" / "new", "new")
        window.wait(lambda one: one.tools() == {"after", "new"})
        window.wait(lambda one: one.health[0].calls == 2)
        (health,) = window.health
        assert health.ok
        assert health.sentence == f"{source} leads to {tmp_path / 'disk'}."


def test_a_folder_that_was_moved_and_linked_keeps_its_rows(source, tmp_path, seen):
    shown = asked(source / "bot" / "1")
    with Window(seen(source)) as window:
        listening(window)
        removed: list[str] = []
        window.left = removed.extend
        source.rename(tmp_path / "disk")
        source.symlink_to(tmp_path / "disk")
        window.wait(lambda one: one.rows[shown.aid].store == tmp_path / "disk" / "bot" / "1")
        assert window.rows[shown.aid].state is State.PENDING
        with Agent(source / "other", tool="transfer"):
            window.wait(lambda one: "transfer" in one.tools())
        assert removed == []


@pytest.mark.parametrize("gap", [False, True], ids=["at once", "removed first"])
def test_a_link_that_leads_elsewhere_is_followed(source, tmp_path, seen, gap):
    leave(tmp_path / "one" / "bot", "one")
    leave(tmp_path / "two" / "bot", "two")
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "one")
    with Window(seen(link)) as window:
        listening(window)
        assert window.tools() == {"one"}
        if gap:
            link.unlink()
            window.wait(lambda one: one.health[0].missing)
            assert window.tools() == {"one"}
            link.symlink_to(tmp_path / "two")
        else:
            lead(link, tmp_path / "two")
        window.wait(lambda one: one.tools() == {"two"})
        window.wait(lambda one: one.health[0].ok)
        leave(tmp_path / "one" / "bot", "no more")
        leave(tmp_path / "two" / "bot", "later")
        window.wait(lambda one: one.tools() == {"later"})
        lead(link, tmp_path / "one")
        window.wait(lambda one: one.tools() == {"no more"})


def test_a_link_that_a_folder_replaces_is_left(source, tmp_path, seen):
    leave(source / "bot", "target")
    link = tmp_path / "link"
    link.symlink_to(source)
    with Window(seen(link)) as window:
        listening(window)
        assert window.tools() == {"target"}
        link.unlink()
        leave(link / "bot", "own")
        window.wait(lambda one: one.tools() == {"own"})
        window.wait(lambda one: one.health[0].sentence == "")


def test_a_folder_that_comes_as_a_link_is_found(tmp_path, seen):
    link, target = tmp_path / "later", tmp_path / "target"
    leave(target / "bot", "first")
    with Window(seen(link)) as window:
        listening(window)
        assert window.health[0].missing
        link.symlink_to(target)
        window.wait(lambda one: one.tools() == {"first"})
        window.wait(lambda one: one.health[0].ok)


def test_a_link_further_up_that_leads_elsewhere_is_followed(tmp_path, seen):
    leave(tmp_path / "v1" / "agents" / "bot", "one")
    leave(tmp_path / "v2" / "agents" / "bot", "two")
    (tmp_path / "current").symlink_to("v1")
    with Window(seen(tmp_path / "current" / "agents")) as window:
        listening(window)
        assert window.tools() == {"one"}
        lead(tmp_path / "current", Path("v2"))
        window.wait(lambda one: one.tools() == {"two"})
        leave(tmp_path / "v2" / "agents" / "bot", "later")
        window.wait(lambda one: one.tools() == {"later"})


def test_a_link_over_links_is_followed(source, tmp_path, seen):
    leave(source / "bot", "one")
    leave(tmp_path / "other" / "bot", "two")
    (tmp_path / "middle").symlink_to(source)
    (tmp_path / "link").symlink_to("middle")
    with Window(seen(tmp_path / "link")) as window:
        listening(window)
        lead(tmp_path / "middle", tmp_path / "other")
        window.wait(lambda one: one.tools() == {"two"})


def test_events_are_heard_in_the_new_folder(source, tmp_path, monkeypatch):
    (tmp_path / "disk" / "bot").mkdir(parents=True)
    leave(tmp_path / "disk" / "first", "first")
    leave(source / "bot", "old")
    with Window(Settings(sources=(SourceSetting(path=source),))) as window:
        listening(window)
        source.rename(tmp_path / "aside")
        source.symlink_to(tmp_path / "disk")
        window.wait(lambda one: one.tools() == {"first"})
        by_events(window, monkeypatch, tmp_path / "disk" / "bot")


# --- To nothing --------------------------------------------------------------------------------


def test_a_link_to_nothing_is_told_and_keeps_what_was_seen(source, tmp_path, seen):
    leave(source / "bot", "seen")
    link = tmp_path / "link"
    link.symlink_to(source)
    with Window(seen(link)) as window:
        listening(window)
        lead(link, tmp_path / "nothing")
        window.wait(lambda one: one.health[0].missing)
        assert "is missing since" in window.health[0].sentence
        assert window.tools() == {"seen"}
        leave(tmp_path / "nothing" / "bot", "something")
        window.wait(lambda one: one.tools() == {"something"})
        window.wait(lambda one: one.health[0].ok)


def test_what_leads_nowhere_is_never_called_watched(source, seen):
    leave(source / "bot", "seen")
    with Window(seen(source)) as window:
        listening(window)
        source.rename(source.with_name("aside"))
        source.symlink_to(source)
        window.wait(lambda one: not one.health[0].ok and not one.health[0].missing)
        assert "cannot be looked into" in window.health[0].sentence
        source.unlink()
        source.symlink_to(source.with_name("aside"))
        window.wait(lambda one: one.tools() == {"seen"} and one.health[0].ok)


def test_a_link_to_a_file_is_told(source, tmp_path, seen):
    leave(source / "bot", "seen")
    (tmp_path / "file").touch()
    with Window(seen(source)) as window:
        listening(window)
        source.rename(source.with_name("aside"))
        source.symlink_to(tmp_path / "file")
        window.wait(lambda one: not one.health[0].ok)


# --- Several sources ---------------------------------------------------------------------------


def test_two_names_of_one_folder_are_one(source, tmp_path, seen):
    leave(source / "bot", "one")
    leave(tmp_path / "other" / "bot", "two")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "other")
    with Window(seen(source, link)) as window:
        listening(window)
        assert window.tools() == {"one", "two"}
        lead(link, source)
        window.wait(lambda one: one.tools() == {"one"})
        window.wait(lambda one: [each.calls for each in one.health] == [1, 0])
        assert window.health[1].sentence == (
            f"{link} leads to the same folder as {source}, which shows its calls."
        )
        lead(link, tmp_path / "other")
        window.wait(lambda one: one.tools() == {"one", "two"})
        window.wait(lambda one: [each.calls for each in one.health] == [1, 1])


def test_two_names_of_a_folder_that_is_missing_are_both_missing(source, tmp_path, seen):
    leave(source / "bot", "one")
    link = tmp_path / "link"
    link.symlink_to(source)
    with Window(seen(link, source)) as window:
        listening(window)
        assert [one.calls for one in window.health] == [1, 0]
        source.rename(tmp_path / "aside")
        window.wait(lambda one: [each.missing for each in one.health] == [True, True])
        assert window.tools() == {"one"}
        (tmp_path / "aside").rename(source)
        window.wait(lambda one: [each.ok for each in one.health] == [True, True])
        window.wait(lambda one: [each.calls for each in one.health] == [1, 0])
        assert window.tools() == {"one"}
        assert [one.path for one in window.health] == [link, source]


def test_a_source_that_becomes_a_link_to_a_later_one_takes_it(source, tmp_path, seen):
    leave(source / "bot", "one")
    leave(tmp_path / "other" / "bot", "two")
    with Window(seen(source, tmp_path / "other")) as window:
        listening(window)
        source.rename(tmp_path / "aside")
        source.symlink_to(tmp_path / "other")
        window.wait(lambda one: one.tools() == {"two"})
        window.wait(lambda one: [row.source for row in one.rows.values()] == [source])
        source.unlink()
        (tmp_path / "aside").rename(source)
        window.wait(lambda one: one.tools() == {"one", "two"})


def test_two_sources_that_change_places_are_told_apart(tmp_path, seen):
    one, two = tmp_path / "one", tmp_path / "two"
    first, second = tmp_path / "first", tmp_path / "second"
    leave(one / "bot", "one")
    leave(two / "bot", "two")
    first.symlink_to(one)
    second.symlink_to(two)
    with Window(seen(first, second)) as window:
        listening(window)
        lead(first, two)
        lead(second, one)
        window.wait(
            lambda each: (
                {(row.source, row.tool) for row in each.rows.values()}
                == {(first, "two"), (second, "one")}
            )
        )
        assert window.tools() == {"one", "two"}


def test_what_a_source_leaves_is_shown_by_the_one_around_it(source, tmp_path, seen):
    leave(source / "bot", "around")
    leave(source / "inner" / "bot", "inner")
    leave(tmp_path / "other" / "bot", "other")
    link = tmp_path / "link"
    link.symlink_to(source / "inner")
    with Window(seen(link, source)) as window:
        listening(window)
        assert {row.tool for row in window.rows.values() if row.source == link} == {"inner"}
        lead(link, tmp_path / "other")
        window.wait(lambda one: one.tools() == {"around", "inner", "other"})
        window.wait(
            lambda one: (
                {row.tool for row in one.rows.values() if row.source == source}
                == {"around", "inner"}
            )
        )
        lead(link, source / "inner")
        window.wait(lambda one: one.tools() == {"around", "inner"})
        window.wait(
            lambda one: (
                {row.tool for row in one.rows.values() if row.source == source} == {"around"}
            )
        )


# --- Who watches -------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_agents_and_colleagues_are_told_in_the_folder_that_is_watched(source, tmp_path, seen):
    shown = asked(tmp_path / "one" / "bot" / "1")
    leave(tmp_path / "two" / "bot", "two")
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "one")

    def told(folder: Path) -> list[Path]:
        return list((folder / ".watched").glob(f"*/{READING}"))

    with Window(seen(link)) as window:
        listening(window)
        assert watched(link)
        window.watcher.tell_reading("ann", link, shown.aid)
        lead(link, tmp_path / "two")
        window.wait(lambda one: one.tools() == {"two"})
        assert watched(link)
        assert watched(tmp_path / "two")
        assert not watched(tmp_path / "one")
        assert told(tmp_path / "one") == []
        assert len(told(tmp_path / "two")) == 1
    assert not watched(link)
