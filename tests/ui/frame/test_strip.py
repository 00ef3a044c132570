"""A strip pushes what is below it down: it comes only once nobody is about to press there."""

import pytest
from PySide6.QtWidgets import QStyleOptionButton, QVBoxLayout, QWidget

from lineclear.ui.frame.bars import StatusLine, Strip


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


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
def test_a_long_word_breaks_and_widens_nothing(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    strip = Strip(f"The settings in /srv/{'x' * 400} cannot be understood.", "told")
    QVBoxLayout(host).addWidget(strip)
    host.resize(300, 400)
    host.show()
    assert host.width() == 300
    label = strip.label
    line = label.fontMetrics().lineSpacing()
    qtbot.waitUntil(lambda: label.height() >= label.heightForWidth(label.width()) > 5 * line)


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
@pytest.mark.parametrize(
    "width, held_shown, standing_shown",
    [
        (900, " \u00b7 Take back (Ctrl+Z)", "(0 calls so far)\u2026"),
        (640, "is approved in 3 s \u00b7 Take back", "refund-bot: denied until 10:43\u2026"),
    ],
)
def test_the_words_of_the_status_line_are_said_shorter_where_there_is_less_room(
    qtbot, width, held_shown, standing_shown
):
    status = StatusLine()
    qtbot.addWidget(status)
    until = "refund-bot: denied until 10:43"
    status.show_words("bash is approved in 3 s", f"{until} (0 calls so far)", until)
    status.watching.setText("watching 1 folder")
    status.resize(width, status.height())
    status.show()
    option = QStyleOptionButton()
    status.held.initStyleOption(option)
    assert option.text.endswith(held_shown)
    status.standing.initStyleOption(option)
    assert option.text.endswith(standing_shown)


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
def test_the_words_of_the_status_line_give_way_where_they_say_least(qtbot):
    status = StatusLine()
    qtbot.addWidget(status)
    held = "send_refund of refund-bot is approved in 3 s"
    status.show_words(
        held, "refund-bot: denied until 10:43 (0 calls so far)", "refund-bot: denied until 10:43"
    )
    status.watching.setText("watching 12 folders")
    status.resize(520, status.height())
    status.show()
    option = QStyleOptionButton()
    status.held.initStyleOption(option)
    assert option.text.startswith("\u2026")
    assert option.text.endswith("is approved in 3 s")
    assert held in status.held.toolTip()
    shown = (status.held, status.standing, status.watching)
    assert all(each.geometry().right() <= status.width() for each in shown)
    status.resize(1400, status.height())
    status.held.initStyleOption(option)
    assert option.text == status.held.text()
