"""Plays scenes of the real window and prints every text of it that is in no catalogue.

usage: pseudo_locale.py SCENE...; with LINECLEAR_LOCALE and LANGUAGE of the language nobody speaks

In that language every word has an accent. So a word without one is data, or it was never
translated; what data there is, is known: the scene's stores hold it.
"""

import asyncio
import html
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))

import screenshots
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTableView,
    QTabWidget,
    QTreeView,
    QWidget,
)
from qasync import QEventLoop

from lineclear.core.errors import LineclearError
from lineclear.core.sentences import Sentence
from lineclear.ui.queue.sections import Section
from lineclear.ui.reading.text_view import TextView
from lineclear.ui.window import MainWindow

SPOKEN = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
ROWS_AT_MOST = 80
RAW = frozenset({"rawBytes", "console"})
"""Views of bytes as they are."""
QTS_OWN = frozenset({"ScrollLeftButton", "ScrollRightButton"})
"""Arrows that Qt names itself."""
NAMES = {
    *(
        "Lineclear",
        "lineclear",
        "pid",
        "uid",
        "gid",
        "SHA",
        "rw",
        "rwx",
        "lrwxrwxrwx",
        "true",
        "false",
        "null",
        "schema",
    ),
    *("Ctrl", "Shift", "Alt", "Return", "Enter", "Esc", "Down", "Up", "End", "Home"),
    # To be typed as they are: the places in a command, and an example of one.
    *("aid", "checkpoint", "package", "module", "factory"),
    # An answer as the system takes it that asked.
    *("deferred", "id", "status", "completed", "response"),
}
"""What is the same in every language: names, keys, terms of the system and of JSON."""
CODES = {
    *("alive", "answer", "approval", "approve", "approved", "ask_again", "batch", "call", "care"),
    *("changed", "cli", "click", "dead", "deferred", "denied", "deny", "elsewhere", "error"),
    *("expired", "failed", "foreign", "key", "modify", "ok", "outcome", "pending", "ran"),
    *("refused", "request", "resolved", "result", "resume", "running", "seen", "start", "stop"),
    *("twin", "uncertain", "unknown", "unseen", "window", "withdrawn"),
}
"""Words by which records and code name things: no text, so none of them makes a word known."""
MASK = re.compile(
    "\u2022{4} \\d+ (characters?|\u2026\\w*)(, same as last approved)?(, holds \\S+)?"
)
"""What stands for a secret: exports and the history hold it too, in English."""
ESCAPE = re.compile(r"\\[nrt]")
RUN = re.compile(r"[^\W_]+")
"""Letters and digits together: a word, a number, a part of a digest."""


# --- What is data ---------------------------------------------------------------------------------


def leaves(value: Any) -> Iterator[str]:
    """Every key and text in a JSON value."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from leaves(below)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from leaves(below)
    elif isinstance(value, str):
        yield value


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a record, without the keys that the program gave it."""
    if isinstance(value, dict):
        for key, below in value.items():
            if key in ("arguments", "tool_input", "inputs", "tool_schema", "env", "args", "input"):
                yield from leaves(below)
            else:
                yield from texts_in(below)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from texts_in(below)
    elif isinstance(value, str):
        yield value
        # Arguments as another system keeps them: JSON in a text.
        if value[:1] in "{[":
            try:
                yield from leaves(json.loads(value))
            except ValueError:
                return


def typed(root: QWidget) -> Iterator[str]:
    """What the scene wrote into the window."""
    yield from (each.text() for each in root.findChildren(QLineEdit))
    editors = (each for each in root.findChildren(QPlainTextEdit) if not isinstance(each, TextView))
    yield from (each.toPlainText() for each in editors)


def data(window: MainWindow, folder: Path) -> Iterator[str]:
    """What the scene put before the window."""
    for path in folder.rglob("*"):
        yield str(path)
        if path.suffix not in (".json", ".toml") or not path.is_file():
            continue
        raw = path.read_text(encoding="utf-8", errors="replace")
        try:
            yield from texts_in(json.loads(raw))
        except ValueError:
            yield raw
    for row in (row for section in Section for row in window.model.rows_in(section)):
        yield from leaves(row.arguments)
        yield from values_in(row.reason or "")
        yield from (
            row.preview or "",
            row.tool or "",
            row.agent or "",
            row.system,
        )
    past = window.history.page.model
    for entry in filter(None, map(past.entry, range(past.rowCount()))):
        values = (getattr(entry.fact, each.name) for each in fields(entry.fact))
        yield from texts_in([value for value in values if isinstance(value, str)])
    yield from ("python", sys.executable, str(folder), os.uname().nodename, *os.environ)
    for sentence in RAISED:
        yield from values_in(sentence) if isinstance(sentence, Sentence) else ()


def values_in(text: str) -> Iterator[str]:
    """What went into a sentence of core; a text of another kind is data itself."""
    if not isinstance(text, Sentence):
        yield text
        return
    for value in text.values.values():
        if isinstance(value, str):
            yield from values_in(value)


