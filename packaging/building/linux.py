"""The tree of a Linux installation beside the programs: menu entry, icons, AppStream, autostart."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.sax.saxutils import escape

from building import identity, notes

FILES = identity.ROOT / "packaging" / "linux"


def metainfo() -> str:
    """What software centres show, with the notes of this version."""
    version = identity.version()
    told = notes.of(version, identity.ROOT / "CHANGELOG.md")
    known = {
        "APP_ID": identity.APP_ID,
        "PUBLISHER": escape(identity.PUBLISHER),
        "SUMMARY": escape(identity.summary()),
        "LICENSE": escape(str(identity.project()["license"])),
        "VERSION": escape(version),
        "DATE": told.date or identity.changed_on(),
        "KIND": "stable" if told.date else "development",
        "NOTES": notes.appstream(told),
    }
    text = (FILES / "metainfo.xml.in").read_text(encoding="utf-8")
    for name, value in known.items():
        text = text.replace(f"@{name}@", value)
    return text


def install(share: Path, icons: Path) -> None:
    """Put what belongs into `/usr/share` into SHARE; ICONS is what `icons.make` drew.

    The autostart entry stands where no desktop looks for one: it is linked by those who want it.
    """
    applications = share / "applications"
    applications.mkdir(parents=True)
    shutil.copyfile(FILES / "lineclear.desktop", applications / "lineclear.desktop")
    autostart = share / "lineclear" / "autostart"
    autostart.mkdir(parents=True)
    shutil.copyfile(FILES / "lineclear-autostart.desktop", autostart / "lineclear.desktop")
    about = share / "metainfo"
    about.mkdir()
    (about / f"{identity.APP_ID}.metainfo.xml").write_text(metainfo(), encoding="utf-8")
    shutil.copytree(icons / "hicolor", share / "icons" / "hicolor")
