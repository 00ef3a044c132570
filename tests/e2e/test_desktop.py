"""The desktop that the other end-to-end tests trust: a real click and real keys arrive."""

import subprocess
import sys
from pathlib import Path

from tests.e2e.desktop import Desktop, virtual_desktop, wait_for

BARE_WINDOW = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget

said = Path(sys.argv[1])
app = QApplication([])
window = QWidget(windowTitle="Bare window")
button, line = QPushButton("Approve"), QLineEdit()
button.setFixedSize(200, 60)
layout = QVBoxLayout(window)
layout.addWidget(button)
layout.addWidget(line)
button.clicked.connect(lambda: said.write_text("clicked"))
line.returnPressed.connect(lambda: said.write_text(line.text()))
window.show()
sys.exit(app.exec())
"""


def said(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


def test_a_click_and_keys_reach_a_window(desktop: Desktop, tmp_path: Path):
    answer = tmp_path / "answer"
    with desktop.started([sys.executable, "-c", BARE_WINDOW, str(answer)]) as child:
        window = desktop.window("^Bare window$", pid=child.pid)
        desktop.activate(window)
        desktop.click(window.width / 2, 30, window)
        wait_for("the click", lambda: said(answer, "clicked"))

        desktop.press("Tab")
        desktop.type("let it pass")
        desktop.press("Return")
        wait_for("the typed text", lambda: said(answer, "let it pass"))

        picture = desktop.screenshot(tmp_path / "screen.png")
        assert picture.read_bytes().startswith(b"\x89PNG")

        desktop.close(window)
        assert child.wait(20) == 0


def test_two_desktops_do_not_meet(desktop: Desktop, tmp_path: Path):
    with virtual_desktop(tmp_path) as other:
        assert other.display != desktop.display
        assert other.bus != desktop.bus
    alive = subprocess.run(["xdpyinfo"], env=desktop.env, capture_output=True, check=False)
    gone = subprocess.run(["xdpyinfo"], env=other.env, capture_output=True, check=False)
    assert (alive.returncode, gone.returncode) == (0, 1)
