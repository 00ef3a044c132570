"""A strip pushes what is below it down: it comes only once nobody is about to press there."""

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lineclear.ui.frame.bars import Strip


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
def test_it_waits_until_it_is_calm_and_goes_at_once(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    strip = Strip("trouble", "told")
    QVBoxLayout(host).addWidget(strip)
    strip.hide()
    host.show()
    calm = [False]
    strip.calm = lambda: calm[0]
    strip.setVisible(True)
    assert strip.isHidden()
    calm[0] = True
    qtbot.waitUntil(strip.isVisible)
    calm[0] = False
    strip.setVisible(False)
    assert strip.isHidden()
    strip.setVisible(True)
    strip.setVisible(False)
    assert not strip._later.isActive()
