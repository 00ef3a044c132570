"""How the window looks: colours by the palette's lightness, type from the system's size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from lineclear.ui import assets

SPACE = 8
ROW_HEIGHT = 28
BAR_HEIGHT = 56
GLYPH = 14


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours in use, as `#rrggbb`; own ones only for stop, care and ok."""

    dark: bool
    window: str
    base: str
    text: str
    muted: str
    line: str
    hover: str
    accent: str
    on_accent: str
    selected: str
    selected_idle: str
    """A selection in a list that has not the focus."""
    stop: str
    stop_back: str
    care: str
    care_back: str
    ok: str
    note_back: str


def blend(over: QColor, under: QColor, share: float) -> QColor:
    """Mix two colours: SHARE (0 to 1) of OVER on UNDER."""
    return QColor.fromRgbF(
        over.redF() * share + under.redF() * (1 - share),
        over.greenF() * share + under.greenF() * (1 - share),
        over.blueF() * share + under.blueF() * (1 - share),
    )


def tokens_of(palette: QPalette) -> Tokens:
    """Choose every colour from PALETTE and its lightness."""
    base = palette.color(QPalette.ColorRole.Base)
    text = palette.color(QPalette.ColorRole.Text)
    window = palette.color(QPalette.ColorRole.Window)
    accent = palette.color(QPalette.ColorRole.Accent)
    dark = base.lightness() < text.lightness()
    on_accent = "#ffffff" if accent.lightness() < 140 else "#101214"
    return Tokens(
        dark=dark,
        window=window.name(),
        base=base.name(),
        text=text.name(),
        muted=blend(text, base, 0.66).name(),
        line=blend(text, base, 0.14 if dark else 0.11).name(),
        hover=blend(text, base, 0.05).name(),
        accent=accent.name(),
        on_accent=on_accent,
        selected=blend(accent, base, 0.30 if dark else 0.16).name(),
        selected_idle=blend(accent, base, 0.16 if dark else 0.08).name(),
        stop="#FF9C91" if dark else "#A1190F",
        stop_back="#3A1D1B" if dark else "#FBE9E7",
        care="#F0B84A" if dark else "#7A4A00",
        care_back="#352910" if dark else "#FFF3D6",
        ok="#7FD3A1" if dark else "#1A6B3A",
        note_back=blend(text, base, 0.08 if dark else 0.05).name(),
    )


def own_palette(*, dark: bool) -> QPalette:
    """Lineclear's neutral palette, for desktops that bring none of their own."""
    role = QPalette.ColorRole
    colours = {
        role.Window: ("#F4F5F6", "#1B1D20"),
        role.WindowText: ("#1C1E21", "#E6E8EA"),
        role.Base: ("#FFFFFF", "#222529"),
        role.AlternateBase: ("#F8F9FA", "#262A2E"),
        role.Text: ("#1C1E21", "#E6E8EA"),
        role.PlaceholderText: ("#6B7076", "#969CA3"),
        role.Button: ("#F4F5F6", "#2A2E33"),
        role.ButtonText: ("#1C1E21", "#E6E8EA"),
        role.BrightText: ("#FFFFFF", "#FFFFFF"),
        role.Highlight: ("#2B5FC7", "#7FA8F5"),
        role.HighlightedText: ("#FFFFFF", "#101214"),
        role.Accent: ("#2B5FC7", "#7FA8F5"),
        role.Link: ("#2B5FC7", "#7FA8F5"),
        role.LinkVisited: ("#2B5FC7", "#7FA8F5"),
        role.ToolTipBase: ("#1C1E21", "#E6E8EA"),
        role.ToolTipText: ("#FFFFFF", "#1B1D20"),
        role.Mid: ("#C9CCD0", "#3A3F45"),
        role.Dark: ("#A9ADB2", "#15171A"),
        role.Light: ("#FFFFFF", "#33383E"),
        role.Midlight: ("#E6E8EA", "#2F343A"),
        role.Shadow: ("#6B7076", "#000000"),
    }
    palette = QPalette()
    for which, (light, night) in colours.items():
        palette.setColor(which, QColor(night if dark else light))
    faded = QColor("#7C828A" if dark else "#8A9097")
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, faded)
    return palette


