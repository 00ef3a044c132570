"""One table of everything that a key can do; menus, hints and the key list come from it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from lineclear.language import _

DECIDE, MOVE, WINDOW = _("Decide"), _("Move"), _("Window")
"""The groups."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One action: its name in code, its words, its keys."""

    name: str
    text: str
    letters: tuple[str, ...] = ()
    """Keys without a modifier; they can be switched off."""
    keys: tuple[str, ...] = ()
    """Keys that always work."""
    group: str = WINDOW


TABLE: tuple[Entry, ...] = (
    Entry("approve", _("Approve: then Enter"), ("A",), ("Ctrl+Shift+A",), DECIDE),
    Entry("deny", _("Deny with a reason"), ("D",), ("Ctrl+Shift+D",), DECIDE),
    Entry(
        "modify",
        _("Modify\u2026 or, where nothing runs, Answer\u2026"),
        ("M",),
        ("Ctrl+Shift+M",),
        DECIDE,
    ),
    Entry(
        "answer",
        _("Answer\u2026 with a result; the tool does not run"),
        ("G",),
        ("Ctrl+Shift+G",),
        DECIDE,
    ),
    Entry("note", _("Write a note that goes with an approval"), ("W",), ("Ctrl+Shift+W",), DECIDE),
    Entry("undo", _("Take back a word that is not written yet"), (), ("Ctrl+Z",), DECIDE),
    Entry("resume", _("Resume a dead agent: then Enter"), ("R",), ("Ctrl+Shift+R",), DECIDE),
    Entry("submit", _("Send the reason, or review what you wrote"), (), ("Ctrl+Return",), DECIDE),
    Entry("together", _("Decide the selected calls together"), ("B",), ("Ctrl+Shift+B",), DECIDE),
    Entry("show_new", _("Show what replaced a changed call"), ("U",), ("Ctrl+U",), DECIDE),
    Entry("next", _("Next row"), ("J",), ("Ctrl+Down",), MOVE),
    Entry("previous", _("Previous row"), ("K",), ("Ctrl+Up",), MOVE),
    Entry("next_waiting", _("Next waiting call"), ("N",), ("Ctrl+N",), MOVE),
    Entry("snooze", _("Snooze: show the call again later"), ("Z",), ("Ctrl+Shift+Z",), MOVE),
    Entry("to_end", _("To the end of the call"), (), ("End",), MOVE),
    Entry("next_flag", _("To a flagged place that was not seen"), (), ("F8",), MOVE),
    Entry("find", _("Find in what is read"), (), ("Ctrl+F",), MOVE),
    Entry("find_next", _("Next place that was found"), (), ("F3",), MOVE),
    Entry("find_previous", _("Previous place that was found"), (), ("Shift+F3",), MOVE),
    Entry("panes", _("Next pane"), (), ("F6",), MOVE),
    Entry("filter", _("Filter"), ("/",), ("Ctrl+L",), MOVE),
    Entry("back", _("Back out of the innermost thing"), (), ("Esc",), MOVE),
    Entry("keys", _("This list of keys"), ("?",), ("F1",), WINDOW),
    Entry("settings", _("Settings\u2026"), (), ("Ctrl+,",), WINDOW),
    Entry("quit", _("Quit"), (), ("Ctrl+Q",), WINDOW),
)


class Actions:
    """The table as QActions of one window; ONLY those that mean something there."""

    def __init__(
        self, window: QWidget, *, letters: bool = True, only: frozenset[str] | None = None
    ) -> None:
        self._by_name: dict[str, QAction] = {}
        self._entries = [entry for entry in TABLE if only is None or entry.name in only]
        for entry in self._entries:
            action = QAction(entry.text, window)
            action.setObjectName(f"action_{entry.name}")
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            action.setAutoRepeat(entry.name in ("next", "previous", "next_waiting"))
            window.addAction(action)
            self._by_name[entry.name] = action
        self.use_letters(on=letters)

    def use_letters(self, *, on: bool) -> None:
        """Switch the keys without a modifier on or off."""
        for entry in self._entries:
            keys = (*entry.letters, *entry.keys) if on else entry.keys
            self._by_name[entry.name].setShortcuts([QKeySequence(key) for key in keys])

    def __getitem__(self, name: str) -> QAction:
        return self._by_name[name]


def key_for(name: str, *, letters: bool) -> str:
    """Give the key to name in a hint; LETTERS: those without a modifier do something."""
    entry = next(each for each in TABLE if each.name == name)
    return entry.letters[0].lower() if letters and entry.letters else entry.keys[0]


def key_list(*, letters: bool = True) -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of (keys, what they do), for the help page; LETTERS: those do something."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for entry in TABLE:
        keys = [key.lower() for key in entry.letters if letters] + list(entry.keys)
        groups.setdefault(entry.group, []).append((" \u00b7 ".join(keys), entry.text))
    return list(groups.items())
