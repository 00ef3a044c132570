import json
import sys
from pathlib import Path

import pytest

from tests.cli.program import lineclear


def settings(home):
    return json.loads((home / "lineclear" / "settings.json").read_text())


def shown():
    return json.loads(lineclear("config", "show", "--json").stdout)


def test_without_a_file_the_defaults_hold(home):
    done = lineclear("config")
    assert done.returncode == 0
    assert f"Settings in {home}/lineclear/settings.json" in done.stdout
    assert shown()["sources"][0]["path"] == f"{home}/lineclear/agents"
    assert lineclear("config", "path").stdout == f"{home}/lineclear/settings.json\n"


def test_a_setting_is_set_read_and_unset(home):
    assert lineclear("config", "set", "valid_live_s", "60").returncode == 0
    assert lineclear("config", "set", "operator", "42").returncode == 0
    assert lineclear("config", "get", "valid_live_s").stdout == "60.0\n"
    assert lineclear("config", "get", "operator").stdout == "42\n"
    assert settings(home) == {"v": 1, "valid_live_s": 60.0, "operator": "42"}
    assert lineclear("config", "unset", "valid_live_s").returncode == 0
    assert settings(home) == {"v": 1, "operator": "42"}


def test_unknown_keys_are_kept(home):
    (home / "lineclear").mkdir()
    (home / "lineclear" / "settings.json").write_text('{"v":1,"theirs":{"a":[1.50]}}')
    assert lineclear("config", "set", "letters", "false").returncode == 0
    assert settings(home) == {"v": 1, "theirs": {"a": [1.5]}, "letters": False}


def test_a_value_that_does_not_fit_changes_nothing(home):
    done = lineclear("config", "set", "after_decision", "sometimes")
    assert done.returncode == 2
    assert "after_decision" in done.stderr
    assert not (home / "lineclear" / "settings.json").exists()
    assert lineclear("config", "set", "nope", "1").returncode == 5
    assert lineclear("config", "get", "nope").returncode == 5


def test_damaged_settings_are_named_and_left_alone(home):
    path = home / "lineclear" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"v":1,"v":2}')
    for words in (("list",), ("config", "set", "letters", "false")):
        done = lineclear(*words)
        assert done.returncode == 1
        assert str(path) in done.stderr
    assert path.read_text() == '{"v":1,"v":2}'


def test_the_way_out_of_damaged_settings_is_a_command_that_runs(home):
    path = home / "lineclear" / "settings.json"
    path.parent.mkdir()
    damaged = '{"v":1,"operator":"ann","row_height":31}'
    path.write_text(damaged)
    done = lineclear("config", "set", "row_height", "24")
    assert done.returncode == 1
    assert "`lineclear config keep-aside`" in done.stderr
    done = lineclear("config", "keep-aside")
    assert done.returncode == 0, done.stderr
    (aside,) = path.parent.glob("settings.json.damaged-*")
    assert str(aside) in done.stdout
    assert aside.read_text() == damaged
    assert lineclear("config", "set", "row_height", "24").returncode == 0
    assert settings(home)["row_height"] == 24
    assert lineclear("config", "keep-aside").returncode == 5


def test_sources_are_added_changed_and_removed(home, tmp_path):
    assert lineclear("config", "add-source", tmp_path).returncode == 0
    assert lineclear("config", "add-source", tmp_path, "--polling", "--depth", "2").returncode == 0
    default = {"path": f"{home}/lineclear/agents"}
    added = {"path": str(tmp_path), "polling": True, "depth": 2}
    assert settings(home)["sources"] == [default, added]
    assert lineclear("config", "add-source", tmp_path / "absent").returncode == 2
    assert lineclear("config", "add-source", tmp_path, "--depth", "99").returncode == 2
    assert lineclear("config", "remove-source", tmp_path).returncode == 0
    assert lineclear("config", "remove-source", tmp_path).returncode == 5
    assert settings(home)["sources"] == [default]


def test_a_resume_command_is_kept_whole_and_absolute(home, tmp_path):
    done = lineclear(
        "config", "set-launch", "--agent", "refund-bot", "--cwd", ".", "--env", "A=b=c", "--",
        sys.executable, "-m", "lineclear", "resume", "{store}", "--agent", "refunds:make",
        cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    argv = [sys.executable, "-m", "lineclear", "resume", "{store}", "--agent", "refunds:make"]
    launch = {"agent": "refund-bot", "argv": argv, "cwd": str(tmp_path), "env": {"A": "b=c"}}
    assert settings(home)["launch"] == [launch]
    done = lineclear("config", "set-launch", "--agent", "refund-bot", "--", "sh")
    assert done.returncode == 0
    (launch,) = settings(home)["launch"]
    assert launch["argv"][0].startswith("/")
    assert launch["argv"][0].endswith("/sh")
    assert lineclear("config", "remove-launch", "--source", tmp_path).returncode == 5
    assert lineclear("config", "remove-launch", "--agent", "refund-bot").returncode == 0
    assert settings(home)["launch"] == []


@pytest.mark.parametrize(
    "words",
    [
        ("--agent", "a", "--", "no-such-program-here"),
        ("--agent", "a", "--env", "novalue", "--", "sh"),
        ("--", "sh"),
        ("--agent", "a"),
    ],
)
def test_a_resume_command_that_cannot_work_is_not_kept(home, words):
    assert lineclear("config", "set-launch", *words).returncode == 2
    assert not (home / "lineclear" / "settings.json").exists()


def test_a_whole_home_is_watched_only_on_request(home):
    for folder in (Path.home(), "/"):
        done = lineclear("config", "add-source", folder)
        assert done.returncode == 2
        assert "watch the folder in it that agents write to" in done.stderr
        assert "--yes" in done.stderr
        assert not (home / "lineclear" / "settings.json").exists()
    assert lineclear("config", "add-source", Path.home(), "--yes").returncode == 0
    assert settings(home)["sources"][-1]["path"] == str(Path.home())


def test_what_looks_like_a_placeholder_and_is_none_is_told(home):
    words = ("config", "set-launch", "--agent", "bot", "--", sys.executable)
    done = lineclear(*words, "{store}", "{evil}", "--in={store", "{aid}", '{"a":1}', "{}")
    assert done.returncode == 0
    assert done.stderr == (
        "lineclear: Only {store}, {aid}, {checkpoint} are replaced; handed over as it stands: "
        "{evil}, {store\n"
    )
    assert len(settings(home)["launch"]) == 1
    assert lineclear(*words, "{store}").stderr == ""
