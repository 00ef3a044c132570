"""What a run left behind, as a person reads it: where it stands, its guards, its conversation."""

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lineclear.core.checkpoints.model import Checkpoint, Step
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.rows.row import Detail, Unread
from lineclear.ui import theme
from lineclear.ui.deciding.arming import Act
from lineclear.ui.reading.composing import MARKS, OPEN, SHUT
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.kept_tabs import KeptTab
from lineclear.ui.reading.left_behind import Left, left_behind, main_view
from lineclear.ui.reading.pieces import Piece, run_pieces, step_pieces
from lineclear.ui.reading.text_view import CLEARED_AT_ONCE, LONGEST_PIECE
from lineclear.ui.window import MainWindow
from tests import badinputs
from tests.core.checkpoints.a3s_samples import a3s_document
from tests.core.checkpoints.starweaver_samples import starweaver_document
from tests.ui.sample import a_row
from tests.ui.test_markup import interpreting
from tests.ui.test_window import click, ready, says

FIXTURES = Path(__file__).parents[2] / "data" / "fixtures"
LOOPS = FIXTURES / "a3s" / "store_layout" / "v1" / "loop_checkpoints"
MEDIUM = "id_cnVuLW1lZGl1bS00MA.json"
TOKEN = "ghp_abcdefghij0123456789ABCDEFGHIJ012345"
EXECUTOR = """
import asyncio, sys
from pathlib import Path
from lineclear import Action, AgentExecutor, Budget, FileCheckpointHandler, Finish, Tool, Turn

store = Path(sys.argv[1])

class Model:
    def plan(self, inputs, steps):
        if len(steps) == 2:
            return Finish("done")
        tool = ("look", "restart")[len(steps)]
        action = Action(tool, {"host": "db-3"}, log="Hm.", tool_call_id=f"call_{len(steps) + 1}")
        return Turn(action, tokens_in=1000, tokens_out=50)

def look(host: str) -> str:
    return "out of memory\\nprocess 811 killed"

def restart(host: str) -> str:
    return f"{host} restarted"

async def main():
    tools = {"look": Tool(look, asks=False), "restart": Tool(restart)}
    async with AgentExecutor(
        Model(), tools, store=store, checkpoints=FileCheckpointHandler(store),
        budget=Budget(iterations=10, tool_calls=5, tokens=9000), name="on-call",
    ) as run:
        await run.invoke({"input": "db-3 was paged"})

asyncio.run(main())
"""


@pytest.fixture
def look(qapp):
    made = theme.Theme(qapp, dark=False)
    yield made
    made.stop()


@pytest.fixture
def view(qapp, qtbot, look):
    made = FoldedText(look, "folded", "Folded")
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    qtbot.waitExposed(made)
    return made


def put_loop(source: Path, name: str, agent: str = "coder") -> None:
    folder = source / agent / "v1" / "loop_checkpoints"
    folder.mkdir(mode=0o700, parents=True)
    shutil.copy(LOOPS / name, folder)


def put_execution(source: Path, raw: bytes, agent: str = "planner") -> None:
    (source / agent).mkdir(mode=0o700)
    badinputs.put(source / agent / "run.checkpoint.json", raw)


def executor(store: Path) -> subprocess.Popen[bytes]:
    """A real agent that keeps its run in all three forms, and asks at its second step."""
    argv = [sys.executable, "-c", EXECUTOR, str(store)]
    return subprocess.Popen(argv, stderr=subprocess.DEVNULL)


async def read_only_row(inbox: MainWindow, until) -> None:
    """Choose the only row there is, wherever it stands, and wait until it is read."""
    await until(lambda: sum(inbox.model.counts().values()) >= 1, "a row")
    section = next(section for section, number in inbox.model.counts().items() if number)
    inbox.sidebar.choose_section(section)
    await until(lambda: inbox.table.choose(inbox.model.id_at(0) or ""), "its place")
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    await until(inbox.pane.call.run.complete, "the whole text")


def tab_names(inbox: MainWindow) -> list[str]:
    """The tabs that a checkpoint fills."""
    tabs = inbox.pane.tabs
    return [tabs.tabText(n) for n in range(tabs.count()) if tabs.isTabVisible(n)]


