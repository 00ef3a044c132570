"""Which part of a bundle each of its programs and shared libraries belongs to."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Final

CPYTHON: Final = "cpython"
ICU: Final = "icu"
QT: Final = "qt"
STARTER: Final = "pypi:pyinstaller"

_LIBRARY: Final = re.compile(r"\.(?:so(?:\.[\d.]+)?|dylib|dll|pyd)$")
_OF_ICU: Final = re.compile(r"(?:lib)?icu(?:data|dt|i18n|in|uc)\d*\.")
_OF_PYTHON: Final = re.compile(r"libpython3|python3\d*\.dll|vcruntime")
ICU_LICENCE: Final = "Unicode-DFS-2016"
_ICU_VERSIONS: Final = range(58, 74)
"""Those under that licence; before and after them ICU had others."""


def binaries(bundle: Path) -> Iterator[Path]:
    """Give the programs and shared libraries of a bundle, each file once; sorted."""
    for path in sorted(bundle.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        is_program = path.parent == bundle and path.suffix in ("", ".exe")
        if is_program or _LIBRARY.search(path.name):
            yield path


def owners(
    bundle: Path, distributions: Mapping[str, metadata.Distribution], copied: Mapping[Path, str]
) -> dict[Path, str]:
    """Give the part that each of the `binaries` belongs to, by its reference in the bill.

    DISTRIBUTIONS by their references; COPIED holds the libraries of the system with theirs. A file
    of none of them is a part of its own, `file:NAME`, so that none goes without being named.
    """
    files = {
        PurePosixPath(file): ref for ref, each in distributions.items() for file in each.files or ()
    }
    return {path: _owner(path, bundle, files, copied) for path in binaries(bundle)}


def _owner(
    path: Path, bundle: Path, files: Mapping[PurePosixPath, str], copied: Mapping[Path, str]
) -> str:
    if path in copied:
        return copied[path]
    if path.parent == bundle:
        return STARTER
    inside = path.relative_to(bundle / "_internal")
    if _OF_ICU.match(path.name):
        return ICU
    if inside.parts[:2] == ("PySide6", "Qt") or re.match(r"(?:lib)?Qt6", path.name):
        return QT
    if "lib-dynload" in inside.parts or _OF_PYTHON.match(path.name):
        return CPYTHON
    return files.get(PurePosixPath(inside.as_posix()), f"file:{path.name}")


def icu_version(bundle: Path) -> str:
    """Give the version of the ICU that came with Qt, as `73.2`; empty where none did.

    Raises SystemExit for an ICU whose licence is not the one that this folder has the text of.
    """
    for path in sorted((bundle / "_internal" / "PySide6").rglob("libicuuc.so.*")):
        major = path.name.rpartition(".")[2]
        told = (ctypes.c_uint8 * 4)()
        # ICU puts its number into the name of each of its functions.
        getattr(ctypes.CDLL(str(path)), f"u_getVersion_{major}")(told)
        if told[0] not in _ICU_VERSIONS:
            raise SystemExit(
                f"Qt came with ICU {told[0]}, whose licence is another one: look at it, and mend"
                " packaging/licences and packaging/building/owners.py."
            )
        return f"{told[0]}.{told[1]}"
    return ""
