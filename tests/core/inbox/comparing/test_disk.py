"""A file that a call names is read safely, or not at all with the reason."""

import os
import socket
import sys
import threading

import pytest

from lineclear.core.inbox.comparing.disk import MOST, Disk, read_from_disk

linux = pytest.mark.skipif(sys.platform != "linux", reason="paths of Linux")


def test_a_text_is_read_with_its_time(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("one\ntwo\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    found = read_from_disk(str(path))
    assert (found.text, found.why_not, found.absent) == ("one\ntwo\n", "", False)
    assert found.changed_at is not None
    assert found.changed_at.timestamp() == 1_700_000_000


def test_a_file_that_is_not_there_is_new(tmp_path):
    found = read_from_disk(str(tmp_path / "a" / "b"))
    assert (found.text, found.absent, found.changed_at) == ("", True, None)


def test_a_link_is_followed_to_its_file(tmp_path):
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "folder").symlink_to(tmp_path)
    assert read_from_disk(str(tmp_path / "folder" / "link")).text == "x"


def test_it_is_said_where_a_link_leads(tmp_path):
    real, link, folder = tmp_path / "real", tmp_path / "link", tmp_path / "folder"
    real.write_text("x")
    link.symlink_to("real")
    folder.symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to("nothing")
    plain = os.path.realpath(real)
    told = [
        (found.leads_to, found.is_link, found.absent)
        for found in map(
            read_from_disk,
            (plain, str(link), str(folder / "real"), str(tmp_path / "dangling"), "relative"),
        )
    ]
    assert told == [
        ("", False, False),
        (plain, True, False),
        (plain, False, False),
        (os.path.realpath(tmp_path / "nothing"), True, True),
        ("", False, False),
    ]


@pytest.mark.parametrize("path", ["notes.txt", "~/notes.txt", "", "../x"])
def test_a_relative_path_is_not_guessed(path):
    found = read_from_disk(path)
    assert found.text is None
    assert "relative" in found.why_not


@linux
@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/environ",
        "/proc/1/cmdline",
        "//proc/self/environ",
        "/etc/../proc/self/environ",
        "/dev/zero",
        "/dev/stdin",
        "/sys/kernel/notes",
        "/a\0b",
    ],
)
def test_what_is_no_place_of_files_is_not_opened(path):
    found = read_from_disk(path)
    assert (found.text, found.why_not) == (None, "it leads to a place where no files stand.")


@linux
def test_a_link_into_proc_is_not_followed(tmp_path):
    (tmp_path / "innocent").symlink_to("/proc/self")
    found = read_from_disk(str(tmp_path / "innocent" / "environ"))
    assert found.why_not == "it leads to a place where no files stand."


@linux
def test_a_pipe_a_socket_and_a_folder_are_not_read_and_nobody_waits(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        answers: list[Disk] = []
        names = ("pipe", "folder", "socket")
        worker = threading.Thread(
            target=lambda: answers.extend(read_from_disk(str(tmp_path / name)) for name in names)
        )
        worker.start()
        worker.join(5)
        assert not worker.is_alive()
    assert [answer.text for answer in answers] == [None, None, None]
    assert {answers[0].why_not, answers[1].why_not} == {"it is no regular file."}


def test_too_large_and_no_text(tmp_path):
    (tmp_path / "large").write_bytes(b"x" * (MOST + 1))
    (tmp_path / "image").write_bytes(b"\x89PNG\xff")
    assert read_from_disk(str(tmp_path / "large")).why_not == "it is larger than 2 MiB."
    assert read_from_disk(str(tmp_path / "image")).why_not == "it holds no text."


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_what_this_user_may_not_read_stays_unread(tmp_path):
    path = tmp_path / "secret"
    path.write_text("x")
    path.chmod(0)
    assert read_from_disk(str(path)).why_not == "it cannot be read by this user."


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_of_the_root_and_of_links_in_a_circle_is_said_what_is_so(tmp_path):
    assert read_from_disk("/").why_not == "it is no regular file."
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    told = read_from_disk(str(tmp_path / "a"))
    assert (told.absent, told.text) == (False, None)
    assert told.why_not == "its links lead in a circle, or changed while it was read."
