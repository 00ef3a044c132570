"""settings.json: read strictly, written whole, nothing of the operator's lost."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import settings as module
from lineclear.core.inbox.operator.settings import (
    LaunchSetting,
    Settings,
    SourceSetting,
    load,
    save,
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LINECLEAR_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_home_and_default_source_follow_the_environment(home):
    assert module.home() == home
    assert module.default_source() == home / "agents"


def test_without_the_variable_the_platforms_folders_are_used(monkeypatch, tmp_path):
    monkeypatch.delenv("LINECLEAR_HOME", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert module.home().name == "lineclear"
    assert module.default_source().parts[-2:] == ("lineclear", "agents")
    assert module.home() != module.default_source().parent


def test_absent_settings_watch_the_default_source(home):
    settings = load()
    assert [source.path for source in settings.sources] == [home / "agents"]
    assert (settings.valid_live_s, settings.valid_dead_s) == (900.0, 604800.0)
    assert not (home / "settings.json").exists()


def test_absent_sources_watch_the_default_and_stay_absent(home):
    home.mkdir()
    (home / "settings.json").write_text('{"v": 1, "operator": "ann"}')
    settings = load()
    assert [source.path for source in settings.sources] == [home / "agents"]
    save(settings)
    assert "sources" not in json.loads((home / "settings.json").read_text())


def test_an_empty_list_watches_nothing(home):
    home.mkdir()
    (home / "settings.json").write_text('{"sources": []}')
    assert load().sources == ()


def test_unknown_keys_are_kept_at_every_level(home):
    home.mkdir()
    document = {
        "v": 1,
        "future": {"deep": [1, {"x": None}]},
        "sources": [{"path": "/srv/bots", "colour": "red"}],
        "launch": [{"agent": "ci", "argv": ["/bin/true"], "nice": 5}],
    }
    (home / "settings.json").write_text(json.dumps(document))
    settings = load()
    save(settings.model_copy(update={"letters": False}))
    assert json.loads((home / "settings.json").read_text()) == {**document, "letters": False}


def test_save_gives_back_what_was_set(home):
    settings = Settings(
        sources=(SourceSetting(path=Path("/srv/bots"), polling=True, depth=2),),
        launch=(LaunchSetting(agent="ci", argv=("/bin/true", "{store}"), env={"A": "b"}),),
        operator="ann",
    )
    save(settings)
    assert load() == settings
    assert stat.S_IMODE((home / "settings.json").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["settings.json"]


def test_a_symlinked_settings_file_stays_a_symlink(home, tmp_path):
    home.mkdir()
    (tmp_path / "dotfiles").mkdir()
    (home / "settings.json").symlink_to(tmp_path / "dotfiles" / "lc.json")
    save(Settings(operator="ann"))
    assert (home / "settings.json").is_symlink()
    assert load().operator == "ann"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"v": 1, "v": 1}',
        '{"v": 2}',
        '{"letters": "yes"}',
        '{"sources": [{"path": "agents"}]}',
        '{"sources": [{"path": "/a", "depth": 0}]}',
        '{"launch": [{"agent": "ci", "argv": ["python3", "resume.py"]}]}',
        '{"launch": [{"agent": "ci", "argv": []}]}',
        '{"valid_live_s": 0}',
        '{"after_decision": "jump"}',
    ],
)
def test_a_damaged_file_is_named_and_never_overwritten(home, text):
    home.mkdir()
    path = home / "settings.json"
    path.write_text(text)
    with pytest.raises(LineclearError) as caught:
        load()
    assert caught.value.code == "settings_damaged"
    assert str(path) in caught.value.sentence
    assert "\n" not in caught.value.sentence
    with pytest.raises(LineclearError):
        save(Settings())
    assert path.read_text() == text


def test_a_relative_program_is_told_in_words(home):
    home.mkdir()
    (home / "settings.json").write_text('{"launch": [{"argv": ["python3"]}]}')
    with pytest.raises(LineclearError, match=r"launch\.0\.argv: the program must be an absolute"):
        load()


def test_a_folder_in_place_of_the_file_is_an_error(home):
    (home / "settings.json").mkdir(parents=True)
    with pytest.raises(LineclearError) as caught:
        load()
    assert caught.value.code == "settings_unreadable"


def test_home_is_expanded(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    assert SourceSetting(path=Path("~/agents")).path == Path("/home/ann/agents")


def test_a_path_that_is_no_utf8_is_refused_in_words(home):
    name = os.fsdecode(b"/srv/\xff")
    with pytest.raises(LineclearError) as caught:
        save(Settings(sources=(SourceSetting(path=Path(name)),)))
    assert caught.value.code == "settings_unwritable"
    assert not (home / "settings.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_settings_that_are_a_pipe_are_refused_and_never_waited_for(home, tmp_path):
    home.mkdir(exist_ok=True)
    os.mkfifo(home / "settings.json")
    with pytest.raises(LineclearError, match="device, pipe or socket") as refused:
        load()
    assert refused.value.code == "settings_unreadable"
    with pytest.raises(LineclearError):
        save(Settings())
    (home / "settings.json").unlink()
    os.mkfifo(tmp_path / "pipe")
    (home / "settings.json").symlink_to(tmp_path / "pipe")
    with pytest.raises(LineclearError):
        load()


def test_no_setting_lets_a_decision_hold_for_longer_than_an_agent_would(home):
    home.mkdir(exist_ok=True)
    (home / "settings.json").write_text('{"valid_dead_s": 2592001}')
    with pytest.raises(LineclearError, match="valid_dead_s"):
        load()
