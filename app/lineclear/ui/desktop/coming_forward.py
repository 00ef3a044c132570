"""How a window comes to the front: by the desktop's leave, or by asking for a look."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from lineclear.ui.desktop.tokens import carried


def come_forward(window: QWidget, token: str = "") -> None:
    """Show, raise and activate a window; TOKEN is the desktop's leave to do so, or empty."""
    with carried(token):
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()


def wait_to_be_called(window: QWidget) -> None:
    """Be there, without the focus: the desktop marks the window as one that wants a look."""
    if not window.isVisible():
        window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        window.show()
        window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, False)
    QApplication.alert(window)
