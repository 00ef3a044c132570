"""A file before and after a call as lines side by side, or one below the other; pure.

Every line begins with a number or a mark of ours: no line of a file can be taken for one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.comparing.file_edits import FileEdit, edited
from lineclear.core.inbox.comparing.patch_names import strangers
from lineclear.core.inbox.comparing.world import World
from lineclear.core.inbox.rows.agent_folder import Folder
from lineclear.core.inbox.secrets.masking import mask_text
from lineclear.language import _, counted, translated
from lineclear.ui import words
from lineclear.ui.reading.changed_text import same_ends, whole_words
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.shown_text import MARK, lines_of

CONTEXT = 3
"""Lines that are the same and are shown around those that differ."""
COMPARED_AT_MOST = 1_500
"""Lines on each side among which single lines are matched; more are shown as replaced whole."""
LINES_AT_MOST = 20_000
LONGEST_LINE = 1_000
_NAMED = 4
"""Files that a warning names."""
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one side; number 0 where there is none."""

    number: int
    text: str
    """Escaped."""
    differs: bool = False
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A line of each side; None where that side has none; `note` stands over both."""

    left: Line | None = None
    right: Line | None = None
    note: str = ""


@dataclass(slots=True)
class Column:
    """The lines of a view, and what is coloured in them."""

    lines: list[str] = field(default_factory=list)
    spans: dict[int, Sequence[Span]] = field(default_factory=dict)

    def text(self) -> str:
        """All of them."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Difference:
    """A file before and after, ready to be shown."""

    about: str
    """What is compared with what; a sentence."""
    left: Column
    right: Column
    unified: Column
    changed: int
    """Lines that differ, on whichever side there are more."""
    openly: Difference | None = None
    """The same with its secrets; None where it has none."""
    warning: str = ""
    """That the file may be another one than its name says; "" where nothing says so."""


def difference(world: World, *, openly: bool = False) -> Difference | None:
    """Make a call's edit ready to be shown; None where it is no edit of a file.

    OPENLY: with its secrets.
    """
    edit = world.edit
    if edit is None:
        return None
    if edit.kind == "patch":
        pairs = list(_of_patch(edit.content, openly=openly))
        about = _("The patch as the call holds it{file}.").format(file=_named(edit))
    else:
        pairs, about = _of_texts(edit, world, openly=openly)
        if world.folder is not None:
            about = f"{about} {_looked_in(world.folder)}"
    left, right, unified = _columns(pairs)
    changed = sum(1 for pair in pairs if _differs(pair.left) or _differs(pair.right))
    masked = not openly and any(MARK in line for line in unified.lines)
    shown = difference(world, openly=True) if masked else None
    return Difference(about, left, right, unified, changed, shown, _warning(edit, world))


def _warning(edit: FileEdit, world: World) -> str:
    """Tell what makes the name of the file doubtful."""
    told = []
    if edit.others:
        names = ", ".join(visible_line(one, 120) for one in (edit.path, *edit.others)[:_NAMED])
        told.append(
            counted(
                "The call names {n} file: {names}. Its tool takes one.",
                "The call names {n} files: {names}. Its tool takes one.",
                1 + len(edit.others),
                names=names,
            )
        )
    disk = world.disk
    if disk is not None and disk.leads_to:
        name, real = visible_line(edit.path, 120), visible_line(disk.leads_to, 200)
        link = _("{name} is a link to {real}.")
        said = link if disk.is_link else _("{name} lies behind a link and is {real}.")
        told.append(said.format(name=name, real=real))
    foreign = strangers(edit.content, edit.path) if edit.kind == "patch" and edit.path else ()
    if foreign:
        names = ", ".join(visible_line(one, 120) for one in foreign[:_NAMED])
        if len(foreign) > _NAMED:
            more = len(foreign) - _NAMED
            names = counted("{names} and {n} more", "{names} and {n} more", more, names=names)
        told.append(
            _("The patch is of {names}, but the call names {path}.").format(
                names=names, path=visible_line(edit.path, 120)
            )
        )
    return " ".join(told)


def _looked_in(folder: Folder) -> str:
    """Tell where a relative path was looked for, which is no more than likely."""
    path = visible_line(folder.path, 200)
    if folder.by == "process":
        return _(
            "Its path is relative and was looked for in {folder}, where the agent's process is now;"
            " its tool may start from another folder."
        ).format(folder=path)
    return _(
        "Its path is relative and was looked for in {folder}, where the agent was started last;"
        " its tool may start from another folder."
    ).format(folder=path)


