"""Two operators press within one instant: one of them decided, and both are told the truth."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lineclear.core.errors import AlreadyDecided
from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.store import Store
from lineclear.ui.deciding.arming import Act
from tests.ui.sample import ask_for
from tests.ui.test_window import click, says

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
BOB = Settings(operator="bob")
ROUNDS = 6


def told(window) -> str:
    """All that the pane says of where the call stands."""
    notice = window.flow.view.notice
    said = [says(window, "sentence"), says(window, "alone"), says(window, "standing")]
    return " ".join([*said, "" if notice is None else notice.text])


async def ready(window, until, shown):
    await until(lambda: window.table.choose(shown.aid), "the row")
    await until(
        lambda: window.flow.current == shown.aid and window.flow.view.prepared is not None, "read"
    )
    await until(lambda: window.flow.arming.readiness(Act.APPROVE).ready, "ready")


def other(detail, verdict):
    """What a colleague says, in the same instant; what that colleague is told."""
    try:
        decision = decide(detail, verdict, Origin.CLI, BOB)
    except AlreadyDecided as why:
        return why.sentence
    return f"recorded: {decision.verdict}"


@pytest.mark.parametrize("verdict", [Verdict("deny", reason="wrong customer"), Verdict("approve")])
async def test_a_click_here_and_a_word_elsewhere(inbox, source, until, verdict):
    with ThreadPoolExecutor(1) as pool:
        for number in range(ROUNDS):
            shown = ask_for(source, f"bot-{number}", arguments={"n": number}).shown
            await ready(inbox, until, shown)
            detail = read_detail(inbox.model.row(shown.aid))
            # Fresh in each round: the same word given twice is one word.
            said = pool.submit(other, detail, replace(verdict, nonce=f"{number:032x}"))
            click(inbox.pane.bar.approve)
            answer = said.result(timeout=20)
            with Store.open(shown.store) as store:
                decision = store.known_records(shown.seq, shown.aid).decision
            assert decision is not None
            here = decision.by.name != "bob"
            if here:
                await until(lambda: "Approved by you" in told(inbox), f"ours: {told(inbox)}")
                assert "was already approved by " in answer
            else:
                assert answer == f"recorded: {verdict.verdict}"
                done = "denied" if verdict.verdict == "deny" else "approved"
                await until(
                    lambda done=done: (
                        f"bob {done} this at " in told(inbox)
                        or f"already {done} by bob at " in told(inbox)
                    ),
                    f"theirs: {told(inbox)}",
                )
                assert "Approved by you" not in told(inbox)


async def test_a_denial_here_and_an_approval_on_the_command_line(inbox, source, until):
    shown = ask_for(source).shown
    await ready(inbox, until, shown)
    inbox.flow.deny()
    inbox.pane.editor.text.setPlainText("Too much.")
    await until(lambda: inbox.flow.arming.readiness(Act.DENY).ready, "ready")
    words = (sys.executable, "-m", "lineclear", "approve", shown.aid[:8], "--source", str(source))
    with ThreadPoolExecutor(1) as pool:
        said = pool.submit(subprocess.run, words, capture_output=True, text=True, check=False)
        QTest.keyClick(
            inbox.pane.editor.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier
        )
        cli = said.result(timeout=60)
    with Store.open(shown.store) as store:
        decision = store.known_records(shown.seq, shown.aid).decision
    assert decision is not None
    if decision.verdict == "deny":
        assert cli.returncode == 3
        assert "was already denied by " in cli.stderr or ") was denied by " in cli.stderr
        await until(lambda: "Denied by you" in told(inbox), f"ours: {told(inbox)}")
    else:
        assert cli.returncode == 0
        await until(lambda: "Your text was not sent." in told(inbox), "what the colleague did")
        assert "You approved this elsewhere at " in told(inbox)
        assert "gets this text" not in told(inbox)
        assert inbox.pane.editor.text.toPlainText() == "Too much."
