"""The recipes of Windows and macOS, as far as another system can check them.

PyInstaller's file is evaluated with the platform faked: what it would build is recorded. Neither
the installer nor the disk image has been made yet.
"""

import plistlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import PyInstaller.depend.bindepend
import PyInstaller.utils.hooks
import pytest

from tests.packaging.conftest import ROOT

SPEC = ROOT / "packaging" / "lineclear.spec"


@dataclass
class Recorded:
    """One step of a build: its name, what it was given, and what it found."""

    kind: str
    parts: tuple[Any, ...]
    options: dict[str, Any]
    pure: list[Any] = field(default_factory=list)
    scripts: list[Any] = field(default_factory=list)
    binaries: list[Any] = field(default_factory=list)
    datas: list[Any] = field(default_factory=list)


class Build:
    """What evaluating the file on one system would build."""

    def __init__(self, workpath: Path) -> None:
        self.steps: list[Recorded] = []
        names: dict[str, Any] = {
            kind: self._step(kind) for kind in ("Analysis", "PYZ", "EXE", "COLLECT", "BUNDLE")
        }
        names |= {"SPECPATH": str(SPEC.parent), "workpath": str(workpath)}
        exec(compile(SPEC.read_text(), str(SPEC), "exec"), names)

    def _step(self, kind: str):
        def step(*parts: Any, **options: Any) -> Recorded:
            self.steps.append(Recorded(kind, parts, options))
            return self.steps[-1]

        return step

    def all(self, kind: str) -> list[Recorded]:
        return [step for step in self.steps if step.kind == kind]

    def one(self, kind: str) -> Recorded:
        (found,) = self.all(kind)
        return found


@pytest.fixture
def on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, drawn_icons: Path
) -> Callable[[str], Build]:
    """Evaluate the file as on a system."""
    hooks = PyInstaller.utils.hooks
    monkeypatch.setattr(hooks, "collect_submodules", lambda name: [name])
    monkeypatch.setattr(hooks, "copy_metadata", lambda name: [(name, name)])
    monkeypatch.setenv("LINECLEAR_ICONS", str(drawn_icons))
    monkeypatch.delenv("LINECLEAR_CODESIGN_IDENTITY", raising=False)

    def evaluate(platform: str) -> Build:
        with monkeypatch.context() as faked:
            faked.setattr(sys, "platform", platform)
            return Build(tmp_path)

    return evaluate


SYSTEMS = ["linux", "win32", "darwin"]


@pytest.mark.parametrize("platform", SYSTEMS)
def test_two_programs_go_into_one_folder(on, platform):
    build = on(platform)
    programs = {step.options["name"]: step for step in build.all("EXE")}
    assert list(programs) == ["lineclear-inbox", "lineclear"], "macOS starts the first one"
    assert not programs["lineclear-inbox"].options["console"]
    assert programs["lineclear"].options["console"]
    folder = build.one("COLLECT")
    assert [part.options["name"] for part in folder.parts if isinstance(part, Recorded)] == list(
        programs
    )
    assert folder.options["name"] == "lineclear"


@pytest.mark.parametrize("platform", SYSTEMS)
def test_nothing_is_packed_by_upx_or_into_one_file(on, platform):
    build = on(platform)
    for step in (*build.all("EXE"), build.one("COLLECT")):
        assert step.options["upx"] is False
    assert all(step.options["exclude_binaries"] for step in build.all("EXE"))


@pytest.mark.parametrize("platform", SYSTEMS)
def test_what_the_window_reads_goes_where_it_looks_for_it(on, platform):
    shipped = {
        path.name for path in (ROOT / "resources").iterdir() if path.name in ("icons", "locale")
    }
    assert "icons" in shipped
    for parts in on(platform).all("Analysis"):
        datas = dict(parts.options["datas"])
        assert {str(ROOT / "resources" / name) for name in shipped} <= set(datas)
        for name in shipped:
            assert datas[str(ROOT / "resources" / name)] == f"lineclear/resources/{name}"


def test_only_macos_makes_an_application_bundle(on):
    assert [len(on(platform).all("BUNDLE")) for platform in SYSTEMS] == [0, 0, 1]


def test_on_linux_a_program_has_no_resources_of_other_systems(on):
    for step in on("linux").all("EXE"):
        assert not step.options.keys() & {"icon", "version", "entitlements_file"}


