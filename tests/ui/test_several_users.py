"""The real window of two operators with uids of their own, and what an agent's own window may."""

import json
import sys
from typing import Any

import pytest

from tests.cli.program import wait_for
from tests.cli.test_several_users import gated, row, saves, says
from tests.several_users import AGENT, ALICE, BOB, Machine, User

DRIVER = "tests.ui.user_window"


class Window:
    """One user's window in a process of its own."""

    def __init__(self, town: Machine, user: User) -> None:
        self.process = town.start(user, sys.executable, "-m", DRIVER, town.source)

    def opened(self) -> bool:
        return bool(self._answer() == "open")

    def ask(self, name: str, value: Any = True) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({name: value}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def sees(self, text: str) -> str:
        """Wait for a text with that in it, and give it whole."""

        def look() -> str:
            return next((str(one) for one in self.ask("texts") if text in one), "")

        return wait_for(look, text)

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


@pytest.fixture
def windows(town):
    def opened(user: User) -> Window:
        begun.append(Window(town, user))
        assert begun[-1].opened()
        return begun[-1]

    begun: list[Window] = []
    yield opened
    for one in begun:
        with one.process as process:
            assert process.stdin is not None
            process.stdin.close()
            try:
                assert process.wait(20) == 0
            finally:
                process.kill()


def test_colleagues_see_each_other_read_and_who_answered(town, windows):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        alice, bob = windows(ALICE), windows(BOB)
        assert alice.ask("choose", call)
        bob.ask("choose", call)
        bob.sees(f"lc-alice (uid {ALICE.uid}) is reading this")
        alice.sees(f"lc-bob (uid {BOB.uid}) is reading this")
        assert alice.ask("press", "approve")
        assert agent.wait(30) == 0
        bob.sees(f"lc-alice (uid {ALICE.uid}) approved this at ")
        bob.sees("Finished in ")
        alice.sees("Recorded.")


def test_a_foreign_call_is_answered_by_one_and_the_next_by_the_other(town, windows):
    saves(town, {"n": 1})
    call = row(town, ALICE, "pending")["id"]
    alice, bob = windows(ALICE), windows(BOB)
    assert alice.ask("choose", call)
    assert bob.ask("choose", call)
    assert alice.ask("press", "approve")
    bob.sees(f"lc-alice (uid {ALICE.uid}) approved this at ")
    assert row(town, BOB, "approved")["id"] == call

    saves(town, {"n": 2})
    wait = [one["id"] for one in town.listed(BOB) if one["state"] == "pending"]
    assert len(wait) == 1
    assert bob.ask("choose", wait[0])
    assert alice.ask("choose", wait[0])
    assert bob.ask("press", "approve")
    alice.sees(f"lc-bob (uid {BOB.uid}) approved this at ")
    late = says(town, ALICE, "deny", wait[0], "--reason", "no")
    assert f"was already approved by lc-bob (uid {BOB.uid}) at " in late.stderr


def test_the_window_of_the_agents_own_user_decides_nothing(town, windows):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        own = windows(AGENT)
        assert own.ask("choose", call)
        own.sees("You own this agent, so your word does not count here; a colleague who shares its")
        assert own.ask("buttons") == []
        assert row(town, BOB, "pending")["id"] == call
        assert says(town, BOB, "deny", call, "--reason", "no").returncode == 0
        agent.wait(30)
    assert not (town.own(AGENT) / "pay.ran").exists()


def test_another_users_dead_agent_is_said_to_be_theirs_to_start(town, windows):
    with gated(town) as agent:
        call = row(town, ALICE, "pending")["id"]
        agent.kill()
    words = ("config", "set-launch", "--agent", "pay", "--cwd", "/", "--", "/bin/true")
    assert town.lineclear(ALICE, *words).returncode == 0
    alice = windows(ALICE)
    assert alice.ask("choose", call)
    alice.sees("Nothing runs until someone resumes pay.")
    assert alice.ask("press", "approve")
    alice.sees("Only lc-agent, whose agent it is, can start it again.")
    assert alice.ask("buttons") == ["takeBack"]
