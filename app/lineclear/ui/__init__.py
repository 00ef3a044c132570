"""The window: the only place that imports PySide6 and qasync."""

from lineclear import language

# Before any module of the window makes its constants.
language.choose()
