"""The hostile inputs of `tests/data/badinputs`: what each is, and a maker of the file-system ones.

`FILES` are checkpoints as bytes; `make_special` makes one store folder whose trouble lies in the
file system; `manifest.json` says what a strict reader answers to each.
"""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "data"
FIXTURES: Final = DATA / "fixtures"
BADINPUTS: Final = DATA / "badinputs"
CHECKPOINT: Final = "pending.json"


@dataclass(frozen=True, slots=True)
class BadFile:
    """One hostile checkpoint: `reason_code` None means that it is accepted, with `flags`."""

    name: str
    path: Path
    category: str
    why: str
    reason_code: str | None
    flags: frozenset[str]

    @property
    def raw(self) -> bytes:
        return self.path.read_bytes()


@dataclass(frozen=True, slots=True)
class BadPlace:
    """One hostile store folder, made by `make_special` where a maker of its name exists."""

    name: str
    why: str
    reason_code: str | None


@dataclass(frozen=True, slots=True)
class Fixture:
    """One checkpoint printed by its system's own types; `loads`: whether that reads it back."""

    name: str
    path: Path
    type: str
    loads: bool

    @property
    def raw(self) -> bytes:
        return self.path.read_bytes()


def _manifest() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((BADINPUTS / "manifest.json").read_text("utf-8"))[
        "cases"
    ]
    return cases


FILES: Final = [
    BadFile(
        case["name"],
        BADINPUTS / case["file"],
        case["category"],
        case["why"],
        case["reason_code"],
        frozenset(case["flags"]),
    )
    for case in _manifest()
    if case["kind"] == "file"
]
PLACES: Final = [
    BadPlace(case["name"], case["why"], case["reason_code"])
    for case in _manifest()
    if case["kind"] == "special"
]


def _fixtures(folder: str) -> list[Fixture]:
    return [
        Fixture(
            Path(entry["file"]).name, FIXTURES / entry["file"], entry["type"], entry["rust_loads"]
        )
        for entry in json.loads((FIXTURES / "MANIFEST.json").read_text("utf-8"))
        if entry["file"].startswith(f"{folder}/")
    ]


LC_AGENTS: Final = _fixtures("lc_agents")
A3S: Final = _fixtures("a3s")
STARWEAVER: Final = _fixtures("starweaver")


def document(**fields: Any) -> dict[str, Any]:
    """A sound lc-agents checkpoint as an object, with some fields replaced."""
    return {
        "tool_name": "send_money",
        "arguments": {"to": "bob", "amount": 10},
        "tool_id": "call_1",
        "inputs": {"input": "pay"},
        "steps": [],
        "iteration": 1,
        "tool_calls_consumed": 1,
        "tokens_consumed": None,
        "trace_id": None,
        **fields,
    }


def encoded(**fields: Any) -> bytes:
    """The bytes of `document`."""
    return json.dumps(document(**fields), indent=2, ensure_ascii=False).encode()


def put(path: Path, raw: bytes | None = None, mode: int = 0o600) -> Path:
    """Write a file (a sound checkpoint by default) with exactly this mode."""
    path.write_bytes(encoded() if raw is None else raw)
    path.chmod(mode)
    return path


class CannotMake(Exception):
    """This machine or user cannot make the case; the sentence says why."""


def make_special(name: str, root: Path) -> Path:
    """Make the case's store folder under ROOT and give its path; raises CannotMake, KeyError."""
    maker = SPECIAL[name]
    store = root / _FOLDER_NAMES.get(name, name)
    if name != "symlink_dir":
        store.mkdir(mode=0o700)
    maker(store)
    return store


def _directory(store: Path) -> None:
    (store / CHECKPOINT).mkdir()


def _fifo(store: Path) -> None:
    os.mkfifo(store / CHECKPOINT)


def _socket(store: Path) -> None:
    # The address of a socket is short: bind inside the folder.
    here = Path.cwd()
    os.chdir(store)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(CHECKPOINT)
    finally:
        os.chdir(here)


