"""What a screen reader gets: names, roles and sentences of everything, and what changes."""

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QWidget

from lineclear.core.inbox.deciding.path import operator
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.store import Store
from lineclear.ui import announcing
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.queue_model import QueueModel
from tests.ui.sample import ask_for

HOSTILE = "<b>pay\u202e</b>\x1b[2J"
SHOWN = "<b>pay\u27e6U+202E\u27e7</b>\u27e6U+001B\u27e7[2J"
ROLE = QAccessible.Role
CONTAINERS = {ROLE.Client, ROLE.Splitter, ROLE.LayeredPane, ROLE.Border, ROLE.Grip, ROLE.Pane}
CONTAINERS |= {ROLE.Window, ROLE.ScrollBar, ROLE.Indicator, ROLE.NoRole, ROLE.Grouping}


def parts(root: QWidget) -> Iterator[QAccessibleInterface]:
    """Every part of ROOT that is there."""
    stack: list[QAccessibleInterface | None] = [QAccessible.queryAccessibleInterface(root)]
    while stack:
        part = stack.pop()
        if part is None or not part.isValid() or part.state().invisible:
            continue
        yield part
        stack += [part.child(place) for place in range(part.childCount())]


def name(part: QAccessibleInterface) -> str:
    return part.text(QAccessible.Text.Name)


def told(part: QAccessibleInterface) -> str:
    held: QObject | None = part.object()
    return f"{part.role().name} {'' if held is None else held.objectName()!r}"