async def open_tab(inbox: MainWindow, until, name: str) -> FoldedText:
    tabs = inbox.pane.tabs
    place = next(n for n in range(tabs.count()) if tabs.tabText(n) == name)
    tabs.setCurrentIndex(place)
    page = tabs.widget(place)
    assert page is not None
    shown = page if isinstance(page, FoldedText) else page.findChild(FoldedText)
    assert isinstance(shown, FoldedText)
    await until(lambda: shown.blockCount() > 1 and shown.complete(), "its text")
    return shown


def lines_of(view: FoldedText) -> list[str]:
    return view.toPlainText().split("\n")


def facts_of(view: FoldedText) -> dict[str, str]:
    """The names and values that stand in two columns."""
    pairs = (line.strip().split("  ", 1) for line in lines_of(view) if line.startswith("    "))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def headings(view: FoldedText) -> list[str]:
    return [line for line in lines_of(view) if line.startswith(MARKS)]


# --- Rows -----------------------------------------------------------------------------------------


async def test_a_run_that_died_between_rounds_is_read_in_its_main_view(inbox, source, until):
    put_loop(source, MEDIUM)
    await read_only_row(inbox, until)
    assert tab_names(inbox) == ["Loop", "Steps 40", "Inputs", "File"]
    view = inbox.pane.call.run
    assert view.isVisible()
    assert not inbox.pane.call.switch.isVisible()
    told = facts_of(view)
    assert (told["Turns"], told["Tool calls"], told["Tokens"]) == ("40", "40", "196,433")
    assert (told["Tokens in"], told["Tokens by cache"]) == ("187,432", "170,000")
    assert (told["Run"], told["Conversation"]) == ("run-medium-40", "session-1")
    await until(lambda: headings(view)[-1].startswith(f"{SHUT}1  user"), "the whole text")
    shown = headings(view)
    assert [line.split("   ")[0] for line in shown[:5]] == [
        f"{OPEN}Where it stands",
        f"{SHUT}Convergence guards",
        f"{SHUT}Verification report",
        f"{SHUT}Capabilities it was admitted with",
        f"{OPEN}81  user",
    ]
    assert shown[5].startswith(f"{SHUT}80  assistant")
    assert "  came back from bash (toolu_039)" in lines_of(view)
    view.fold(1, shut=False)
    view.fold(2, shut=False)
    told = facts_of(view)
    assert (told["Parse errors"], told["Repeated call stopped"]) == ("1", "bash:cafebabe")
    assert told["Status"] == "needs review" or told["Status"] == "needs_review"
    assert says(inbox, "iterations") == "40 turns"
    assert says(inbox, "usage") == "tokens: 187,432 in \u00b7 9,001 out \u00b7 170,000 cache"


async def test_secrets_of_a_run_are_masked_until_they_are_shown(inbox, source, until):
    document = starweaver_document()
    document["metadata"] = {"lineclear": {"suspended": f"call with {TOKEN}"}}
    put_execution(source, json.dumps(document).encode())
    await read_only_row(inbox, until)
    call = inbox.pane.call
    assert TOKEN not in call.run.whole_text
    assert TOKEN not in says(inbox, "standing")
    assert call.run_secrets.isVisible()
    call.run_secrets.button.click()
    await until(lambda: TOKEN in call.run.whole_text, "the secret")
    assert not call.run_secrets.isVisible()


def test_a_checkpoint_beside_the_call_shows_its_secrets_when_asked(qapp, qtbot, look):
    document = starweaver_document()
    document["metadata"] = {"lineclear": {"suspended": f"call with {TOKEN}"}}
    kept = read_checkpoint(json.dumps(document).encode())
    page = KeptTab(look, 0)
    qtbot.addWidget(page)
    row = a_row(1, tool=None)
    made = main_view(Detail(row, None, kept, b"", row.store))
    assert made is not None
    page.show_left(made)
    assert TOKEN not in page.text.whole_text
    page.secrets.button.click()
    assert TOKEN in page.text.whole_text
    assert page.secrets.isHidden()
    # Another checkpoint is masked again, and one without a secret offers nothing.
    page.show_left(made)
    assert not page.secrets.isHidden()
    assert TOKEN not in page.text.whole_text
    page.show_left(Left("Execution", (Piece("1  user", "", "    says hi", unfolded=True),)))
    assert "says hi" in page.text.toPlainText()
    assert page.secrets.isHidden()


