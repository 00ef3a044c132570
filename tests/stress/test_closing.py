"""The closing steps hold in every order, and the explorer notices when one of them is broken."""

import pytest

from tests.stress.closing import MUTANTS, Explorer

OTHER = ("bob 10", "carol 999")
SAME = ("bob 10", "bob 10")


@pytest.mark.parametrize("wants", [OTHER, SAME])
@pytest.mark.parametrize(
    "requests, kills, losses, least", [(1, 1, 0, 20_000), (1, 0, 1, 40_000), (2, 0, 0, 50_000)]
)
def test_no_order_kill_or_power_loss_breaks_a_promise(wants, requests, kills, losses, least):
    states, wrong = Explorer(requests=requests, kills=kills, losses=losses).run(wants)
    assert wrong is None
    assert states >= least


@pytest.mark.parametrize(
    "mutant, wants, promise",
    [
        ("withdraw_unfenced", OTHER, "S5"),
        ("refuse_unfenced", SAME, "S5"),
        ("take_back_unfenced", SAME, "S5"),
        ("adopt_any", OTHER, "S2"),
        ("start_unsynced", SAME, "S6"),
    ],
)
def test_a_broken_step_is_noticed(mutant, wants, promise):
    losses = 1 if mutant == "start_unsynced" else 0
    _, wrong = Explorer(mutant, losses=losses, kills=1 - losses).run(wants)
    assert wrong is not None, MUTANTS[mutant]
    assert wrong.startswith(promise)


def test_every_broken_step_is_looked_for():
    assert len(MUTANTS) == 5
