"""The self-contained archive for any Linux, and the checksums of all that is made."""

from __future__ import annotations

import hashlib
import platform
import shutil
import tarfile
from pathlib import Path

import zstandard

from building import identity, linux

LEVEL = 12
"""Of 22: the levels above it take some times as long for a few percent."""


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nobody's file of one moment, so that two builds are equal."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = identity.changed_at()
    return entry


def build(output: Path, work: Path, bundle: Path, icons: Path) -> Path:
    """Make `lineclear-VERSION-linux-ARCH.tar.zst` in OUTPUT and give its path.

    It holds one folder with both programs, and the desktop's files in `share`.
    """
    folder = f"{identity.NAME}-{identity.version()}"
    share = work / "archive-share"
    shutil.rmtree(share, ignore_errors=True)
    linux.install(share, icons)
    made = output / f"{folder}-linux-{platform.machine()}.tar.zst"
    packer = zstandard.ZstdCompressor(level=LEVEL, threads=-1)
    with (
        made.open("wb") as raw,
        packer.stream_writer(raw) as packed,
        tarfile.open(mode="w|", fileobj=packed, format=tarfile.PAX_FORMAT) as tar,
    ):
        tar.add(bundle, folder, filter=_plain)
        tar.add(share, f"{folder}/share", filter=_plain)
        tar.add(identity.ROOT / "LICENSE", f"{folder}/LICENSE", filter=_plain)
    shutil.rmtree(share)
    return made


def sha256(path: Path) -> str:
    """The checksum of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_sums(output: Path, files: list[Path]) -> Path:
    """Write `SHA256SUMS` as `sha256sum --check` reads it, and give its path."""
    made = output / "SHA256SUMS"
    lines = [f"{sha256(path)}  {path.name}\n" for path in sorted(files)]
    made.write_text("".join(lines), encoding="utf-8")
    return made