def _dev_zero(store: Path) -> None:
    try:
        os.mknod(store / CHECKPOINT, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except OSError as why:
        raise CannotMake(f"No device can be made here: {why}") from why


def _link_to(target: str) -> Callable[[Path], None]:
    def make(store: Path) -> None:
        (store / CHECKPOINT).symlink_to(target)

    return make


def _symlink_dir(store: Path) -> None:
    target = store.with_name("symlink_dir_target")
    target.mkdir(mode=0o700)
    put(target / CHECKPOINT)
    store.symlink_to(target)


def _mode_000(store: Path) -> None:
    put(store / CHECKPOINT, mode=0)


def _other_uid(store: Path) -> None:
    path = put(store / CHECKPOINT)
    if os.geteuid() != 0:
        raise CannotMake("Only root can give a file to another user.")
    os.chown(path, 65534, 65534)


def _world_writable_file(store: Path) -> None:
    put(store / CHECKPOINT, mode=0o666)


def _world_writable_dir(store: Path) -> None:
    put(store / CHECKPOINT)
    store.chmod(0o777)


def _hard_link(store: Path) -> None:
    os.link(put(store / CHECKPOINT), store / "other_name")


def _sparse_200mb(store: Path) -> None:
    os.truncate(put(store / CHECKPOINT, b""), 200 << 20)


def _full_200mb(store: Path) -> None:
    head, tail = encoded(arguments="@@").split(b"@@")
    with put(store / CHECKPOINT, b"").open("wb") as file:
        file.write(head)
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(tail)


def _tmp_leftover(store: Path) -> None:
    put(store / CHECKPOINT)
    put(store / "pending.json.tmp", b'{"tool')
    put(store / ".tmp.abc", b"")


def _only_tmp(store: Path) -> None:
    put(store / "pending.json.tmp")


def _sound(store: Path) -> None:
    put(store / CHECKPOINT)


def _name_bytes(store: Path) -> None:
    put(store / CHECKPOINT)
    other = os.path.join(os.fsencode(store), b"\xff\xfe.json")  # noqa: PTH118
    try:
        put(Path(os.fsdecode(other)))
    except OSError as why:
        raise CannotMake(f"This file system takes only names in UTF-8: {why}") from why


def _mtime(seconds: int) -> Callable[[Path], None]:
    def make(store: Path) -> None:
        os.utime(put(store / CHECKPOINT), (seconds, seconds))

    return make


def _case_variant(store: Path) -> None:
    put(store / CHECKPOINT)
    variant = store / CHECKPOINT.upper()
    if variant.exists():
        raise CannotMake("This file system does not tell upper from lower case.")
    put(variant, encoded(tool_name="bash", arguments={"command": "rm -rf ~"}))


SPECIAL: Final[dict[str, Callable[[Path], None]]] = {
    "dir": _directory,
    "fifo": _fifo,
    "socket": _socket,
    "dev_zero": _dev_zero,
    "symlink_passwd": _link_to("/etc/passwd"),
    "symlink_dangling": _link_to("/nonexistent/x"),
    "symlink_loop": _link_to(CHECKPOINT),
    "symlink_dir": _symlink_dir,
    "mode_000": _mode_000,
    "other_uid": _other_uid,
    "world_writable_file": _world_writable_file,
    "world_writable_dir": _world_writable_dir,
    "hard_link": _hard_link,
    "sparse_200mb": _sparse_200mb,
    "full_200mb": _full_200mb,
    "tmp_leftover": _tmp_leftover,
    "only_tmp": _only_tmp,
    "name_newline": _sound,
    "name_bytes": _name_bytes,
    "name_long": _sound,
    "mtime_future": _mtime(4_070_908_800),
    "mtime_1970": _mtime(0),
    "case_variant": _case_variant,
}
"""Makers by case; the other places of the manifest need moving parts, which their tests bring."""

_FOLDER_NAMES: Final = {"name_newline": "name_newline\n\x1b[31mred", "name_long": "n" * 255}