async def test_a_failed_run_says_where_it_stopped(inbox, source, until):
    put_execution(source, (FIXTURES / "starweaver" / "v041_run_failed.json").read_bytes())
    await read_only_row(inbox, until)
    assert tab_names(inbox) == ["Execution", "Steps", "Inputs", "File"]
    told = facts_of(inbox.pane.call.run)
    assert (told["Stopped at"], told["Status"], told["Steps"]) == ("run_failed", "failed", "3")
    assert (told["Request attempt"], told["Stream cursor"]) == ("3", "12")
    assert says(inbox, "iterations") == "3 steps"
    assert says(inbox, "standing").startswith("planner was last at run_failed (failed). ")


async def test_a_suspended_run_says_why(inbox, source, until):
    document = starweaver_document()
    document["metadata"] = {"lineclear": {"suspended": "enough <b>for</b> today\u202e"}}
    put_execution(source, json.dumps(document).encode())
    await read_only_row(inbox, until)
    why = "enough <b>for</b> today\u27e6U+202E\u27e7"
    assert facts_of(inbox.pane.call.run)["Suspended"] == why
    assert f"\u201c{why}\u201d" in says(inbox, "standing")
    assert interpreting(inbox) == []


async def test_a_call_of_a_waiting_run_has_the_run_beside_it(inbox, source, until):
    fixture = FIXTURES / "starweaver" / "v041_waiting_medium_40_steps.json"
    put_execution(source, fixture.read_bytes())
    await read_only_row(inbox, until)
    assert tab_names(inbox) == ["Call", "Changes", "Steps 40", "Inputs", "File", "Execution"]
    view = await open_tab(inbox, until, "Execution")
    assert facts_of(view)["Tool call batch"] == "tool_batch_41"
    newest = next(line for line in headings(view) if line.startswith(f"{OPEN}8"))
    assert newest == f"{OPEN}82  assistant"
    assert any(line.startswith("  calls git_push (") for line in lines_of(view))


async def test_an_executor_of_three_forms_is_one_row_with_two_more_tabs(inbox, source, until):
    process = executor(source / "on-call")
    try:
        await until(lambda: inbox.model.rowCount() == 1, "the row", 30)
        await read_only_row(inbox, until)
        assert says(inbox, "title") == "restart"
        tabs = ["Call", "Changes", "Steps 1", "Inputs", "File", "Loop", "Execution"]
        assert tab_names(inbox) == tabs
        assert says(inbox, "usage") == "tokens: 2,000 in \u00b7 100 out \u00b7 cache not reported"
        loop = await open_tab(inbox, until, "Loop")
        told = facts_of(loop)
        assert (told["Turns"], told["Tool calls"]) == ("1 of 10", "1 of 5")
        assert (told["Tokens"], told["Tokens by cache"]) == ("1,050 of 9,000", "not reported")
        assert "    \u2502 process 811 killed" in lines_of(loop)
        loop.fold(1, shut=False)
        told = facts_of(loop)
        (kept,) = (source / "on-call").rglob("id_*.json")
        told_path = "".join(told["File"].split()).replace("\u2506", "")
        assert kept.as_posix().startswith(told_path)
        assert told["SHA-256"][:16] == read_checkpoint(kept.read_bytes()).sha256[:16]
        told = facts_of(await open_tab(inbox, until, "Execution"))
        assert (told["Status"], told["Steps"]) == ("waiting", "1 of 10")
        # The call itself is decided as any other.
        inbox.pane.tabs.setCurrentIndex(0)
        inbox.table.setFocus()
        await ready(inbox, until, Act.APPROVE)
        click(inbox.pane.bar.approve)
        await until(lambda: process.poll() is not None, "its end", 20)
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


async def test_another_row_takes_the_tabs_away(inbox, source, until):
    fixture = FIXTURES / "starweaver" / "v041_waiting_one_approval.json"
    put_execution(source, fixture.read_bytes())
    await read_only_row(inbox, until)
    assert "Execution" in tab_names(inbox)
    store = source / "plain"
    store.mkdir(mode=0o700)
    raw = (FIXTURES / "lc_agents" / "v018_sample_pending.json").read_bytes()
    badinputs.put(store / "pending.json", raw)
    await until(lambda: inbox.model.rowCount() == 2, "the second row")
    rows = [inbox.model.row(inbox.model.id_at(n)) for n in range(2)]
    plain = next(row for row in rows if row is not None and row.agent == "plain")
    await until(lambda: inbox.table.choose(plain.id), "its place")
    await until(lambda: inbox.flow.current == plain.id and inbox.flow.view.prepared, "the reading")
    names = [name.split()[0] for name in tab_names(inbox)]
    assert names == ["Call", "Changes", "Steps", "Inputs", "File"]
    assert says(inbox, "iterations").endswith("iterations")


