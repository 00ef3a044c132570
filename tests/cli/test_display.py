import socket
import sys

import pytest

from lineclear.cli.display import addresses, has_display

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="displays with sockets")


def test_a_named_display_that_does_not_answer_is_none(tmp_path):
    assert not has_display({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert not has_display({"DISPLAY": ":4711"})
    assert not has_display({})


def test_a_wayland_socket_that_listens_is_one(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-7"))
        server.listen()
        assert has_display({"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(tmp_path)})
        assert has_display({"WAYLAND_DISPLAY": str(tmp_path / "wayland-7")})


def test_qt_without_a_display_needs_none():
    assert has_display({"QT_QPA_PLATFORM": "offscreen"})
    assert has_display({"QT_QPA_PLATFORM": "vnc:port=5901"})
    assert not has_display({"QT_QPA_PLATFORM": "xcb"})


def test_a_remote_display_is_asked_by_its_port():
    assert list(addresses({"DISPLAY": "desk:10.0"})) == [(socket.AF_INET, ("desk", 6010))]
    assert list(addresses({"DISPLAY": "nonsense"})) == []