def _differs(line: Line | None) -> bool:
    return line is not None and line.differs


def _named(edit: FileEdit) -> str:
    return f", {visible_line(edit.path, 120)}" if edit.path else ""


def _of_texts(edit: FileEdit, world: World, *, openly: bool) -> tuple[list[Pair], str]:
    disk = world.disk
    name = visible_line(edit.path, 120) if edit.path else _("The file")
    if edit.others:
        return _of_parts(edit, openly=openly), _(
            "Not compared with a file on disk: the call names several."
        )
    if disk is None or disk.text is None:
        why = _("the call names none.") if disk is None else translated(disk.why_not)
        return _of_parts(edit, openly=openly), _(
            "{name} is not compared with the file on disk: {why}"
        ).format(name=name, why=why)
    at = disk.read_at.astimezone().strftime("%H:%M:%S")
    after = edited(edit, disk.text)
    if after is None:
        return _of_parts(edit, openly=openly), (
            _(
                "{name}: the text to be replaced does not stand exactly once in the "
                "file on disk (as of {at})."
            ).format(name=name, at=at)
        )
    if disk.absent:
        said = _("{name} does not exist on this machine (as of {at}): all of it is new.").format(
            name=name, at=at
        )
    elif after == disk.text:
        said = _("{name}: nothing would change in the file on disk as of {at}.").format(
            name=name, at=at
        )
    else:
        size = words.size(0 if disk.identity is None else disk.identity.size)
        said = _("{name} compared with the file on disk as of {at} ({size}).").format(
            name=name, at=at, size=size
        )
    return list(_folded(compared(disk.text, after, openly=openly))), said


def _of_parts(edit: FileEdit, *, openly: bool) -> list[Pair]:
    if edit.kind == "write":
        return list(_folded(compared("", edit.content, openly=openly)))
    pairs: list[Pair] = []
    for number, (old, new) in enumerate(edit.parts, 1):
        if len(edit.parts) > 1:
            pairs.append(Pair(note=_("Replacement {number}").format(number=number)))
        pairs += compared(old, new, openly=openly)
    return pairs


# --- Comparing ------------------------------------------------------------------------------------


def _split(text: str, *, openly: bool) -> tuple[list[str], list[str]]:
    """Lines as they are, and as they are shown; alike in number."""
    shown = list(lines_of(text if openly else mask_text(text), visible_line))
    raw = text.split("\n")
    if len(shown) != len(raw):
        # A secret of several lines stands as one: what is shown is what can be compared.
        raw = shown
    if raw and not raw[-1]:
        raw, shown = raw[:-1], shown[:-1]
    return raw, shown


def compared(before: str, after: str, *, openly: bool = False) -> list[Pair]:
    """Every line of two texts, those that match beside each other; OPENLY: with their secrets."""
    old, old_shown = _split(before, openly=openly)
    new, new_shown = _split(after, openly=openly)
    head, tail = _same_lines(old, new)
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(middle_old), len(middle_new)) <= COMPARED_AT_MOST:
        matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=True)
        steps = [
            (tag, a + head, b + head, c + head, d + head)
            for tag, a, b, c, d in matcher.get_opcodes()
        ]
    else:
        steps = [("replace", head, len(old) - tail, head, len(new) - tail)]
    whole = [
        ("equal", 0, head, 0, head),
        *steps,
        ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
    ]
    pairs: list[Pair] = []
    for tag, a, b, c, d in whole:
        if tag == "equal":
            pairs += (
                Pair(
                    Line(a + n + 1, _short(old_shown[a + n])),
                    Line(c + n + 1, _short(new_shown[c + n])),
                )
                for n in range(b - a)
            )
        else:
            pairs += _replaced(old_shown[a:b], new_shown[c:d], a, c)
    return pairs


def _same_lines(old: list[str], new: list[str]) -> tuple[int, int]:
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _replaced(old: list[str], new: list[str], left: int, right: int) -> Iterator[Pair]:
    for place in range(max(len(old), len(new))):
        was = _short(old[place]) if place < len(old) else None
        now = _short(new[place]) if place < len(new) else None
        gone: tuple[Span, ...] = () if was is None else ((0, len(was), "removed"),)
        come: tuple[Span, ...] = () if now is None else ((0, len(now), "added"),)
        if was is not None and now is not None:
            head, tail = whole_words(was, *same_ends(was, now))
            if head + tail > min(len(was), len(now)) // 3:
                gone = ((head, len(was) - head - tail, "removed"),)
                come = ((head, len(now) - head - tail, "added"),)
        yield Pair(
            None if was is None else Line(left + place + 1, was, differs=True, spans=gone),
            None if now is None else Line(right + place + 1, now, differs=True, spans=come),
        )


