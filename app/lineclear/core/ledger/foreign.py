"""Ledgers of foreign stores: another program writes the checkpoint and knows nothing of us."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import FileBytes, read_file
from lineclear.core.checkpoints.model import Checkpoint, FileRule
from lineclear.core.checkpoints.sniff import (
    FORMATS,
    LISTED_WHOLE,
    read_checkpoint,
    read_checkpoint_head,
)
from lineclear.core.errors import LineclearError, NotConfirmed, Refusal, StoreRefused, Unreadable
from lineclear.core.ledger.attempts import at_this_attempt, attempt_aid
from lineclear.core.ledger.claims import (
    claimed_folder,
    claimed_folders,
    parted,
    refuse_changeable,
    shelf_of,
)
from lineclear.core.ledger.commit import NO_EXCLUSIVE_RENAME, sync_folder
from lineclear.core.ledger.damaged import refuse_damaged
from lineclear.core.ledger.folders import (
    descended,
    names_in,
    refuse_unsafe,
    status_of,
)
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import system
from lineclear.core.ledger.records import new_nonce
from lineclear.core.ledger.store import Shown, Store
from lineclear.core.sentences import worded


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed checkpoint: the folder that the resumed agent gets as its store."""

    folder: Path
    checkpoint: Path
    shown: Shown


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a checkpoint file lies: below which store, in which folders, by which rule."""

    store: Path
    folders: tuple[str, ...]
    name: str
    rule: FileRule


def foreign_aid(file: FileBytes, item: str) -> str:
    """First 32 hex of SHA-256 over the file's digest, identity and the item's id.

    Raw bytes and identity: the same call written again is another one.
    """
    identity = file.identity
    named = (
        "lineclear-foreign-v1\n"
        f"{file.sha256}\n"
        f"{identity.dev}\n{identity.ino}\n{identity.mtime_ns}\n{identity.size}\n{item}\n"
    )
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def show_foreign(path: Path, *, store: Store | None = None, whole: bool = True) -> list[Shown]:
    """Read a foreign checkpoint file once and give each call in it.

    One entry without a call where there is nothing to approve. After a resume that failed they are
    those of the next attempt. A file in a claimed folder belongs
    to the store that it was claimed from; STORE is that store, where it is open already. Not
    WHOLE: of a long file only the head is parsed where its system allows that, and its bytes are
    not kept.
    Raises Unreadable, and StoreRefused for a folder in which nothing can be trusted.
    """
    path = Path(os.path.abspath(path))
    if store is None:
        with Store.open(_place(path).store) as opened:
            return show_foreign(path, store=opened, whole=whole)
    file = _read(store, path)
    if not whole and len(file.raw) > LISTED_WHOLE:
        head = read_checkpoint_head(file.raw, name=path.name)
        if head is not None:
            _refuse_superseded(store, path, head)
            listed = Shown(
                store=store.path,
                seq=None,
                aid=foreign_aid(file, ""),
                raw=b"",
                sha256=head.sha256,
                checkpoint=head,
                file=FileBytes(b"", file.identity),
                path=path,
            )
            return at_this_attempt(store, [listed], listed.aid)
    checkpoint = read_checkpoint(file.raw, name=path.name)
    _refuse_superseded(store, path, checkpoint)
    items = [call.item for call in checkpoint.calls] or [""]
    calls = [
        Shown(
            store=store.path,
            seq=None,
            aid=foreign_aid(file, item),
            raw=file.raw,
            sha256=checkpoint.sha256,
            checkpoint=checkpoint,
            item=item,
            file=file,
            path=path,
        )
        for item in items
    ]
    return at_this_attempt(store, calls, foreign_aid(file, ""))


def _refuse_superseded(store: Store, path: Path, checkpoint: Checkpoint) -> None:
    """Raise Unreadable (`absent`) for a file that its system does not read beside another one."""
    instead = _place(path).rule.counts_instead
    if instead is None:
        return
    current = store.path.joinpath(*instead(checkpoint))
    if os.path.lexists(current):
        raise Unreadable(
            "absent",
            worded(
                "{path} does not count while {current} is there.",
                path=visible_line(str(path)),
                current=visible_line(str(current)),
            ),
            path,
        )


def show_kept(store: Store, path: Path) -> Shown:
    """Read a checkpoint that an agent of ours keeps beside its requests; nothing in it is decided.

    Raises Unreadable.
    """
    file = _read_in(store, path)
    checkpoint = read_checkpoint(file.raw, name=path.name).believed()
    return Shown(
        store=store.path,
        seq=None,
        aid=foreign_aid(file, ""),
        raw=file.raw,
        sha256=checkpoint.sha256,
        checkpoint=checkpoint,
        file=file,
        path=path,
    )


def verify_file(store: Store, shown: Shown) -> None:
    """Raise Refusal (`changed`, `gone`) unless the checkpoint file is still the one SHOWN."""
    if shown.path is None:
        raise Refusal(worded("The checkpoint file is not there any more."), code="gone")
    try:
        file = _read(store, shown.path)
    except Unreadable as why:
        why.raise_if_passing()
        code = "gone" if why.code == "absent" else "changed"
        raise Refusal(
            worded("The checkpoint is no longer what was shown: {why}", why=why.sentence), code=code
        ) from why
    if attempt_aid(foreign_aid(file, shown.item), shown.attempt) != shown.aid:
        raise Refusal(
            worded(
                "{path} was written anew while you were reading; look at the new one.",
                path=visible_line(str(shown.path)),
            ),
            code="changed",
        )


def claimed_checkpoints(store: Store) -> list[Path]:
    """List the checkpoint files in the claimed folders of a foreign store.

    The claimed one itself (its aid is the folder's name), or the next call that the agent resumed
    there has saved since.
    """
    if store.ledger_fd is None or store.native:
        return []
    found = []
    for folder in claimed_folders(store):
        with contextlib.suppress(Unreadable):
            found += [folder / name for name in _checkpoint_names(store, folder)]
    return found


def claim(store: Store, shown: Shown) -> Claimed:
    """Take a checkpoint for a relaunch and verify that it is what was SHOWN.

    Where its system loads it from a folder, it is moved to a claimed folder, which nobody but
    this user can change; others stay where they are. Claiming what is claimed already gives it
    again: the start record alone decides who runs it. What was moved and is not the one shown is
    put back, never over another.

    Raises Refusal: `started`, `changed`, `gone`, `superseded` (a newer checkpoint stands where it
    was); NotConfirmed; StoreRefused (`no_exclusive_publish`, and those of a claimed folder).
    """
    _refuse_started(store, shown)
    if shown.path is None or not FORMATS[shown.checkpoint.system].claim_by_rename:
        verify_file(store, shown)
        assert shown.path is not None
        refuse_changeable(store, _place(shown.path).folders)
        return Claimed(store.path, shown.path, shown)
    place = _place(shown.path)
    store.begin_foreign_ledger()
    target = store.path.joinpath(*shelf_of(store), shown.aid, place.name)
    if shown.path != target:
        _take(store, place, target, shown)
    refuse_changeable(store, _place(target).folders)
    elsewhere = _aid_of(store, target, shown)
    if elsewhere != shown.aid:
        raise Refusal(
            worded(
                "{path} holds another call now; look at that one.",
                path=visible_line(str(target)),
            ),
            code="superseded" if elsewhere else "gone",
        )
    return Claimed(target.parent, target, shown)


def put_back(store: Store, claimed: Claimed) -> None:
    """Give a claimed checkpoint back to its store.

    Raises Refusal: `started`, `changed`, `gone`, `superseded` (a newer checkpoint stands there;
    the claimed one stays where it is); NotConfirmed.
    """
    _refuse_started(store, claimed.shown)
    found = _aid_of(store, claimed.checkpoint, claimed.shown)
    if found != claimed.shown.aid:
        raise Refusal(
            worded(
                "{path} is not the checkpoint that was claimed.",
                path=visible_line(str(claimed.checkpoint)),
            ),
            code="changed" if found else "gone",
        )
    if claimed.folder == store.path:
        return
    place = _place(claimed.checkpoint)
    with _opened(store, place.folders) as source:
        try:
            _move(source, place.name, store.root_fd, place.name)
        except FileExistsError:
            raise Refusal(
                worded(
                    "{path} is a newer checkpoint; the claimed one is kept aside.",
                    path=visible_line(str(store.path / place.name)),
                ),
                code="superseded",
            ) from None
        except FileNotFoundError:
            raise Refusal(worded("The claimed checkpoint is gone."), code="gone") from None
    with contextlib.suppress(OSError, LineclearError):
        *above, name = place.folders
        with _opened(store, above) as shelf:
            # Not empty: a resumed agent left more there.
            os.rmdir(name, dir_fd=shelf)


def _take(store: Store, place: _Place, target: Path, shown: Shown) -> None:
    """Move the checkpoint into its claimed folder; undo it when another one came along."""
    with ExitStack() as opened:
        into = opened.enter_context(claimed_folder(store, shown.aid))
        try:
            source = opened.enter_context(_opened(store, place.folders))
            _move(source, place.name, into, place.name)
        except (FileNotFoundError, FileExistsError, Unreadable) as why:
            if isinstance(why, Unreadable):
                why.raise_if_passing()
            # Claimed before, by us or by another window: what stands there is looked at.
            return
        if _aid_of(store, target, shown) == shown.aid:
            return
        try:
            _move(into, place.name, source, place.name)
        except FileNotFoundError:
            pass
        except FileExistsError:
            _keep_aside(store, into, target)
            raise Refusal(
                worded(
                    "The checkpoint was written anew twice meanwhile; both are kept, look at them."
                ),
                code="superseded",
            ) from None
    raise Refusal(
        worded("The checkpoint was written anew meanwhile; look at the new one."), code="changed"
    )


def _keep_aside(store: Store, into: int, path: Path) -> None:
    """Move what was taken by mistake to a claimed folder of its own, where the scan shows it."""
    own = _aid_of(store, path) or new_nonce()
    with claimed_folder(store, own) as aside:
        _move(into, path.name, aside, path.name)


def _move(source: int, name: str, into: int, target: str) -> None:
    """Rename over nothing, durable in both folders.

    Raises FileExistsError, FileNotFoundError, NotConfirmed, StoreRefused.
    """
    try:
        system.rename_exclusive(source, name, target, target_fd=into)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as why:
        if why.errno not in NO_EXCLUSIVE_RENAME:
            raise NotConfirmed(
                worded(
                    "Not confirmed: {reason}, moving {folder}/{name}; {cure} and try again.",
                    reason=oserrors.reason(why),
                    folder=oserrors.folder_name(source),
                    name=name,
                    cure=oserrors.cure(why),
                )
            ) from why
        raise StoreRefused(
            worded(
                "{folder}/{name} cannot be claimed: {reason}. Its file system cannot"
                " rename a file without replacing another.",
                folder=oserrors.folder_name(source),
                name=name,
                reason=oserrors.reason(why),
            ),
            code="no_exclusive_publish",
        ) from why
    # The new name first: after a power loss it may stand twice, but never nowhere.
    sync_folder(into)
    sync_folder(source)


def _aid_of(store: Store, path: Path, like: Shown | None = None) -> str | None:
    """Give the aid of the file that stands there, "" if unreadable, None if there is none.

    That of the call and attempt that LIKE is of; else of its only call at the first attempt.
    """
    try:
        aid = foreign_aid(_read(store, path), "" if like is None else like.item)
        return aid if like is None else attempt_aid(aid, like.attempt)
    except Unreadable as why:
        why.raise_if_passing()
        return None if why.code == "absent" else ""


def _refuse_started(store: Store, shown: Shown) -> None:
    records = store.records(None, shown.aid)
    records.refuse_unread()
    if records.start is not None or records.outcome is not None:
        raise Refusal(worded("This call was started or ended already."), code="started")
    refuse_damaged(records, store.path)


def _opened(store: Store, folders: Sequence[str]) -> AbstractContextManager[int]:
    """Open a folder that may hold a checkpoint file, no link followed below the store."""
    return descended(
        store.root_fd,
        store.path,
        folders,
        lambda fd, path: refuse_unsafe(status_of(fd, path), path),
    )


def _read(store: Store, path: Path) -> FileBytes:
    if store.native:
        raise Unreadable(
            "native_store",
            worded(
                "{path} belongs to a store with a ledger of its own, which counts.",
                path=visible_line(str(path)),
            ),
            path,
        )
    return _read_in(store, path)


def _read_in(store: Store, path: Path) -> FileBytes:
    place = _place(path)
    if place.store != store.path:
        raise ValueError(f"{path} lies in {place.store}, not in {store.path}")
    # Also in a claimed folder: an agent is resumed by its own user alone.
    owners = frozenset({store.owner_uid})
    with _opened(store, place.folders) as folder:
        try:
            return read_file(
                place.name,
                dir_fd=folder,
                owners=owners,
                max_bytes=place.rule.max_bytes,
                single_link=True,
            )
        except Unreadable as why:
            raise Unreadable(why.code, why.sentence, path) from why


def _place(path: Path) -> _Place:
    """Tell by the formats' rules in which store a checkpoint file lies."""
    for system_format in FORMATS.values():
        for rule in system_format.files:
            depth = len(rule.folder)
            above = path.parent.parts[len(path.parent.parts) - depth :]
            if above != rule.folder or re.fullmatch(rule.pattern, path.name) is None:
                continue
            store = path.parents[depth]
            claimed = parted(store)
            if claimed is not None:
                return _Place(claimed[0], (*claimed[1], *rule.folder), path.name, rule)
            return _Place(store, rule.folder, path.name, rule)
    raise Unreadable(
        "unknown_system",
        worded("{path} is not where any system keeps one.", path=visible_line(str(path))),
        path,
    )


def _checkpoint_names(store: Store, folder: Path) -> list[str]:
    rules = [rule for f in FORMATS.values() if f.claim_by_rename for rule in f.files]
    with _opened(store, folder.relative_to(store.path).parts) as fd:
        names = names_in(fd, folder)
    return [n for n in names if any(re.fullmatch(rule.pattern, n) for rule in rules)]
