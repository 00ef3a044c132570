"""How the window looks: colours by the palette's lightness, type from the system's size."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QByteArray, QDir, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from lineclear.ui import assets
from lineclear.ui.contrast import blend
from lineclear.ui.tokens import Tokens, own_palette, tokens_of

if TYPE_CHECKING:
    from PySide6.QtGui import QAccessibilityHints, QStyleHints

__all__ = ["BAR_HEIGHT", "GLYPH", "HIGH_CONTRAST", "ROW_HEIGHT", "SPACE"]
__all__ += ["Theme", "Tokens", "app_icon", "blend", "body_font", "glyph", "has_own_theme"]
__all__ += ["mono_font", "own_palette", "small_font", "stylesheet", "title_font", "tokens_of"]

SPACE = 8
ROW_HEIGHT = 28
BAR_HEIGHT = 56
GLYPH = 14
HIGH_CONTRAST = "high-contrast"
PICTURES = "pictures"
"""What stands before the name of a shipped picture where Qt looks for the file itself."""


def has_own_theme(app: QApplication) -> bool:
    """Tell whether the desktop gave Qt a palette of its own."""
    standard = app.style().standardPalette()
    roles = (QPalette.ColorRole.Window, QPalette.ColorRole.Base, QPalette.ColorRole.Highlight)
    return any(app.palette().color(which) != standard.color(which) for which in roles)


@cache
def _hints(app: QApplication) -> tuple[QStyleHints, QAccessibilityHints | None]:
    """What the platform tells; of contrast nothing before Qt 6.10."""
    hints = app.styleHints()
    ask = getattr(hints, "accessibility", None)
    # Kept together: without the first PySide6 takes the second to be deleted.
    return hints, None if ask is None else cast("QAccessibilityHints", ask())


class Theme(QObject):
    """The look in force; `changed` when a colour changes, or whether anything may move."""

    changed = Signal()

    def __init__(self, app: QApplication, *, dark: bool | None = None) -> None:
        super().__init__(app)
        self._app = app
        self._applying = False
        self._given = dark
        self._choice = "system"
        self._desktop_high = False
        self._asked_still = False
        self._desktop_still = False
        # A style sheet of ours stands before the style from here on, and has no name.
        self._style = app.property("plainStyle") or app.style().name()
        app.setProperty("plainStyle", self._style)
        self._own = self._style == "fusion" and (dark is not None or not has_own_theme(app))
        if self._own:
            app.setPalette(own_palette(dark=self._night(), high=self._high()))
        self.tokens = tokens_of(app.palette(), high=self._high())
        self._apply()
        app.installEventFilter(self)
        hints, contrast_hints = _hints(app)
        hints.colorSchemeChanged.connect(self._desktop_changed)
        if contrast_hints is not None:
            contrast_hints.contrastPreferenceChanged.connect(self._desktop_changed)

    def stop(self) -> None:
        """Follow the palette no longer."""
        self._app.removeEventFilter(self)
        hints, contrast_hints = _hints(self._app)
        hints.colorSchemeChanged.disconnect(self._desktop_changed)
        if contrast_hints is not None:
            contrast_hints.contrastPreferenceChanged.disconnect(self._desktop_changed)

    # --- What the operator and the desktop want -------------------------------------------------

    @property
    def still(self) -> bool:
        """Nothing moves by itself."""
        return self._asked_still or self._desktop_still

    def choose(self, choice: str) -> None:
        """Be `light`, `dark` or of `HIGH_CONTRAST`, or follow the desktop: `system`."""
        if choice == self._choice:
            return
        self._choice = choice
        if self._style != "fusion":
            schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
            self._app.styleHints().setColorScheme(schemes.get(choice, Qt.ColorScheme.Unknown))
        elif choice != "system" or self._own:
            self._app.setPalette(own_palette(dark=self._night(), high=self._high()))
        else:
            # The desktop's own.
            self._app.setPalette(QPalette())
        self._take_tokens()

    def keep_still(self, *, on: bool) -> None:
        """Let nothing move by itself, or as the desktop wants it."""
        was, self._asked_still = self.still, on
        if was is not self.still:
            self.changed.emit()

    def follow_desktop(self, *, high: bool | None = None, still: bool | None = None) -> None:
        """The desktop wants high contrast, or no motion; None: it says nothing about it."""
        was = self.still
        if still is not None:
            self._desktop_still = still
        if high is not None and high is not self._desktop_high:
            self._desktop_high = high
            self._desktop_changed()
        if was is not self.still:
            self.changed.emit()

    def _night(self) -> bool:
        if self._choice in ("light", "dark"):
            return self._choice == "dark"
        if self._given is not None:
            return self._given
        return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def _high(self) -> bool:
        hints = _hints(self._app)[1]
        preferred = hints is not None and (
            hints.contrastPreference() is Qt.ContrastPreference.HighContrast
        )
        return self._choice == HIGH_CONTRAST or self._desktop_high or preferred

    def _desktop_changed(self) -> None:
        ours = self._style == "fusion" and (self._own or self._choice != "system")
        if ours:
            self._app.setPalette(own_palette(dark=self._night(), high=self._high()))
        self._take_tokens()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Follow the application's palette."""
        if (
            watched is self._app
            and event.type() == QEvent.Type.ApplicationPaletteChange
            and not self._applying
        ):
            self._take_tokens()
        return False

    def _take_tokens(self) -> None:
        fresh = tokens_of(self._app.palette(), high=self._high())
        if fresh != self.tokens:
            self.tokens = fresh
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._applying = True
        try:
            self._app.setStyleSheet(stylesheet(self.tokens))
        finally:
            self._applying = False


