"""One table of everything that a key can do; menus, hints and the key list come from it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class Entry:
    """One action: its name in code, its words, its keys."""

    name: str
    text: str
    letters: tuple[str, ...] = ()
    """Keys without a modifier; they can be switched off."""
    keys: tuple[str, ...] = ()
    """Keys that always work."""
    group: str = "Window"


TABLE: tuple[Entry, ...] = (
    Entry("approve", "Approve: then Enter", ("A",), ("Ctrl+Shift+A",), "Decide"),
    Entry("deny", "Deny with a reason", ("D",), ("Ctrl+Shift+D",), "Decide"),
    Entry(
        "modify",
        "Modify\u2026 or, where nothing runs, Answer\u2026",
        ("M",),
        ("Ctrl+Shift+M",),
        "Decide",
    ),
    Entry(
        "answer",
        "Answer\u2026 with a result; the tool does not run",
        ("G",),
        ("Ctrl+Shift+G",),
        "Decide",
    ),
    Entry("note", "Write a note that goes with an approval", ("W",), ("Ctrl+Shift+W",), "Decide"),
    Entry("undo", "Take back a word that is not written yet", (), ("Ctrl+Z",), "Decide"),
    Entry("resume", "Resume a dead agent: then Enter", ("R",), ("Ctrl+Shift+R",), "Decide"),
    Entry("submit", "Send the reason, or review what you wrote", (), ("Ctrl+Return",), "Decide"),
    Entry("together", "Decide the selected calls together", ("B",), ("Ctrl+Shift+B",), "Decide"),
    Entry("show_new", "Show what replaced a changed call", ("U",), ("Ctrl+U",), "Decide"),
    Entry("next", "Next row", ("J",), ("Ctrl+Down",), "Move"),
    Entry("previous", "Previous row", ("K",), ("Ctrl+Up",), "Move"),
    Entry("next_waiting", "Next waiting call", ("N",), ("Ctrl+N",), "Move"),
    Entry("snooze", "Snooze: show the call again later", ("Z",), ("Ctrl+Shift+Z",), "Move"),
    Entry("to_end", "To the end of the call", (), ("End",), "Move"),
    Entry("next_flag", "To a flagged place that was not seen", (), ("F8",), "Move"),
    Entry("find", "Find in what is read", (), ("Ctrl+F",), "Move"),
    Entry("find_next", "Next place that was found", (), ("F3",), "Move"),
    Entry("find_previous", "Previous place that was found", (), ("Shift+F3",), "Move"),
    Entry("panes", "Next pane", (), ("F6",), "Move"),
    Entry("filter", "Filter", ("/",), ("Ctrl+L",), "Move"),
    Entry("back", "Back out of the innermost thing", (), ("Esc",), "Move"),
    Entry("keys", "This list of keys", ("?",), ("F1",), "Window"),
    Entry("settings", "Settings\u2026", (), ("Ctrl+,",), "Window"),
    Entry("quit", "Quit", (), ("Ctrl+Q",), "Window"),
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


def key_list() -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of (keys, what they do), for the help page."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for entry in TABLE:
        keys = [key.lower() for key in entry.letters] + list(entry.keys)
        groups.setdefault(entry.group, []).append((" \u00b7 ".join(keys), entry.text))
    return list(groups.items())
