"""Calls that write, edit or patch a file, told by the names of their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from lineclear.core.checkpoints.model import Json

_PATH: Final = (
    *("path", "file_path", "filepath", "filename", "file_name", "file", "target_file"),
    *("absolute_path", "destination", "target", "uri"),
)
_CONTENT: Final = (
    *("content", "contents", "file_text", "new_content", "file_content", "text", "code", "data"),
)
_OLD: Final = ("old_string", "old_str", "old_text", "old", "search", "find")
_NEW: Final = ("new_string", "new_str", "new_text", "new", "replace", "replacement")
_PATCH: Final = ("patch", "diff", "unified_diff")
_EVERYWHERE: Final = ("replace_all", "all", "global")
_MOST_EDITS: Final = 200


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What a call would do to one file."""

    kind: Literal["write", "replace", "patch"]
    path: str = ""
    """As the call names it; "" where it names none."""
    content: str = ""
    """The whole file, or the patch."""
    parts: tuple[tuple[str, str], ...] = ()
    """(old, new) texts, in the order in which they are replaced."""
    everywhere: bool = False
    """Each place of the old text, not only one."""
    others: tuple[str, ...] = ()
    """What else the call names where a path may stand: only its tool knows which one counts."""


def file_edit(arguments: Json) -> FileEdit | None:
    """Tell what a call with these arguments does to a file; None for what is no such call."""
    if not isinstance(arguments, dict):
        return None
    path, *more = _paths(arguments) or [""]
    others = tuple(more)
    patch = _text(arguments, _PATCH)
    if patch and _is_patch(patch):
        return FileEdit("patch", path, patch, others=others)
    parts = _parts(arguments)
    if parts:
        everywhere = any(arguments.get(key) is True for key in _EVERYWHERE)
        return FileEdit("replace", path, parts=parts, everywhere=everywhere, others=others)
    content = _text(arguments, _CONTENT)
    if path and content is not None:
        return FileEdit("write", path, content, others=others)
    return None


def edited(edit: FileEdit, before: str) -> str | None:
    """Give the file as it is after an edit; None where an old text is not there exactly once."""
    if edit.kind == "write":
        return edit.content
    if edit.kind == "patch":
        return None
    text = before
    for old, new in edit.parts:
        count = text.count(old) if old else 0
        if count == 0 or (count > 1 and not edit.everywhere):
            return None
        text = text.replace(old, new)
    return text


def _text(arguments: dict[str, Json], names: tuple[str, ...]) -> str | None:
    found = (arguments.get(name) for name in names)
    return next((value for value in found if isinstance(value, str)), None)


def _paths(arguments: dict[str, Json]) -> list[str]:
    found = (arguments.get(name) for name in _PATH)
    return list(dict.fromkeys(one for one in found if isinstance(one, str) and one))


def _parts(arguments: dict[str, Json]) -> tuple[tuple[str, str], ...]:
    edits = arguments.get("edits")
    many = edits if isinstance(edits, list) else [arguments]
    found = []
    for one in many[:_MOST_EDITS]:
        if not isinstance(one, dict):
            return ()
        old, new = _text(one, _OLD), _text(one, _NEW)
        if old is None or new is None:
            return ()
        found.append((old, new))
    return tuple(found) if len(many) <= _MOST_EDITS else ()


def _is_patch(text: str) -> bool:
    return text.startswith(("@@ ", "--- ", "diff ")) or "\n@@ " in text
