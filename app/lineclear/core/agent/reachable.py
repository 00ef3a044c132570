"""Whether a folder in which checkpoints are kept can be looked at: that it cannot is no absence.

A disk that is not mounted leaves a link that leads nowhere. Who took that for an empty folder would
make the calls of its runs again.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from lineclear.core.agent.loop_checkpoints import LONGEST_REASON
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.platform import oserrors

MAX_BYTES: Final = 256 << 20
"""Of a checkpoint that is read back. Windows of operators show up to 16 MiB."""
_log = logging.getLogger("lineclear.agent")


class Explained(Unreadable):
    """What cannot be looked at, in a sentence that says already what to do."""


def folder_below(root: Path, *parts: str) -> Path | None:
    """Find a folder in ROOT, through real folders only; None: one of them is not there.

    Raises Explained: symlink, not_a_folder, no_permission, open_failed.
    """
    path = root
    for part in ("", *parts):
        path = path / part
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            _refuse_dangling(path)
            return None
        except NotADirectoryError:
            # One above ROOT: those below it were looked at.
            raise _no_folder(_first_file(path)) from None
        except OSError as why:
            raise _unlooked(path, why) from why
        if stat.S_ISLNK(mode):
            raise _link(path)
        if not stat.S_ISDIR(mode):
            raise _no_folder(path)
    return path


def names_of(root: Path, *parts: str) -> list[str]:
    """List a folder in ROOT, [] where it is gone meanwhile; raises Explained.

    What belongs to another user than ROOT is left out: it is nothing of this agent's.
    """
    folder = root.joinpath(*parts)
    try:
        owner = root.stat().st_uid
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if uid_of(entry.path) in (owner, None)]
    except FileNotFoundError:
        return []
    except OSError as why:
        raise _unlooked(folder, why) from why


def uid_of(path: str | os.PathLike[str]) -> int | None:
    """Tell whose what stands at a path is, None where nothing does; raises OSError."""
    try:
        return os.lstat(path).st_uid
    except FileNotFoundError:
        return None


def refuse_lent(root: Path, *parts: str) -> None:
    """Raise Explained (`owner`) where a folder in ROOT belongs to another user, who is not root.

    Its owner can exchange what this agent keeps in it, an older checkpoint for the last one too.
    """
    path, owner = root, uid_of(root)
    for part in parts:
        path = path / part
        uid = uid_of(path)
        if uid not in (owner, 0, None):
            raise Explained(
                "owner",
                f"{_shown(path)} belongs to user {uid}, who can exchange what stands in it; look"
                f" who made it. If what it holds is right, give it to user {owner} as root (chown);"
                f" if not, move it away, as the owner of {_shown(path.parent)} or as root.",
                path,
            )


def written_ns(path: Path) -> int | None:
    """Give when a file was written last, None where it is not there; raises Explained."""
    try:
        return path.lstat().st_mtime_ns
    except FileNotFoundError:
        return None
    except OSError as why:
        raise _unlooked(path, why) from why


def in_file(path: Path, why: Unreadable) -> Unreadable:
    """Say of what cannot be used in which file it stands."""
    return Unreadable(why.code, f"{visible_line(str(path))}: {why.sentence}", path)


def refuse_newest(
    unread: Sequence[tuple[int, Unreadable]], found: Iterable[tuple[int, str]], what: str
) -> None:
    """Raise the newest of UNREAD, by when they were written, unless a run FOUND is newer.

    It may be of the run that was left last. The others are logged as WHAT is passed over.
    """
    if unread:
        newest, refused = max(unread, key=lambda one: one[0])
        if newest >= max((written for written, _ in found), default=0):
            raise refused
    for _, refused in unread:
        sentence = visible_line(refused.sentence, LONGEST_REASON)
        _log.warning("%s is passed over. %s", what, sentence)


def _refuse_dangling(path: Path) -> None:
    """Raise Explained where a name is missing only since a link above it leads nowhere."""
    for above in path.parents:
        if os.path.lexists(above):
            if not above.exists():
                raise _link(above)
            return


def _first_file(path: Path) -> Path:
    return next((one for one in path.parents if one.exists() and not one.is_dir()), path)


def _link(path: Path) -> Explained:
    leads = "" if path.exists() else " and leads nowhere now"
    return Explained(
        "symlink",
        f"{_shown(path)} is a symbolic link, which is never followed{leads}; put the folder itself"
        " in its place and try again.",
        path,
    )


def _no_folder(path: Path) -> Explained:
    return Explained(
        "not_a_folder",
        f"{_shown(path)} is not a folder; look what it is, put the folder back in its place and try"
        " again.",
        path,
    )


def _unlooked(path: Path, why: OSError) -> Explained:
    if isinstance(why, PermissionError):
        return Explained(
            "no_permission",
            f"{_shown(path)} may not be looked at by this user; have its owner grant it and try"
            " again.",
            path,
        )
    return Explained(
        "open_failed",
        f"{_shown(path)} cannot be looked at: {oserrors.reason(why)}; {oserrors.cure(why)} and try"
        " again.",
        path,
    )


def _shown(path: Path) -> str:
    return visible_line(str(path))
