"""Budgets of a run: a bar and words for each; what is not reported is said to be so."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from lineclear.core.checkpoints.sniff import counted as counted_in
from lineclear.core.inbox.rows.row import Row
from lineclear.language import _, counted
from lineclear.ui import theme, words
from lineclear.ui.labels import ElidedLabel, PlainLabel, tooltip

CARE_SHARE = 0.8


class BudgetBar(QWidget):
    """96 by 6 pixels: how much of a limit is used; the next call's share is hatched."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._used = 0
        self._limit = 1
        self._step = 0
        self.setFixedSize(QSize(96, 6))
        look.changed.connect(self.update)

    def show_share(self, used: int, limit: int, step: int = 0) -> None:
        """Show USED of LIMIT, and STEP more that this call takes."""
        self._used, self._limit, self._step = used, max(limit, 1), step
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Draw the bar."""
        t = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.line))
        painter.drawRoundedRect(self.rect(), 3, 3)
        share = min(1.0, self._used / self._limit)
        colour = QColor(t.stop if share >= 1 else t.care if share >= CARE_SHARE else t.accent)
        width = self.width() * share
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(0, 0, width, self.height()), 3, 3)
        if self._step and share < 1:
            more = min(self.width() - width, self.width() * self._step / self._limit)
            painter.fillRect(
                QRectF(width, 0, max(more, 2.0), self.height()),
                theme.blend(colour, QColor(t.base), 0.4),
            )
        painter.end()


class SpentChart(QWidget):
    """One bar for each answer of the model, the latest at the right; no axis, words tell it."""

    MOST = 32

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._tokens: tuple[int, ...] = ()
        self.setFixedSize(QSize(96, 14))
        look.changed.connect(self.update)

    def show_tokens(self, tokens: tuple[int, ...]) -> None:
        """Show these, at most the `MOST` latest of them."""
        self._tokens = tokens[-self.MOST :]
        if tokens:
            last, most = words.exact(tokens[-1]), words.exact(max(self._tokens))
            told = counted(
                "Tokens of {n} answer: last {last}, most {most}",
                "Tokens of {n} answers: last {last}, most {most}",
                len(tokens),
                last=last,
                most=most,
            )
            self.setAccessibleName(told)
            self.setToolTip(tooltip(told))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Draw the bars."""
        if not self._tokens:
            return
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        step = self.width() / self.MOST
        most = max(self._tokens)
        left = self.width() - step * len(self._tokens)
        for place, tokens in enumerate(self._tokens):
            height = max(1.0, self.height() * tokens / most)
            latest = place == len(self._tokens) - 1
            t = self._look.tokens
            painter.setBrush(QColor(t.accent if latest else t.muted))
            painter.drawRect(QRectF(left + place * step, self.height() - height, step - 1, height))
        painter.end()


class Budgets(QWidget):
    """Iterations, tool calls and tokens of one row's run, and the tokens by kind."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("budgets")
        self.setAccessibleName(_("Budgets"))
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        line = QHBoxLayout()
        line.setSpacing(20)
        box.addLayout(line)
        self.usage = ElidedLabel(name="usage")
        self.usage.setFont(theme.small_font(tabular=True))
        self.usage.setProperty("tone", "muted")
        box.addWidget(self.usage)
        self._parts: list[tuple[BudgetBar, PlainLabel]] = []
        for name in ("iterations", "toolCalls", "tokens"):
            bar = BudgetBar(look)
            label = PlainLabel(name=name)
            label.setWordWrap(True)
            label.setFont(theme.small_font(tabular=True))
            label.setProperty("tone", "muted")
            part = QVBoxLayout()
            part.setSpacing(4)
            part.addWidget(label)
            # A width of its own, so that it sets none for the words.
            part.addWidget(bar, 0, Qt.AlignmentFlag.AlignLeft)
            part.addStretch(1)
            # Tokens are counted in more digits than the others.
            line.addLayout(part, 5 if name == "tokens" else 4)
            self._parts.append((bar, label))
        self.spent = SpentChart(look)
        self._spent_label = PlainLabel(_("per answer"), name="spent")
        self._spent_label.setFont(theme.small_font())
        self._spent_label.setProperty("tone", "muted")
        chart = QVBoxLayout()
        chart.setSpacing(2)
        chart.addWidget(self._spent_label)
        chart.addWidget(self.spent)
        chart.addStretch(1)
        line.addLayout(chart)
        self.show_spent(())

    def show_spent(self, tokens: tuple[int, ...]) -> None:
        """Show the tokens of each answer of the model; fewer than two make no chart."""
        shown = len(tokens) > 1
        self.spent.show_tokens(tokens if shown else ())
        self.spent.setVisible(shown)
        self._spent_label.setVisible(shown)

    def show_row(self, row: Row) -> None:
        """Show a row's counters against their limits."""
        used, limits = row.counters, row.limits
        figures = (
            (used.iteration, limits.iteration, counted_in(row.system), 0),
            (used.tool_calls, limits.tool_calls, _("tool calls"), 0 if row.closed else 1),
            (used.tokens, limits.tokens, "tokens", 0),
        )
        self.usage.setText(words.usage(row.usage))
        self.usage.setVisible(bool(self.usage.text()))
        # It keeps its place, so that nothing below moves, unless none is shown at all.
        any_limit = any(number is not None and most is not None for number, most, *_ in figures)
        for (bar, label), (number, limit, noun, step) in zip(self._parts, figures, strict=True):
            label.setText(words.budget(number, limit, noun))
            shown = number is not None and limit is not None
            policy = bar.sizePolicy()
            policy.setRetainSizeWhenHidden(any_limit)
            bar.setSizePolicy(policy)
            bar.setVisible(shown)
            if number is not None and limit is not None:
                bar.show_share(number, limit, step)