RAISED: list[str] = []
"""The sentences of the errors that core raised: each is told in the window's language."""


def listen() -> None:
    begin = LineclearError.__init__

    def heard(self: LineclearError, sentence: str, *, code: str | None = None) -> None:
        RAISED.append(sentence)
        begin(self, sentence, code=code)

    LineclearError.__init__ = heard  # type: ignore[method-assign]


def words_of(texts: Iterator[str]) -> set[str]:
    return {word for text in texts if text not in CODES for word in RUN.findall(text)}


# --- What is said ---------------------------------------------------------------------------------


def spoken(root: QWidget) -> Iterator[tuple[str, str]]:
    """Every text of a window, with where it stands."""
    for each in [root, *root.findChildren(QWidget)]:
        if each.objectName() in QTS_OWN:
            continue
        where = f"{type(each).__name__} {each.objectName()}"
        yield f"{where}: tooltip", html.unescape(re.sub(r"</?p>", "", each.toolTip()))
        yield f"{where}: name", each.accessibleName()
        yield f"{where}: description", each.accessibleDescription()
        if each.isWindow():
            yield f"{where}: title", each.windowTitle()
        for action in each.actions():
            yield from of_action(where, action)
        for text in of_widget(each):
            yield where, text
    for menu in root.findChildren(QMenu):
        yield f"menu {menu.objectName()}", menu.title()
    for action in root.findChildren(QAction):
        yield from of_action("action", action)


def of_action(where: str, action: QAction) -> Iterator[tuple[str, str]]:
    if not action.objectName().startswith(("edit-", "select-", "_q")):
        yield f"{where} {action.objectName()}", action.text()


def of_widget(each: QWidget) -> Iterator[str]:
    match each:
        case QLabel() | QAbstractButton():
            yield each.text()
        case QLineEdit():
            yield each.placeholderText()
        case QPlainTextEdit():
            yield each.placeholderText()
            if each.objectName() not in RAW and each.isReadOnly():
                yield each.toPlainText()
        case QComboBox():
            yield from (each.itemText(place) for place in range(each.count()))
        case QTabWidget():
            for place in range(each.count()):
                yield from (each.tabText(place), each.tabToolTip(place))
        case QAbstractItemView() if not isinstance(each, QHeaderView):
            yield from of_view(each)


def of_view(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    if isinstance(view, QTableView | QTreeView):
        for column in range(model.columnCount()):
            for role in SPOKEN:
                yield text_of(model.headerData(column, Qt.Orientation.Horizontal, role))
    yield from of_model(model, QModelIndex())


def of_model(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[str]:
    for row in range(min(ROWS_AT_MOST, model.rowCount(parent))):
        # A list has one, and says so to nobody.
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
        for column in range(columns):
            index = model.index(row, column, parent)
            yield from (text_of(model.data(index, role)) for role in SPOKEN)
        yield from of_model(model, model.index(row, 0, parent))


def text_of(value: object) -> str:
    return html.unescape(re.sub(r"</?p>", "", value)) if isinstance(value, str) else ""


# --- Judging --------------------------------------------------------------------------------------


def strange(text: str, known: set[str]) -> list[str]:
    """The words of a text that are neither accented nor data; of a cut one, its begin will do."""
    found = []
    text = ESCAPE.sub(" ", MASK.sub("", text))
    for match in RUN.finditer(text):
        word = match.group()
        if not (word.isascii() and word.isalpha() and len(word) > 1):
            continue
        if word in known or word in NAMES:
            continue
        cut = "\u2026" in (
            text[match.end() : match.end() + 1],
            text[match.start() - 1 : match.start()],
        )
        if not cut or not any(word in each for each in known):
            found.append(word)
    return found


async def play(app: QApplication, name: str) -> int:
    size = QSize(1280, 680)
    async with screenshots.staged(app, name, dark=False, size=size) as (_shown, stage):
        windows = [each for each in app.topLevelWidgets() if each.isVisible()]
        main = next(each for each in windows if isinstance(each, MainWindow))
        known = words_of(data(main, stage.source.parent))
        known |= words_of(text for each in windows for text in typed(each))
        said, found = 0, set()
        for window in windows:
            for where, text in spoken(window):
                said += bool(text)
                if words := strange(text, known):
                    found.add(f"{name}: {where}: {text[:300]!r} has {', '.join(words[:6])}")
    for each in sorted(found):
        sys.stdout.write(f"{each}\n")
    return said


async def main(app: QApplication, names: list[str]) -> None:
    said = [await play(app, name) for name in names]
    sys.stderr.write(f"{sum(said)} texts in {len(names)} scenes\n")


if __name__ == "__main__":
    listen()
    running = QApplication([])
    running.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(running)) as runner:
        runner.run(main(running, sys.argv[1:]))
