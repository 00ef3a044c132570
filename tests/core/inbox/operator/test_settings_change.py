"""Changes of the settings lose nothing of each other; a damaged file is kept aside and said."""

import json
import os
import stat
import subprocess
import sys

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import settings as settings_file
from lineclear.core.inbox.operator.settings import Settings, load, settings_path
from lineclear.core.inbox.operator.settings_change import (
    LOCK_NAME,
    change,
    keep_aside,
    load_for_window,
)

COUNT = """
import sys
from lineclear.core.inbox.operator.settings_change import change
for _ in range(15):
    change(lambda now: now.model_copy(update={
        sys.argv[1]: (now.model_extra or {}).get(sys.argv[1], 0) + 1}))
"""


def keep(text: str) -> None:
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def renamed(name: str):
    return lambda now: now.model_copy(update={"operator": name})


def test_a_change_is_made_on_what_stands_there_and_keeps_the_rest():
    keep('{"v": 1, "letters": false, "future": [1]}')
    assert change(renamed("ann")).operator == "ann"
    written = json.loads(settings_path().read_text())
    assert written == {"v": 1, "letters": False, "future": [1], "operator": "ann"}


def test_a_change_that_changes_nothing_writes_nothing():
    change(lambda now: now)
    assert not settings_path().exists()


def test_programs_that_write_at_once_lose_nothing_of_each_other():
    argv = [sys.executable, "-c", COUNT]
    running = [subprocess.Popen([*argv, name]) for name in ("one", "two", "three")]
    assert [each.wait(60) for each in running] == [0, 0, 0]
    extra = load().model_extra
    assert extra == {"one": 15, "two": 15, "three": 15}


def test_what_an_editor_wrote_meanwhile_is_not_written_over():
    keep('{"letters": true}')
    seen = []

    def edit(now: Settings) -> Settings:
        seen.append(now.letters)
        if len(seen) == 1:
            keep('{"letters": false, "theme": "dark"}')
        return now.model_copy(update={"operator": "ann"})

    change(edit)
    assert seen == [True, False]
    assert json.loads(settings_path().read_text())["theme"] == "dark"


def test_a_value_that_the_file_may_not_hold_changes_nothing():
    keep('{"operator": "ann"}')
    with pytest.raises(LineclearError, match="row_height") as caught:
        change(lambda now: now.model_copy(update={"row_height": 29}))
    assert caught.value.code == "settings_invalid"
    assert json.loads(settings_path().read_text()) == {"operator": "ann"}


def test_a_damaged_file_is_never_written_over():
    keep("{")
    with pytest.raises(LineclearError) as caught:
        change(renamed("ann"))
    assert caught.value.code == "settings_damaged"
    assert settings_path().read_text() == "{"


@pytest.mark.parametrize("text", ["{", '{"letters": 7}', '{"operator": "a", "operator": "b"}', ""])
def test_a_window_keeps_a_damaged_file_aside_says_so_and_starts(text):
    keep(text)
    loaded = load_for_window()
    assert loaded.settings == Settings()
    (aside,) = settings_path().parent.glob("settings.json.damaged-*")
    assert aside.read_text() == text
    assert not settings_path().exists()
    assert "cannot be understood" in loaded.said
    assert str(aside) in loaded.said
    assert change(renamed("ann")).operator == "ann"
    assert load_for_window().said == ""


def test_a_damaged_file_is_kept_aside_on_request_with_what_is_in_force_in_its_place():
    keep('{"row_height": 31}')
    aside = keep_aside(Settings(operator="ann"))
    assert aside is not None
    assert aside.read_text() == '{"row_height": 31}'
    assert load().operator == "ann"
    assert keep_aside(Settings()) is None
    assert load().operator == "ann"


def test_what_a_later_version_wrote_is_not_kept_aside():
    keep('{"v": 2}')
    with pytest.raises(LineclearError, match="later version"):
        keep_aside()
    assert settings_path().read_text() == '{"v": 2}'


def test_a_file_of_a_later_version_is_left_alone():
    keep('{"v": 2}')
    loaded = load_for_window()
    assert "no change is kept" in loaded.said
    assert settings_path().read_text() == '{"v": 2}'
    with pytest.raises(LineclearError):
        change(renamed("ann"))


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_left_alone():
    keep("{}")
    settings_path().chmod(0)
    loaded = load_for_window()
    assert "no change is kept" in loaded.said
    assert settings_path().exists()


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need a right there")
def test_a_file_kept_elsewhere_through_a_link_is_moved_there_and_the_link_stays(tmp_path):
    kept = tmp_path / "dotfiles"
    kept.mkdir()
    (kept / "lineclear.json").write_text("{")
    settings_path().parent.mkdir(parents=True)
    settings_path().symlink_to(kept / "lineclear.json")
    load_for_window()
    assert len(list(kept.glob("lineclear.json.damaged-*"))) == 1
    change(renamed("ann"))
    assert settings_path().is_symlink()
    assert json.loads((kept / "lineclear.json").read_text())["operator"] == "ann"


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_lock_and_settings_are_for_nobody_else():
    change(renamed("ann"))
    for name in (LOCK_NAME, settings_file.FILE_NAME):
        assert stat.S_IMODE((settings_path().parent / name).stat().st_mode) & 0o077 == 0