def test_on_windows_each_program_has_its_icon_and_its_version(on, drawn_icons):
    from building import identity

    found = {}
    for step in on("win32").all("EXE"):
        assert Path(step.options["icon"]) == drawn_icons / "lineclear.ico"
        found[step.options["name"]] = evaluated_resource(Path(step.options["version"]).read_text())
    assert [strings["FileDescription"] for strings in found.values()] == [
        "Lineclear",
        "Lineclear in a terminal",
    ]
    for name, strings in found.items():
        assert strings["ProductVersion"] == strings["FileVersion"] == identity.version()
        assert strings["OriginalFilename"] == f"{name}.exe"


def evaluated_resource(text: str) -> dict[str, str]:
    """The strings of a version resource, read as PyInstaller reads it: as Python."""
    names = ("VSVersionInfo", "FixedFileInfo", "StringFileInfo", "StringTable", "VarFileInfo")
    known: dict[str, Any] = {name: lambda *parts, **more: (parts, more) for name in names}
    strings: dict[str, str] = {}
    known["StringStruct"] = strings.__setitem__
    known["VarStruct"] = lambda *parts: parts
    (_, resource) = eval(text, known)
    assert set(resource) == {"ffi", "kids"}
    assert len(resource["ffi"][1]["filevers"]) == 4
    return strings


@pytest.mark.parametrize(
    "version, numbers",
    [
        ("0.1.0", (0, 1, 0, 0)),
        ("2", (2, 0, 0, 0)),
        ("1.4.12rc3", (1, 4, 12, 0)),
        ("1.4.0.dev1", (1, 4, 0, 0)),
        ("1.2.3.4.5", (1, 2, 3, 4)),
    ],
)
def test_windows_counts_a_version_in_four_numbers(version, numbers):
    from building import windows

    assert windows.four_numbers(version) == numbers


def test_on_macos_the_bundle_starts_the_window_and_says_who_it_is(on, drawn_icons):
    from building import identity

    build = on("darwin")
    bundle = build.one("BUNDLE")
    told = plistlib.loads(plistlib.dumps(bundle.options["info_plist"]))
    assert bundle.parts == (build.one("COLLECT"),)
    assert bundle.options["name"] == "Lineclear.app"
    assert Path(bundle.options["icon"]) == drawn_icons / "lineclear.icns"
    assert told["CFBundleExecutable"] == "lineclear-inbox"
    assert told["CFBundleIdentifier"] == bundle.options["bundle_identifier"] == identity.APP_ID
    assert told["CFBundleShortVersionString"] == told["CFBundleVersion"] == identity.version()
    assert told["NSHighResolutionCapable"] is True
    assert told["LSMinimumSystemVersion"] == "13.0"
    assert told["NSHumanReadableCopyright"] == f"{identity.PUBLISHER}. Apache-2.0"


@pytest.mark.parametrize("identity", [None, "Developer ID Application: Example"])
def test_on_macos_programs_are_signed_where_it_is_said_by_whom(on, monkeypatch, identity):
    if identity is not None:
        monkeypatch.setenv("LINECLEAR_CODESIGN_IDENTITY", identity)
    for step in on("darwin").all("EXE"):
        assert step.options["codesign_identity"] == identity
        entitled = plistlib.loads(Path(step.options["entitlements_file"]).read_bytes())
        assert set(entitled.values()) == {True}
        assert set(entitled) == {
            "com.apple.security.cs.allow-unsigned-executable-memory",
            "com.apple.security.cs.disable-library-validation",
        }


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_without_the_icons_it_says_what_draws_them(on, monkeypatch, tmp_path, platform):
    monkeypatch.setenv("LINECLEAR_ICONS", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match=r"packaging/build\.py"):
        on(platform)


# --- The installer of Windows ---


