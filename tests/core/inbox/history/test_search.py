"""Finding rows: fields, words, pages, sums; quick with a hundred thousand of them."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineclear.core.inbox.history.entry import STAGES, Kind
from lineclear.core.inbox.history.query import Query, Term, parse_query
from lineclear.core.inbox.history.search import PAGE, Pivot, Search
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import add, fact

pytestmark = pytest.mark.timeout(240)
"""The large history takes its time to be written on a busy machine."""
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.fixture
def search():
    with History.open() as history:
        history.intend(f"{4:032x}")
        add(
            history,
            fact(1, tool="bash", agent="ci", arguments='{"cmd":"rm -rf build"}', end_seen=0),
            fact(2, tool="bash", agent="ci", verdict="deny", reason="Too much", by_name="alice"),
            fact(3, tool="Bash_2", agent="ops", by_name="alice", by_uid=1001, end_seen=1),
            fact(4, tool="read", agent="ops", end_seen=0, shown_ms=4000, took_ms=9000),
            fact(5, tool="read", arguments='{"path":"/srv/100%_done"}', shown_ms=2000),
        )
        for number, ended in ((1, "ok"), (3, "error"), (4, "uncertain")):
            add(
                history,
                fact(
                    number,
                    **{
                        1: {"tool": "bash", "agent": "ci", "end_seen": 0},
                        3: {"tool": "Bash_2", "agent": "ops", "by_name": "alice", "by_uid": 1001},
                        4: {"tool": "read", "agent": "ops", "end_seen": 0, "shown_ms": 4000},
                    }[number],
                    fact="outcome",
                    kind=Kind.OUTCOME.value,
                    stage=STAGES[Kind.OUTCOME],
                    ended=ended,
                    preview=f"it {ended}",
                ),
            )
        history.note(Kind.WATCHING, sources=["/agents"])
    with Search.open() as search:
        yield search


def found(search: Search, line: str) -> list[int]:
    entries = search.page(parse_query(line, NOW)).entries
    assert len(entries) == search.count(parse_query(line, NOW))
    return [int(str(entry.fact.call), 16) for entry in entries]


@pytest.mark.parametrize(
    "line,calls",
    [
        ("", [5, 4, 3, 2, 1]),
        ("tool:bash", [3, 2, 1]),
        ("tool:bash agent:ci", [2, 1]),
        ("-tool:bash", [5, 4]),
        ("by:alice", [3, 2]),
        ("by:1001", [3]),
        ("by:bob verdict:approved", [5, 4, 1]),
        ("verdict:denied", [2]),
        ("ended:failed", [3]),
        ("ended:may-have-run", [4]),
        ("ended:open", [5, 2]),
        ("-ended:open", [4, 3, 1]),
        ("end:unseen", [4, 1]),
        ("end:unknown", [5, 3, 2]),
        ("found:no", [4]),
        ("RM", []),
        ('"too much"', [2]),
        ("it", [4, 3, 1]),
        ("100%_d", [5]),
        ("100__", []),
        ("tool:nothing", []),
        ("ended:nonsense", []),
        ("since:2026-11-01T00:00:03Z", [5, 4, 3]),
        ("until:2026-11-01T00:00:03Z", [2, 1]),
    ],
)
def test_fields_and_words(search, line, calls):
    assert found(search, line) == calls


def test_text_of_an_agent_is_a_value_never_a_statement(search):
    for text in ("'; DROP TABLE entries; --", "%", "\x00", "!", "é' OR 1=1", "x" * 100_000):
        for field in ("", "tool:", "by:"):
            search.page(parse_query(f'{field}"{text}"', NOW))
    assert found(search, "") == [5, 4, 3, 2, 1]


def test_gaps_are_listed_when_they_are_asked_for(search):
    kinds = [entry.fact.kind for entry in search.page(Query(gaps=True)).entries]
    assert min(kinds) == "begun"
    assert "watching" in kinds
    assert len(kinds) == 7


def test_pivots_add_calls_up(search):
    by = {
        pivot: {bucket.label: bucket for bucket in search.pivot(Query(), pivot)} for pivot in Pivot
    }
    assert {name: bucket.calls for name, bucket in by[Pivot.PERSON].items()} == {
        "bob (1000)": 3,
        "alice (1000)": 1,
        "alice (1001)": 1,
    }
    assert {name: bucket.calls for name, bucket in by[Pivot.TOOL].items()} == {
        "bash": 2,
        "read": 2,
        "Bash_2": 1,
    }
    assert (by[Pivot.TOOL]["bash"].approved, by[Pivot.TOOL]["bash"].denied) == (1, 1)
    assert (by[Pivot.AGENT]["ops"].failed, by[Pivot.AGENT]["ops"].uncertain) == (1, 1)
    assert by[Pivot.TOOL]["read"].shown_ms == 3000
    assert {name: bucket.calls for name, bucket in by[Pivot.END].items()} == {
        "end not seen": 2,
        "not reported": 3,
    }


def test_a_call_that_was_answered_was_not_approved():
    with History.open() as history:
        add(history, fact(1, tool="ask", verdict="result"), fact(2, tool="ask", verdict="modify"))
    with Search.open() as search:
        (bucket,) = search.pivot(Query(), Pivot.TOOL)
        assert (bucket.calls, bucket.approved, bucket.answered) == (2, 1, 1)
        assert found(search, "verdict:answered") == [1]


@pytest.mark.parametrize("pivot", Pivot)
def test_a_buckets_term_finds_exactly_its_calls(search, pivot):
    for bucket in search.pivot(Query(), pivot):
        assert search.count(Query().narrowed(bucket.term)) == bucket.calls


def test_pages_follow_each_other_without_gap_or_overlap_while_rows_arrive():
    with History.open() as history:
        add(history, *(fact(n) for n in range(95)))
        # Many at the same instant, as a batch decides them.
        add(history, *(fact(n, at="2026-11-01T00:00:10.000000Z") for n in range(100, 140)))
        with Search.open() as search:
            seen, cursor = [], None
            while True:
                page = search.page(Query(), cursor, limit=10)
                seen += [entry.fact.call for entry in page.entries]
                add(history, fact(1000 + len(seen)))
                cursor = page.following
                if cursor is None:
                    break
            assert len(seen) == len(set(seen)) == 135
            assert len(list(search.every(Query()))) == 135 + 14


def test_too_many_different_names_are_compared_as_texts():
    with History.open() as history:
        add(history, *(fact(n, tool=f"tool-{n}") for n in range(300)))
    with Search.open() as search:
        assert search.count(parse_query("tool:tool-29")) == 11


# --- A hundred thousand ---------------------------------------------------------------------

AGENTS = 40
DECISIONS = 100_000


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    path = Path(tmp_path_factory.mktemp("large")) / "history.db"
    with History.open(path) as history:
        for first in range(0, DECISIONS, 5000):
            add(
                history,
                *(
                    fact(
                        n,
                        agent=f"agent-{n % AGENTS}",
                        tool="rare" if n % 20_000 == 0 else f"tool-{n % 7}",
                        by_name=f"person-{n % 5}",
                        ended="error" if n % 1000 == 0 else "ok",
                        end_seen=n % 2,
                    )
                    for n in range(first, first + 5000)
                ),
            )
    return path


@pytest.mark.parametrize(
    "line,index",
    [
        ("", "entry_time"),
        ("tool:rare", "entry_tool"),
        ("agent:agent-39", "entry_agent"),
        ("by:person-3", "entry_person"),
        ("tool:tool-", "entry_time"),
        ("ended:failed", "entry_ended"),
        ("since:2026-11-02T00:00:00Z", "entry_time"),
        ('"nowhere to be found"', "entry_time"),
    ],
)
def test_pages_of_a_large_history_are_read_through_an_index(large, line, index):
    with Search.open(large) as search:
        query = parse_query(line, NOW)
        first = search.page(query)
        for cursor in {None, first.following}:
            plan = search.plan(query, cursor)
            assert index in plan[0], plan
            assert all(
                step.startswith(("SEARCH ", "CORRELATED ")) or "USING INDEX" in step
                for step in plan
            ), plan
            # Sorted by the index: what lies behind the page is not looked at.
            assert "USE TEMP B-TREE FOR ORDER BY" not in plan
        assert len(first.entries) == min(PAGE, search.count(query))


def test_a_large_history_is_paged_as_quickly_at_its_end_as_at_its_beginning(large):
    with Search.open(large) as search:
        page = search.page(Query())
        first = _fastest(lambda: search.page(Query()))
        oldest = fact(PAGE + 1).at
        last_page = search.page(Query(until=datetime.fromisoformat(oldest)), None)
        assert len(last_page.entries) == PAGE
        assert page.following is not None
        end = type(page.following)(oldest, "g", 0)
        last = _fastest(lambda: search.page(Query(), end))
        assert last < max(5 * first, 0.05)


def _fastest(work) -> float:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def test_a_search_that_runs_can_be_stopped(large):
    import threading

    from lineclear.core.errors import LineclearError

    with Search.open(large) as search:
        stopped = threading.Event()

        def stop():
            while not stopped.wait(0.001):
                search.interrupt()

        thread = threading.Thread(target=stop)
        thread.start()
        try:
            with pytest.raises(LineclearError) as caught:
                search.count(Query(tuple(Term("", f"nowhere {n}") for n in range(20))))
        finally:
            stopped.set()
            thread.join()
        assert caught.value.code == "interrupted"
        assert search.count(Query()) == DECISIONS
