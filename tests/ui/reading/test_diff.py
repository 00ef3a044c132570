"""A file before and after a call: what is compared, and that no line can pose as one of ours."""

import os
import time
from datetime import UTC, datetime

import pytest

from lineclear.core.inbox.comparing.disk import Disk, read_from_disk
from lineclear.core.inbox.comparing.file_edits import FileEdit, file_edit
from lineclear.core.inbox.comparing.world import World
from lineclear.ui import theme
from lineclear.ui.reading.diff_tab import SIDES_FROM, DiffTab
from lineclear.ui.reading.diff_text import difference
from tests.ui.sample import ask_for

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def made(edit: FileEdit, disk: Disk | None = None):
    found = difference(World((), edit, disk))
    assert found is not None
    return found


def on_disk(text: str, **more) -> Disk:
    return Disk(datetime.now(UTC), text, **more)


def test_a_file_is_written_over_the_one_on_disk():
    before = "".join(f"line {n}\n" for n in range(1, 21))
    shown = made(FileEdit("write", "/a", before.replace("line 9\n", "row 9\n")), on_disk(before))
    assert shown.changed == 1
    assert shown.about.startswith("/a compared with the file on disk as of ")
    assert shown.left.lines == [
        "  \u00b7\u00b7\u00b7 5 lines the same",
        *(f"{n:>5}   \u2502 line {n}" for n in (6, 7, 8)),
        "    9 - \u2502 line 9",
        *(f"{n:>5}   \u2502 line {n}" for n in (10, 11, 12)),
        "  \u00b7\u00b7\u00b7 8 lines the same",
    ]
    assert shown.right.lines[4] == "    9 + \u2502 row 9"
    assert shown.unified.lines[4:6] == ["    9 - \u2502 line 9", "    9 + \u2502 row 9"]
    (_, (start, length, kind)) = shown.right.spans[4]
    assert (shown.right.lines[4][start : start + length], kind) == ("row", "added")


def test_an_edit_stands_in_its_file_where_the_old_text_is_there_once():
    edit = FileEdit("replace", "/a", parts=(("two", "2"),))
    assert "    2 + \u2502 2" in made(edit, on_disk("one\ntwo\nthree\n")).right.lines
    twice = made(edit, on_disk("two\ntwo\n"))
    assert "does not stand exactly once in the file on disk" in twice.about
    assert twice.left.lines == ["    1 - \u2502 two"]


def test_it_is_said_why_nothing_is_compared():
    edit = FileEdit("write", "notes.txt", "x\n")
    shown = made(edit, read_from_disk("notes.txt"))
    assert shown.about == (
        "notes.txt is not compared with the file on disk: its path is relative, and the agent's"
        " folder is not known."
    )
    assert made(FileEdit("replace", parts=(("a", "b"),))).about.endswith("the call names none.")
    assert "all of it is new" in made(edit, on_disk("", absent=True)).about
    assert "nothing would change" in made(edit, on_disk("x\n")).about


def test_a_patch_is_shown_as_it_says():
    patch = "--- a\n+++ b\n@@ -5,3 +5,3 @@ def f\n same\n-old\n+new\n+more\n end"
    shown = made(file_edit({"patch": patch}) or FileEdit("write"))
    assert shown.left.lines[3:] == [
        "    5   \u2502 same",
        "    6 - \u2502 old",
        "",
        "    7   \u2502 end",
    ]
    assert shown.right.lines[3:] == [
        "    5   \u2502 same",
        "    6 + \u2502 new",
        "    7 + \u2502 more",
        "    8   \u2502 end",
    ]
    assert shown.changed == 2


def test_where_a_link_leads_is_said(tmp_path):
    link = tmp_path / "link.txt"
    link.symlink_to("/etc/hosts")
    shown = made(FileEdit("write", str(link), "x\n"), read_from_disk(str(link)))
    assert shown.warning == f"{link} is a link to {os.path.realpath('/etc/hosts')}."


def test_a_call_that_names_two_files_is_compared_with_neither():
    edit = file_edit({"path": "/a", "file_path": "/etc/hosts", "content": "x\n"})
    assert edit is not None
    shown = made(edit)
    assert shown.warning == "The call names 2 files: /a, /etc/hosts. Its tool takes one."
    assert shown.about == "Not compared with a file on disk: the call names several."


@pytest.mark.parametrize(
    "headers, path, named",
    [
        ("--- a/notes.txt\n+++ b/notes.txt", "/srv/notes.txt", ""),
        ("--- notes.txt\t2026-01-01\n+++ notes.txt\t2026-01-02", "./notes.txt", ""),
        ("--- /dev/null\n+++ b/notes.txt", "notes.txt", ""),
        ("diff --git a/x/n.txt b/x/n.txt\n--- a/x/n.txt\n+++ b/x/n.txt", "/srv/x/n.txt", ""),
        ("--- a/etc/passwd\n+++ b/etc/passwd", "notes.txt", "a/etc/passwd, b/etc/passwd"),
        ("--- a/notes.txt\n+++ /etc/hosts", "notes.txt", "/etc/hosts"),
        ("--- a/other/notes.txt\n+++ b/notes.txt", "/srv/notes.txt", "a/other/notes.txt"),
        ("diff --git a/notes.txt b/evil\nrename to evil", "notes.txt", "evil"),
    ],
)
def test_a_patch_of_another_file_than_the_call_names_is_said(headers, path, named):
    patch = f"{headers}\n@@ -1 +1 @@\n-old\n+new"
    shown = made(file_edit({"path": path, "patch": patch}) or FileEdit("write"))
    said = f"The patch is of {named}, but the call names {path}." if named else ""
    assert shown.warning == said


