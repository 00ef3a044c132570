"""A whole run builds when packaging files changed: told by real histories."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
PEOPLE = [
    *("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"),
    *("-c", "commit.gpgsign=false"),
]


class Clone:
    """A clone whose main branch has two commits; the second changed no packaging file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("packaging/lineclear.spec")
        self.commit("app/lineclear/words.py")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *PEOPLE, *arguments], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, name: str) -> None:
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(place.read_text() + "more\n" if place.exists() else "first\n")

    def commit(self, name: str) -> str:
        self.write(name)
        self.git("add", name)
        self.git("commit", "--quiet", "--message", name)
        return self.git("rev-parse", "HEAD")

    def verdict(self, since: str | None = None) -> tuple[bool, str]:
        import changed

        return changed.verdict(self.root, since)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    for name in [name for name in os.environ if name.startswith(("GIT_", "LINECLEAR_SINCE"))]:
        monkeypatch.delenv(name)
    return Clone(tmp_path / "clone")


def test_unchanged_packaging_files_build_nothing_and_it_says_so(clone):
    before = clone.git("rev-parse", "HEAD^")
    told = (
        f"packaging files are as they were at {before[:12]}, so nothing is built, and the tests of"
        " what is built are left out; --bundle builds and runs them."
    )
    assert clone.verdict() == (False, told)


@pytest.mark.parametrize(
    "name",
    [
        "packaging/lineclear.spec",
        "packaging/linux/lineclear.desktop",
        "pyproject.toml",
        "resources/icons/tray.svg",
        "tests/packaging/test_bundle.py",
        "app/lineclear/ui/self_check.py",
    ],
)
@pytest.mark.parametrize("how", ["committed", "edited"])
def test_a_changed_packaging_file_builds(clone, name, how):
    if how == "committed":
        clone.commit(name)
    else:
        clone.write(name)
    build, why = clone.verdict()
    assert build
    assert why.startswith(f"building: {name} changed since ")


@pytest.mark.parametrize("name", ["packaging/RELEASING.md", "packaging/pictures/a.py", "README.md"])
def test_what_is_in_no_package_builds_nothing(clone, name):
    clone.commit(name)
    assert not clone.verdict()[0]


def test_a_removed_packaging_file_builds(clone):
    (clone.root / "packaging" / "lineclear.spec").unlink()
    assert clone.verdict()[0]


def test_a_branch_is_compared_with_where_it_left_the_main_one(clone, tmp_path):
    subprocess.run(
        ["git", "clone", "--quiet", str(clone.root), str(tmp_path / "branch")], check=True
    )
    branch = Clone.__new__(Clone)
    branch.root = tmp_path / "branch"
    branch.git("switch", "--quiet", "--create", "topic")
    branch.commit("pyproject.toml")
    branch.commit("README.md")
    assert branch.verdict()[0], "not only the last commit counts"
    branch.git("switch", "--quiet", "main")
    assert not branch.verdict()[0]


def test_the_commit_that_was_tested_last_can_be_named(clone, monkeypatch):
    tested = clone.git("rev-parse", "HEAD")
    clone.commit("pyproject.toml")
    built = clone.commit("README.md")
    assert not clone.verdict()[0]
    assert clone.verdict(tested)[0]
    assert not clone.verdict(built)[0]
    monkeypatch.setenv("LINECLEAR_SINCE", tested)
    assert clone.verdict()[0]


@pytest.mark.parametrize("since", [None, "0" * 40, "no-such-branch"])
def test_where_nothing_can_be_told_it_builds(clone, tmp_path, since):
    from changed import verdict

    told = (True, "building: this clone does not tell what was tested last.")
    (tmp_path / "unpacked").mkdir()
    assert verdict(tmp_path / "unpacked", since) == told
    if since is not None:
        assert clone.verdict(since) == told
    shallow = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{clone.root}", str(shallow)], check=True
    )
    assert verdict(shallow, since) == told


# --- What a run does with it ---


@pytest.fixture
def steps(clone: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run the checks of the clone, each of which passes; what was run, and what was said."""
    import dev

    def run(
        *words: str, quick: bool = False, bundle: bool = False
    ) -> tuple[dict[str, list[str]], str]:
        started: dict[str, list[str]] = {}

        def passes(argv: list[str], env: dict[str, str]) -> int:
            name = "build" if argv[1].endswith("build.py") else (*argv, "")[2]
            started[name] = argv
            if name == "pytest":
                started["release"] = [env.get("LINECLEAR_RELEASE", "")]
            return 0

        monkeypatch.setattr(dev, "ROOT", clone.root)
        monkeypatch.setattr(dev, "run_attached", passes)
        code = dev.run_tests({}, quick=quick, bundle=bundle, pytest_arguments=list(words))
        assert code == 0
        return started, capsys.readouterr().out

    return run


def test_a_whole_run_without_changes_builds_nothing_and_ends_with_a_word_of_it(clone, steps):
    ran, said = steps()
    assert "build" not in ran
    assert ran["pytest"][-2:] == ["-m", "not bundle"]
    assert ran["release"] == [""]
    assert said.splitlines()[-1] == f"dev: {clone.verdict()[1]}"


def test_a_whole_run_after_a_change_builds_and_tests_what_was_built(clone, steps):
    clone.commit("packaging/lineclear.spec")
    ran, said = steps()
    assert list(ran).index("build") < list(ran).index("pytest")
    assert "-m" not in ran["pytest"][3:]
    assert ran["release"][0].endswith("release")
    assert "dev: building: packaging/lineclear.spec changed since " in said


@pytest.mark.parametrize("quick", [False, True])
def test_the_flag_builds_whatever_changed(steps, quick):
    ran, said = steps(bundle=True, quick=quick)
    assert "build" in ran
    assert "not bundle" not in " ".join(ran["pytest"])
    assert "nothing is built" not in said


def test_chosen_tests_ask_no_history(steps):
    ran, said = steps("-k", "ledger")
    assert "build" not in ran
    assert ran["pytest"][-2:] == ["-k", "ledger"]
    assert "built" not in said