def has_own_theme(app: QApplication) -> bool:
    """Tell whether the desktop gave Qt a palette of its own."""
    standard = app.style().standardPalette()
    roles = (QPalette.ColorRole.Window, QPalette.ColorRole.Base, QPalette.ColorRole.Highlight)
    return any(app.palette().color(which) != standard.color(which) for which in roles)


class Theme(QObject):
    """The look in force; `changed` when the palette's lightness or colours change."""

    changed = Signal()

    def __init__(self, app: QApplication, *, dark: bool | None = None) -> None:
        super().__init__(app)
        self._app = app
        self._applying = False
        self._given = dark
        self._choice = "system"
        self.still = False
        """Nothing moves by itself."""
        # A style sheet of ours stands before the style from here on, and has no name.
        self._style = app.property("plainStyle") or app.style().name()
        app.setProperty("plainStyle", self._style)
        if self._style == "fusion" and (dark is not None or not has_own_theme(app)):
            scheme = app.styleHints().colorScheme()
            self._own = True
            night = dark if dark is not None else scheme == Qt.ColorScheme.Dark
            app.setPalette(own_palette(dark=night))
        else:
            self._own = False
        self.tokens = tokens_of(app.palette())
        self._apply()
        app.installEventFilter(self)
        app.styleHints().colorSchemeChanged.connect(self._scheme_changed)

    def stop(self) -> None:
        """Follow the palette no longer."""
        self._app.removeEventFilter(self)
        self._app.styleHints().colorSchemeChanged.disconnect(self._scheme_changed)

    def choose(self, choice: str) -> None:
        """Be `light` or `dark`, or follow the desktop: `system`."""
        if choice == self._choice:
            return
        self._choice = choice
        if self._style != "fusion":
            schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
            self._app.styleHints().setColorScheme(schemes.get(choice, Qt.ColorScheme.Unknown))
        elif choice != "system":
            self._app.setPalette(own_palette(dark=choice == "dark"))
        elif self._own:
            scheme = self._app.styleHints().colorScheme()
            night = scheme == Qt.ColorScheme.Dark if self._given is None else self._given
            self._app.setPalette(own_palette(dark=night))
        else:
            # The desktop's own.
            self._app.setPalette(QPalette())

    def keep_still(self, *, on: bool) -> None:
        """Let nothing move by itself, or let it again."""
        if on is not self.still:
            self.still = on
            self.changed.emit()

    def _scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        if self._own and self._choice == "system" and self._given is None:
            self._app.setPalette(own_palette(dark=scheme == Qt.ColorScheme.Dark))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Follow the application's palette."""
        if (
            watched is self._app
            and event.type() == QEvent.Type.ApplicationPaletteChange
            and not self._applying
        ):
            fresh = tokens_of(self._app.palette())
            if fresh != self.tokens:
                self.tokens = fresh
                self._apply()
                self.changed.emit()
        return False

    def _apply(self) -> None:
        self._applying = True
        try:
            self._app.setStyleSheet(stylesheet(self.tokens))
        finally:
            self._applying = False


# --- Type ---------------------------------------------------------------------------------------


def _system(which: QFontDatabase.SystemFont) -> QFont:
    font = QFontDatabase.systemFont(which)
    if font.pointSizeF() <= 0:
        font.setPointSizeF(10.0)
    return font


def body_font(*, tabular: bool = False) -> QFont:
    """The system's own type; TABULAR figures for columns of numbers."""
    font = _system(QFontDatabase.SystemFont.GeneralFont)
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
    font = _system(QFontDatabase.SystemFont.FixedFont)
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


