"""Where Lineclear's own folders are."""

from pathlib import Path

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.places import default_source, home


@pytest.mark.parametrize("where", [home, default_source])
def test_a_relative_home_is_refused_because_each_program_starts_elsewhere(monkeypatch, where):
    monkeypatch.setenv("LINECLEAR_HOME", "here/lc")
    with pytest.raises(LineclearError, match="LINECLEAR_HOME is 'here/lc'") as refused:
        where()
    assert refused.value.code == "home_relative"
    assert f"'{Path.cwd()}/here/lc'." in refused.value.sentence


def test_a_home_below_the_persons_own_is_taken(monkeypatch):
    monkeypatch.setenv("LINECLEAR_HOME", "~/lc")
    assert home() == Path.home() / "lc"
    assert default_source() == Path.home() / "lc" / "agents"
