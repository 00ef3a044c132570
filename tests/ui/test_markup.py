"""No widget of the window interprets text as markup, whatever an agent writes."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QLabel,
    QMessageBox,
    QTextBrowser,
    QTextEdit,
    QWidget,
)

from lineclear.core.checkpoints.characters.text import unisolated
from lineclear.ui.frame.key_list import KeyList
from tests.ui.sample import ask_for

BAD = Path(__file__).parent.parent / "data" / "badinputs" / "files"
HTML = '<b>bold</b><img src="http://x.example/a.png"><a href="file:///etc/passwd">here</a>'


def interpreting(root: QWidget) -> list[str]:
    """Every widget below ROOT that could render markup."""
    found = []
    for each in [root, *root.findChildren(QWidget)]:
        name = f"{type(each).__name__} {each.objectName()}"
        if isinstance(each, QLabel) and each.textFormat() is not Qt.TextFormat.PlainText:
            found.append(f"{name}: {each.textFormat().name}")
        if isinstance(each, QLabel) and each.openExternalLinks():
            found.append(f"{name}: opens links")
        if isinstance(each, QTextEdit | QTextBrowser | QMessageBox):
            found.append(name)
        tip = each.toolTip()
        if "<" in tip.removeprefix("<p>").removesuffix("</p>"):
            found.append(f"{name}: tooltip {tip}")
    return found


async def test_no_widget_interprets_markup(inbox):
    assert interpreting(inbox) == []


async def test_agent_text_with_markup_is_shown_as_it_is(inbox, source, until):
    aid = ask_for(
        source, "refund-bot", HTML, {HTML: HTML}, inputs={"q": HTML}, description=HTML
    ).shown.aid
    await until(lambda: inbox.table.choose(aid), "the row")
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    for tab in range(inbox.pane.tabs.count()):
        inbox.pane.tabs.setCurrentIndex(tab)
    inbox.actions_table["modify"].trigger()
    assert interpreting(inbox) == []
    assert inbox.pane.header.title.text() == HTML
    assert inbox.model.index(0, 1).data() in HTML or "\u2026" in inbox.model.index(0, 1).data()
    assert HTML.replace('"', '\\"') in inbox.pane.modify.yours.toPlainText()


async def test_every_button_and_field_has_a_name_for_assistive_technology(inbox):
    nameless = [
        f"{type(each).__name__} {each.objectName()}"
        for each in inbox.findChildren(QWidget)
        if each.focusPolicy() is not Qt.FocusPolicy.NoFocus
        and not each.objectName().startswith("qt_")
        and not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
        and type(each).__name__
        not in {"QSplitter", "QStackedWidget", "QWidget", "QLabel", "PlainLabel"}
        and each.parent() is not None
        and not type(each.parent()).__name__.startswith(("QTab", "QLineEdit", "QHeader"))
    ]
    assert nameless == []


async def test_no_decision_button_is_a_default_or_has_a_mnemonic(inbox):
    for button in inbox.pane.bar.findChildren(QAbstractButton):
        assert not button.isDefault()
        assert not button.autoDefault()
        assert "&" not in button.text().replace("&&", "")
        assert button.shortcut().isEmpty()


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
async def test_the_list_of_keys_is_plain_too(inbox, qapp):
    inbox.show_keys()
    dialog = next(each for each in qapp.topLevelWidgets() if isinstance(each, KeyList))
    assert interpreting(dialog) == []
    dialog.close()


@pytest.mark.parametrize(
    "name",
    sorted(path.stem for path in BAD.glob("*.json") if path.stat().st_size < 200_000),
)
async def test_a_bad_input_is_a_row_that_can_be_read_or_says_why_not(inbox, source, until, name):
    store = source / "foreign"
    store.mkdir(mode=0o700)
    shutil.copy(BAD / f"{name}.json", store / ".new")
    (store / ".new").chmod(0o600)
    (store / ".new").rename(store / "pending.json")
    await until(lambda: sum(inbox.model.counts().values()), "a row")
    row = next(iter(inbox.model._rows.values()))
    inbox.sidebar.choose_section(inbox.model.section(row.id))
    await until(lambda: inbox.table.choose(row.id), "its place in the table")
    await until(
        lambda: inbox.flow.view.prepared is not None or inbox.flow.view.notice is not None,
        "the reading",
    )
    assert interpreting(inbox) == []
    shown = [
        each.text() if isinstance(each, QLabel) else each.toPlainText()
        for each in inbox.pane.findChildren(QWidget)
        if hasattr(each, "toPlainText") or isinstance(each, QLabel)
    ]
    shown += [str(inbox.model.index(0, column).data()) for column in range(4)]
    hidden = {
        hex(ord(char))
        for text in shown
        for char in unisolated(text)
        if not (char in "\n " or char.isprintable())
    }
    assert hidden == set()
    if row.reason_code is not None:
        assert not inbox.pane.bar.approve.isVisible()
        assert "cannot be approved" in inbox.pane.header.standing.text()
    # Drawn in full; never by a nested turn of the loop, which would lose a task of the window.
    assert not inbox.grab().isNull()
