"""Looks at the window's main states in two sizes, and prints what is cut or overlaps.

usage: fitting.py SOURCE TYPE_SIZE, where TYPE_SIZE multiplies the system's; with QT_SCALE_FACTOR
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget
from qasync import QEventLoop

sys.path.insert(0, str(Path(__file__).parents[2]))

from lineclear.core.inbox.operator.settings import Settings
from lineclear.ui.bridge import Bridge
from lineclear.ui.labels import ElidedLabel, WholeLabel
from lineclear.ui.settings.flow import WrappingCheckBox
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from lineclear.ui.window import MainWindow
from tests.ui.sample import ask_for

SIZES = ((640, 420), (1320, 820))
WORDY = QLabel | QAbstractButton


def cut(root: QWidget) -> Iterator[str]:
    """The labels and buttons whose text has not the room that it asks for."""
    for each in root.findChildren(QWidget):
        if not each.isVisible() or not isinstance(each, WORDY) or not each.text():
            continue
        if isinstance(each, ElidedLabel):
            if each.height() < each.fontMetrics().height() - 1:
                yield f"{told(each)} is {each.height()} px high"
            continue
        needed = each.sizeHint()
        wraps = isinstance(each, QLabel) and (each.wordWrap() or isinstance(each, WholeLabel))
        if wraps or isinstance(each, WrappingCheckBox):
            height = each.heightForWidth(each.width())
            if each.height() < height - 1:
                yield f"{told(each)} is {each.height()} px high and needs {height}"
        elif each.width() < needed.width() - 1 or each.height() < needed.height() - 1:
            yield f"{told(each)} is {size(each)} and needs {needed.width()}x{needed.height()}"
        if not inside(each, root):
            yield f"{told(each)} is not inside the window"


def inside(widget: QWidget, root: QWidget) -> bool:
    """Whether a widget is wholly shown, or can be scrolled to."""
    shown = widget.visibleRegion().boundingRect()
    scrolled = any(each.inherits("QAbstractScrollArea") for each in above(widget, root))
    return scrolled or shown.size() == widget.size()


def above(widget: QWidget, root: QWidget) -> Iterator[QWidget]:
    parent = widget.parentWidget()
    while parent is not None and parent is not root:
        yield parent
        parent = parent.parentWidget()


def overlapping(root: QWidget) -> Iterator[str]:
    """The texts, buttons and lines of input that stand on each other."""
    shown = [
        each
        for each in root.findChildren(QWidget)
        if each.isVisible() and isinstance(each, WORDY | QLineEdit) and each.objectName() != "pill"
    ]
    for place, one in enumerate(shown):
        for other in shown[place + 1 :]:
            if one.isAncestorOf(other) or other.isAncestorOf(one):
                continue
            both = area(one, root) & area(other, root)
            if both.width() > 1 and both.height() > 1:
                yield f"{told(one)} and {told(other)} overlap"


def area(widget: QWidget, root: QWidget) -> QRect:
    shown = widget.visibleRegion().boundingRect()
    return shown.translated(widget.mapTo(root, QPoint(0, 0)))


def squeezed(window: MainWindow) -> Iterator[str]:
    """What has to be there always: the text of the call, and the bar below it."""
    bar, text = window.pane.bar, window.pane.tabs.currentWidget()
    if bar.isVisible() and bar.visibleRegion().boundingRect().height() < bar.height():
        yield "the decision bar is cut"
    if window.pane.tabs.isVisible() and text.height() < 2 * text.fontMetrics().height():
        yield f"the reading pane has {text.height()} px for the call"
    lists = (window.sidebar.sections, window.sidebar.sources)
    for each in lists:
        line = each.sizeHintForRow(0)
        if each.isVisible() and 0 < line < each.fontMetrics().height():
            yield f"{told(each)} has lines of {line} px"


def told(widget: QWidget) -> str:
    text = str(getattr(widget, "text", lambda: "")())[:40]
    return f"{type(widget).__name__} {widget.objectName()!r} {text!r}"


def size(widget: QWidget) -> str:
    return f"{widget.width()}x{widget.height()}"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


async def until(fact: Callable[[], Any]) -> None:
    end = time.monotonic() + 20
    while not fact():
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.02)


async def look(window: MainWindow, state: str) -> None:
    for width, height in SIZES:
        window.resize(width, height)
        # What is laid out anew asks for room anew, more than once.
        for _ in range(12):
            await asyncio.sleep(0.02)
        where = f"{state} at {width}x{height}"
        # Larger type needs a larger window, which still has to fit on a small screen.
        least = (640, 420) if float(sys.argv[2]) == 1 else (800, 530)
        if window.width() > max(width, least[0]) or window.height() > max(height, least[1]):
            say(f"{where}: it is {size(window)}")
        for found in (*cut(window), *overlapping(window), *squeezed(window)):
            say(f"{where}: {found}")


async def choose(window: MainWindow, aid: str) -> None:
    await until(lambda: window.table.choose(aid))
    await until(lambda: window.flow.current == aid and window.flow.view.prepared is not None)


async def states(window: MainWindow, source: Path) -> None:
    await until(lambda: window.overview.complete)
    await asyncio.sleep(0.3)
    await look(window, "empty")
    plain = ask_for(source, "refund-bot").shown.aid
    hidden = ask_for(source, "ops", "pay", {"note": "a\u202eb" + "x" * 300}).shown.aid
    ask_for(source, "an-agent-with-a-long-name-that-says-much", "a_tool_with_a_long_name")
    await choose(window, plain)
    await look(window, "a call")
    for act in ("approve", "deny", "modify", "find"):
        window.actions_table[act].trigger()
        await look(window, act)
        window.actions_table["back"].trigger()
        window.actions_table["back"].trigger()
    await choose(window, hidden)
    await look(window, "a flagged call")
    window.table.selectAll()
    await look(window, "several")
    window.filter.setText("tool:nothing")
    await asyncio.sleep(0.3)
    await look(window, "no match")


async def main(app: QApplication, source: Path) -> None:
    tasks = Tasks(asyncio.get_running_loop())
    bridge = Bridge(Settings(), only=(source,))
    window = MainWindow(bridge, Theme(app, dark=False), tasks, app)
    window.show()
    window.activateWindow()
    bridge.start()
    try:
        await states(window, source)
    finally:
        window.quit()
        window.hide()
        await tasks.close()
        await bridge.stop()


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(mode=0o700)
    running = QApplication([])
    running.setQuitOnLastWindowClosed(False)
    font = running.font()
    font.setPointSizeF(font.pointSizeF() * float(sys.argv[2]))
    running.setFont(font)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(running)) as runner:
        runner.run(main(running, Path(sys.argv[1])))
