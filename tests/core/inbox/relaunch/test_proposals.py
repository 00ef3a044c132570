"""A run's own resume.toml: read strictly, made to count only by an operator, for that run alone."""

import os
from pathlib import Path

import pytest

from lineclear.core.errors import Unreadable
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, launch_for
from lineclear.core.inbox.relaunch.proposals import NAME, read_proposal, trusted

SOUND = """
argv = ["/usr/bin/python3", "/srv/bot/agent.py", "{store}"]
cwd = "/srv/bot"
[env]
MODE = "prod"
"""


@pytest.fixture
def lane(tmp_path):
    made = tmp_path / "refund-bot" / "1"
    made.mkdir(parents=True, mode=0o700)
    return made


def proposes(lane: Path, text: str) -> None:
    (lane.parent / NAME).write_text(text, encoding="utf-8")


def test_a_run_without_the_file_proposes_nothing(lane):
    assert read_proposal(lane) is None


def test_what_it_proposes_is_read_whole(lane):
    proposes(lane, SOUND)
    assert read_proposal(lane) == LaunchSetting(
        source=lane.parent,
        argv=("/usr/bin/python3", "/srv/bot/agent.py", "{store}"),
        cwd=Path("/srv/bot"),
        env={"MODE": "prod"},
    )


def test_it_counts_only_once_trusted_for_that_run_and_as_it_was_shown(lane, tmp_path):
    proposes(lane, SOUND)
    settings = Settings(sources=())
    assert launch_for(settings, agent="refund-bot", store=lane) is None
    proposal = read_proposal(lane)
    assert proposal is not None
    settings = trusted(settings, proposal)
    proposes(lane, 'argv = ["/bin/rm", "-rf", "/"]')
    found = launch_for(settings, agent="refund-bot", store=lane)
    assert found is not None
    assert found.argv[0] == "/usr/bin/python3"
    assert launch_for(settings, agent="refund-bot", store=tmp_path / "other" / "1") is None
    changed = read_proposal(lane)
    assert changed is not None
    settings = trusted(settings, changed)
    assert [one.argv[0] for one in settings.launch] == ["/bin/rm"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("argv = []", "argv"),
        ('argv = ["python3", "x"]', "absolute path"),
        ('argv = "/bin/sh -c x"', "argv"),
        ('argv = ["/bin/sh"]\nshell = true', "shell is none of argv, cwd and env"),
        ('argv = ["/bin/sh"]\ncwd = "here"', "cwd must be an absolute path"),
        ('argv = ["/bin/sh"]\nsource = "/"', "source is none of"),
        ('argv = ["/bin/sh", "a\\u0000b"]', "NUL"),
        ('argv = ["/bin/sh"]\n[env]\n"A=B" = "x"', "environment name"),
        ("argv = [", "proposes no command"),
        ("", "argv"),
    ],
)
def test_what_says_no_command_is_refused_with_the_reason(lane, text, why):
    proposes(lane, text)
    with pytest.raises(Unreadable) as caught:
        read_proposal(lane)
    assert why in caught.value.sentence
    assert caught.value.sentence.endswith(".")


def test_a_link_and_a_fifo_are_never_read(lane, tmp_path):
    (tmp_path / "elsewhere.toml").write_text(SOUND)
    (lane.parent / NAME).symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(Unreadable):
        read_proposal(lane)
    (lane.parent / NAME).unlink()
    os.mkfifo(lane.parent / NAME)
    with pytest.raises(Unreadable):
        read_proposal(lane)