def test_a_checkpoint_that_cannot_be_read_is_not_left_out_in_silence():
    unread = Unread(Path("/srv/bot/a\u202eb.checkpoint.json"), "not_json", "It is torn.")
    row = a_row(1)
    (left,) = left_behind(Detail(row, None, None, b"", row.store, unread=(unread,)))
    (piece,) = left.pieces
    assert (left.title, piece.title) == ("Unreadable", "a\u27e6U+202E\u27e7b.checkpoint.json")
    assert piece.body == "  It is torn. Whether it is of this run cannot be told."


def readable() -> dict[str, Checkpoint]:
    found = {}
    for one in (*badinputs.A3S, *badinputs.STARWEAVER):
        with contextlib.suppress(Unreadable):
            found[one.path.stem] = read_checkpoint(one.path.read_bytes())
    return found


READABLE = readable()


def test_the_checkpoints_to_be_shown_are_there():
    assert len(READABLE) >= 12


@pytest.mark.parametrize("checkpoint", READABLE.values(), ids=READABLE)
def test_every_checkpoint_that_can_be_read_can_be_shown(checkpoint):
    pieces = run_pieces(checkpoint)
    assert pieces[0].title == "Where it stands"
    for piece in pieces:
        assert piece.title.isprintable()
        assert piece.about.isprintable()
        assert all(line.isprintable() for line in piece.body.split("\n"))


# --- Text that would be more than text ------------------------------------------------------------


def test_no_text_can_imitate_a_heading_or_a_label():
    forged = f"fine\n{OPEN}9  system\n  came back\n    Turns  1\n\x1b[2J\u202e<b>"
    document = a3s_document(
        messages=[
            {"role": f"user\n{OPEN}2", "content": [{"type": "text", "text": forged}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": forged, "name": forged, "input": {forged: forged}}
                ],
            },
        ]
    )
    pieces = run_pieces(read_checkpoint(json.dumps(document).encode()))
    assert not any("\n" in piece.title + piece.about for piece in pieces)
    lines = [line for piece in pieces for line in piece.body.split("\n")]
    assert not any(line.startswith(MARKS) for line in lines)
    labels = [line for line in lines if line.startswith("  ") and line[2] != " "]
    assert [line.split("fine")[0] for line in labels] == ["  calls ", "  says"]
    assert [line for line in lines if line.startswith("    Turns")] == [
        next(line for line in lines if "Turns" in line)
    ]


def test_secrets_in_a_conversation_are_masked():
    told = "Authorization: Bearer abcdef0123456789"
    step = Step("login", {"user": "ann", "password": "hunter2-hunter2"}, told)
    (piece,) = step_pieces((step,))
    assert "hunter2" not in piece.about + piece.body
    assert "abcdef0123456789" not in piece.body
    assert '"user": "ann"' in piece.body


def test_a_result_too_long_to_show_says_how_much_is_left():
    (piece,) = step_pieces((Step("cat", {}, "x" * ((1 << 20) + 500)),))
    assert piece.body.split("\n")[-1] == "  and 500 more characters, which are in the file"


# --- Folding --------------------------------------------------------------------------------------

SOME = (
    Piece("one", "about one", "  label\n    \u2502 a", unfolded=True),
    Piece("two", "about two", "    \u2502 b\n    \u2502 c"),
    Piece("three", "nothing more", "", apart=True),
    Piece("four", "", "    \u2502 d", unfolded=True),
)


def test_pieces_are_folded_as_they_say(view):
    view.show_pieces(SOME)
    assert lines_of(view) == [
        "\u25be one",
        "  label",
        "    \u2502 a",
        "",
        "\u25b8 two   about two",
        "",
        "\u00b7 three   nothing more",
        "\u25be four",
        "    \u2502 d",
    ]


def test_a_click_on_a_heading_unfolds_it_and_a_second_one_folds_it(view):
    view.show_pieces(SOME)
    before = lines_of(view)
    heading = view.document().findBlockByNumber(4)
    top = view.blockBoundingGeometry(heading).translated(view.contentOffset()).top()
    place = QPoint(60, int(top) + 4)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert lines_of(view)[4:7] == ["\u25be two", "    \u2502 b", "    \u2502 c"]
    assert view.textCursor().block().text() == "\u25be two"
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert lines_of(view) == before


