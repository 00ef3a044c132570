"""What a bundle brings along that others wrote: distributions, system libraries, and licences."""

from __future__ import annotations

import filecmp
import platform
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from building import identity, owners

EXTRA = "gui"
_LICENCE = re.compile(r"(^|/)(licen[cs]es?|copying|notice|authors)[^/]*$", re.IGNORECASE)
QT = "PySide6_Essentials"
QT_LICENCES = (
    Path("/usr/share/common-licenses/LGPL-3"),
    Path("/usr/share/common-licenses/GPL-3"),
)
ICU_LICENCE = identity.ROOT / "packaging" / "licences" / "ICU"
"""As ICU 72.1 ships it, with those of its data; the packages of Qt that bring ICU ship none."""


@dataclass(frozen=True)
class SystemLibrary:
    """A shared library that was copied from a Debian package of the machine that built."""

    file: Path
    package: str
    version: str

    def copyright_file(self) -> Path:
        """What Debian wants to be known of the package's licences."""
        return Path("/usr/share/doc") / self.package / "copyright"


def distributions() -> list[metadata.Distribution]:
    """The Python distributions that the programs are made of, without Lineclear; sorted by name."""
    found: dict[str, metadata.Distribution] = {}
    wanted = [(identity.NAME, EXTRA)]
    while wanted:
        name, extra = wanted.pop()
        for text in metadata.requires(name) or ():
            needed = Requirement(text)
            key = key_of(needed.name)
            applies = needed.marker is None or needed.marker.evaluate({"extra": extra})
            if applies and key not in found:
                found[key] = metadata.distribution(needed.name)
                wanted += [(needed.name, each) for each in needed.extras or {""}]
    return [found[key] for key in sorted(found)]


def key_of(name: str) -> str:
    """The name of a distribution as it is compared."""
    return name.lower().replace("_", "-")


def needs(distribution: metadata.Distribution, known: set[str]) -> list[str]:
    """Which of the KNOWN distributions, by their keys, a distribution asks for."""
    named = {key_of(Requirement(text).name) for text in distribution.requires or ()}
    return sorted(named & known)


def system_libraries(bundle: Path) -> list[SystemLibrary]:
    """The libraries of a bundle that came from Debian packages; empty on other systems."""
    if shutil.which("dpkg-query") is None:
        return []
    files = {
        path.name: path
        for path in sorted((bundle / "_internal").glob("*.so*"))
        if not path.is_symlink()
    }
    owners: dict[str, str] = {}
    asked = ["dpkg-query", "--search", *(f"*/{name}" for name in files)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    for line in told.splitlines():
        package, _, path = line.partition(": ")
        # A Python that somebody built has a library of the same name as Debian's.
        if _same(Path(path), files[Path(path).name]):
            owners[Path(path).name] = package.partition(",")[0]
    asked = ["dpkg-query", "-W", "-f", "${binary:Package} ${Package} ${Version}\n"]
    packages = sorted(set(owners.values()))
    told = subprocess.run([*asked, *packages], capture_output=True, text=True, check=False).stdout
    versions = {}
    for line in told.splitlines():
        full, plain, version = line.split()
        versions[full] = versions[plain] = (plain, version)
    return [
        SystemLibrary(path, *versions[owners[name]])
        for name, path in files.items()
        if owners.get(name) in versions
    ]


def _same(one: Path, other: Path) -> bool:
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _licence_files(distribution: metadata.Distribution) -> Iterator[tuple[str, Path]]:
    for file in distribution.files or ():
        if ".dist-info" in str(file) and _LICENCE.search(str(file)):
            yield file.name, Path(str(distribution.locate_file(file)))


def copy_licences(bundle: Path) -> None:
    """Put the licences of all that the bundle brings along into its folder `licenses`."""
    target = bundle / "licenses"
    shutil.rmtree(target, ignore_errors=True)
    for distribution in [*distributions(), metadata.distribution("pyinstaller")]:
        name = distribution.metadata["Name"]
        for number, (file, path) in enumerate(_licence_files(distribution)):
            place = target / name / (file if number == 0 else f"{number}-{file}")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    if python.is_file():
        (target / "CPython").mkdir(parents=True)
        shutil.copyfile(python, target / "CPython" / "LICENSE.txt")
    # Qt's own packages state this licence and ship no text of it.
    for text in QT_LICENCES:
        if text.is_file():
            (target / QT).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(text, target / QT / text.name)
    if owners.icu_version(bundle):
        (target / "ICU").mkdir(parents=True)
        shutil.copyfile(ICU_LICENCE, target / "ICU" / "LICENSE")
    for library in system_libraries(bundle):
        told = library.copyright_file()
        if told.is_file():
            (target / library.package).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(told, target / library.package / "copyright")


def python_version() -> str:
    """The version of the Python in the bundle."""
    return platform.python_version()
