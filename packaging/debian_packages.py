"""What Lineclear and its tests need of Debian, or of Ubuntu."""

QT_PACKAGES = (
    "fonts-dejavu-core",
    "libdbus-1-3",
    "libegl1",
    "libfontconfig1",
    "libgl1",
    "libglib2.0-0",
    "libwayland-client0",
    "libwayland-cursor0",
    "libwayland-egl1",
    "libx11-xcb1",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-image0",
    "libxcb-keysyms1",
    "libxcb-randr0",
    "libxcb-render-util0",
    "libxcb-shape0",
    "libxcb-shm0",
    "libxcb-sync1",
    "libxcb-xfixes0",
    "libxcb-xkb1",
    "libxkbcommon-x11-0",
    "libxkbcommon0",
)
"""What the PySide6 wheel leaves to the system for X11 and Wayland (from ldd on Debian 12)."""

DESKTOP_PACKAGES = (
    "appstream",
    "at-spi2-core",
    "binutils",
    "dbus",
    "dbus-x11",
    "desktop-file-utils",
    "imagemagick",
    "openbox",
    "wmctrl",
    "x11-utils",
    "xdotool",
    "xvfb",
)
"""The virtual desktop of tests/e2e; binutils, with which PyInstaller writes its programs; and what
checks the menu entry and the AppStream metadata."""
