"""Folders: what is watched, how it fares, how it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.core.places import path_text
from lineclear.language import _, counted, translated
from lineclear.ui import theme
from lineclear.ui.frame.bars import separator
from lineclear.ui.frame.sidebar import PAUSED
from lineclear.ui.labels import WholeLabel
from lineclear.ui.settings.flow import Flow
from lineclear.ui.settings.form import Change, Edit, Page, button, in_line, note

ABOUT_REMOVAL = _(
    "Lineclear stops looking into this folder. Nothing on disk is touched: its agents keep"
    " waiting, decisions stand, and other inboxes go on watching it."
)


class FolderCard(QFrame):
    """One watched folder.

    Signals:
        changed(str, object): a field of its setting has a new value.
        removed: it is to be watched no longer; the operator was told what that means.
    """

    changed = Signal(str, object)
    removed = Signal()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.setObjectName("card")
        told = path_text(path)
        shown = visible_line(told)
        self.path = WholeLabel(shown, name="folderPath")
        self.path.setFont(theme.mono_font())
        self.health = note(name="folderHealth")
        self.paused = QCheckBox(_("Pause"))
        self.paused.setAccessibleName(_("Pause {folder}").format(folder=shown))
        self.paused.setToolTip(
            _("A disk cannot be unmounted while a folder on it is watched; pause it first")
        )
        self.polling = QCheckBox(_("Look every 2 s"))
        self.polling.setAccessibleName(_("Look every 2 s into {folder}").format(folder=shown))
        self.polling.setToolTip(
            _("For network and sync folders, where the system tells of nothing")
        )
        self.levels = QSpinBox()
        self.levels.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.levels.setRange(1, 16)
        self.levels.setAccessibleName(_("Levels below {folder}").format(folder=shown))
        self.levels.setToolTip(_("How many folders below it a store may stand"))
        self.remove = button(_("Remove\u2026"), "removeFolder", flat=True)
        self.remove.setAccessibleName(_("Remove {folder}").format(folder=shown))
        self.paused.clicked.connect(lambda on: self.changed.emit("paused", on))
        self.polling.clicked.connect(lambda on: self.changed.emit("polling", on))
        self.levels.editingFinished.connect(lambda: self.changed.emit("depth", self.levels.value()))
        self.remove.clicked.connect(lambda: self.ask_removal(on=True))
        self._lay_out()

    def _lay_out(self) -> None:
        how = QWidget()
        flow = Flow(how, between=18)
        flow.addWidget(self.paused)
        flow.addWidget(self.polling)
        flow.addWidget(in_line(self.levels, _("levels deep")))
        line = QHBoxLayout()
        line.setSpacing(0)
        line.addWidget(how, 1)
        line.addWidget(self.remove, 0, Qt.AlignmentFlag.AlignBottom)
        self.really = QWidget()
        really = QVBoxLayout(self.really)
        really.setContentsMargins(0, 6, 0, 0)
        really.setSpacing(8)
        really.addWidget(separator())
        really.addWidget(note(ABOUT_REMOVAL))
        self.keep = button(_("Keep it"), "keepFolder")
        self.confirm = button(_("Remove from the list"), "confirmRemoval")
        self.keep.clicked.connect(lambda: self.ask_removal(on=False))
        self.confirm.clicked.connect(self.removed)
        really.addWidget(in_line(self.keep, self.confirm))
        self.really.hide()
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 10, 10, 10)
        box.setSpacing(4)
        box.addWidget(self.path)
        box.addWidget(self.health)
        box.addLayout(line)
        box.addWidget(self.really)

    def ask_removal(self, *, on: bool) -> None:
        """Say what removal means and wait for the word, or take the question back."""
        self.really.setVisible(on)
        self.remove.setEnabled(not on)
        (self.keep if on else self.remove).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_setting(self, setting: SourceSetting, health: SourceHealth | None) -> None:
        """Show how it is watched and how it fares."""
        self.paused.setChecked(setting.paused)
        self.polling.setChecked(setting.polling)
        if not self.levels.hasFocus():
            with QSignalBlocker(self.levels):
                self.levels.setValue(setting.depth)
        self.health.setText(_fares(setting, health))
        self.health.set_tone("muted" if setting.paused or health is None or health.ok else "care")


class FoldersPage(Page):
    """The watched folders, one card each.

    Signals:
        add_wanted: one more folder is to be asked for.
        wide_wanted(Path): this one is to be watched although it holds far more than agents.
    """

    add_wanted = Signal()
    wide_wanted = Signal(object)

    def __init__(
        self,
        change: Change,
        health: Callable[[], Sequence[SourceHealth]],
        only: Sequence[SourceSetting] = (),
    ) -> None:
        """ONLY: the folders that this window was started with, in the place of the settings'."""
        super().__init__(
            _("Folders"), _("Agents leave their calls in these; what is below is found.")
        )
        self._change = change
        self._health = health
        self._only = tuple(only)
        self.cards: dict[Path, FolderCard] = {}
        self._cards = QVBoxLayout()
        self._cards.setSpacing(10)
        self.box.addLayout(self._cards)
        self.none = note(name="noFolder")
        self.box.addWidget(self.none)
        self.add = button(_("Add a folder\u2026"), "addSource")
        self.add.clicked.connect(self.add_wanted)
        self.box.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self._wide: Path | None = None
        self.wide = self._ask_of_wide()
        self.box.addWidget(self.wide)
        self.box.addStretch(1)

    def _ask_of_wide(self) -> QFrame:
        card = QFrame()
        card.setObjectName("card")
        self.wide_why = note(name="wideWhy")
        self.wide_why.set_tone("care")
        leave = button(_("Leave it"), "leaveWide")
        take = button(_("Watch all of it"), "takeWide")
        leave.clicked.connect(card.hide)
        take.clicked.connect(self._take_wide)
        box = QVBoxLayout(card)
        box.setContentsMargins(14, 10, 10, 10)
        box.setSpacing(8)
        box.addWidget(self.wide_why)
        box.addWidget(in_line(leave, take))
        card.hide()
        return card

    def ask_of_wide(self, path: Path, why: str) -> None:
        """Say what is wrong with watching PATH, and wait for the word that all of it is meant."""
        self._wide = path
        self.wide_why.setText(why)
        self.wide.show()
        self.ensureWidgetVisible(self.wide)

    def _take_wide(self) -> None:
        self.wide.hide()
        if self._wide is not None:
            self.wide_wanted.emit(self._wide)

    def show_settings(self, settings: Settings) -> None:
        """Show these."""
        sources = {one.path: one for one in settings.sources}
        if list(sources) != list(self.cards):
            self._rebuild(list(sources))
        health = {one.path: one for one in self._health()}
        for path, card in self.cards.items():
            card.show_setting(sources[path], health.get(path))
            card.setEnabled(not self._only)
        self.add.setEnabled(not self._only)
        if self._only:
            self.none.setText(
                _(
                    "This window was started for these folders only; start it without --source to"
                    " change what is watched."
                )
            )
        else:
            self.none.setText("" if sources else _("No folder is watched."))
        self.none.setVisible(bool(self.none.text()))

    def show_folder(self, path: Path) -> None:
        """Bring the card of a folder into view."""
        card = self.cards.get(path)
        if card is not None:
            self.ensureWidgetVisible(card)
            card.paused.setFocus(Qt.FocusReason.OtherFocusReason)

    def _rebuild(self, paths: Sequence[Path]) -> None:
        for path in list(self.cards):
            card = self.cards.pop(path)
            card.hide()
            self._cards.removeWidget(card)
            card.deleteLater()
        for path in paths:
            card = FolderCard(path)
            self.cards[path] = card
            card.changed.connect(
                lambda field, value, path=path: self._change(_changed(path, {field: value}))
            )
            card.removed.connect(lambda path=path: self._change(removed(path)))
            self._cards.addWidget(card)


