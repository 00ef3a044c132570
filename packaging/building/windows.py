"""Windows: the version resource of the programs, and the installer by Inno Setup."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from building import identity

FILES = identity.ROOT / "packaging" / "windows"


def four_numbers(version: str) -> tuple[int, int, int, int]:
    """A version as Windows counts it: 0.2.1 and 0.2.1rc3 are both 0.2.1.0."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    first, second, third, fourth = (*numbers, 0, 0, 0, 0)[:4]
    return first, second, third, fourth


def version_resource(program: str, description: str) -> str:
    """The text from which PyInstaller makes the version resource of PROGRAM."""
    version = identity.version()
    numbers = four_numbers(version)
    strings = {
        "CompanyName": identity.PUBLISHER,
        "FileDescription": description,
        "FileVersion": version,
        "InternalName": program,
        "LegalCopyright": f"{identity.PUBLISHER}. {identity.project()['license']}",
        "OriginalFilename": f"{program}.exe",
        "ProductName": identity.TITLE,
        "ProductVersion": version,
    }
    told = ", ".join(f"StringStruct({name!r}, {value!r})" for name, value in strings.items())
    return (
        "VSVersionInfo(\n"
        f"  ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0x0,\n"
        "    OS=0x40004, fileType=0x1, subtype=0x0, date=(0, 0)),\n"
        "  kids=[\n"
        f"    StringFileInfo([StringTable('040904B0', [{told}])]),\n"
        "    VarFileInfo([VarStruct('Translation', [1033, 1200])]),\n"
        "  ],\n"
        ")\n"
    )


def compiler() -> str | None:
    """Inno Setup's compiler, where it is installed."""
    found = shutil.which("iscc")
    if found is not None:
        return found
    for variable in ("ProgramFiles(x86)", "ProgramFiles"):
        place = Path(os.environ.get(variable, "")) / "Inno Setup 6" / "ISCC.exe"
        if place.is_file():
            return str(place)
    return None


def installer_command(iscc: str, output: Path, bundle: Path, icons: Path) -> list[str]:
    """How the installer is compiled: what changes is given as the script's definitions."""
    return [
        iscc,
        "/Qp",
        f"/DAppVersion={identity.version()}",
        f"/DFileVersion={'.'.join(map(str, four_numbers(identity.version())))}",
        f"/DPublisher={identity.PUBLISHER}",
        f"/DAppUserModel={identity.APP_ID}",
        f"/DBundle={bundle}",
        f"/DIcon={icons / 'lineclear.ico'}",
        f"/O{output}",
        str(FILES / "lineclear.iss"),
    ]


def signing_command(server: str, *files: Path) -> list[str]:
    """How programs are signed, with the certificate of the person who is signed in."""
    words = ["signtool", "sign", "/a", "/fd", "SHA256", "/tr", server, "/td", "SHA256"]
    return [*words, *map(str, files)]


def build(output: Path, bundle: Path, icons: Path) -> Path | None:
    """Compile the installer and give its path; None where Inno Setup is not installed.

    Where $LINECLEAR_TIMESTAMP_SERVER names one, the programs are signed first, and then it.
    """
    iscc = compiler()
    if iscc is None:
        return None
    made = output / f"{identity.NAME}-{identity.version()}-windows-setup.exe"
    programs = [bundle / f"{name}.exe" for name in (identity.COMMAND, identity.WINDOW)]
    server = os.environ.get("LINECLEAR_TIMESTAMP_SERVER")
    if server:
        subprocess.run(signing_command(server, *programs), check=True)
    subprocess.run(installer_command(iscc, output, bundle, icons), check=True)
    if server:
        subprocess.run(signing_command(server, made), check=True)
    return made
