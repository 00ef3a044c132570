"""Which calls are decided together, what they share and how they differ, by values."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import AlreadyDecided, LineclearError, Refusal
from lineclear.core.inbox.bursts.blocks import VALUE_AT_MOST, block_text
from lineclear.core.inbox.bursts.joining import (
    FIELDS_AT_MOST,
    TOGETHER_AT_MOST,
    Burst,
    Why,
    burst_of,
    decide_as_shown,
    still_same,
    unfit,
    why_apart,
)
from lineclear.core.inbox.bursts.table import NOT_GIVEN, Kind, Table, label_of, unmasked
from lineclear.core.inbox.deciding.path import Origin, may_decide
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store

NOW = datetime.now(UTC)


def a_row(number: int = 1, arguments: Json = None, **more: Any) -> Row:
    """A waiting call of a live agent, asked NUMBER seconds after the first."""
    known: dict[str, Any] = {
        "id": f"{number:032x}",
        "system": "lineclear",
        "state": State.PENDING,
        "source": Path("/srv"),
        "store": Path(f"/srv/bot/{number}"),
        "agent": "bot",
        "run": "run",
        "tool": "send_refund",
        "arguments": {"amount": number} if arguments is None else arguments,
        "sha256": f"{number:064x}",
        "asked_at": NOW + timedelta(seconds=number),
    }
    return Row(**{**known, **more})


def rows_of(*arguments: Json) -> list[Row]:
    return [a_row(number, each) for number, each in enumerate(arguments, 1)]


def common(table: Table) -> dict[str, str]:
    return {field.label: value.text for field, value in table.common}


def columns(table: Table) -> list[str]:
    return [field.label for field in table.columns]


def texts(table: Table) -> list[tuple[str, ...]]:
    return [tuple(value.text for value in member.values) for member in table.members]


def unusual(table: Table) -> set[str]:
    return {value.text for member in table.members for value in member.values if value.unusual}


def apart(burst: Burst) -> dict[str, Why]:
    return {one.row.id[-2:]: one.why for one in burst.apart}


# --- Which calls are a burst ----------------------------------------------------------------------


def test_one_waiting_call_is_none():
    rows = [a_row(1), a_row(2, state=State.APPROVED)]
    assert unfit(rows) == "Fewer than two of them wait for a decision."
    with pytest.raises(Refusal, match="Fewer than two"):
        burst_of(rows)


def test_calls_of_different_tools_are_none():
    why = unfit([a_row(1), a_row(2, tool="bash")])
    assert why == "They are of different tools; only calls of one tool can be decided together."


def test_a_decided_call_of_another_tool_does_not_matter():
    assert unfit([a_row(1), a_row(2), a_row(3, tool="bash", state=State.DENIED)]) == ""


def test_more_than_fit_are_counted_and_the_oldest_stay():
    burst = burst_of([a_row(number) for number in range(TOGETHER_AT_MOST + 7)])
    assert burst.beyond == 7
    assert len(burst.table.members) == TOGETHER_AT_MOST
    assert f"{TOGETHER_AT_MOST:032x}" not in {one.row.id for one in burst.table.members}


def test_calls_that_wait_no_more_take_no_place_from_others():
    over = [a_row(number, state=State.DENIED) for number in range(50)]
    burst = burst_of([*over, *(a_row(100 + number) for number in range(TOGETHER_AT_MOST))])
    assert len(burst.table.members) == TOGETHER_AT_MOST
    assert burst.beyond == 50


# --- What is the same and what differs ------------------------------------------------------------


def test_shared_fields_are_said_once_and_the_others_are_columns():
    table = burst_of(
        rows_of(
            {"customer": "C-1", "amount": 10, "currency": "EUR", "notify": True},
            {"customer": "C-2", "amount": 20, "currency": "EUR", "notify": True},
        )
    ).table
    assert common(table) == {"Agent": "bot", "currency": '"EUR"', "notify": "true"}
    assert columns(table) == ["customer", "amount"]
    assert texts(table) == [('"C-1"', "10"), ('"C-2"', "20")]


def test_nested_fields_are_named_by_their_path():
    table = burst_of(
        rows_of({"to": {"city": "Ulm", "zip": "1"}}, {"to": {"city": "Ulm", "zip": "2"}})
    ).table
    assert common(table)["to.city"] == '"Ulm"'
    assert columns(table) == ["to.zip"]


def test_a_key_with_a_dot_is_no_path():
    assert label_of(("a", "b")) == "a.b"
    assert label_of(("a.b",)) == '"a.b"'
    assert label_of(()) == "arguments"


def test_numbers_texts_and_null_that_read_alike_are_different():
    table = burst_of(rows_of({"v": 1}, {"v": "1"}, {"v": 1.0}, {"v": True}, {"v": None})).table
    assert {row[0] for row in texts(table)} == {"1", '"1"', "1.0", "true", "null"}


def test_a_field_that_is_not_given_cannot_be_imitated():
    table = burst_of(rows_of({"v": "x"}, {"v": "x", "w": NOT_GIVEN})).table
    given = {(value.text, value.given) for member in table.members for value in member.values}
    assert given == {(NOT_GIVEN, False), (f'"{NOT_GIVEN}"', True)}


def test_numbers_keep_the_text_that_the_agent_wrote():
    first, second = (jsontext.parse_value(text) for text in ('{"v": 1.10}', '{"v": 1e300}'))
    assert set(texts(burst_of(rows_of(first, second)).table)) == {("1.10",), ("1e300",)}


def test_arguments_that_are_no_object_are_one_column():
    assert columns(burst_of(rows_of("ls", "ls -l")).table) == ["arguments"]


def test_agents_and_folders_are_columns_where_they_differ():
    rows = [
        a_row(1, {"v": 1}, agent="one"),
        a_row(2, {"v": 1}, agent="two", source=Path("/opt")),
    ]
    table = burst_of(rows).table
    assert [(field.kind, field.label) for field in table.columns] == [
        (Kind.AGENT, "Agent"),
        (Kind.FOLDER, "Folder"),
    ]


def test_warnings_stand_beside_the_call():
    rows = [a_row(1), a_row(2, warnings=("first_time",))]
    table = burst_of(rows).table
    assert columns(table) == ["Warnings", "amount"]
    assert ("No call of this tool by this agent was decided before.", "2") in texts(table)


# --- The rarest first, what stands out ------------------------------------------------------------


def test_a_rare_value_among_repeated_ones_stands_out_and_comes_first():
    rows = rows_of(*({"currency": "EUR"} for _ in range(8)), {"currency": "USD"})
    table = burst_of(rows).table
    assert texts(table)[0] == ('"USD"',)
    assert unusual(table) == {'"USD"'}


def test_a_number_far_from_the_others_stands_out():
    amounts = [20.5, 31, 44, 52, 18, 27, 39, 4900]
    table = burst_of(rows_of(*({"amount": amount} for amount in amounts))).table
    assert unusual(table) == {"4900"}
    assert texts(table)[0] == ("4900",)


def test_a_field_that_one_call_has_alone_stands_out():
    rows = rows_of(*({"v": "x"} for _ in range(6)), {"v": "x", "force": True})
    table = burst_of(rows).table
    assert texts(table)[0] == ("true",)
    assert unusual(table) == {"true"}


def test_values_that_are_all_different_are_not_unusual():
    table = burst_of(rows_of(*({"id": f"C-{number}"} for number in range(20)))).table
    assert unusual(table) == set()


def test_halves_are_not_unusual_and_neither_is_one_of_two():
    assert unusual(burst_of(rows_of({"v": 1}, {"v": 2})).table) == set()
    halves = [{"v": "a"}] * 10 + [{"v": "b"}] * 10
    assert unusual(burst_of(rows_of(*halves)).table) == set()


def test_what_is_equally_rare_comes_oldest_first():
    table = burst_of(rows_of({"id": "c"}, {"id": "a"}, {"id": "b"})).table
    assert texts(table) == [('"c"',), ('"a"',), ('"b"',)]


# --- Who must be read alone -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({"v": "x" * (VALUE_AT_MOST + 1)}, Why.TOO_LONG),
        ({"v": ["x" * 60] * 3}, Why.TOO_LONG),
        ({"k" * (VALUE_AT_MOST + 1): 1}, Why.TOO_LONG),
        ({"v": list(range(200))}, Why.TOO_LONG),
        ({"v": "a\nb"}, Why.LINES),
        ({"v": "a\rb"}, Why.LINES),
        ({"v": "paid\u202e001"}, Why.HIDDEN),
        ({"v\u200b": 1}, Why.HIDDEN),
        ({"v": ["a\u00a0b"]}, Why.HIDDEN),
        ({"v": "a\tb"}, Why.HIDDEN),
        ({"v": "\u27e6U+202E\u27e7"}, Why.HIDDEN),
        ({"v": "a" + " " * 45 + "b"}, Why.PADDING),
        ({"v": ["\u05d0", "\u05d1"]}, Why.RIGHT_TO_LEFT),
        ({f"k{number}": 1 for number in range(FIELDS_AT_MOST + 1)}, Why.FIELDS),
        ({"v": {"w": {f"k{number}": 1 for number in range(FIELDS_AT_MOST)}}, "x": 1}, Why.FIELDS),
    ],
)
def test_a_call_whose_values_are_not_wholly_visible_does_not_join(arguments, why):
    assert why_apart(a_row(1, arguments)) is why


@pytest.mark.parametrize(
    "arguments",
    [
        {"v": "x" * (VALUE_AT_MOST - 2)},
        {},
        "ls",
        {"v": "\u05d0\u05d1"},
        {"v": [1, 2, {"w": None}]},
        {f"k{number}": 1 for number in range(FIELDS_AT_MOST)},
    ],
)
def test_a_call_whose_values_are_visible_joins(arguments):
    assert why_apart(a_row(1, arguments)) is None


@pytest.mark.parametrize(
    "more, why",
    [
        ({"warnings": ("invisible",)}, Why.HIDDEN),
        ({"warnings": ("control",)}, Why.HIDDEN),
        ({"warnings": ("mixed_scripts",)}, Why.LOOKALIKE),
        ({"warnings": ("twin",)}, Why.TWIN),
        ({"warnings": ("arguments_differ",)}, Why.FLAGGED),
        ({"warnings": ("writable_by_others",)}, Why.BLOCKED),
        ({"warnings": ("marked_cut",)}, Why.BLOCKED),
        ({"kind": "deferred"}, Why.ANSWER),
        ({"state": State.APPROVED}, Why.OVER),
        ({"state": State.UNCERTAIN}, Why.OVER),
        ({"closed": True}, Why.OVER),
        ({"expires_at": NOW - timedelta(seconds=1)}, Why.OVER),
        ({"sha256": None}, Why.OVER),
        ({"agent": "bot\u200b"}, Why.HIDDEN),
        ({"agent": "b" * 200}, Why.TOO_LONG),
    ],
)
def test_the_rules_of_all_decisions_keep_a_call_out(more, why):
    assert why_apart(a_row(1, **more)) is why


def test_care_does_not_keep_a_call_out():
    assert why_apart(a_row(1, warnings=("first_time", "foreign", "old"))) is None


def test_a_letter_of_another_alphabet_among_plain_ones_is_read_alone():
    rows = rows_of({"customer": "C-1"}, {"customer": "\u0421-1"}, {"customer": "C-2"})
    burst = burst_of(rows)
    assert apart(burst) == {"02": Why.LOOKALIKE}
    assert texts(burst.table) == [('"C-1"',), ('"C-2"',)]


def test_the_same_foreign_text_in_all_is_no_lookalike():
    rows = rows_of(
        {"city": "\u0421\u043e\u0447\u0438", "v": 1}, {"city": "\u0421\u043e\u0447\u0438", "v": 2}
    )
    assert burst_of(rows).apart == ()


def test_two_ways_of_writing_one_accent_are_both_read_alone():
    burst = burst_of(rows_of({"v": "caf\u00e9"}, {"v": "cafe\u0301"}, {"v": "tea"}))
    assert apart(burst) == {"01": Why.LOOKALIKE, "02": Why.LOOKALIKE}


def test_fields_named_with_lookalikes_are_read_alone():
    burst = burst_of(rows_of({"cop": 1}, {"\u0441\u043e\u0440": 1}, {"cop": 2}))
    assert apart(burst) == {"02": Why.LOOKALIKE}


def test_calls_with_other_fields_than_most_are_read_alone():
    same = [{f"k{number}": "x" for number in range(FIELDS_AT_MOST)}] * 3
    burst = burst_of(rows_of(*same, {"other": 1}))
    assert apart(burst) == {"04": Why.FIELDS}
    assert len(burst.table.members) == 3


# --- Secrets --------------------------------------------------------------------------------------


def test_a_shared_secret_is_masked_and_can_be_shown():
    key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    burst = burst_of(rows_of({"api_key": key, "v": 1}, {"api_key": key, "v": 2}))
    assert common(burst.table)["api_key"] == "\u2022\u2022\u2022\u2022 40 characters"
    assert burst.plain is not None
    assert common(burst.plain)["api_key"] == f'"{key}"'
    assert key not in repr([(member.values) for member in burst.table.members])


def test_calls_with_different_secrets_are_read_one_by_one():
    keys = [f"sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5{end}" for end in "aab"]
    burst = burst_of(rows_of(*({"api_key": key, "v": key[-1]} for key in keys), {"v": 1}))
    assert apart(burst) == {"01": Why.MASKED, "02": Why.MASKED, "03": Why.MASKED}
    assert len(burst.table.members) == 1


@pytest.mark.parametrize(
    "given",
    [
        {"url": "https://evil.example:443@good.example/pay"},
        {"command": "curl --token 4f9a8b7c6d5e4f3a2b1c"},
        {"password": "correct-horse"},
        {"recipient_token": "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"},
    ],
)
def test_a_masked_value_that_must_be_shown_is_read_alone_also_where_all_have_it(given):
    burst = burst_of(rows_of({**given, "v": 1}, {**given, "v": 2}, {"v": 3}))
    assert apart(burst) == {"01": Why.MASKED, "02": Why.MASKED}
    assert why_apart(rows_of(given)[0]) is Why.MASKED


def test_without_secrets_there_is_one_table():
    assert burst_of(rows_of({"v": 1}, {"v": 2})).plain is None


def test_whoever_masks_nothing_sees_all():
    key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    table = burst_of(rows_of({"api_key": key}, {"api_key": key}), unmasked).table
    assert common(table)["api_key"] == f'"{key}"'


# --- Whatever an agent writes ---------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200)
)
ARGUMENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(st.lists(ARGUMENTS, min_size=2, max_size=8))
def test_nothing_hides_and_no_call_is_lost(calls):
    rows = rows_of(*calls)
    burst = burst_of(rows, unmasked)
    table = burst.table
    members = [member.row.id for member in table.members]
    assert sorted([*members, *(one.row.id for one in burst.apart)]) == [row.id for row in rows]
    cells = [value for member in table.members for value in member.values]
    shown = [*cells, *(value for _field, value in table.common)]
    for value in shown:
        assert visible_line(value.text) == value.text
        assert len(value.text) <= VALUE_AT_MOST + 2 or not value.given
    for member in table.members:
        assert len(member.values) == len(table.columns)
        may_decide(member.row, Origin.BATCH, "approve")
        assert why_apart(member.row) is None


@pytest.mark.parametrize("ends", ["\r", ["\r"], {"a": "\r"}])
def test_a_carriage_return_ends_a_line_wherever_it_stands(ends):
    burst = burst_of(rows_of({"note": "plain"}, {"note": "plain"}, {"note": ends}), unmasked)
    assert apart(burst) == {"03": Why.LINES}


@given(st.lists(ARGUMENTS, min_size=2, max_size=8))
def test_two_calls_read_the_same_only_when_they_are_the_same(calls):
    table = burst_of(rows_of(*calls), unmasked).table
    by_text: dict[tuple[tuple[str, bool], ...], set[bytes]] = {}
    for member in table.members:
        shown = tuple((value.text, value.given) for value in member.values)
        by_text.setdefault(shown, set()).add(jsontext.canonical(member.row.arguments))
    assert all(len(same) == 1 for same in by_text.values())


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=2, max_size=60))
def test_unusual_values_are_few_and_come_first(values):
    table = burst_of(rows_of(*({"v": value} for value in values)), unmasked).table
    marks = [any(value.unusual for value in member.values) for member in table.members]
    assert marks == sorted(marks, reverse=True)
    assert sum(marks) <= len(marks) / 4


# --- What becomes of a call meanwhile -------------------------------------------------------------


def test_an_unchanged_call_stays():
    before = a_row(1)
    still_same(before, before)
    still_same(before, replace(before, process=before.process, warnings=("old",)))


@pytest.mark.parametrize(
    "after, code",
    [
        ({"sha256": "f" * 64}, "changed"),
        ({"warnings": ("twin",)}, "twin"),
        ({"warnings": ("file_changed",)}, "file_changed"),
        ({"expires_at": NOW - timedelta(seconds=1)}, "expired"),
        ({"state": State.UNREADABLE, "reason_code": "dup_key"}, "dup_key"),
    ],
)
def test_a_changed_call_drops_out(after, code):
    before = a_row(1)
    with pytest.raises(LineclearError) as why:
        still_same(before, replace(before, **after))
    assert why.value.code == code


def test_a_call_that_is_gone_or_decided_drops_out():
    before = a_row(1)
    with pytest.raises(Refusal) as gone:
        still_same(before, None)
    assert gone.value.code == "gone"
    decision = Decision(
        v=1,
        nonce="0" * 32,
        store_id="1" * 32,
        seq=1,
        aid=before.id,
        folder=2,
        request_sha256="0" * 64,
        verdict="deny",
        by=Person(uid=1, name="bob", host="desk"),
        at=NOW,
        boot_id="boot",
        boottime_ns=1,
        valid_for_s=900.0,
    )
    with pytest.raises(AlreadyDecided) as decided:
        still_same(before, replace(before, state=State.DENIED, decision=decision))
    assert decided.value.decision == decision


# --- On real stores -------------------------------------------------------------------------------


def asked(source: Path, lane: int, arguments: Json) -> Asked:
    with Store.create(source / "refunds" / str(lane)) as store:
        found = ask(store, Call("send_refund", arguments, "refunds"))
    assert isinstance(found, Asked)
    return found


def scanned(source: Path) -> dict[str, Row]:
    rows = scan_once(Settings(sources=()), [SourceSetting(path=source)])
    return {row.id: row for row in rows}


def decision_of(one: Asked) -> Decision | None:
    with Store.open(one.shown.store) as store:
        return store.records(one.shown.seq, one.shown.aid).decision


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "agents"
    made.mkdir(mode=0o700)
    return made


def test_a_call_is_decided_on_the_bytes_that_its_row_was_shown_from(source):
    one = asked(source, 1, {"amount": 5})
    row = scanned(source)[one.shown.aid]
    decide_as_shown(row, Verdict("approve", shown={"tab": "batch"}), Settings(sources=()))
    decision = decision_of(one)
    assert decision is not None
    assert decision.verdict == "approve"
    assert decision.request_sha256 == row.sha256 == one.shown.sha256
    assert decision.shown["origin"] == "batch"
    assert decision.shown["tab"] == "batch"


def test_other_bytes_than_those_shown_are_not_decided(source):
    one = asked(source, 1, {"amount": 5})
    row = replace(scanned(source)[one.shown.aid], sha256="0" * 64)
    with pytest.raises(Refusal) as why:
        decide_as_shown(row, Verdict("approve"), Settings(sources=()))
    assert why.value.code == "changed"
    assert decision_of(one) is None


def test_what_somebody_else_decided_stands(source):
    one = asked(source, 1, {"amount": 5})
    row = scanned(source)[one.shown.aid]
    with Store.open(one.shown.store) as store:
        me = Person(uid=row.store.stat().st_uid, name="bob", host="desk")
        decide(store, one.shown, Verdict("deny", reason="no"), me, valid_for_s=900)
    with pytest.raises(AlreadyDecided) as why:
        decide_as_shown(row, Verdict("approve"), Settings(sources=()))
    assert why.value.decision is not None
    assert why.value.decision.verdict == "deny"


def test_what_hides_in_the_bytes_is_refused_even_when_the_row_does_not_say_so(source):
    one = asked(source, 1, {"note": "paid\u202e001"})
    row = replace(scanned(source)[one.shown.aid], warnings=())
    with pytest.raises(Refusal) as why:
        decide_as_shown(row, Verdict("approve"), Settings(sources=()))
    assert why.value.code == "invisible"
    assert decision_of(one) is None


# --- Values too large for a row -------------------------------------------------------------------

PAGE = "one\ntwo\n\tthree" + " and so on" * 40


def test_a_long_text_that_all_share_is_common():
    burst = burst_of(rows_of(*({"n": number, "body": PAGE} for number in range(3))))
    assert apart(burst) == {}
    [(field, value)] = [one for one in burst.table.common if one[0].label == "body"]
    assert field.kind is Kind.ARGUMENT
    assert value.block
    assert columns(burst.table) == ["n"]


def test_a_blocks_text_tells_a_new_line_from_a_written_one():
    texts_of = ["a\nb", "a\\nb", 'a"\nb', "a\\\nb"]
    shown = {block_text(text) for text in texts_of}
    assert shown == {'"a\nb"', '"a\\\\nb"', '"a\\"\nb"', '"a\\\\\nb"'}


def test_whoever_has_another_long_text_is_read_alone():
    bodies = [PAGE, PAGE, PAGE, PAGE + "!", "short", "a\nb"]
    calls = [{"n": number, "body": body} for number, body in enumerate(bodies)]
    burst = burst_of([*rows_of(*calls), a_row(7, {"n": 7})])
    assert apart(burst) == {
        "04": Why.TOO_LONG,
        "05": Why.OTHER_TEXT,
        "06": Why.LINES,
        "07": Why.OTHER_TEXT,
    }
    assert len(burst.table.members) == 3


def test_long_texts_give_way_to_as_many_short_ones():
    calls = [{"n": number, "body": PAGE if number < 2 else "short"} for number in range(4)]
    burst = burst_of(rows_of(*calls))
    assert apart(burst) == {"01": Why.TOO_LONG, "02": Why.TOO_LONG}
    assert common(burst.table)["body"] == '"short"'


def test_a_column_of_300_characters_each_is_read_call_by_call():
    burst = burst_of(rows_of(*({"text": f"{number:03}" + "x" * 297} for number in range(20))))
    assert set(apart(burst).values()) == {Why.TOO_LONG}
    assert burst.table.members == ()


def test_300_equal_characters_are_common():
    burst = burst_of(rows_of(*({"n": number, "text": "x" * 300} for number in range(20))))
    assert apart(burst) == {}
    assert common(burst.table)["text"] == '"' + "x" * 300 + '"'


@pytest.mark.parametrize(
    "hostile",
    ["a\nb\u202ec", "a\nb\x1b[2J", "a\n" + " " * 60 + "rm -rf /", "a\r\nb", "a\n\u200bb"],
)
def test_a_shared_text_that_hides_something_stays_out(hostile):
    burst = burst_of(rows_of(*({"n": number, "body": hostile} for number in range(3))))
    assert burst.table.members == ()


@pytest.mark.parametrize("large", ["x" * 8001, "\n" * 201, list(range(5000)), ["a\nb"] * 3000])
def test_a_shared_value_too_large_for_anybody_stays_out(large):
    burst = burst_of(rows_of(*({"n": number, "body": large} for number in range(3))))
    assert burst.table.members == ()


def test_a_shared_list_is_common_as_json():
    shared: Json = ["one\ntwo", "x" * 200]
    burst = burst_of(rows_of(*({"n": number, "parts": shared} for number in range(3))))
    assert common(burst.table)["parts"] == f'["one\\ntwo","{"x" * 200}"]'


def test_equal_calls_are_told_apart_by_their_ids():
    burst = burst_of(rows_of({"n": 1}, {"n": 1}))
    assert columns(burst.table) == ["Call"]
    assert texts(burst.table) == [("00000000",), ("00000000",)]


def test_300_calls_with_a_long_shared_text_are_laid_out_in_seconds():
    rows = rows_of(*({"n": number, "body": "word " * 1500} for number in range(300)))
    began = time.monotonic()
    assert len(burst_of(rows).table.members) == 300
    assert time.monotonic() - began < 5