def _changed(path: Path, values: dict[str, Any]) -> Edit:
    def edit(now: Settings) -> Settings:
        sources = tuple(
            one.model_copy(update=values) if one.path == path else one for one in now.sources
        )
        return now if sources == now.sources else now.model_copy(update={"sources": sources})

    return edit


def paused(path: Path, *, on: bool) -> Edit:
    """Give an edit that pauses a folder, or looks into it again."""
    return _changed(path, {"paused": on})


def all_watched() -> Edit:
    """Give an edit that looks again into all that is paused."""

    def edit(now: Settings) -> Settings:
        sources = tuple(one.model_copy(update={"paused": False}) for one in now.sources)
        return now if sources == now.sources else now.model_copy(update={"sources": sources})

    return edit


def removed(path: Path) -> Edit:
    """Give an edit that takes a folder off the list."""

    def edit(now: Settings) -> Settings:
        sources = tuple(one for one in now.sources if one.path != path)
        return now.model_copy(update={"sources": sources})

    return edit


def _fares(setting: SourceSetting, health: SourceHealth | None) -> str:
    if setting.paused:
        return PAUSED
    if health is None:
        return _("Not looked at yet.")
    told = _("{calls} in {stores}").format(
        calls=counted("{n} open call", "{n} open calls", health.calls),
        stores=counted("{n} store", "{n} stores", health.stores),
    )
    return (
        visible_sentence(translated(health.sentence), 300)
        if health.sentence and not health.ok
        else told
    )
