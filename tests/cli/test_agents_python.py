"""Which Python `lineclear resume` is handed over to: real interpreters, as a person has them."""

import os
import sys
import venv
from pathlib import Path

import pytest

from lineclear.cli import agents_python
from lineclear.cli.exits import UsageError
from lineclear.core import frozen
from tests.cli.program import lineclear

HERE = Path(sys.executable).parent
pytestmark = pytest.mark.skipif(os.name != "posix", reason="links to interpreters")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The `bin` of a virtual environment in which Lineclear is not installed."""
    venv.create(tmp_path / "bare", with_pip=False)
    return tmp_path / "bare" / "bin"


def test_the_first_on_the_path_with_lineclear_is_taken(bare):
    assert agents_python.find(None, {"PATH": f"{HERE}:{bare}"}) == str(HERE / "python3")
    (bare / "python3").unlink()
    (bare / "python").unlink()
    assert agents_python.find(None, {"PATH": f"{bare}:{HERE}"}) == str(HERE / "python3")


def test_one_without_lineclear_is_told_of(bare):
    with pytest.raises(UsageError, match=f"found: {bare}/python3, {bare}/python\\."):
        agents_python.find(None, {"PATH": f"{bare}:{HERE}"})


def test_the_one_that_is_named_is_the_only_one_looked_at(bare):
    env = {"PATH": str(HERE)}
    assert agents_python.find(sys.executable, env) == sys.executable
    for named in (str(bare / "python3"), "/nowhere/python3", str(bare)):
        with pytest.raises(UsageError, match=r"is no Python that has Lineclear"):
            agents_python.find(named, env)


def test_a_name_is_looked_up_and_a_home_filled_in(monkeypatch):
    assert agents_python.find("python3", {"PATH": str(HERE)}) == str(HERE / "python3")
    monkeypatch.setenv("HOME", str(HERE.parent))
    assert agents_python.find("~/bin/python3", {}) == str(HERE / "python3")


def test_only_a_bundled_program_needs_another(monkeypatch):
    assert not agents_python.is_needed("refunds:make")
    monkeypatch.setattr(frozen, "is_frozen", lambda: True)
    assert agents_python.is_needed("refunds:make")
    assert not agents_python.is_needed("lineclear.demo.deploy:make")


def test_resume_hands_over_to_the_one_that_is_named(tmp_path, bare):
    refused = lineclear("resume", tmp_path, "--agent", "a:b", "--python", bare / "python3")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"lineclear: {bare}/python3 is no Python that has Lineclear; in it: pip install lineclear\n"
    )
    (tmp_path / "whose.py").write_text("import sys\nsys.exit(sys.executable)\n")
    named = ("--python", str(HERE / "python3"))
    done = lineclear("resume", "--agent", "whose:make", *named, "--", "-odd", cwd=tmp_path)
    assert str(HERE / "python3") in done.stderr, "the agent's module ran there"