def stylesheet(t: Tokens) -> str:
    """The few rules that every widget follows; colours from the tokens only."""
    button_back = "transparent"
    # A file, since Qt's style sheets take no other picture; one grey for light and dark.
    chevron = assets.path("icons/chevron.svg").replace("\\", "/").replace('"', "")
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
    QTreeView::item {{ padding: 3px 4px; }}
    QTreeView::item:selected {{ background: {t.selected}; color: {t.text}; }}
    QPlainTextEdit {{ background: {t.base}; color: {t.text}; border: none; padding: 4px; }}
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
    QAbstractSpinBox:focus {{ border: 1px solid {t.accent}; }}
    QAbstractSpinBox:disabled, QLineEdit:disabled, QCheckBox:disabled {{ color: {t.muted}; }}
    QScrollArea#settingsPage, QWidget#settingsBody {{ background: {t.base}; border: none; }}
    QWidget#settings, QListView#settingsPages {{ background: {t.window}; }}
    QFrame#card {{ background: {t.base}; border: 1px solid {t.line}; border-radius: 6px; }}
    QPlainTextEdit#boxed {{ border: 1px solid {t.line}; border-radius: 6px; padding: 5px 8px; }}
    QPlainTextEdit#boxed:focus {{ border: 1px solid {t.accent}; }}
    QComboBox {{
        background: {t.base}; color: {t.text}; border: 1px solid {t.line};
        border-radius: 6px; padding: 5px 8px;
    }}
    QComboBox:focus {{ border: 1px solid {t.accent}; }}
    QComboBox:disabled {{ color: {t.muted}; }}
    QComboBox::drop-down {{ border: none; width: 22px; }}
    QComboBox::down-arrow {{ image: url("{chevron}"); width: 14px; height: 14px; }}
    QComboBox QAbstractItemView {{ border: 1px solid {t.line}; padding: 2px; }}
    QPlainTextEdit#reason:focus, QPlainTextEdit#yours:focus,
    QLineEdit:focus {{ border: 1px solid {t.accent}; }}
    QPushButton {{
        background: {button_back}; color: {t.text}; border: 1px solid {t.line};
        border-radius: 6px; padding: 6px 12px;
    }}
    QPushButton:hover {{ background: {t.hover}; }}
    QPushButton:pressed {{ background: {t.line}; }}
    QPushButton:focus {{ border: 1px solid {t.accent}; }}
    QPushButton:disabled {{ color: {t.muted}; background: transparent; }}
    QPushButton[flat="true"] {{ border: 1px solid transparent; padding: 6px 8px; }}
    QPushButton[flat="true"]:hover {{ background: {t.hover}; }}
    QPushButton[flat="true"]:focus {{ border: 1px solid {t.accent}; }}
    QPushButton[flat="true"]:checked {{ color: {t.accent}; }}
    QPushButton#addFolder {{ margin-left: 5px; }}
    QPushButton#asText {{ margin-right: 7px; }}
    QPushButton#pill {{
        background: {t.accent}; color: {t.on_accent}; border: none;
        border-radius: 13px; padding: 5px 14px;
    }}
    QPushButton[chip="true"] {{ padding: 3px 10px; border-radius: 6px; }}
    QCheckBox {{ spacing: 6px; }}
    QCheckBox::indicator {{
        width: 12px; height: 12px; border: 1px solid {t.muted}; border-radius: 3px;
        background: {t.base};
    }}
    QCheckBox::indicator:checked {{
        width: 6px; height: 6px; border: 4px solid {t.accent}; background: {t.on_accent};
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
    QTabBar::tab:selected {{ color: {t.text}; border-bottom: 2px solid {t.accent}; }}
    QTabBar::tab:hover {{ color: {t.text}; }}
    QTabBar:focus {{ outline: none; }}
    QTabBar::tab:focus {{ color: {t.accent}; }}
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
    QLabel[tone="muted"] {{ color: {t.muted}; }}
    QLabel[tone="accent"] {{ color: {t.accent}; }}
    QLabel[tone="stop"] {{ color: {t.stop}; }}
    QLabel[tone="care"] {{ color: {t.care}; }}
    QLabel[tone="ok"] {{ color: {t.ok}; }}
    QWidget[banner="stop"] {{ background: {t.stop_back}; border-radius: 6px; }}
    QWidget[banner="stop"] QLabel, QWidget[banner="stop"] QPushButton {{ color: {t.stop}; }}
    QWidget[banner="care"] {{ background: {t.care_back}; border-radius: 6px; }}
    QWidget[banner="care"] QLabel, QWidget[banner="care"] QPushButton {{ color: {t.care}; }}
    QWidget[banner="note"] {{ background: {t.note_back}; border-radius: 6px; }}
    QWidget[banner="demo"] {{ background: {t.care_back}; }}
    QWidget[banner="demo"] QLabel, QWidget[banner="demo"] QPushButton {{ color: {t.care}; }}
    """
