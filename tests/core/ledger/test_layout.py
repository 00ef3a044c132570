"""Names on disk: each record has one, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.ledger import layout
from lineclear.core.ledger.layout import RecordName, parse_name, record_name

AID = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "kind, seq, aid, n, name",
    [
        ("request", 7, None, None, "000007.request.json"),
        ("request", 7, AID, None, "000007.request.json"),
        ("decision", 7, AID, None, f"000007-{AID}.decision.json"),
        ("start", 999_999, AID, None, f"999999-{AID}.start.json"),
        ("outcome", 1, AID, None, f"000001-{AID}.outcome.json"),
        ("outcome-late", 1, AID, 2, f"000001-{AID}.outcome-late-2.json"),
        ("result", 1, AID, None, f"000001-{AID}.result"),
        ("launch", 1, AID, 12, f"000001-{AID}.launch-12.json"),
        ("request", None, AID, None, f"{AID}.request.json"),
        ("decision", None, AID, None, f"{AID}.decision.json"),
        ("launch", None, AID, 1, f"{AID}.launch-1.json"),
    ],
)
def test_a_record_has_one_name(kind, seq, aid, n, name):
    assert record_name(kind, seq=seq, aid=aid, n=n) == name
    # The number alone names a native request: publishing has one winner whatever the aid.
    inside = None if kind == "request" and seq is not None else aid
    assert parse_name(name) == RecordName(kind, seq, inside, n)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "FORMAT",
        "pending.json",
        ".tmp." + "0" * 32,
        "000000.request.json",
        "7.request.json",
        "0000007.request.json",
        "000007.request.json\n",
        "000007.request.json.bak",
        "000007.request",
        f"000007-{AID}.request.json",
        "000007.decision.json",
        f"000007-{AID}.decision-1.json",
        f"000007-{AID[:-1]}.decision.json",
        f"000007-{AID.upper()}.decision.json",
        f"000007-{AID}.result.json",
        f"000007-{AID}.launch.json",
        f"000007-{AID}.launch-0.json",
        f"000007-{AID}.launch-01.json",
        f"000007-{AID}.launch-1.log",
        f"000007-{AID}.outcome-late.json",
        "\u0660\u0660\u0660\u0660\u0660\u0667.request.json",
        f"000007-{AID}.decision (conflicted copy).json",
    ],
)
def test_what_is_no_record_name_is_none(name):
    assert parse_name(name) is None


@given(st.text(alphabet="0123456789abcdef-.decisonrquta", max_size=80))
def test_no_second_name_leads_to_the_same_record(name):
    parsed = parse_name(name)
    if parsed is not None:
        assert record_name(parsed.kind, seq=parsed.seq, aid=parsed.aid, n=parsed.n) == name


@pytest.mark.parametrize(
    "kind, seq, aid, n",
    [
        ("decision", 0, AID, None),
        ("decision", 1_000_000, AID, None),
        ("decision", 1, None, None),
        ("decision", 1, "../../../../etc/passwd", None),
        ("decision", 1, AID + "\n", None),
        ("request", None, None, None),
        ("launch", 1, AID, None),
        ("launch", 1, AID, 0),
        ("decision", 1, AID, 1),
    ],
)
def test_data_that_fits_no_name_is_refused(kind, seq, aid, n):
    with pytest.raises(ValueError):
        record_name(kind, seq=seq, aid=aid, n=n)


def test_the_output_of_a_launch_stands_beside_its_record():
    assert layout.launch_log_name(seq=7, aid=AID, n=2) == f"000007-{AID}.launch-2.log"
    assert parse_name(layout.launch_log_name(seq=7, aid=AID, n=2)) is None


def test_temporaries_are_told_apart_from_records():
    name = layout.temporary_name()
    assert layout.TEMPORARY_NAME.fullmatch(name)
    assert name != layout.temporary_name()
    assert parse_name(name) is None
