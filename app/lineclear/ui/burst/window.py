"""The window of a burst: what is shared on top, the table, and its own decision bar below."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.bursts.joining import Burst
from lineclear.core.inbox.bursts.table import Kind
from lineclear.language import _, counted
from lineclear.ui import theme, words
from lineclear.ui.burst import told
from lineclear.ui.burst.model import BurstModel
from lineclear.ui.burst.shared_fields import SharedFields
from lineclear.ui.burst.table import BurstTable
from lineclear.ui.buttons import ApproveButton, DecisionButton
from lineclear.ui.deciding.decision_bar import APART
from lineclear.ui.frame.bars import separator
from lineclear.ui.labels import PlainLabel, WholeLabel
from lineclear.ui.reading.banners import Banners, Notice
from lineclear.ui.reading.editors import TextEditor

LEAST: Final = QSize(520, 380)
"""Pixels below which the window never goes, however little it holds."""


class ProgressLine(QWidget):
    """A line of 3 pixels that grows from the left."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("burstProgress")
        self.setFixedHeight(3)
        self._look = look
        self._share = 0.0

    def show_share(self, share: float) -> None:
        """Show how much is done, 0 to 1."""
        self._share = share
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Draw it."""
        t = self._look.tokens
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(t.line))
        done = self.rect()
        done.setWidth(round(self.width() * self._share))
        painter.fillRect(done, QColor(t.accent))
        painter.end()


class BurstWindow(QWidget):
    """Shows one burst; it stands beside the main window and keeps nobody from it.

    Signals:
        leaving: somebody wants it closed; whoever carries the burst out decides when.
        activity: it came before the eyes or left them.
    """

    leaving = Signal()
    activity = Signal()

    def __init__(self, burst: Burst, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("burst")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._may_close = False
        self.model = BurstModel(burst, self)
        self.table = BurstTable(self.model, look)
        self.common = SharedFields()
        self.title = WholeLabel(visible_line(burst.tool) or _("No tool"), name="burstTitle")
        self.title.setFont(theme.title_font())
        self.facts = PlainLabel(told.heading(burst, datetime.now(UTC)), name="burstFacts")
        self.facts.setProperty("tone", "muted")
        self.banners = Banners()
        self.same = PlainLabel(_("The same in all"), name="burstSame")
        self.differs = PlainLabel(_("What differs, the rarest first"), name="burstDiffers")
        for label in (self.same, self.differs):
            label.setFont(theme.small_font())
            label.setProperty("tone", "muted")
        self.progress = ProgressLine(look)
        self.progress.hide()
        self.editor = TextEditor()
        self.sentence = WholeLabel(name="burstSentence")
        self.sentence.setFont(theme.small_font())
        self.sentence.setProperty("tone", "muted")
        self.approve = ApproveButton(look, _("Approve"), "burstApprove")
        self.deny = DecisionButton(_("Deny\u2026"), "burstDeny")
        self.stop = DecisionButton(_("Stop"), "burstStop")
        self.leave = DecisionButton(_("Close"), "burstClose")
        self.secrets = QPushButton(_("Show secrets"))
        self.secrets.setObjectName("burstSecrets")
        self.secrets.setCheckable(True)
        self.secrets.setAutoDefault(False)
        self.secrets.setProperty("flat", True)
        self.secrets.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._lay_out(burst)
        self.setWindowTitle(
            _("Decide together \u00b7 {tool}").format(tool=words.name(burst.tool, ""))
        )
        self.resize(980, 640)
        self._need_room()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self, burst: Burst) -> None:
        head = QVBoxLayout()
        head.setContentsMargins(16, 14, 16, 4)
        head.setSpacing(2)
        head.addWidget(self.title)
        head.addWidget(self.facts)
        self.same.setContentsMargins(16, 10, 16, 2)
        self.differs.setContentsMargins(16, 6, 16, 4)
        self.sentence.setContentsMargins(16, 8, 16, 0)
        self._show_common(burst)
        bar = QHBoxLayout()
        bar.setContentsMargins(16, 8, 16, 12)
        bar.setSpacing(8)
        # Nothing else ever stands where Approve does: a second click there is none on Stop.
        for button in (self.deny, self.stop, self.leave, self.secrets):
            bar.addWidget(button)
        bar.addSpacing(APART)
        bar.addStretch(1)
        bar.addWidget(self.approve)
        for button in (self.deny, self.stop, self.leave, self.approve):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.secrets.setVisible(burst.plain is not None)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(head)
        above: tuple[QWidget, ...] = (self.same, self.common, self.differs, separator())
        for one in above:
            box.addWidget(one)
        box.addWidget(self.table, 1)
        box.addStretch(0)
        below: tuple[QWidget, ...] = (
            self.progress,
            separator(),
            self.banners,
            self.editor,
            self.sentence,
        )
        for one in below:
            box.addWidget(one)
        box.addLayout(bar)

    def _show_common(self, burst: Burst) -> None:
        self.common.show_fields(burst.table.common)
        self.same.setVisible(not self.common.isHidden())
        columns = burst.table.columns
        if all(field.kind is Kind.CALL for field in columns):
            self.differs.setText(_("Nothing in them differs"))
        self.differs.setVisible(len(burst.table.members) > 1)
        self.table.setVisible(bool(burst.table.members))

    def show_secrets(self, burst: Burst, *, shown: bool) -> None:
        """Show the values with their secrets, or without them again."""
        table = burst.plain if shown and burst.plain is not None else burst.table
        self.model.show(table)
        self.common.show_fields(table.common)

    def show_notices(self, notices: list[Notice]) -> bool:
        """Show what has to be said above the table; True when something new came up."""
        return self.banners.show_notices(notices)

    # --- What is in view ------------------------------------------------------------------------

    def on_screen(self) -> bool:
        """Whether this window is before the eyes: active, exposed and not minimised."""
        handle = self.windowHandle()
        return (
            bool(handle) and handle.isExposed() and self.isActiveWindow() and not self.isMinimized()
        )

    def forget_sight(self) -> None:
        """What was in view before counts no more."""
        self.common.forget_sight()
        self.table.forget_sight()

    def look(self) -> None:
        """Take in what is in view now."""
        self.common.look()
        self.table.look()

    def read_on(self) -> None:
        """Go to what is missing: page by page through what is shared, then to the last row."""
        self.look()
        if not self.common.read_on():
            self.table.scrollToBottom()

    def unseen(self) -> str:
        """What was not in view yet, in words; "" once all was, with the last row in view now."""
        if not self.banners.whole():
            return _("The window is too low to show everything")
        if not self.common.wholly_seen():
            return _("Not all of what is the same was seen \u00b7 End")
        if (below := self.table.rows_below()) > 0:
            return counted(
                "{n} row below not seen \u00b7 End", "{n} rows below not seen \u00b7 End", below
            )
        if not self.table.width_seen():
            return _("Not all columns were seen \u00b7 Right")
        if (odd := self.table.oddities_unseen()) > 0:
            return counted(
                "{n} unusual value was not in view \u00b7 Home",
                "{n} unusual values were not in view \u00b7 Home",
                odd,
            )
        return ""

    def event(self, event: QEvent) -> bool:
        """Tell at once when it comes before the eyes or leaves them; ask for the room it needs."""
        handled = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._need_room()
        if event.type() in (
            QEvent.Type.WindowActivate,
            QEvent.Type.WindowDeactivate,
            QEvent.Type.WindowStateChange,
        ):
            self.activity.emit()
        return handled

    # --- Closing --------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """The higher, the more of what is shared."""
        super().resizeEvent(event)
        self.common.fit()
        if event.size().width() != event.oldSize().width():
            self._need_room()

    def _need_room(self) -> None:
        """Ask for as much as the texts take in their type and this width, if the screen has it.

        A least size that is set replaces that of the layout, which knows of no lines that wrap.
        """
        layout = self.layout()
        assert layout is not None
        width = max(LEAST.width(), layout.totalMinimumSize().width())
        needed = layout.minimumHeightForWidth(max(width, self.width()))
        if not self.common.isHidden():
            # What is shared scrolls: lower, the window would show less of it.
            rest = needed - self.common.height()
            needed = rest + self.common.least_beside(rest)
        height = max(LEAST.height(), needed)
        there = self.screen().availableGeometry().size()
        self.setMinimumSize(QSize(width, height).boundedTo(there))

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Closed by its frame: whoever carries the burst out decides when."""
        if self._may_close:
            super().closeEvent(event)
            return
        event.ignore()
        self.leaving.emit()

    def end(self) -> None:
        """Close it for good."""
        self._may_close = True
        self.close()
