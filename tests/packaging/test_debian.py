"""The Debian package: installed, used and removed where that may be, else unpacked and used."""

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop
from tests.packaging.conftest import BUILD_S, Release
from tests.packaging.test_linux_files import validated
from tests.packaging.test_release import programs_files

pytestmark = [
    pytest.mark.bundle,
    pytest.mark.timeout(BUILD_S + 120),
    pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed"),
]
PLACES = ("/etc", "/opt", "/usr/bin", "/usr/lib/lineclear", "/usr/share", "/var/lib/dpkg/info")
BUSY_S = 120


def run(*argv: str | Path) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


def dpkg(*argv: str | Path) -> None:
    """Run dpkg, once whoever else uses it has finished."""
    end = time.monotonic() + BUSY_S
    while True:
        done = subprocess.run(
            ["dpkg", *argv], capture_output=True, text=True, timeout=300, check=False
        )
        busy = "lock" in done.stderr and done.returncode == 2
        if not busy or time.monotonic() > end:
            assert done.returncode == 0, done.stdout + done.stderr
            return
        time.sleep(1)


def known_to_dpkg() -> bool:
    asked = ["dpkg-query", "-W", "-f", "${db:Status-Status}", "lineclear"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)
    return told.returncode == 0 and told.stdout != "not-installed"


def left() -> set[str]:
    """Every file of the system whose path names the program."""
    found = set()
    for place in map(Path, PLACES):
        found |= {str(path) for path in place.rglob("*lineclear*")}
    return found


@dataclass
class Installed:
    """Where the package's files are; `really`: through dpkg, at their own places."""

    root: Path
    really: bool

    def path(self, name: str) -> Path:
        return self.root / name


@pytest.fixture(scope="module")
def package(release: Release) -> Path:
    return release.file("*.deb")


