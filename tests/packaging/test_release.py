"""What the one build command makes: complete, within its limits, and described truly."""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from PyInstaller.archive.readers import CArchiveReader

from tests.packaging.conftest import BUILD_S, ROOT, Release

pytestmark = [
    pytest.mark.bundle,
    pytest.mark.timeout(BUILD_S + 120),
    pytest.mark.skipif(sys.platform != "linux", reason="the packages of Linux"),
]


def programs_files(bundle: Path) -> Iterator[Path]:
    """The programs and shared libraries of a bundle."""
    for path in sorted(bundle.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as stream:
                if stream.read(4) == b"\x7fELF":
                    yield path


# --- The figures ---


def test_the_figures_are_within_their_limits(release):
    figures = release.report["figures"]
    assert figures["unpacked_bytes"] <= 190_000_000
    assert figures["archive_bytes"] <= 75_000_000
    assert figures["deb_bytes"] <= 75_000_000
    assert figures["first_window_ratio"] <= 1.5
    assert figures["self_check"].startswith("passed on ")
    assert release.report["over_the_limit"] == []
    page = (release.folder / "REPORT.md").read_text()
    assert f"| first_window_ratio | {figures['first_window_ratio']} |" in page


def test_a_figure_over_its_limit_is_named(tmp_path):
    from building.report import Report

    report = Report({"unpacked_bytes": 190_000_001, "first_window_ratio": 1.5})
    assert report.excesses() == ["unpacked_bytes is 190000001, and may be 190000000 at most."]


def test_the_sums_are_those_of_every_file(release):
    lines = (release.folder / "SHA256SUMS").read_text().splitlines()
    named = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    assert set(named) == set(release.report["files"])
    assert len(named) >= 5
    for name, digest in named.items():
        path = release.folder / name
        with path.open("rb") as stream:
            assert hashlib.file_digest(stream, "sha256").hexdigest() == digest
        assert release.report["files"][name] == {"bytes": path.stat().st_size, "sha256": digest}


def test_the_version_comes_from_one_place(release):
    from building import identity, linux, macos, windows

    version = identity.version()
    assert f'\nversion = "{version}"\n' in (ROOT / "pyproject.toml").read_text()
    told = subprocess.run(
        [release.bundle / "lineclear", "--version"], capture_output=True, text=True, check=True
    )
    assert told.stdout == f"lineclear {version}\n"
    names = [name for name in release.report["files"] if name != "RELEASE_NOTES.md"]
    assert all(version in name for name in names), names
    assert f'version="{version}"' in linux.metainfo()
    assert macos.info()["CFBundleVersion"] == version
    assert f"'{version}'" in windows.version_resource("lineclear", "Lineclear")
    written = [
        path.relative_to(ROOT).as_posix()
        for folder in ("app", "packaging", "resources")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".iss", ".plist", ".in", ".desktop", ".spec")
        and re.search(rf"\bversion\b.*\b{re.escape(version)}\b", path.read_text(), re.IGNORECASE)
        # An example in a docstring.
        and path.name != "identity.py"
    ]
    assert written == []


# --- The bill of materials ---


@pytest.fixture(scope="module")
def bill(release: Release) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(release.file("*.cdx.json").read_text())
    return told


def test_the_bill_fits_the_published_schema(release, bill):
    from building import materials

    text = release.file("*.cdx.json").read_text()
    assert materials.fault(text) == ""
    assert materials.fault(text.replace('"application"', '"programme"')) != ""
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")


def test_the_bill_names_what_is_in_the_bundle_with_its_licence(bill):
    parts = {part["name"]: part for part in bill["components"]}
    assert {"PySide6_Essentials", "shiboken6", "pydantic", "pydantic_core", "watchfiles"} <= set(
        parts
    )
    assert {"qasync", "platformdirs", "Pygments", "dbus-fast", "CPython", "pyinstaller"} <= set(
        parts
    )
    assert parts["CPython"]["version"] == platform.python_version()
    assert not {"pytest", "hypothesis", "ruff", "mypy"} & set(parts)
    assert parts["pydantic"]["licenses"] == [{"license": {"id": "MIT"}}]
    bare = [name for name, part in parts.items() if part["purl"].startswith("pkg:pypi")]
    assert [name for name in bare if not parts[name].get("licenses")] == []
    needs = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    assert "pypi:pydantic-core" in needs["pypi:pydantic"]
    assert "qt" in needs["pypi:pyside6-essentials"]
    assert parts["Qt"]["version"].startswith("6.")


def test_every_program_and_library_belongs_to_one_part_of_the_bill(release, bill):
    places = [
        place["location"]
        for part in bill["components"]
        for place in part.get("evidence", {}).get("occurrences", [])
    ]
    inside = {
        path.relative_to(release.bundle).as_posix() for path in programs_files(release.bundle)
    }
    assert set(places) == inside
    assert len(places) == len(inside) > 100
    where = {place.rpartition("/")[2]: place for place in places}
    (icu,) = (part for part in bill["components"] if part["name"] == "ICU")
    assert icu["licenses"] == [{"license": {"id": "Unicode-DFS-2016"}}]
    major = icu["version"].partition(".")[0]
    assert {place["location"] for place in icu["evidence"]["occurrences"]} == {
        where[f"libicu{name}.so.{major}"] for name in ("data", "i18n", "uc")
    }


