"""Where the buses are, whatever the environment says."""

import socket

from lineclear.ui.desktop import bus


def test_the_sessions_bus_is_told_or_at_its_usual_place(home, monkeypatch):
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    assert bus.session_address() == ""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home / "bus"))
        assert bus.session_address() == f"unix:path={home / 'bus'}"
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/elsewhere")
    assert bus.session_address() == "unix:path=/elsewhere"


def test_a_place_that_cannot_be_looked_at_has_no_bus(monkeypatch):
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/" + "x" * 300)
    assert bus.session_address() == ""
