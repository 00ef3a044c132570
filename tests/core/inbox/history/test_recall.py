"""The last approved call as the history kept it."""

from pathlib import Path

from lineclear.core.inbox.comparing.last_approved import LastApproved
from lineclear.core.inbox.history.recall import recall_approved
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import add, fact
from tests.ui.sample import SOURCE, a_row

MASKED = '{"amount":80.00,"token":"\u2022\u2022\u2022\u2022 6 characters"}'


def kept(number, **more):
    known = {"tool": "send_refund", "agent": "agent-1", "source": str(SOURCE)}
    known["store"] = str(SOURCE / "agent-1" / "1")
    return fact(number, **{**known, **more})


def remember(*facts):
    with History.open() as history:
        add(history, *facts)


def asked(**more):
    given = {"amount": 120, "token": "abcdef"}
    return a_row(1, asked_at=None, agent="agent-1", arguments=given, **more)


def test_the_newest_approval_of_this_tool_agent_and_source_is_recalled():
    remember(
        kept(1, arguments='{"amount":1}'),
        kept(2, arguments=MASKED),
        kept(3, arguments='{"amount":3}', verdict="deny"),
        kept(4, arguments='{"amount":4}', agent="else"),
        kept(5, arguments='{"amount":5}', source="/else"),
        kept(6, arguments='{"amount":6}', store=str(SOURCE / "other" / "1")),
    )
    found = recall_approved(asked())
    assert found is not None
    assert found.arguments["amount"].text == "80.00"
    assert found.decision is not None
    known = LastApproved(recall_approved)
    row = asked()
    known.take([row])
    assert known.differing(row) is None
    (one,) = known.compare(row)
    assert (one.recalled, one.with_last_approved) == (True, True)
    # The masks are alike; whether the secrets are, nobody can tell, and nobody says so.
    assert [change.where() for change in one.changes] == ["amount"]
    assert known.differing(row) == 1


def test_it_may_have_stood_in_any_lane_of_the_agents_folder():
    remember(kept(2, arguments='{"amount":1}', store=str(SOURCE / "agent-1" / "2")))
    assert recall_approved(asked()) is None
    assert recall_approved(asked(run_folder=SOURCE / "agent-1")) is not None
    assert recall_approved(asked(run_folder=SOURCE / "other")) is None


def test_what_was_given_instead_counts_and_what_was_cut_does_not():
    remember(kept(6, verdict="modify", arguments='{"amount":1}', given='{"amount":2}'))
    found = recall_approved(asked())
    assert found is not None
    assert found.arguments == {"amount": 2}
    remember(kept(7, arguments='{"amount":1,"note":"xxxxx'))
    assert recall_approved(asked()) is None


def test_without_a_history_nothing_is_recalled(tmp_path: Path):
    assert recall_approved(asked()) is None
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database" * 100)
    assert recall_approved(asked(), broken) is None
    assert recall_approved(asked(tool=None)) is None