def test_every_part_of_the_bill_says_something_of_its_licence(bill):
    assert [part["name"] for part in bill["components"] if not part.get("licenses")] == []


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="reads Debian's files")
def test_a_library_of_debian_has_the_licences_that_its_package_names(bill):
    parts = {part["name"]: part for part in bill["components"]}
    assert parts["libz.so.1"]["licenses"] == [{"license": {"id": "Zlib"}}]
    # Its copyright file is in no format.
    assert parts["libX11.so.6"]["licenses"] == [{"license": {"name": "NOASSERTION"}}]


# --- What must not be in it ---


def code_of(program: Path) -> Iterator[bytes]:
    """The modules that a frozen program holds packed."""
    reader = CArchiveReader(str(program))
    for name, entry in reader.toc.items():
        if entry[4] == "z":
            packed = reader.open_embedded_archive(name)
            for module in packed.toc:
                yield packed.extract(module, raw=True) or b""
        else:
            yield reader.extract(name)


def unpacked(path: Path) -> Iterator[bytes]:
    """What a file says, and what is packed in it."""
    yield path.read_bytes()
    if path.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(path) as packed:
            yield from (packed.read(name) for name in packed.namelist())
    elif path.name.endswith(".tar.gz"):
        with tarfile.open(path) as tar:
            for member in tar:
                stream = tar.extractfile(member)
                yield stream.read() if stream is not None else member.linkname.encode()
    elif path.name in ("lineclear", "lineclear-inbox"):
        yield from code_of(path)


def test_nothing_that_is_published_names_the_folder_where_it_was_built(release):
    # The package and the archive hold what the bundle does.
    files = [path for path in release.bundle.rglob("*") if path.is_file()]
    files += [release.folder / name for name in release.report["files"]]
    named = re.compile(
        rb"(?<![\w.-])(?:%s)/" % b"|".join(re.escape(bytes(one)) for one in places())
    )
    found = {
        str(path.relative_to(release.folder))
        for path in files
        if any(named.search(content) for content in unpacked(path))
    }
    assert found == set()
    notes = {"RECORD", "direct_url.json", "INSTALLER", "REQUESTED"}
    assert [path for path in files if path.name in notes] == []


def places() -> list[Path]:
    """The folders of this checkout and of its Python packages, as they are and as they resolve."""
    return sorted({ROOT, ROOT.resolve(), Path(sys.prefix), Path(sys.prefix).resolve()})


def test_the_licences_of_others_are_in_the_bundle(release):
    from building import contents

    present = {each.name for each in (release.bundle / "licenses").iterdir()}
    named = {each.metadata["Name"] for each in contents.distributions()}
    # A part of PySide6, under the same licence.
    assert named - present <= {"shiboken6"}
    assert "CPython" in present
    qt = release.bundle / "licenses" / "PySide6_Essentials"
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (qt / "LGPL-3").read_text()
    icu = release.bundle / "licenses" / "ICU" / "LICENSE"
    assert icu.read_text(encoding="utf-8").startswith("UNICODE, INC. LICENSE AGREEMENT")


# --- The bundle and its archive ---


def test_every_program_and_library_finds_what_it_needs(release):
    internal = release.bundle / "_internal"
    missing = {}
    for path in programs_files(release.bundle):
        told = subprocess.run(
            ["ldd", str(path)],
            env={**os.environ, "LD_LIBRARY_PATH": f"{internal}:{internal / 'PySide6'}"},
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        lacks = [line.strip() for line in told.splitlines() if "not found" in line]
        if lacks:
            missing[path.name] = lacks
    assert missing == {}


def test_the_archive_holds_the_same_programs_and_they_run(release, desktop, tmp_path):
    from building import identity

    packed = release.file("*.tar.zst")
    with (
        packed.open("rb") as raw,
        zstandard.ZstdDecompressor().stream_reader(raw) as plain,
        tarfile.open(mode="r|", fileobj=plain) as tar,
    ):
        tar.extractall(tmp_path, filter="tar")
    (folder,) = tmp_path.iterdir()
    assert folder.name == f"lineclear-{identity.version()}"
    assert {each.name for each in folder.iterdir()} == {
        *(each.name for each in release.bundle.iterdir()),
        "share",
        "LICENSE",
    }
    for name in ("lineclear", "lineclear-inbox", "_internal/base_library.zip"):
        assert (folder / name).read_bytes() == (release.bundle / name).read_bytes()
    assert (folder / "share" / "applications" / "lineclear.desktop").is_file()
    env = {name: value for name, value in desktop.env.items() if name != "XDG_RUNTIME_DIR"}
    done = subprocess.run(
        [folder / "lineclear-inbox", "--self-check"],
        cwd="/",
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads(done.stdout)) == ["painted", "shown", "finished"]


def test_the_notes_are_those_of_the_changelog(release):
    from building import identity

    page = (release.folder / "RELEASE_NOTES.md").read_text()
    assert page.startswith(f"# Lineclear {identity.version()}, ")
    assert "### Added" in page
