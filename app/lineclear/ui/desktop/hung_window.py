"""A window that is open already and does not answer: what is said of it in the one that opened."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow, QVBoxLayout

from lineclear.language import _
from lineclear.ui.frame.bars import Strip


def told(pid: int) -> str:
    """Say which it is, why there are two, and what to do; PID 0 is not known."""
    what = _("A Lineclear window that is open already does not answer, so this one opened.")
    if not pid:
        cure = _("If it stays like that, end its process: nothing that it recorded is lost.")
    else:
        cure = _(
            "If it stays like that, end its process, {pid}: nothing that it recorded is lost."
        ).format(pid=pid)
    return f"{what} {cure}"


def tell_above(window: QMainWindow, pid: int) -> Strip:
    """Say it in a strip over all that stands in the WINDOW, until it was read."""

    def read() -> None:
        strip.hide()

    strip = Strip(told(pid), "hungWindow", ("hungWindowOk", _("OK"), read))
    middle = window.centralWidget()
    layout = None if middle is None else middle.layout()
    assert isinstance(layout, QVBoxLayout)
    layout.insertWidget(0, strip)
    strip.show()
    return strip
