"""The fields that all calls of a burst share, each said once, above the table."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QSizePolicy, QWidget

from lineclear.core.inbox.bursts.table import Field, Kind, Value
from lineclear.language import _, translated
from lineclear.ui import theme, words
from lineclear.ui.burst.block import Block
from lineclear.ui.burst.spans import Spans
from lineclear.ui.labels import PlainLabel, WholeLabel

HIGHEST = 190
"""Pixels that the shared fields take at most, or this share of the window's height, if more; then
they scroll, and all of them has to be seen."""
HIGHEST_SHARE = 0.4
_KEY_WIDEST = 220


class SharedFields(QScrollArea):
    """Names and values, every character of them.

    Signals:
        looked: another part of it is in view.
    """

    looked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("burstCommon")
        self.setAccessibleName(_("The same in all"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._wanted = 0
        """Pixels that all of it takes in this width."""
        self._seen = Spans()
        self._end_seen = False
        self.verticalScrollBar().valueChanged.connect(lambda _value: self.looked.emit())

    def show_fields(self, common: tuple[tuple[Field, Value], ...]) -> None:
        """Show these fields but an agent that the heading names; none: nothing of it is there."""
        common = tuple(one for one in common if not _in_heading(*one))
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setContentsMargins(16, 2, 16, 8)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for place, (field, value) in enumerate(common):
            key = PlainLabel(translated(field.label), name="commonKey")
            if field.kind is Kind.ARGUMENT:
                key.setFont(theme.mono_font())
            key.setProperty("tone", "muted")
            if key.sizeHint().width() > _KEY_WIDEST:
                key = WholeLabel(translated(field.label), name="commonKey")
                key.setFixedWidth(_KEY_WIDEST)
            told: PlainLabel
            if value.block and not value.masked:
                told = Block(translated(value.text), name="commonBlock")
            else:
                told = WholeLabel(translated(value.text), name="commonValue")
            if field.kind is Kind.ARGUMENT:
                told.setFont(theme.mono_font())
            if field.kind is Kind.WARNINGS:
                told.setProperty("tone", "care")
            told.setAccessibleName(f"{translated(field.label)}: {translated(value.text)}")
            grid.addWidget(key, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(told, place, 1)
        self.setWidget(inner)
        self.setVisible(bool(common))
        self._seen.forget()
        self.forget_sight()
        self._fit()

    def sizeHint(self) -> QSize:  # noqa: N802
        """As high as it is."""
        return QSize(200, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """The narrower, the higher."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            # Other lines stand at other heights.
            self._seen.forget()
            self.forget_sight()
            self._fit()
        self.looked.emit()

    def _fit(self) -> None:
        inner = self.widget()
        if inner is None:
            return
        layout = inner.layout()
        assert layout is not None
        wanted = layout.totalHeightForWidth(max(1, self.viewport().width()))
        if wanted < 0:
            wanted = layout.totalSizeHint().height()
        self._wanted = wanted
        high = round(self.window().height() * HIGHEST_SHARE)
        self.setFixedHeight(min(wanted, max(HIGHEST, high)))

    def least_beside(self, rest: int) -> int:
        """How high it is in the lowest window that has REST pixels for all else."""
        return min(self._wanted, max(HIGHEST, ceil(rest * HIGHEST_SHARE / (1 - HIGHEST_SHARE))))

    def fit(self) -> None:
        """Take the room that the window has for it now."""
        self._fit()

    # --- What was in view -----------------------------------------------------------------------

    def forget_sight(self) -> None:
        """Its end has to be seen again; the fields themselves are frozen."""
        self._end_seen = False

    def look(self) -> None:
        """Take in which part of it is in view now."""
        bar = self.verticalScrollBar()
        self._seen.add(bar.value(), bar.value() + self.viewport().height())
        self._end_seen = self._end_seen or bar.value() >= bar.maximum()

    def read_on(self) -> bool:
        """Bring the next part of it into view that was not; False: all of it was."""
        inner, bar = self.widget(), self.verticalScrollBar()
        if self.wholly_seen() or inner is None:
            return False
        start = min(self._seen.seen_from_the_top(), bar.maximum())
        bar.setValue(start)
        return True

    def wholly_seen(self) -> bool:
        """Whether every line of it was in view, its end lately; so it is where there are none."""
        inner = self.widget()
        if self.isHidden() or inner is None:
            return True
        return self._end_seen and self._seen.cover(0, inner.height())


def _in_heading(field: Field, value: Value) -> bool:
    return field.kind is Kind.AGENT and len(value.text) <= words.NAME_LIMIT