def _short(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    head = line[:LONGEST_LINE]
    if head.rfind("\u27e6") > head.rfind("\u27e7"):
        head = head[: head.rfind("\u27e6")]
    more = counted(
        "\u27e6{n} more character\u27e7",
        "\u27e6{n} more characters\u27e7",
        len(line) - len(head),
    )
    return f"{head}{more}"


def _folded(pairs: list[Pair]) -> Iterator[Pair]:
    """Leave out what is far from all that differs."""
    near = [False] * len(pairs)
    last = -CONTEXT - 1
    for place, pair in enumerate(pairs):
        if _differs(pair.left) or _differs(pair.right):
            for n in range(max(0, last + 1, place - CONTEXT), place + 1):
                near[n] = True
            last = place
        elif place - last <= CONTEXT and last >= 0:
            near[place] = True
    start = 0
    while start < len(pairs):
        end = start
        while end < len(pairs) and near[end] == near[start]:
            end += 1
        if near[start]:
            yield from pairs[start:end]
        else:
            yield Pair(note=counted("{n} line the same", "{n} lines the same", end - start))
        start = end


def _of_patch(patch: str, *, openly: bool) -> Iterator[Pair]:
    """A unified diff as its own lines say; what is no hunk stands as a note, escaped."""
    left = right = 0
    gone: list[str] = []
    come: list[str] = []
    for line in lines_of(patch if openly else mask_text(patch), visible_line):
        sign = line[:1]
        if sign == "-" and not line.startswith("--- ") and left:
            gone.append(line[1:])
            continue
        if sign == "+" and not line.startswith("+++ ") and left:
            come.append(line[1:])
            continue
        yield from _replaced(gone, come, left - 1, right - 1)
        left, right = left + len(gone), right + len(come)
        gone, come = [], []
        hunk = _HUNK.match(line)
        if hunk is not None:
            left, right = max(1, int(hunk[1])), max(1, int(hunk[2]))
            yield Pair(note=_short(line))
        elif sign == " " and left:
            text = _short(line[1:])
            yield Pair(Line(left, text), Line(right, text))
            left, right = left + 1, right + 1
        elif line:
            yield Pair(note=_short(line))
    yield from _replaced(gone, come, left - 1, right - 1)


# --- As text --------------------------------------------------------------------------------------


def _columns(pairs: list[Pair]) -> tuple[Column, Column, Column]:
    left, right, unified = Column(), Column(), Column()
    for pair in pairs[:LINES_AT_MOST]:
        if pair.note:
            for column in (left, right):
                _put_note(column, pair.note)
            continue
        _put(left, pair.left, "-")
        _put(right, pair.right, "+")
    if len(pairs) > LINES_AT_MOST:
        for column in (left, right):
            _put_note(
                column,
                counted(
                    "{n} more line: see the call",
                    "{n} more lines: see the call",
                    len(pairs) - LINES_AT_MOST,
                ),
            )
    _unify(unified, pairs[:LINES_AT_MOST])
    return left, right, unified


def _put_note(column: Column, note: str) -> None:
    line = f"  \u00b7\u00b7\u00b7 {note}"
    column.spans[len(column.lines)] = ((0, len(line), "quiet"),)
    column.lines.append(line)


def _put(column: Column, line: Line | None, sign: str) -> None:
    if line is None:
        column.lines.append("")
        return
    mark = sign if line.differs else " "
    lead = f"{line.number:>5} {mark} \u2502 "
    spans = [(len(lead) + first, length, kind) for first, length, kind in line.spans if length]
    column.spans[len(column.lines)] = ((0, len(lead), "quiet"), *spans)
    column.lines.append(f"{lead}{line.text}")


def _unify(column: Column, pairs: list[Pair]) -> None:
    waiting: list[Line] = []
    for pair in pairs:
        both = pair.left is not None and pair.right is not None
        if pair.note or (both and not _differs(pair.left)):
            for line in waiting:
                _put(column, line, "+")
            waiting = []
        if pair.note:
            _put_note(column, pair.note)
        elif both and not _differs(pair.left):
            _put(column, pair.right, " ")
        else:
            if pair.left is not None:
                _put(column, pair.left, "-")
            if pair.right is not None:
                waiting.append(pair.right)
    for line in waiting:
        _put(column, line, "+")