# --- Type ---------------------------------------------------------------------------------------


def _sized(font: QFont) -> QFont:
    if font.pointSizeF() <= 0:
        font.setPointSizeF(10.0)
    return font


def body_font(*, tabular: bool = False) -> QFont:
    """The system's own type; TABULAR figures for columns of numbers."""
    font = _sized(QFont(QApplication.font()))
    if tabular:
        font.setFeature(QFont.Tag("tnum"), 1)
    return font


def title_font() -> QFont:
    """1.3 times the system's size, semibold."""
    font = body_font()
    font.setPointSizeF(font.pointSizeF() * 1.3)
    font.setWeight(QFont.Weight.DemiBold)
    return font


def small_font(*, tabular: bool = False) -> QFont:
    """0.9 times the system's size, at least 8 points."""
    font = body_font(tabular=tabular)
    font.setPointSizeF(max(8.0, font.pointSizeF() * 0.9))
    return font


def mono_font() -> QFont:
    """For arguments, commands, paths, digests and ids only."""
    font = _sized(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    font.setPointSizeF(body_font().pointSizeF())
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


# --- Glyphs -------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def glyph(name: str, colour: str, ratio: float = 1.0, side: int = GLYPH) -> QPixmap:
    """A shipped SVG, drawn in COLOUR at SIDE logical pixels."""
    source = assets.read(f"icons/{name}.svg").replace(b"currentColor", colour.encode())
    pixmap = QPixmap(QSize(side, side) * ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(source)).render(painter)
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def app_icon() -> QIcon:
    """The program's own icon."""
    icon = QIcon()
    for side in (16, 24, 32, 48, 64, 128, 256):
        icon.addPixmap(glyph("lineclear", "#000000", 1.0, side))
    return icon


# --- Widgets ------------------------------------------------------------------------------------


def _picture(name: str) -> str:
    """Name a picture as a style sheet may, whatever the folder is called that it lies in."""
    QDir.setSearchPaths(PICTURES, [assets.path("icons")])
    return f"{PICTURES}:{name}.svg"


def stylesheet(t: Tokens) -> str:
    """The few rules that every widget follows; colours from the tokens only."""
    button_back = "transparent"

    # The padding of what gets a wider edge is not made up for: it grows by a pixel, and is seen.
    ring = "2px" if t.high else "1px"

    def edge(colour: str) -> str:
        return f"1px solid {colour}" if t.high else "none"

    # A file, since Qt's style sheets take no other picture; one grey for light and dark.
    chevron = _picture("chevron")
    tick = _picture("check-light" if QColor(t.on_accent).lightness() > 127 else "check-dark")
    return f"""
    QMainWindow, QWidget#shell, QWidget#topBar, QWidget#statusLine {{ background: {t.window}; }}
    QWidget#readingPane, QWidget#page {{ background: {t.base}; }}
    QSplitter::handle {{ background: {t.line}; }}
    QSplitter#askedAndYours::handle {{ background: transparent; }}
    QSplitter::handle:horizontal {{ width: 1px; }}
    QSplitter::handle:vertical {{ height: 1px; }}
    QFrame#betweenSides {{ background: {t.line}; border: none; max-width: 1px; min-width: 1px; }}
    QFrame#settingsEdge {{ background: {t.line}; border: none; max-width: 1px; min-width: 1px; }}
    QFrame#separator {{ background: {t.line}; border: none; max-height: 1px; min-height: 1px; }}
    QAbstractItemView {{
        background: {t.base}; border: none; outline: none; color: {t.text};
        selection-background-color: {t.selected}; selection-color: {t.text};
    }}
    QListView#sidebar, QListView#sources {{ background: {t.window}; }}
    QHeaderView {{ background: {t.base}; border: none; }}
    QHeaderView::section {{
        background: {t.base}; color: {t.muted}; border: none;
        border-bottom: 1px solid {t.line}; padding: 4px 8px;
    }}
    QHeaderView::up-arrow, QHeaderView::down-arrow {{
        subcontrol-origin: border; subcontrol-position: top center; width: 7px; height: 7px;
    }}
    QTableCornerButton::section {{ background: {t.base}; border: none; }}
    QTreeView {{ border: 1px solid transparent; border-radius: 4px; }}
    QTreeView:focus {{ border: {ring} solid {t.focus}; }}
    QTreeView::item {{ padding: 3px 4px; }}
    QTreeView::item:selected {{ background: {t.selected}; color: {t.text}; }}
    QPlainTextEdit {{
        background: {t.base}; color: {t.text}; border: 1px solid transparent; padding: 3px;
    }}
    QPlainTextEdit:focus {{ border: {ring} solid {t.focus}; border-radius: 4px; }}
    QPlainTextEdit#asked {{ border: 1px solid {t.line}; border-radius: 6px; padding: 5px 8px; }}
    QPlainTextEdit#reason, QPlainTextEdit#yours, QLineEdit {{
        background: {t.base}; color: {t.text}; border: 1px solid {t.line};
        border-radius: 6px; padding: 5px 8px;
        selection-background-color: {t.accent}; selection-color: {t.on_accent};
    }}
    QAbstractSpinBox {{
        background: {t.base}; color: {t.text}; border: 1px solid {t.line};
        border-radius: 6px; padding: 5px 8px;
        selection-background-color: {t.accent}; selection-color: {t.on_accent};
    }}
    QLineEdit, QPlainTextEdit {{ placeholder-text-color: {t.muted}; }}
    QAbstractSpinBox QLineEdit {{ border: none; padding: 0 8px; background: transparent; }}
    QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ width: 0; border: none; }}
    QAbstractSpinBox:focus {{ border: {ring} solid {t.focus}; }}
    QAbstractSpinBox:disabled, QLineEdit:disabled, QCheckBox:disabled {{ color: {t.muted}; }}
    QScrollArea#settingsPage, QWidget#settingsBody {{ background: {t.base}; border: none; }}
    QScrollArea#settingsPage, QScrollArea#keysScrolled {{
        border: 1px solid transparent; border-radius: 4px;
    }}
    QScrollArea#settingsPage:focus, QScrollArea#keysScrolled:focus {{
        border: {ring} solid {t.focus};
    }}
    QWidget#settings, QListView#settingsPages {{ background: {t.window}; }}
    QFrame#card {{ background: {t.base}; border: 1px solid {t.line}; border-radius: 6px; }}
    QPlainTextEdit#boxed {{ border: 1px solid {t.line}; border-radius: 6px; padding: 5px 8px; }}
    QPlainTextEdit#boxed:focus {{ border: {ring} solid {t.focus}; }}
    QComboBox {{
        background: {t.base}; color: {t.text}; border: 1px solid {t.line};
        border-radius: 6px; padding: 5px 8px;
    }}
    QComboBox:focus {{ border: {ring} solid {t.focus}; }}
    QComboBox:disabled {{ color: {t.muted}; }}
    QComboBox::drop-down {{ border: none; width: 22px; }}
    QComboBox::down-arrow {{ image: url("{chevron}"); width: 14px; height: 14px; }}
    QComboBox QAbstractItemView {{ border: 1px solid {t.line}; padding: 2px; }}
    QPlainTextEdit#reason:focus, QPlainTextEdit#yours:focus,
    QLineEdit:focus {{ border: {ring} solid {t.focus}; }}
    QPushButton {{
        background: {button_back}; color: {t.text}; border: 1px solid {t.line};
        border-radius: 6px; padding: 6px 12px;
    }}
    QPushButton:hover {{ background: {t.hover}; }}
    QPushButton:pressed {{ background: {t.line}; }}
    QPushButton:focus {{ border: {ring} solid {t.focus}; }}
    QPushButton:disabled {{ color: {t.muted}; background: transparent; }}
    QPushButton[flat="true"] {{ border: 1px solid transparent; padding: 6px 8px; }}
    QPushButton[flat="true"]:hover {{ background: {t.hover}; }}
    QPushButton[flat="true"]:focus {{ border: {ring} solid {t.focus}; }}
    QPushButton[flat="true"]:checked {{ color: {t.link}; }}
    QPushButton#sections[alarm="true"] {{
        background: {t.stop_back}; color: {t.stop}; font-weight: 600;
    }}
    QPushButton#addFolder {{ margin-left: 5px; }}
    QPushButton#asText {{ margin-right: 7px; }}
    QPushButton[inLine="true"] {{
        border: 1px solid transparent; border-radius: 4px; padding: 0 6px; color: {t.accent};
    }}
    QPushButton[inLine="true"][tone="stop"] {{ color: {t.stop}; }}
    QPushButton[inLine="true"]:hover {{ background: {t.hover}; }}
    QPushButton[inLine="true"]:focus {{ border-color: {t.accent}; }}
    QPushButton#pill {{
        background: {t.accent}; color: {t.on_accent}; border: none;
        border-radius: 8px; padding: 2px 12px;
    }}
    QPushButton[chip="true"] {{ padding: 3px 8px; border-radius: 6px; }}
    QCheckBox {{ spacing: 6px; }}
    QCheckBox::indicator {{
        width: 12px; height: 12px; border: 1px solid {t.muted}; border-radius: 3px;
        background: {t.base};
    }}
    QCheckBox::indicator:checked {{
        border: 1px solid {t.accent}; background: {t.accent}; image: url("{tick}");
    }}
    QCheckBox::indicator:focus {{ border-color: {t.text}; }}
    QCheckBox::indicator:disabled {{ border-color: {t.line}; }}
    QRadioButton {{ spacing: 6px; }}
    QRadioButton::indicator {{
        width: 12px; height: 12px; border: 1px solid {t.muted}; border-radius: 7px;
        background: {t.base};
    }}
    QRadioButton::indicator:checked {{
        width: 6px; height: 6px; border: 4px solid {t.accent}; background: {t.on_accent};
    }}
    QRadioButton::indicator:focus {{ border-color: {t.text}; }}
    QRadioButton::indicator:disabled {{ border-color: {t.line}; }}
    QTabWidget::pane {{ border: none; border-top: 1px solid {t.line}; background: {t.base}; }}
    QTabBar {{ background: {t.base}; }}
    QTabBar::tab {{
        background: transparent; color: {t.muted}; border: none;
        border-bottom: 2px solid transparent; padding: 7px 2px 6px 2px; margin: 0 8px;
    }}
    QTabBar::tab:first {{ margin-left: 16px; }}
    QTabBar[close="true"]::tab {{ margin: 0 4px; }}
    QTabBar[close="true"]::tab:first {{ margin-left: 16px; }}
    QTabBar::scroller, QTabBar::tear {{ width: 0; }}
    QTabBar::tab:selected {{ color: {t.text}; border-bottom: 2px solid {t.accent}; }}
    QTabBar::tab:hover {{ color: {t.text}; }}
    QTabBar:focus {{ outline: none; }}
    QTabBar::tab:focus {{ color: {t.link}; background: {t.selected}; }}
    QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
    QScrollBar::handle {{ background: {t.line}; border-radius: 4px; margin: 2px; }}
    QScrollBar::handle:vertical {{ min-height: 28px; }}
    QScrollBar::handle:horizontal {{ min-width: 28px; }}
    QScrollBar::handle:hover {{ background: {t.muted}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QMenu {{ background: {t.base}; color: {t.text}; border: 1px solid {t.line}; padding: 4px; }}
    QMenu::item {{ padding: 5px 22px; border-radius: 4px; }}
    QMenu::item:selected {{ background: {t.selected}; }}
    QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}
    QToolTip {{
        background: {t.text}; color: {t.base}; border: none; padding: 4px 6px;
    }}
    QFrame#totalsCard {{ background: {t.base}; border: 1px solid {t.line}; }}
    QLabel[tone="muted"] {{ color: {t.muted}; }}
    QLabel[tone="accent"] {{ color: {t.link}; }}
    QLabel[tone="stop"] {{ color: {t.stop}; }}
    QLabel[tone="care"] {{ color: {t.care}; }}
    QLabel[tone="ok"] {{ color: {t.ok}; }}
    QWidget[banner="stop"] {{
        background: {t.stop_back}; border-radius: 6px; border: {edge(t.stop)};
    }}
    QWidget[banner="stop"] QLabel, QWidget[banner="stop"] QPushButton {{ color: {t.stop}; }}
    QWidget[banner="care"] {{
        background: {t.care_back}; border-radius: 6px; border: {edge(t.care)};
    }}
    QWidget[banner="care"] QLabel, QWidget[banner="care"] QPushButton {{ color: {t.care}; }}
    QWidget[banner="note"] {{
        background: {t.note_back}; border-radius: 6px; border: {edge(t.muted)};
    }}
    QWidget[banner="demo"] {{ background: {t.care_back}; }}
    QWidget[banner="demo"] QLabel, QWidget[banner="demo"] QPushButton {{ color: {t.care}; }}
    """
