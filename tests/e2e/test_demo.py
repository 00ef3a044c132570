"""`lineclear demo` as a newcomer meets it: a window, five pretend agents, two keys, an end."""

import time
from pathlib import Path
from typing import Any

from lineclear.demo.stage import AGENTS
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.processes import CLI, lineclear, listed

NEWCOMER_S = 0.9
"""How long somebody looks at a call before a key: more than what arms it."""


def by_the_window(home: Path) -> list[dict[str, Any]]:
    """The decisions that were given in the window."""
    rows: list[dict[str, Any]] = lineclear("list", "--all", "--json", LINECLEAR_HOME=str(home)).json
    decisions = [row["decision"] for row in rows if row["decision"]]
    return [each for each in decisions if each["shown"].get("front_end") == "window"]


def test_a_newcomer_approves_a_call_of_the_demo_and_ends_it(desktop: Desktop, tmp_path: Path):
    home = tmp_path / "demo"
    with desktop.started([*CLI, "demo", "--home", str(home)]) as demo:
        window = desktop.window("Lineclear")

        desktop.activate(window)

        def states() -> dict[str, set[str]]:
            rows = lineclear("list", "--json", LINECLEAR_HOME=str(home)).json
            return {name: {row["state"] for row in rows if row["agent"] == name} for name in AGENTS}

        wait_for("a call of each agent", lambda: all(states().values()))
        wait_for("a call that may have run", lambda: "uncertain" in states()["payout-bot"])
        for _ in range(10):
            desktop.press("n")
            time.sleep(NEWCOMER_S)
            desktop.press("a")
            time.sleep(0.4)
            desktop.press("Return")
            if by_the_window(home):
                break
        (decision,) = by_the_window(home)
        assert decision["verdict"] == "approve"
        assert decision["shown"]["origin"] == "key"
        desktop.close(window)
        assert demo.wait(20) == 0
    rows = lineclear("list", "--json", LINECLEAR_HOME=str(home)).json
    assert {row["process"] for row in rows} == {"dead"}
    assert listed() == [], "the person's own inbox has nothing of it"
