"""The Diff tab: a file before and after the call, side by side, or one below the other."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.labels import WholeLabel
from lineclear.ui.reading.diff_text import Difference
from lineclear.ui.reading.secret_line import SecretLine
from lineclear.ui.reading.text_view import TextView

SIDES_FROM = 640
"""Pixels of width from which two sides have room."""


class DiffTab(QWidget):
    """Shows one difference; both sides scroll together."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(_("Diff"))
        self._about = WholeLabel(name="diffAbout")
        self._about.setProperty("tone", "muted")
        self._about.setFont(theme.small_font())
        self._about.setContentsMargins(16, 8, 16, 4)
        self.warning = WholeLabel(name="diffWarning")
        self.warning.setProperty("tone", "care")
        self.warning.setContentsMargins(16, 8, 16, 0)
        self.warning.hide()
        self.left = TextView(look, "diffBefore", _("Before"), wrap=False)
        self.right = TextView(look, "diffAfter", _("After"), wrap=False)
        self.unified = TextView(look, "diffUnified", _("Before and after"), wrap=False)
        self.left.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one, other in ((self.left, self.right), (self.right, self.left)):
            for bars in (
                (one.verticalScrollBar(), other.verticalScrollBar()),
                (one.horizontalScrollBar(), other.horizontalScrollBar()),
            ):
                bars[0].valueChanged.connect(bars[1].setValue)
        sides = QWidget()
        line = QHBoxLayout(sides)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        line.addWidget(self.left, 1)
        between = QFrame()
        between.setObjectName("betweenSides")
        line.addWidget(between)
        line.addWidget(self.right, 1)
        self._views = QStackedWidget()
        self._views.addWidget(sides)
        self._views.addWidget(self.unified)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        self.secrets = SecretLine()
        self.secrets.show_wanted.connect(self._open)
        box.addWidget(self.warning)
        box.addWidget(self._about)
        box.addWidget(self.secrets)
        box.addWidget(self._views, 1)
        self._shown: Difference | None = None

    def show_difference(self, shown: Difference | None) -> None:
        """Show a file before and after; what is shown already stays as it stands."""
        before, self._shown = self._shown, shown
        self.secrets.setVisible(shown is not None and shown.openly is not None)
        if shown is None:
            for view in (self.left, self.right, self.unified):
                view.show_text("")
            return
        self._about.setText(shown.about)
        self.warning.setText(shown.warning)
        self.warning.setVisible(bool(shown.warning))
        self._fill(shown, before)

    def _open(self) -> None:
        if self._shown is not None and self._shown.openly is not None:
            self.show_difference(self._shown.openly)

    def _fill(self, shown: Difference, before: Difference | None) -> None:
        for view, column, old in (
            (self.left, shown.left, None if before is None else before.left),
            (self.right, shown.right, None if before is None else before.right),
            (self.unified, shown.unified, None if before is None else before.unified),
        ):
            if old is None or old.lines != column.lines:
                view.show_text(column.text(), column.spans)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Two sides where there is room for them."""
        super().resizeEvent(event)
        self._views.setCurrentIndex(0 if event.size().width() >= SIDES_FROM else 1)