@pytest.fixture(scope="module")
def installed(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The package, installed by dpkg as root; else unpacked into a folder."""
    if os.geteuid() != 0 or shutil.which("dpkg") is None or known_to_dpkg():
        root = tmp_path_factory.mktemp("unpacked")
        run("dpkg-deb", "--extract", package, root)
        yield Installed(root, really=False)
        return
    try:
        dpkg("--install", package)
        yield Installed(Path("/"), really=True)
    finally:
        if known_to_dpkg():
            dpkg("--purge", "lineclear")


def field(package: Path, name: str) -> str:
    return run("dpkg-deb", "--field", package, name).strip()


def test_it_says_what_it_is(package):
    from building import identity

    assert field(package, "Package") == "lineclear"
    assert field(package, "Version") == identity.version()
    assert field(package, "Architecture") == run("dpkg", "--print-architecture").strip()
    assert 100_000 < int(field(package, "Installed-Size")) < 190_000
    description = field(package, "Description").splitlines()
    assert description[0] == "desktop approval inbox for operators of AI agents"
    assert len(description) > 3


def test_it_holds_what_belongs_on_a_desktop_and_nothing_that_starts_by_itself(package):
    lines = run("dpkg-deb", "--contents", package).splitlines()
    entries = {line.split(maxsplit=5)[5].partition(" -> ")[0]: line.split()[:2] for line in lines}
    assert {owner for _, owner in entries.values()} == {"root/root"}
    modes = {mode for mode, _ in entries.values()}
    assert modes == {"drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "lrwxrwxrwx"}
    assert len({(line.split()[3], line.split()[4]) for line in lines}) == 1, "of one moment"
    from building import identity

    for wanted in (
        "./usr/bin/lineclear",
        "./usr/bin/lineclear-inbox",
        "./usr/share/applications/lineclear.desktop",
        "./usr/share/icons/hicolor/48x48/apps/lineclear.png",
        "./usr/share/icons/hicolor/scalable/apps/lineclear.svg",
        "./usr/share/icons/hicolor/symbolic/apps/lineclear-symbolic.svg",
        f"./usr/share/metainfo/{identity.APP_ID}.metainfo.xml",
        "./usr/share/lineclear/autostart/lineclear.desktop",
        "./usr/share/doc/lineclear/copyright",
        "./usr/share/doc/lineclear/changelog.gz",
    ):
        assert wanted in entries
    starts = ("./etc/", "./usr/lib/systemd/", "./lib/systemd/", "./usr/share/dbus-1/")
    assert [name for name in entries if name.startswith(starts)] == []


def test_nothing_of_its_own_runs_at_its_installation_or_removal(package, tmp_path):
    run("dpkg-deb", "--control", package, tmp_path / "control")
    assert {each.name for each in (tmp_path / "control").iterdir()} == {"control", "md5sums"}


def depended_on(package: Path) -> set[str]:
    """The packages that come with it, directly and through others, as they are here."""
    asked = ["dpkg-query", "-W", "-f", "${Package}\t${Pre-Depends}, ${Depends}\n"]
    table = dict(line.split("\t", 1) for line in run(*asked).splitlines())
    wanted = [field(package, "Depends")]
    found: set[str] = set()
    while wanted:
        for alternatives in wanted.pop().split(","):
            for choice in alternatives.split("|"):
                name = choice.split("(")[0].strip().partition(":")[0]
                if name in table and name not in found:
                    found.add(name)
                    wanted.append(table[name])
    return found


def test_each_library_that_it_does_not_bring_comes_with_what_it_depends_on(package, release):
    brought = {path.name for path in (release.bundle / "_internal").rglob("*.so*")}
    outside = {}
    for path in programs_files(release.bundle):
        for line in run("ldd", path).splitlines():
            name, arrow, place = line.strip().partition(" => ")
            if arrow and name not in brought and place.startswith("/"):
                outside[name] = place.split(" ")[0]
    assert "libEGL.so.1" in outside
    come = depended_on(package)
    missing = {}
    for name, place in outside.items():
        owners = run("dpkg-query", "--search", f"*/{Path(place).name}").splitlines()
        if not {line.partition(":")[0] for line in owners} & come:
            missing[name] = owners
    assert missing == {}


def test_the_c_library_that_it_asks_for_is_the_one_that_it_needs(package, release):
    from building import debian

    needed = debian.glibc_needed(release.bundle)
    assert f"libc6 (>= {needed[0]}.{needed[1]})" in field(package, "Depends")
    here = os.confstr("CS_GNU_LIBC_VERSION") or ""
    assert (2, 28) <= needed <= tuple(map(int, here.split()[-1].split(".")))


def test_what_it_installs_passes_the_desktops_validators(installed):
    share = installed.path("usr/share")
    validated("desktop-file-validate", share / "applications" / "lineclear.desktop")
    (about,) = (share / "metainfo").glob("*lineclear*")
    validated("appstreamcli", "validate", "--no-net", about)


def test_the_installed_programs_run(installed, desktop: Desktop, home, monkeypatch):
    from building import identity

    command = installed.path("usr/bin/lineclear")
    assert run(command, "--version") == f"lineclear {identity.version()}\n"
    assert run(command, "list", "--json") == "[]\n"
    hidden = ("XDG_RUNTIME_DIR", "LINECLEAR_HOME")
    env = {name: value for name, value in desktop.env.items() if name not in hidden}
    done = subprocess.run(
        [installed.path("usr/bin/lineclear-inbox"), "--self-check"],
        cwd="/",
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads(done.stdout)) == ["painted", "shown", "finished"]


def test_the_menu_entry_starts_the_window_that_it_names(installed, desktop: Desktop):
    """The desktop finds the window's entry, and so its icon, by the window's class."""
    entry = installed.path("usr/share/applications/lineclear.desktop").read_text()
    with desktop.started([str(installed.path("usr/bin/lineclear-inbox"))]) as child:
        window = desktop.window("Lineclear", child.pid, seconds=60)
        told = subprocess.run(
            ["xprop", "-id", str(window.id), "WM_CLASS"],
            env=desktop.env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        child.terminate()
        assert child.wait(30) == 0
    names = [word.strip().strip('"') for word in told.partition("=")[2].split(",")]
    (wanted,) = [line for line in entry.splitlines() if line.startswith("StartupWMClass=")]
    assert wanted.partition("=")[2] in names


def test_removed_it_leaves_nothing(installed):
    """The last test here: afterwards it is gone."""
    if not installed.really:
        pytest.skip("only root installs: the package was unpacked and used, not installed")
    paths = list(run("dpkg-query", "--listfiles", "lineclear").splitlines())
    assert "/usr/lib/lineclear/lineclear-inbox" in paths
    with contextlib.suppress(FileNotFoundError):
        assert run("dpkg", "--verify", "lineclear") == "", "running it changed a file"
    dpkg("--remove", "lineclear")
    assert not known_to_dpkg()
    assert left() == set()
