"""A link below a source is never followed, so what it hides is told."""

import pytest

from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.sources import links
from lineclear.core.inbox.watching.feed import Feed
from lineclear.core.inbox.watching.scan import Scanner, scan_with_health
from lineclear.core.ledger.state import State
from tests.core.inbox.agents import asked
from tests.core.inbox.watching.test_scan import foreign


@pytest.fixture
def source(tmp_path):
    made = tmp_path / "agents"
    made.mkdir(mode=0o700)
    return made


def seen(*folders):
    settings = Settings(sources=tuple(SourceSetting(path=one) for one in folders))
    return scan_with_health(settings, settings.sources)


def run_folder(place):
    asked(place / "1")


def folder_of_stores(place):
    foreign(place / "team" / "bot")


def store(place):
    foreign(place)


def behind_a_further_link(place):
    foreign(place.parent / "far")
    (place / "through").symlink_to(place.parent / "far")


@pytest.mark.parametrize("make", [store, run_folder, folder_of_stores, behind_a_further_link])
def test_what_hides_calls_is_told_as_a_row_and_of_the_folder(source, tmp_path, make):
    target = tmp_path / "big" / "bot"
    target.mkdir(parents=True)
    make(target)
    (source / "bot").symlink_to(target)
    (row,), (health,) = seen(source)
    assert (row.state, row.reason_code, row.store) == (State.UNREADABLE, "symlink", source / "bot")
    assert f"Watch {target} itself" in row.reason
    assert not health.ok
    assert f"Watch {target} itself" in health.sentence
    rows, _ = seen(source, target)
    # There the further link is told in its turn.
    wanted = State.UNREADABLE if make is behind_a_further_link else State.PENDING
    assert [one.state for one in rows] == [wanted]


def test_a_link_to_something_else_is_no_trouble(source, tmp_path):
    (tmp_path / "data" / "sub").mkdir(parents=True)
    (source / "data").symlink_to(tmp_path / "data")
    (source / "nowhere").symlink_to(tmp_path / "nothing")
    (source / "round").symlink_to(source / "round")
    (source / "up").symlink_to(tmp_path)
    rows, (health,) = seen(source)
    assert (rows, health.ok) == ([], True)


def test_a_link_within_the_folder_hides_nothing(source):
    run_folder(source / "bot")
    (source / "latest").symlink_to("bot")
    rows, (health,) = seen(source)
    assert [row.state for row in rows] == [State.PENDING]
    assert health.ok


def test_where_nobody_can_tell_it_is_told_that_there_may_be_calls(source, tmp_path, monkeypatch):
    monkeypatch.setattr(links, "MOST_FOLDERS", 5)
    for number in range(9):
        (tmp_path / "disk" / str(number)).mkdir(parents=True)
    (source / "disk").symlink_to(tmp_path / "disk")
    (row,), (health,) = seen(source)
    assert "cannot be looked through" in row.reason
    assert health.ok


def test_a_store_that_comes_behind_a_link_is_told_and_goes_with_the_link(source, tmp_path, seen_by):
    (tmp_path / "big").mkdir()
    (source / "big").symlink_to(tmp_path / "big")
    scan, rows, health = seen_by(source)
    scan()
    assert rows() == []
    run_folder(tmp_path / "big" / "bot")
    scan()
    assert [row.reason_code for row in rows()] == ["symlink"]
    (source / "big").unlink()
    scan()
    assert rows() == []
    assert health().ok


@pytest.fixture
def seen_by():

    def begin(folder):
        setting = SourceSetting(path=folder)
        scanner, feed = Scanner(Settings(sources=(setting,))), Feed()
        return (
            lambda: feed.update(list(scanner.scan_source(setting))),
            lambda: list(feed.rows()),
            lambda: scanner.health()[0],
        )

    return begin
