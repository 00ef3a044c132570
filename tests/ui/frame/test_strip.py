"""A strip pushes what is below it down: it comes only once nobody is about to press there."""

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lineclear.ui.frame.bars import Strip


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
def test_it_comes_and_goes_only_once_it_is_calm_and_is_told_elsewhere_at_once(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    strip = Strip("trouble", "told")
    QVBoxLayout(host).addWidget(strip)
    strip.hide()
    host.show()
    calm = [False]
    elsewhere: list[str] = []
    strip.calm = lambda: calm[0]
    strip.meanwhile = elsewhere.append
    strip.setVisible(True)
    assert strip.isHidden()
    assert elsewhere[-1] == "trouble"
    calm[0] = True
    qtbot.waitUntil(strip.isVisible)
    assert elsewhere[-1] == ""
    calm[0] = False
    strip.setVisible(False)
    assert strip.isVisible()
    calm[0] = True
    qtbot.waitUntil(strip.isHidden)
    calm[0] = False
    strip.setVisible(True)
    strip.setVisible(False)
    assert not strip._later.isActive()
    assert elsewhere[-1] == ""
    # Other words may take another number of lines.
    strip.calm = lambda: True
    strip.tell("one")
    strip.calm = lambda: calm[0]
    strip.tell("two, and more")
    assert (strip.label.text(), elsewhere[-1]) == ("one", "two, and more")
    calm[0] = True
    qtbot.waitUntil(lambda: strip.label.text() == "two, and more")