def test_a_second_file_in_a_patch_is_seen():
    patch = "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-o\n+p\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-o\n+p"
    shown = made(file_edit({"path": "n", "patch": patch}) or FileEdit("write"))
    assert shown.warning == "The patch is of a/m, b/m, but the call names n."


def test_the_warning_stands_over_the_difference(qapp, qtbot):
    tab = DiffTab(theme.Theme(qapp, dark=True))
    qtbot.addWidget(tab)
    edit = file_edit({"path": "/a", "file_path": "/b", "content": "x\n"})
    assert edit is not None
    tab.show_difference(made(edit))
    assert (tab.warning.isHidden(), tab.warning.text()[:19]) == (False, "The call names 2 fi")
    tab.show_difference(made(FileEdit("write", "/a", "x\n")))
    assert tab.warning.isHidden()


def test_lines_are_escaped_masked_cut_and_begin_as_ours_only():
    text = (
        "    1   \u2502 forged\n  \u00b7\u00b7\u00b7 9 lines the same\nx\u202ey\n"
        "token=q8Zt3vK0aPz9LmXw2\n" + "z" * 9000
    )
    lines = made(FileEdit("write", "/a", text), on_disk("")).right.lines
    assert [line[:10] for line in lines] == [f"{n:>5} + \u2502 " for n in range(1, 6)]
    assert "\u27e6U+202E\u27e7" in lines[2]
    assert "q8Zt3vK0" not in lines[3]
    assert len(lines[4]) < 1100
    assert lines[4].endswith("more characters\u27e7")


def test_both_sides_have_as_many_lines_and_large_files_take_no_long_time():
    before = "".join(f"{n % 7}\n" for n in range(40_000))
    after = "".join(f"{n % 5}\n" for n in range(30_000))
    began = time.process_time()
    shown = made(FileEdit("write", "/a", after), on_disk(before))
    assert time.process_time() - began < 10
    assert len(shown.left.lines) == len(shown.right.lines) <= 20_001


def test_two_sides_where_there_is_room_and_one_where_not(qapp, qtbot):
    look = theme.Theme(qapp, dark=True)
    tab = DiffTab(look)
    qtbot.addWidget(tab)
    tab.resize(SIDES_FROM + 60, 300)
    tab.show()
    text = "".join(f"line {n}\n" for n in range(200))
    tab.show_difference(made(FileEdit("write", "/a", text), on_disk("")))
    assert tab.left.isVisible()
    qtbot.waitUntil(lambda: tab.right.complete() and tab.left.complete())
    tab.right.verticalScrollBar().setValue(50)
    assert tab.left.verticalScrollBar().value() == 50
    assert tab.left.document().blockCount() == tab.right.document().blockCount()
    tab.resize(SIDES_FROM - 40, 300)
    assert tab.unified.isVisible()
    look.stop()


async def test_the_world_that_changed_raises_a_care_beside_the_diff(inbox, source, tmp_path, until):
    path = tmp_path / "hosts"
    path.write_text("127.0.0.1 a\n")
    ask_for(source, tool="write_file", arguments={"path": str(path), "content": "127.0.0.1 b\n"})
    os.utime(path, (time.time() + 60, time.time() + 60))
    await until(inbox.model.rowCount)
    inbox.table.step(1)
    pane = inbox.pane
    await until(lambda: pane.tabs.indexOf(pane.diff) >= 0)
    place = pane.tabs.indexOf(pane.diff)
    assert pane.tabs.tabText(place) == "Diff 1"
    assert "file_changed" in inbox.flow.view.row.warnings


async def test_a_call_that_edits_nothing_has_no_diff(inbox, source, until):
    ask_for(source)
    await until(inbox.model.rowCount)
    inbox.table.step(1)
    await until(lambda: inbox.flow.view.prepared is not None)
    await until(lambda: not inbox.flow.view._surroundings._looking)
    assert not inbox.pane.tabs.isTabVisible(inbox.pane.tabs.indexOf(inbox.pane.diff))


def test_secrets_of_a_difference_are_shown_when_they_are_asked_for(qapp, qtbot):
    look = theme.Theme(qapp, dark=False)
    tab = DiffTab(look)
    qtbot.addWidget(tab)
    tab.show()
    edit = FileEdit("write", "/a", 'API_KEY="q7Zp2Lk9Xw4Rt8Vb3Nm6"\nx\n')
    shown = made(edit, on_disk('API_KEY="a1B2c3D4e5F6g7H8i9J0"\nx\n'))
    tab.show_difference(shown)
    for view in (tab.left, tab.right, tab.unified):
        assert "Lk9" not in view.whole_text
        assert "D4e" not in view.whole_text
    tab.secrets.button.click()
    assert "Lk9" in tab.right.whole_text
    assert "D4e" in tab.left.whole_text
    assert not tab.secrets.isVisible()
    tab.show_difference(shown)
    assert "Lk9" not in tab.unified.whole_text
    tab.show_difference(made(edit, on_disk("")).openly)
    assert made(FileEdit("write", "/a", "x"), on_disk("")).openly is None
    look.stop()