def names(root: QWidget) -> list[str]:
    return [name(part) for part in parts(root)]


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every announcement, at the border to the platform: Qt has no way to ask for it."""
    heard: list[str] = []

    class Platform:
        AnnouncementPoliteness = QAccessible.AnnouncementPoliteness

        @staticmethod
        def updateAccessibility(event: QAccessibleAnnouncementEvent) -> None:  # noqa: N802
            heard.append(event.message())

    monkeypatch.setattr(announcing, "QAccessible", Platform)
    return heard


async def select(inbox: Any, until: Any, aid: str) -> None:
    await until(lambda: inbox.table.choose(aid), "the row")
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    await until(lambda: inbox.flow.arming.readiness(Act.DENY).ready, "the call read")


@pytest.mark.qt_log_ignore("This plugin does not support")
async def test_each_list_in_the_settings_says_what_it_is_for(inbox, until):
    inbox.desk.open()
    settings = inbox.desk.window
    await until(settings.isVisible, "the settings")
    boxes = settings.findChildren(QComboBox)
    assert len(boxes) == 5
    said = []
    for box in boxes:
        part = QAccessible.queryAccessibleInterface(box)
        (label,) = [one for one, as_ in part.relations() if as_ == QAccessible.RelationFlag.Label]
        said.append(name(label))
        assert name(label) == box.accessibleName()
        assert part.text(QAccessible.Text.Description) == box.accessibleName()
    assert len({*said}) == 5
    settings.close()


async def test_every_part_that_takes_the_focus_or_tells_something_has_a_name(inbox, source, until):
    aid = ask_for(source, inputs={"q": 1}).shown.aid
    await select(inbox, until, aid)
    nameless = []
    for tab in range(inbox.pane.tabs.count()):
        inbox.pane.tabs.setCurrentIndex(tab)
        for part in parts(inbox):
            quiet = part.role() in CONTAINERS and not part.state().focusable
            empty = part.role() in (ROLE.Cell, ROLE.StaticText) and not part.state().focusable
            if not name(part).strip() and not quiet and not empty:
                nameless.append(told(part))
    assert nameless == []


@pytest.mark.qt_log_ignore("propagateSizeHints")
@pytest.mark.parametrize("editor", ["deny", "modify", "answer", "find", "keys"])
async def test_every_part_of_an_editor_has_a_name(inbox, source, until, editor):
    aid = ask_for(source).shown.aid
    await select(inbox, until, aid)
    inbox.actions_table[editor].trigger()
    roots = [inbox, *inbox.findChildren(QWidget, "keyList")]
    nameless = [
        told(part)
        for root in roots
        for part in parts(root)
        if part.state().focusable and not name(part).strip()
    ]
    assert nameless == []
    for root in roots[1:]:
        root.close()


async def test_nothing_is_read_out_as_markup_or_raw(inbox, source, until):
    aid = ask_for(
        source, "ops", HOSTILE, {HOSTILE: HOSTILE}, inputs={"q": HOSTILE}, description=HOSTILE
    ).shown.aid
    await select(inbox, until, aid)
    heard = []
    for tab in range(inbox.pane.tabs.count()):
        inbox.pane.tabs.setCurrentIndex(tab)
        for part in parts(inbox):
            heard += [name(part), part.text(QAccessible.Text.Description)]
    assert SHOWN in heard, "the title"
    assert [text for text in heard if "\u202e" in text or "\x1b" in text] == []
    assert [text for text in heard if "<p>" in text] == []


async def test_a_row_is_told_in_a_sentence(inbox, source, until):
    aid = ask_for(source, "ops", "pay", {"to": "a\u202eb"}).shown.aid
    await until(lambda: inbox.model.rowCount() == 1, "the row")
    spoken = [
        str(inbox.model.index(0, column).data(Qt.ItemDataRole.AccessibleTextRole))
        for column in range(3)
    ]
    assert spoken[0].startswith("Not known whether agents wait. State: Waiting. pay. ops. ")
    assert spoken[0].endswith(". Not seen yet")
    assert spoken[2] == "Arguments: a\u27e6U+202E\u27e7b. Marked: hidden, first time"
    await select(inbox, until, aid)
    assert spoken[0] not in names(inbox.table), "it was seen"
    assert any(
        each.startswith("Not known whether agents wait. State: Waiting")
        for each in names(inbox.table)
    )


async def test_an_argument_is_told_with_its_key(inbox, source, until):
    aid = ask_for(source, arguments={"customer": "C-1204", "amount": 80}).shown.aid
    await select(inbox, until, aid)
    fields = [name(part) for part in parts(inbox.pane.call.fields)]
    assert "amount: 80" in fields


async def test_what_the_keys_do_is_announced(inbox, source, until, announced):
    aid = ask_for(source, arguments={"script": "echo one\n" * 500}).shown.aid
    await select(inbox, until, aid)
    QTest.keyClick(inbox.table, Qt.Key.Key_A)
    assert "below not seen" in announced[-1]
    QTest.keyClick(inbox.table, Qt.Key.Key_End)
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "the end seen")

    def armed() -> bool:
        QTest.keyClick(inbox.table, Qt.Key.Key_A)
        return inbox.flow.arming.armed is not None

    await until(armed, "armed", 5)
    assert announced[-1].startswith("Press Enter to approve")


async def test_a_verdict_is_announced(inbox, source, until, announced):
    aid = ask_for(source).shown.aid
    await select(inbox, until, aid)
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "the call read")
    QTest.mouseClick(inbox.pane.bar.approve, Qt.MouseButton.LeftButton)
    await until(lambda: "Recorded." in announced, "the announcement")


async def test_a_frozen_call_is_announced(inbox, source, until, announced):
    shown = ask_for(source).shown
    await select(inbox, until, shown.aid)
    QTest.keyClick(inbox.table, Qt.Key.Key_D)
    with Store.open(shown.store) as store:
        denied = Verdict("deny", reason="wrong customer")
        decide(store, shown, denied, operator(Settings()), valid_for_s=900)
    inbox._bridge.look_again(shown.store)
    await until(lambda: any("wrong customer" in text for text in announced), "the announcement")


async def test_an_assistive_press_is_answered_before_it_decides(inbox, source, until, announced):
    aid = ask_for(source).shown.aid
    await select(inbox, until, aid)
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "the call read")
    (button,) = (part for part in parts(inbox) if part.object() is inbox.pane.bar.approve)
    button.actionInterface().doAction("Press")
    # Qt lets the button go down for a moment, as an eye would see it.
    await until(lambda: "Press again to approve" in announced[-1], "the announcement")
    assert not inbox.flow._busy


async def test_new_calls_are_announced_by_their_number(inbox, source, until, announced):
    ask_for(source, "one")
    await until(lambda: "1 call waits" in announced, "the first")
    ask_for(source, "two")
    await until(lambda: "2 calls wait" in announced, "the second")


def test_a_model_tells_no_row_that_is_not_there():
    model = QueueModel()
    assert model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole) is None


async def test_only_tabs_that_are_there_are_told(inbox, source, until):
    def tabs() -> list[str]:
        bar = QAccessible.queryAccessibleInterface(inbox.pane.tabs.tabBar())
        children = [bar.child(place) for place in range(bar.childCount())]
        return [name(part) for part in children if part.role() is ROLE.PageTab]

    aid = ask_for(source).shown.aid
    await select(inbox, until, aid)
    assert tabs() == ["Call", "Changes", "Steps", "Inputs", "File"]
    inbox.pane.follow(source / "launch-1.log", "agent", show=False)
    assert tabs() == ["Call", "Changes", "Steps", "Inputs", "File", "Output"]
    assert inbox.pane.tabs.currentWidget() is inbox.pane.call
