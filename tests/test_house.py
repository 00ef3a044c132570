"""The rules of the house that no linter knows, checked over every file of the project."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "app" / "lineclear"
LOCK = ROOT / "packaging" / "requirements.lock"
MODULES = sorted(PACKAGE.rglob("*.py"))
STARTERS = [PACKAGE / "ui" / name for name in ("app.py", "complaint.py")]
"""The window's program, which has a stream to speak to before there is a window."""


def in_part(path: Path, part: str) -> bool:
    return path.relative_to(PACKAGE).parts[0] == part


def called_names(path: Path) -> Iterator[tuple[str, int]]:
    """Every name or attribute that a module calls, decorates with or imports, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(attr=name, lineno=line) | ast.Name(id=name, lineno=line):
                yield name, line
            case ast.ImportFrom(names=names, lineno=line):
                for alias in names:
                    yield alias.name, line


def offences(modules: list[Path], forbidden: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in modules
        for name, line in called_names(path)
        if name in forbidden
    ]


def test_the_window_nests_no_event_loop_and_renders_no_markup():
    window = [path for path in MODULES if in_part(path, "ui")]
    forbidden = {"exec", "exec_", "asyncSlot", "asyncClose"}
    forbidden |= {"setMarkdown", "setHtml", "insertHtml", "appendHtml", "insertMarkdown"}
    assert offences(window, forbidden) == []


def test_every_task_of_the_window_has_an_owner():
    window = [path for path in MODULES if in_part(path, "ui") and path.name != "tasks.py"]
    assert offences(window, {"create_task", "ensure_future", "run_coroutine_threadsafe"}) == []


def test_only_front_ends_print_and_exit():
    found = []
    for path in MODULES:
        if in_part(path, "cli") or path.name == "__main__.py" or path in STARTERS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        started = [node for node in tree.body if isinstance(node, ast.If) and is_main_guard(node)]
        allowed = {inner for node in started for inner in ast.walk(node)}
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and node not in allowed and prints_or_exits(node)
        ]
    assert found == []


def is_main_guard(node: ast.If) -> bool:
    return ast.unparse(node.test) == "__name__ == '__main__'"


def prints_or_exits(node: ast.Call) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="print" | "exit" | "quit" | "SystemExit")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="sys"), attr="exit")):
            return True
        case _:
            return False


def test_no_module_has_a_name_that_says_nothing():
    vague = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}
    paths = [path for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    named = [path.relative_to(ROOT) for path in paths]
    assert [path for path in named if vague & {*path.parts[:-1], path.stem}] == []


def test_no_module_is_longer_than_500_lines():
    lengths = {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines())
        for path in MODULES
    }
    assert {path: lines for path, lines in lengths.items() if lines > 500} == {}


def own_files() -> list[Path]:
    """The files that are, or are about to be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    paths = [ROOT / name for name in listed.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def test_no_file_names_a_machine_or_a_registry():
    folders = "work|root"
    hosts = "pypi|pythonhosted|npmjs|debian"
    named = re.compile(
        rf"(?<![\w.])/(?:{folders})/|\b(?:{hosts})\.(?:org|com|net)\b".encode(), re.IGNORECASE
    )
    found = []
    for path in own_files():
        content = path.read_bytes()
        if b"\0" in content[:8000]:
            continue
        for number, line in enumerate(content.splitlines(), 1):
            if named.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}")
    assert found == []


IMPORT_WITHOUT_QT = """
import importlib, importlib.abc, pkgutil, sys

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6", "qasync"):
            raise ImportError(f"{name} is not installed here")

# One module per platform behind publish, lock and liveness; only this one's can be imported.
OWN = {"linux": "linux", "darwin": "macos", "win32": "windows"}[sys.platform]
OF_SYSTEMS = {"linux", "macos", "windows"} - {OWN} | ({"posix"} if OWN == "windows" else set())
ELSEWHERE = {f"lineclear.core.ledger.platform.{name}" for name in OF_SYSTEMS}
if OWN != "windows":
    ELSEWHERE.add("lineclear.core.checkpoints._windows")

sys.meta_path.insert(0, Blocker())
import lineclear
count = 0
for part in ("core", "cli", "demo"):
    package = importlib.import_module(f"lineclear.{part}")
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module.name.endswith(".__main__") or module.name in ELSEWHERE:
            continue
        importlib.import_module(module.name)
        count += 1
assert not [name for name in sys.modules if name.startswith("lineclear.ui")]
print(count)
"""


def test_everything_but_the_window_imports_without_qt():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_WITHOUT_QT],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert int(done.stdout) > 20


def declared() -> list[Requirement]:
    """What pyproject.toml asks for, in the package and in both extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [
        Requirement(text) for text in (*project["dependencies"], *extras["gui"], *extras["dev"])
    ]


def locked() -> list[tuple[Requirement, str]]:
    """The lock's requirements, each with the text of its hashes."""
    text = LOCK.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return [
        (Requirement(line.partition(" --hash=")[0]), line.partition(" --hash=")[2])
        for line in lines
    ]


def test_the_lock_names_no_place_and_hashes_everything():
    text = LOCK.read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text
    assert [str(wanted) for wanted, hashes in locked() if "sha256:" not in hashes] == []


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_satisfies_the_project(python, platform):
    system = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": platform,
        "extra": "",
    }

    def applies(wanted: Requirement) -> bool:
        return wanted.marker is None or wanted.marker.evaluate(system)

    versions = {
        wanted.name.lower().replace("_", "-"): Version(next(iter(wanted.specifier)).version)
        for wanted, _ in locked()
        if applies(wanted)
    }
    unmet = [
        str(wanted)
        for wanted in declared()
        if applies(wanted)
        and versions.get(wanted.name.lower(), Version("0")) not in wanted.specifier
    ]
    assert unmet == []


def test_ci_runs_the_readmes_test_command():
    command = "python3 packaging/dev.py test"
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in readme
    assert "python3 packaging/dev.py demo" in readme
