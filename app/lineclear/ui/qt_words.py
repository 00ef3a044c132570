"""What Qt itself says, in the language of the window: a field's menu, the choice of a file."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from lineclear import language


def translate(app: QApplication) -> bool:
    """Take Qt's own catalogue for the language that was chosen; tells whether there is one.

    In English nothing is done: a window in English says nothing in another language.
    """
    name = language.name()
    if not name:
        return False
    translator = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    return translator.load(QLocale(name), "qtbase", "_", folder) and app.installTranslator(
        translator
    )
