"""Why a row is not shown any more, told from the settings and the file itself."""

from pathlib import Path

from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.whereabouts import Gone, why_gone
from tests.ui.sample import a_row


def watching(*paths: Path, paused: bool = False) -> Settings:
    return Settings(sources=tuple(SourceSetting(path=path, paused=paused) for path in paths))


def test_why_a_row_is_not_shown(tmp_path):
    source, other = tmp_path / "agents", tmp_path / "agents-2"
    store = source / "bot" / "1"
    store.mkdir(parents=True)
    other.mkdir()
    path = store / "request.json"
    path.write_bytes(b"{}")
    row = a_row(1, source=source, store=store, path=path)
    assert why_gone(row, watching()) is Gone.UNWATCHED
    assert why_gone(row, watching(other)) is Gone.UNWATCHED
    assert why_gone(row, watching(source, paused=True)) is Gone.PAUSED
    assert why_gone(row, watching(source)) is Gone.UNKNOWN
    # Another folder that is watched holds it too.
    assert why_gone(row, watching(tmp_path)) is Gone.UNKNOWN
    path.unlink()
    assert why_gone(row, watching(source)) is Gone.REMOVED
    assert why_gone(row, watching(other)) is Gone.UNWATCHED


def test_a_link_that_leads_elsewhere_watches_no_more_what_it_led_to(tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for each in folders:
        each.mkdir()
    link = tmp_path / "link"
    link.symlink_to(folders[0])
    row = a_row(1, source=link, store=folders[0] / "bot" / "1")
    assert why_gone(row, watching(link)) is Gone.UNKNOWN
    link.unlink()
    link.symlink_to(folders[1])
    assert why_gone(row, watching(link)) is Gone.UNWATCHED
