import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lineclear.core.checkpoints.fileread import FileBytes, read_file
from lineclear.core.errors import Unreadable
from tests.badinputs import (
    CHECKPOINT,
    PLACES,
    SPECIAL,
    BadPlace,
    CannotMake,
    encoded,
    make_special,
    put,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these are places of POSIX systems")

IN_FILE = [
    place
    for place in PLACES
    # Of a folder that others can write, the store's opening says so.
    if place.reason_code and place.name in SPECIAL and place.name != "world_writable_dir"
]


def made(name: str, root: Path) -> Path:
    try:
        return make_special(name, root)
    except CannotMake as why:
        pytest.skip(str(why))


def read(store: Path) -> FileBytes:
    """Read as the inbox reads a foreign checkpoint: through the folder, own files only."""
    folder = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return read_file(
            CHECKPOINT, dir_fd=folder, owners=frozenset({os.geteuid()}), single_link=True
        )
    finally:
        os.close(folder)


def code_of(store: Path) -> str | None:
    try:
        read(store)
    except Unreadable as refused:
        return refused.code if refused.path == CHECKPOINT and str(refused).endswith(".") else "?"
    return None


@contextmanager
def without_privilege(store: Path) -> Iterator[None]:
    """Root reads everything: become another user, to whom the folder is given."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(store, 65534, 65534)
    os.chown(store / CHECKPOINT, 65534, 65534)
    folder = os.open(store, os.O_RDONLY)
    here = os.open(".", os.O_RDONLY)
    os.fchdir(folder)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.fchdir(here)
        os.close(folder)
        os.close(here)


@pytest.mark.parametrize("place", IN_FILE, ids=lambda place: place.name)
def test_a_hostile_place_is_refused_with_its_code(place: BadPlace, tmp_path: Path):
    store = made(place.name, tmp_path)
    if place.name == "mode_000":
        with without_privilege(store), pytest.raises(Unreadable) as refused:
            read_file(CHECKPOINT)
        assert refused.value.code == place.reason_code
        return
    assert code_of(store) == place.reason_code
    if place.name == "full_200mb":
        (store / CHECKPOINT).unlink()  # pytest keeps the folders of three runs


@pytest.mark.parametrize(
    "name",
    [
        "tmp_leftover",
        "name_newline",
        "name_bytes",
        "name_long",
        "mtime_future",
        "mtime_1970",
        "case_variant",
    ],
)
def test_an_odd_but_harmless_place_is_read(name: str, tmp_path: Path):
    assert read(made(name, tmp_path)).raw == encoded()


def test_a_folder_with_only_a_temporary_file_has_no_checkpoint(tmp_path: Path):
    assert code_of(made("only_tmp", tmp_path)) == "absent"


def test_gives_the_bytes_and_what_names_this_version(tmp_path: Path):
    path = put(tmp_path / CHECKPOINT, mode=0o640)
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))
    file = read_file(str(path))
    status = path.stat()
    assert file.raw == encoded()
    assert file.identity.mtime_ns == 1_700_000_000_123_456_789
    assert (file.identity.dev, file.identity.ino) == (status.st_dev, status.st_ino)
    assert (file.identity.uid, file.identity.gid) == (status.st_uid, status.st_gid)
    assert file.identity.size == len(encoded())
    assert stat.S_IMODE(file.identity.mode) == 0o640


@pytest.mark.parametrize(
    "mode, code",
    [(0o600, None), (0o644, None), (0o666, "writable_by_others"), (0o602, "writable_by_others")],
)
def test_a_file_that_others_can_write_is_refused(tmp_path: Path, mode: int, code: str | None):
    put(tmp_path / CHECKPOINT, mode=mode)
    assert code_of(tmp_path) == code


def test_a_second_link_counts_only_for_foreign_checkpoints(tmp_path: Path):
    store = made("hard_link", tmp_path)
    assert read_file(str(store / CHECKPOINT)).raw == encoded()


def test_any_owner_is_accepted_where_none_is_named(tmp_path: Path):
    path = put(tmp_path / CHECKPOINT)
    assert read_file(str(path)).raw == encoded()
    with pytest.raises(Unreadable) as refused:
        read_file(str(path), owners=frozenset({os.geteuid() + 1}))
    assert refused.value.code == "owner"


def test_the_limit_is_exact(tmp_path: Path):
    path = put(tmp_path / CHECKPOINT, b"x" * 1000)
    assert len(read_file(str(path), max_bytes=1000).raw) == 1000
    with pytest.raises(Unreadable) as refused:
        read_file(str(path), max_bytes=999)
    assert refused.value.code == "too_large"


def test_a_name_that_no_file_can_have_is_refused_in_a_sentence(tmp_path: Path):
    for name in ("a\0b", str(tmp_path / ("n" * 300))):
        with pytest.raises(Unreadable) as refused:
            read_file(name)
        assert refused.value.code == "open_failed"
        assert str(refused.value).isprintable()


def test_a_fifo_does_not_hang_and_no_descriptor_is_left(tmp_path: Path):
    store = made("fifo", tmp_path)
    before = len(list(Path("/dev/fd").iterdir()))
    began = time.monotonic()
    assert code_of(store) == "not_regular"
    assert time.monotonic() - began < 5
    assert len(list(Path("/dev/fd").iterdir())) == before


class Meanwhile:
    """A writer in a thread that goes on until the block ends."""

    def __init__(self, step) -> None:
        self._step = step
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.rounds = 0

    def _run(self) -> None:
        while not self._over.is_set():
            self._step(self.rounds)
            self.rounds += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def read_until(path: Path, done, deadline: float = 20):
    """Read again and again, giving (codes, contents), until done(codes, contents)."""
    codes: list[str] = []
    contents: list[bytes] = []
    ends = time.monotonic() + deadline
    while not done(codes, contents):
        assert time.monotonic() < ends, (codes[-3:], len(contents))
        try:
            contents.append(read_file(str(path)).raw)
        except Unreadable as refused:
            codes.append(refused.code)
    return codes, contents


def test_a_file_replaced_all_the_time_is_read_in_whole_versions(tmp_path: Path):
    path = put(tmp_path / CHECKPOINT, b"0" * 200_000)

    def replace(round_: int) -> None:
        put(tmp_path / "draft", (b"%d" % (round_ % 10)) * 200_000).replace(path)

    with Meanwhile(replace) as writer:
        codes, contents = read_until(path, lambda _, read: len(read) >= 300 and writer.rounds > 100)
    assert codes == []
    assert all(len(set(content)) == 1 and len(content) == 200_000 for content in contents)
    assert len(set(contents)) > 1


def test_a_file_rewritten_in_place_is_refused_while_it_changes(tmp_path: Path):
    path = put(tmp_path / CHECKPOINT, b"")

    def rewrite(round_: int) -> None:
        with path.open("wb", buffering=0) as file:
            for _ in range(20):
                file.write(b"%d" % (round_ % 10) * 50_000)

    with Meanwhile(rewrite):
        codes, _ = read_until(path, lambda codes, _: codes.count("changed_while_read") >= 3)
    assert set(codes) == {"changed_while_read"}


def test_a_file_overwritten_at_the_same_size_is_refused_while_it_changes(tmp_path: Path):
    path = put(tmp_path / CHECKPOINT, b"0" * 4_000_000)
    descriptor = os.open(path, os.O_WRONLY)
    try:
        with Meanwhile(lambda n: os.pwrite(descriptor, b"%d" % (n % 10) * 50_000, n % 80 * 50_000)):
            codes, _ = read_until(path, lambda codes, _: codes.count("changed_while_read") >= 3)
    finally:
        os.close(descriptor)
    assert set(codes) == {"changed_while_read"}


def test_a_file_that_grows_is_refused(tmp_path: Path):
    path = put(tmp_path / CHECKPOINT, b"x" * 1_000_000)
    with path.open("ab", buffering=0) as file, Meanwhile(lambda _: file.write(b"x" * 1000)):
        codes, _ = read_until(path, lambda codes, _: "changed_while_read" in codes)
    assert set(codes) <= {"changed_while_read", "too_large"}
