"""The window from the start of Qt to its end."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, NoReturn

os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QFontInfo
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import settings_change
from lineclear.core.places import absolute, home
from lineclear.language import _, translated
from lineclear.ui import qt_words, theme
from lineclear.ui.bridge import Bridge
from lineclear.ui.collecting import Collector
from lineclear.ui.complaint import complain, end_at_once
from lineclear.ui.desktop import hung_window, portal, single_instance, x_display
from lineclear.ui.desktop.attention import bus_module
from lineclear.ui.desktop.single_instance import FirstWindow
from lineclear.ui.desktop.utf8_locale import utf8_locale
from lineclear.ui.frame.window_state import read_state, write_state
from lineclear.ui.settings import following
from lineclear.ui.tasks import Tasks
from lineclear.ui.window import MainWindow

log = logging.getLogger(__name__)
Check = Callable[[MainWindow], Coroutine[Any, Any, None]]
"""Uses the window in a person's place, and ends it."""
_WAKE_S = 0.2
_LOOP_STOPPED = "Event loop stopped before Future completed."
"""What qasync says when Qt ended its loop by itself, as it does when its display is gone."""
TURN_S = 0.0005
"""How long a working thread keeps the interpreter while the window's thread wants it, which it does
some hundred times for one screenful: the usual 5 ms each would add up."""


def _qt_message(kind: QtMsgType, _context: object, text: str) -> None:
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }
    logging.getLogger("lineclear.qt").log(levels.get(kind, logging.WARNING), "%s", text)
    if kind is QtMsgType.QtFatalMsg:
        # Qt would go on to abort the process, which leaves a core file and no sentence.
        end_at_once("Qt cannot go on, so there is no window; `lineclear list` shows what waits.")


@contextlib.contextmanager
def qt_messages_logged() -> Iterator[None]:
    """Let Qt's messages go to the log; to Qt itself again before Python ends.

    Qt has messages while its libraries are unloaded, when no Python is left to take them.
    """
    before = qInstallMessageHandler(_qt_message)
    try:
        yield
    finally:
        qInstallMessageHandler(before)


async def run(
    app: QApplication,
    options: argparse.Namespace,
    first: FirstWindow | None = None,
    check: Check | None = None,
) -> None:
    """Show the window until the operator, or CHECK, ends it; FIRST hears of later starts."""
    loop = asyncio.get_running_loop()
    end = asyncio.Event()
    tasks = Tasks(loop)
    look = theme.Theme(app, dark=options.dark)
    only = tuple(absolute(source) for source in options.source)
    since = following.mark()
    loaded = settings_change.load_for_window()
    bridge = Bridge(loaded.settings, only=only)
    window = MainWindow(bridge, look, tasks, app, state=read_state(), demo=options.demo)
    tasks.on_error = window.report
    window.ended.connect(end.set)
    if first is not None:
        first.raise_wanted.connect(window.bring)
        if first.hung is not None:
            hung_window.tell_above(window, first.hung)
    with _signals(loop, tasks, window.end):
        window.desk.begin(translated(loaded.said), None if loaded.said else since)
        window.show()
        bridge.start()
        window.attention.start(tasks)
        portal.follow(look, bus_module, tasks)
        collector = Collector(lambda: window.flow.arming.idle)
        if check is not None:
            tasks.start(check(window), name=_("check itself"))
        try:
            await end.wait()
        finally:
            write_state(window.state())
            window.hide()
            await tasks.close()
            await bridge.stop()
            window.deleteLater()
            collector.stop()


@contextlib.contextmanager
def _signals(  # type: ignore[no-untyped-def]  # noqa: ANN202
    loop: asyncio.AbstractEventLoop, tasks: Tasks, end: Callable[[], None]
):
    """Let Ctrl-C, a polite kill and the end of the terminal END the window as closing it does."""
    numbers = _ending_signals()
    try:
        for number in numbers:
            loop.add_signal_handler(number, end)
    except NotImplementedError:
        # Windows: a handler runs only when Python does, so Python is woken now and then.
        signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(end))
        tasks.start(_tick(), name=_("wake for Ctrl-C"))
        numbers = []
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _ending_signals() -> list[int]:
    """Which signals end the program; not that of the terminal where somebody had it ignored."""
    numbers: list[int] = [signal.SIGINT, signal.SIGTERM]
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) != signal.SIG_IGN:
        numbers.append(hang_up)
    return numbers


async def _tick() -> None:
    while True:  # noqa: ASYNC110  # Waking is all that it is for.
        await asyncio.sleep(_WAKE_S)


def _end_without_display() -> NoReturn:
    end_at_once(
        "The display is gone, and the window with it. Agents keep waiting and nothing is lost."
    )


def start(options: argparse.Namespace, check: Check | None = None) -> int:
    """Start Qt and show the window until the operator, or CHECK, ends it; the exit code."""
    with qt_messages_logged():
        return _start(options, check)


def _start(options: argparse.Namespace, check: Check | None) -> int:
    sys.setswitchinterval(TURN_S)
    # Before Qt takes it out of the environment.
    token = single_instance.startup_token(os.environ)
    with utf8_locale():
        app = QApplication([sys.argv[0] if sys.argv else "lineclear-inbox"])
        qt_words.translate(app)
        # Fontconfig looks at the locale with the first font.
        QFontInfo(app.font()).family()
    x_display.when_it_goes(_end_without_display)
    app.setApplicationName("lineclear")
    app.setDesktopFileName("lineclear")
    app.setQuitOnLastWindowClosed(False)
    try:
        # Nobody can start a second window on the folders of a check.
        found, first = (False, None) if check is not None else _find_first(options, token)
        if found:
            return 0
        with contextlib.closing(first) if first is not None else contextlib.nullcontext():
            _run(app, run(app, options, first, check))
    except LineclearError as why:
        return complain(translated(why.sentence))
    return 0


def _run(app: QApplication, work: Coroutine[Any, Any, None]) -> None:
    """Run WORK on Qt's loop to its end, or to that of the display."""
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        try:
            runner.run(work)
        except RuntimeError as why:
            if str(why) != _LOOP_STOPPED:
                raise
            _end_without_display()


def _find_first(options: argparse.Namespace, token: str) -> tuple[bool, FirstWindow | None]:
    """Raise the window that is open already: (True, None); else be the first one, where possible.

    Raises LineclearError where there is no home.
    """
    if not single_instance.POSSIBLE:
        return False, None
    sources = [absolute(source) for source in options.source]
    first: FirstWindow | None = None
    try:
        at = single_instance.place(home(), sources, os.environ)
        try:
            first = single_instance.first_window(at, token)
        except (single_instance.Refused, OSError):
            # It tries again, as long as the window is open.
            first = FirstWindow(at)
            raise
    except (single_instance.Refused, OSError) as why:
        # The ledger is safe with two windows; a person without one is not served.
        log.warning("a second start will open a second window: %s", why)
        return False, first
    return first is None, first
