"""The inbox window as its own program starts it, with one thread more that says what it shows.

usage: probe.py SOCKET [the window's own arguments]

A test connects to SOCKET, writes one JSON line {"ask": ..., ...} and reads one back. The probe
only looks: what a test does to the window comes from the X server's mouse and keyboard.
"""

import json
import queue
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTableView,
    QWidget,
)


class Looker(QObject):
    """Answers questions in the window's own thread."""

    asked = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self.asked.connect(self.answer, Qt.ConnectionType.QueuedConnection)

    @Slot(object, object)
    def answer(self, question: dict[str, Any], replies: queue.Queue[Any]) -> None:
        try:
            reply = getattr(self, f"_{question.pop('ask')}")(**question)
        except Exception as why:  # noqa: BLE001  told to the test, which fails of it
            reply = {"error": f"{type(why).__name__}: {why}"}
        replies.put(reply)

    def _widget(self, name: str) -> dict[str, Any] | None:
        """The visible widget of that object name, else a hidden one."""
        found = [each for each in QApplication.allWidgets() if each.objectName() == name]
        found.sort(key=lambda each: not each.isVisible())
        return described(found[0]) if found else None

    def _named(self, name: str) -> dict[str, Any] | None:
        """The visible widget of that accessible name."""
        for each in QApplication.allWidgets():
            if each.isVisible() and each.accessibleName() == name:
                return described(each)
        return None

    def _rows(self, name: str = "table") -> list[list[str]]:
        """The texts of a view's rows."""
        shown = view(name)
        model = shown.model()
        return [
            [str(model.index(row, column).data() or "") for column in range(columns(shown))]
            for row in range(model.rowCount())
        ]

    def _row(self, text: str, name: str = "table") -> dict[str, int] | None:
        """Where the first row with that text in it is on the screen."""
        shown = view(name)
        if not shown.isVisible():
            return None
        model = shown.model()
        for row in range(model.rowCount()):
            for column in range(columns(shown)):
                index = model.index(row, column)
                if text in str(index.data() or ""):
                    return placed(shown.viewport(), shown.visualRect(index))
        return None

    def _focus(self) -> str | None:
        focused = QApplication.focusWidget()
        return None if focused is None else focused.objectName()

    def _texts(self) -> list[str]:
        """Every text that a visible widget shows; of a view, the items of its first rows."""
        return [
            text
            for each in QApplication.allWidgets()
            if each.isVisible()
            for text in texts_of(each)
            if text
        ]

    def _current(self) -> dict[str, Any] | None:
        """What the table knows of its current row."""
        table: Any = view("table")
        row = table.model().row(table.current_id)
        if row is None:
            return None
        return {
            "id": row.id,
            "store": row.store.name,
            "state": row.state.value,
            "reason_code": row.reason_code,
            "warnings": list(row.warnings),
        }

    def _shown(self) -> str | None:
        """The id of the call that the reading pane has read and shows."""
        for each in QApplication.topLevelWidgets():
            flow: Any = getattr(each, "flow", None)
            if flow is not None and (
                flow.view.prepared is not None or flow.view.notice is not None
            ):
                return str(flow.current)
        return None

    def _names(self) -> list[str]:
        """The object names of visible widgets, to find out what is there."""
        return sorted(
            {
                f"{type(each).__name__}:{each.objectName()}"
                for each in QApplication.allWidgets()
                if each.isVisible() and each.objectName()
            }
        )


def view(name: str) -> QAbstractItemView:
    for each in QApplication.allWidgets():
        if each.objectName() == name and isinstance(each, QAbstractItemView):
            return each
    raise LookupError(f"there is no view named {name}")


def columns(shown: QAbstractItemView) -> int:
    return shown.model().columnCount() if isinstance(shown, QTableView) else 1


def placed(widget: QWidget, area: QRect) -> dict[str, int]:
    corner = widget.mapToGlobal(QPoint(area.x(), area.y()))
    return {"x": corner.x(), "y": corner.y(), "width": area.width(), "height": area.height()}


def text_of(widget: QWidget) -> str:
    if isinstance(widget, QPlainTextEdit):
        return widget.toPlainText()
    if isinstance(widget, QLabel | QLineEdit | QAbstractButton):
        return widget.text()
    return ""


def texts_of(widget: QWidget) -> list[str]:
    if not isinstance(widget, QAbstractItemView):
        return [text_of(widget), widget.toolTip()]
    model: Any = widget.model()
    if model is None:
        return []
    indexes = [
        model.index(row, column)
        for row in range(min(50, model.rowCount()))
        for column in range(model.columnCount() if isinstance(widget, QTableView) else 1)
    ]
    return [str(index.data() or "") for index in indexes]


def described(widget: QWidget) -> dict[str, Any]:
    return {
        **placed(widget, widget.rect()),
        "visible": widget.isVisible(),
        "enabled": widget.isEnabled(),
        "text": text_of(widget),
        # Drawn as a fill, which no property tells.
        "ready": getattr(widget, "_ready", None),
    }


def serve(path: str) -> None:
    while (application := QApplication.instance()) is None:
        time.sleep(0.01)
    looker = Looker()
    looker.moveToThread(application.thread())
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        while True:
            connection, _ = listening.accept()
            with connection, connection.makefile("rw", encoding="utf-8") as stream:
                replies: queue.Queue[Any] = queue.Queue()
                looker.asked.emit(json.loads(stream.readline()), replies)
                stream.write(json.dumps(replies.get()) + "\n")


def main() -> int:
    path = sys.argv.pop(1)
    Path(path).unlink(missing_ok=True)
    threading.Thread(target=serve, args=(path,), daemon=True).start()
    from lineclear.ui.app import main as window

    return int(window() or 0)


if __name__ == "__main__":
    sys.exit(main())
