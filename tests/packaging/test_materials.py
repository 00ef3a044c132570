"""What the bill of materials says, where it must read what others wrote."""

import ctypes

import pytest

LIBRARY = """\
Format: https://example.org/packaging-manuals/copyright-format/1.0/
Upstream-Name: a library
License: not that of files

Files: *
Copyright: 2001 Somebody
License: LGPL-2.1+
 A text that says
 .
 License: nothing of this

Files: src/one.c
 src/two.c
Copyright: 2002 Somebody else
License: Expat and BSD-3-clause, or GPL-2

Files: tests/*
License: GPL-3+ with Autoconf exception

Files: debian/*
Copyright: 2003 A maintainer
License: GPL-1+

License: LGPL-2.1+
 The text.
"""


def test_the_licences_of_a_debian_package_are_those_of_its_files_and_not_of_its_packaging():
    from building import debian_copyright

    assert debian_copyright.named(LIBRARY) == [
        "BSD-3-Clause",
        "GPL-2.0-only",
        "GPL-3+ with Autoconf exception",
        "LGPL-2.1-or-later",
        "MIT",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "This package was debianized by somebody.\n\nFiles: *\nLicense: MIT\n",
        "Format: https://example.org/packaging-manuals/copyright-format/1.0/\n",
    ],
)
def test_a_copyright_file_that_only_people_can_read_says_nothing(text):
    from building import debian_copyright

    assert debian_copyright.named(text) == []


def test_a_file_that_belongs_to_nothing_known_is_named_by_itself(tmp_path):
    from building import owners

    folder = tmp_path / "lineclear"
    for name in ("_internal/PySide6/Qt/lib", "_internal/python3.11/lib-dynload"):
        (folder / name).mkdir(parents=True)
    places = {
        "lineclear": "pypi:pyinstaller",
        "_internal/libssl.so.3": "file:libssl.so.3",
        "_internal/libother.so.1.2": "file:libother.so.1.2",
        "_internal/libpython3.11.so.1.0": "cpython",
        "_internal/python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so": "cpython",
        "_internal/PySide6/Qt/lib/libicudata.so.73": "icu",
        "_internal/PySide6/Qt/lib/libQt6Core.so.6": "qt",
    }
    for place in (*places, "_internal/base_library.zip"):
        (folder / place).touch()
    (folder / "_internal" / "libQt6Core.so.6").symlink_to("PySide6/Qt/lib/libQt6Core.so.6")
    copied = {folder / "_internal" / "libssl.so.3": "file:libssl.so.3"}
    found = owners.owners(folder, {}, copied)
    assert {path.relative_to(folder).as_posix(): ref for path, ref in found.items()} == places


def test_where_qt_brings_no_icu_there_is_no_version_of_it(tmp_path):
    from building import owners

    assert owners.icu_version(tmp_path) == ""


def test_the_licence_of_icu_is_the_one_that_the_bill_names():
    from building import contents

    text = contents.ICU_LICENCE.read_text(encoding="utf-8")
    assert text.startswith("UNICODE, INC. LICENSE AGREEMENT - DATA FILES AND SOFTWARE\n")
    assert "Third-Party Software Licenses" in text


def test_an_icu_of_another_licence_stops_the_build(tmp_path, monkeypatch):
    from building import owners

    library = tmp_path / "_internal" / "PySide6" / "Qt" / "lib" / "libicuuc.so.75"
    library.parent.mkdir(parents=True)
    library.touch()

    class Library:
        @staticmethod
        def u_getVersion_75(told: "ctypes.Array[ctypes.c_uint8]") -> None:  # noqa: N802
            told[0], told[1] = 75, 1

    monkeypatch.setattr(ctypes, "CDLL", lambda _path: Library())
    with pytest.raises(SystemExit, match="ICU 75, whose licence is another one"):
        owners.icu_version(tmp_path)
