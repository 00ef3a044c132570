"""macOS: what the bundle says of itself, and the disk image."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

from building import identity

FILES = identity.ROOT / "packaging" / "macos"
APP = f"{identity.TITLE}.app"


def info() -> dict[str, Any]:
    """The bundle's Info.plist: what stands in the file, with who it is and its version."""
    known: dict[str, Any] = plistlib.loads((FILES / "Info.plist").read_bytes())
    version = identity.version()
    return {
        **known,
        "CFBundleName": identity.TITLE,
        "CFBundleDisplayName": identity.TITLE,
        "CFBundleIdentifier": identity.APP_ID,
        "CFBundleExecutable": identity.WINDOW,
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "NSHumanReadableCopyright": f"{identity.PUBLISHER}. {identity.project()['license']}",
    }


def image_command(output: Path, folder: Path) -> list[str]:
    """How the disk image is made of a folder."""
    made = output / f"{identity.NAME}-{identity.version()}-macos.dmg"
    return [
        *("hdiutil", "create", "-volname", identity.TITLE, "-srcfolder", str(folder)),
        *("-fs", "HFS+", "-format", "UDZO", "-ov", str(made)),
    ]


def notary_commands(profile: str, image: Path) -> list[list[str]]:
    """How Apple's word on a disk image is asked for and put into it; PROFILE: of the keychain."""
    asked = ["xcrun", "notarytool", "submit", str(image), "--keychain-profile", profile, "--wait"]
    return [asked, ["xcrun", "stapler", "staple", str(image)]]


def build(output: Path, work: Path, app: Path) -> Path:
    """Make the disk image with the program and a link to Applications, and give its path.

    Where $LINECLEAR_NOTARY_PROFILE names a profile, it is notarised.
    """
    folder = work / "dmg"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(app, folder / APP, symlinks=True)
    (folder / "Applications").symlink_to("/Applications")
    command = image_command(output, folder)
    subprocess.run(command, check=True)
    made = Path(command[-1])
    profile = os.environ.get("LINECLEAR_NOTARY_PROFILE")
    for asked in notary_commands(profile, made) if profile else []:
        subprocess.run(asked, check=True)
    return made
