"""The Debian package: the frozen programs in /usr/lib, links to them, and the desktop's files."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import textwrap
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from debian_packages import QT_PACKAGES

from building import identity, linux, notes

RENAMED = frozenset({"libglib2.0-0"})
"""Libraries that Ubuntu 24.04 and Debian 13 call NAMEt64."""
FONT = "fonts-dejavu-core"


def architecture() -> str:
    """Debian's name of this machine's architecture."""
    asked = ["dpkg", "--print-architecture"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def depends(glibc: tuple[int, ...]) -> list[str]:
    """What must be on the machine: Qt's libraries, which also bring the files that they read."""
    libraries = [name for name in QT_PACKAGES if name != FONT]
    return [
        f"libc6 (>= {'.'.join(map(str, glibc))})",
        *(f"{name} | {name}t64" if name in RENAMED else name for name in libraries),
    ]


def glibc_needed(bundle: Path) -> tuple[int, ...]:
    """The newest version of the C library that a file of the bundle asks for."""
    found: set[tuple[int, ...]] = {(2, 28)}
    for path in bundle.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.suffix not in (".py", ".zip"):
            content = path.read_bytes()
            if content.startswith(b"\x7fELF"):
                for number in re.findall(rb"\0GLIBC_(\d+(?:\.\d+)+)\0", content):
                    found.add(tuple(map(int, number.split(b"."))))
    return max(found)


def control(bundle: Path, installed_bytes: int) -> str:
    """The package's control file."""
    words = textwrap.wrap(
        "An AI agent leaves a tool call that needs a person's word in a folder and waits, or dies"
        " waiting. Lineclear shows every such call on the machine, takes the decision and tells"
        " what happened next. Each approved call runs at most once, and it is exactly the call"
        " that was shown.",
        76,
    )
    fields = {
        "Package": identity.NAME,
        "Version": identity.version(),
        "Architecture": architecture(),
        "Maintainer": identity.maintainer(),
        "Installed-Size": str(-(-installed_bytes // 1024)),
        "Depends": ", ".join(depends(glibc_needed(bundle))),
        "Recommends": f"{FONT} | fonts-liberation | fonts-noto-core",
        "Suggests": "xdg-desktop-portal",
        "Section": "utils",
        "Priority": "optional",
        # Debian's style: no article, no capital.
        "Description": "desktop approval inbox for operators of AI agents\n " + "\n ".join(words),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def copyright_file() -> str:
    """What Debian wants to know of the licences."""
    return (
        "Lineclear: the desktop approval inbox for operators of AI agents.\n\n"
        f"Copyright {identity.changed_on()[:4]} {identity.PUBLISHER}\n\n"
        "License: Apache-2.0. On Debian systems the full text is in\n"
        "/usr/share/common-licenses/Apache-2.0.\n\n"
        "The programs bring Python, Qt and other libraries under their own licences, which are in\n"
        "/usr/lib/lineclear/licenses.\n"
    )


def changelog() -> str:
    """The notes of this version as Debian writes them."""
    told = notes.of(identity.version(), identity.ROOT / "CHANGELOG.md")
    entries = [
        textwrap.fill(entry, 76, initial_indent="  * ", subsequent_indent="    ")
        for entry in told.items()
    ]
    when = format_datetime(datetime.fromtimestamp(identity.changed_at(), UTC))
    head = f"{identity.NAME} ({identity.version()}) unstable; urgency=medium"
    return "\n\n".join([head, "\n".join(entries), f" -- {identity.maintainer()}  {when}"]) + "\n"


def lay_out(root: Path, bundle: Path, icons: Path) -> None:
    """Lay out below ROOT what the package installs."""
    programs = root / "usr" / "lib" / identity.NAME
    shutil.copytree(bundle, programs, symlinks=True)
    commands = root / "usr" / "bin"
    commands.mkdir(parents=True)
    for name in (identity.COMMAND, identity.WINDOW):
        (commands / name).symlink_to(Path("..") / "lib" / identity.NAME / name)
    share = root / "usr" / "share"
    linux.install(share, icons)
    about = share / "doc" / identity.NAME
    about.mkdir(parents=True)
    (about / "copyright").write_text(copyright_file(), encoding="utf-8")
    with (
        (about / "changelog.gz").open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
    ):
        packed.write(changelog().encode())


def _settle(root: Path) -> int:
    """Give every file the modes of a package and one moment; the bytes of all files.

    Whatever the umask was, and whenever it was made: dpkg-deb only makes times earlier.
    """
    total = 0
    moment = identity.changed_at()
    for path in (root, *sorted(root.rglob("*"))):
        os.utime(path, (moment, moment), follow_symlinks=False)
        if path.is_symlink():
            continue
        if path.is_dir():
            path.chmod(0o755)
            continue
        total += path.stat().st_size
        content_is_program = os.access(path, os.X_OK) and ".so" not in path.name
        path.chmod(0o755 if content_is_program else 0o644)
    return total


def _sums(root: Path) -> str:
    """By what `dpkg --verify` tells a file that changed since."""
    files = [path for path in sorted((root / "usr").rglob("*")) if path.is_file()]
    return "".join(
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}"
        f"  {path.relative_to(root)}\n"
        for path in files
        if not path.is_symlink()
    )


def build(output: Path, work: Path, bundle: Path, icons: Path) -> Path:
    """Make the package in OUTPUT and give its path; WORK is a folder for the tree."""
    root = work / "deb"
    shutil.rmtree(root, ignore_errors=True)
    lay_out(root, bundle, icons)
    size = _settle(root)
    (root / "DEBIAN").mkdir(mode=0o755)
    (root / "DEBIAN" / "control").write_text(control(bundle, size), encoding="utf-8")
    (root / "DEBIAN" / "md5sums").write_text(_sums(root), encoding="utf-8")
    made = output / f"{identity.NAME}_{identity.version()}_{architecture()}.deb"
    # Every archive of packages takes xz; higher levels take twice as long for a few percent.
    packed = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z3"]
    packed += ["--build", str(root), str(made)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(identity.changed_at())}
    subprocess.run(packed, env=environment, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)
    return made