def test_a_piece_folds_by_the_keyboard_from_within(view):
    view.show_pieces(SOME)
    view.setFocus()
    for _ in range(2):
        QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.textCursor().block().text() == "    \u2502 a"
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.textCursor().block().text() == "\u25b8 one   about one"
    QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_Space)
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert lines_of(view)[:3] == ["\u25b8 one   about one", "\u25be two", "    \u2502 b"]


def test_what_is_copied_is_the_text_as_it_is_folded(view):
    view.show_pieces(SOME)
    view.selectAll()
    view.copy()
    assert QApplication.clipboard().text() == "\n".join(lines_of(view))


def test_all_are_folded_and_unfolded_at_once(view):
    view.show_pieces(SOME)
    view.fold_all(shut=True)
    assert [line[:2] for line in headings(view)] == [SHUT, SHUT, "\u00b7 ", SHUT]
    view.fold_all(shut=False)
    assert [line[:2] for line in headings(view)] == [OPEN, OPEN, "\u00b7 ", OPEN]


@given(places=st.lists(st.integers(0, 3), max_size=12))
@settings(max_examples=30, deadline=None)
def test_any_folding_leaves_what_a_fresh_view_would_show(qapp, places):
    look = theme.Theme(qapp, dark=False)
    view, fresh = (FoldedText(look, "folded", "Folded") for _ in range(2))
    view.show_pieces(SOME)
    for place in places:
        view.fold(place, shut=not view.is_folded(place))
    fresh.show_pieces(
        tuple(
            Piece(
                piece.title,
                piece.about,
                piece.body,
                unfolded=not view.is_folded(place),
                apart=piece.apart,
            )
            for place, piece in enumerate(SOME)
        )
    )
    assert lines_of(view) == lines_of(fresh)
    assert [view.title_of(n) for n in range(view.blockCount())] == [
        fresh.title_of(n) for n in range(fresh.blockCount())
    ]
    for each in (view, fresh):
        each.deleteLater()
    look.stop()


def test_a_heading_stays_on_one_line_and_grows_with_the_window(view, qtbot):
    view.resize(320, 300)
    view.show_pieces((Piece("1  bash", "x" * 150, "    \u2502 a"),))
    qtbot.waitUntil(lambda: not view._again.isActive())
    assert len(lines_of(view)) == 1
    assert lines_of(view)[0].endswith("\u2026")
    narrow = len(lines_of(view)[0])
    view.resize(900, 300)
    qtbot.waitUntil(lambda: len(lines_of(view)[0]) > narrow)


def test_no_length_is_put_in_at_once(view, qtbot):
    body = "\n".join(f"    \u2502 line {n} of a long result" for n in range(200_000))
    pieces = (Piece("1  cat", "", body, unfolded=True), *(Piece("2", "", body) for _ in range(3)))
    view.show_pieces(pieces)
    assert view.document().characterCount() <= LONGEST_PIECE
    qtbot.waitUntil(lambda: view.blockCount() > CLEARED_AT_ONCE)
    view.fold(0, shut=True)
    assert headings(view)[0] == f"{SHUT}1  cat"
    assert view.document().characterCount() <= LONGEST_PIECE
    assert len(headings(view)) == 4


def test_what_is_above_a_fold_stays_where_it_is(view, qtbot):
    long = "\n".join(f"    \u2502 {n}" for n in range(300))
    view.show_pieces(
        (Piece("1", "", long, unfolded=True), Piece("2", "", long), Piece("3", "", ""))
    )
    qtbot.waitUntil(view.complete)
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    top = view.firstVisibleBlock().blockNumber()
    view.fold(1, shut=False)
    assert view.firstVisibleBlock().blockNumber() == top
    assert view.textCursor().block().text() == f"{OPEN}2"


def test_a_heading_tells_what_is_news_in_it():
    medium = run_pieces(read_checkpoint((LOOPS / MEDIUM).read_bytes()))
    about = {piece.title: piece.about for piece in medium}
    assert about["Convergence guards"].startswith("Parse errors: 1 \u00b7 Continuations: 2 \u00b7 ")
    assert about["Verification report"].startswith("Status: needs_review \u00b7 Subject: ")
    fresh = run_pieces(read_checkpoint(json.dumps(a3s_document()).encode()))
    guards = next(piece for piece in fresh if piece.title == "Convergence guards")
    assert guards.about == "nothing to note"
    assert "Parse errors" in guards.body