class Script:
    """An Inno Setup script: its directives, and its entries by section."""

    def __init__(self, text: str) -> None:
        self.setup: dict[str, str] = {}
        self.entries: dict[str, list[dict[str, str]]] = {}
        section = ""
        for line in text.splitlines():
            if not line.strip() or line.lstrip().startswith((";", "#")):
                continue
            heading = re.fullmatch(r"\[(\w+)\]", line)
            if heading:
                section = heading[1]
                assert section not in self.entries, f"[{section}] twice"
                self.entries[section] = []
            elif section == "Setup":
                name, _, value = line.partition("=")
                assert name.isalnum(), line
                assert name not in self.setup, line
                self.setup[name] = value
            else:
                self.entries[section].append(self._entry(line))

    @staticmethod
    def _entry(line: str) -> dict[str, str]:
        parameter = re.compile(r'(\w+): ("(?:[^"]|"")*"|[^;"]+)(?:; |$)')
        found, at = {}, 0
        while at < len(line):
            matched = parameter.match(line, at)
            assert matched is not None, line[at:]
            assert matched[1] not in found, line
            found[matched[1]] = matched[2].strip('"')
            at = matched.end()
        return found


@pytest.fixture
def script() -> Script:
    return Script((ROOT / "packaging" / "windows" / "lineclear.iss").read_text())


def test_the_installer_is_for_one_person_and_never_loses_its_id(script):
    assert script.setup["PrivilegesRequired"] == "lowest"
    assert script.setup["DefaultDirName"].startswith("{autopf}")
    assert script.setup["AppId"] == "{{8E0B6D5A-3F0C-4E1B-9C55-6C1D1B7E52A4}"
    assert set(script.entries) == {
        "Setup",
        "Languages",
        "Tasks",
        "InstallDelete",
        "Files",
        "Icons",
        "Run",
    }


def test_the_installer_makes_a_menu_entry_and_starts_at_sign_in_only_when_asked(script):
    icons = {entry["Name"]: entry for entry in script.entries["Icons"]}
    assert "Tasks" not in icons[r"{autoprograms}\Lineclear"]
    assert icons[r"{autostartup}\Lineclear"]["Tasks"] == "autostart"
    assert {entry["Filename"] for entry in icons.values()} == {r"{app}\lineclear-inbox.exe"}
    assert {entry["AppUserModelID"] for entry in icons.values()} == {"{#AppUserModel}"}
    tasks = {entry["Name"]: entry for entry in script.entries["Tasks"]}
    assert {entry["Tasks"] for entry in icons.values() if "Tasks" in entry} == set(tasks)
    assert all(entry["Flags"] == "unchecked" for entry in tasks.values())


def test_the_installer_installs_the_folder_that_the_build_gives_it(script, tmp_path):
    from building import identity, windows

    (files,) = script.entries["Files"]
    assert (files["Source"], files["DestDir"]) == (r"{#Bundle}\*", "{app}")
    assert "recursesubdirs" in files["Flags"].split()
    command = windows.installer_command("iscc", tmp_path, tmp_path / "lineclear", tmp_path)
    assert command[-1] == str(ROOT / "packaging" / "windows" / "lineclear.iss")
    given = {word[2:].partition("=")[0] for word in command if word.startswith("/D")}
    used = set(re.findall(r"\{#(\w+)\}", Path(command[-1]).read_text()))
    own = {"Publisher", "AppUserModel"}
    assert used == given == {"AppVersion", "FileVersion", "Bundle", "Icon"} | own
    assert f"/DAppVersion={identity.version()}" in command
    assert f"/DAppUserModel={identity.APP_ID}" in command
    assert script.setup["AppPublisher"] == "{#Publisher}"
    assert script.setup["OutputBaseFilename"] == "lineclear-{#AppVersion}-windows-setup"


def test_the_disk_image_is_named_after_the_version(tmp_path):
    from building import identity, macos

    command = macos.image_command(tmp_path, tmp_path / "dmg")
    assert command[0] == "hdiutil"
    assert command[-1] == str(tmp_path / f"lineclear-{identity.version()}-macos.dmg")


def test_what_is_signed_is_signed_before_it_is_packed_and_summed(tmp_path):
    """Signing and stapling change a file: the build does both, with whoever is named to it."""
    from building import macos, windows

    signed = windows.signing_command("http://time.example", tmp_path / "lineclear.exe")
    assert signed[:2] == ["signtool", "sign"]
    assert signed[-1] == str(tmp_path / "lineclear.exe")
    assert signed[signed.index("/tr") + 1] == "http://time.example"
    image = tmp_path / "lineclear.dmg"
    submitted, stapled = macos.notary_commands("release", image)
    assert submitted[:4] == ["xcrun", "notarytool", "submit", str(image)]
    assert {"--wait", "--keychain-profile", "release"} <= set(submitted)
    assert stapled == ["xcrun", "stapler", "staple", str(image)]
