"""Exports: whole or not at all, and nothing that a spreadsheet would compute."""

import csv
import json
import os
import stat

import pytest

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history import exporting
from lineclear.core.inbox.history.exporting import Format, cell, export, lines
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import add, fact

ATTACKS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "\ufeff=1",
    "\u00a0=1",
    "\uff1d1",
    "=cmd|' /C calc'!A0",
    "|calc",
    "%0A=1",
]


@pytest.fixture
def entries():
    with History.open() as history:
        add(
            history,
            *(
                fact(n, tool=text, agent=text, reason=text, note=f"{text}\n{text}", by_name=text)
                for n, text in enumerate(ATTACKS)
            ),
            fact(100, reason='say "no", please', preview="paid 80", note="\u202egpj.exe"),
        )
    with Search.open() as search:
        return search.page(Query()).entries


@pytest.mark.parametrize("text", ATTACKS)
def test_a_cell_that_could_be_a_formula_begins_with_an_apostrophe(text):
    assert cell(text).startswith("'")
    assert cell(f"a{text}")[0] == "a"


def test_no_cell_of_a_csv_begins_as_a_formula_does(tmp_path, entries):
    path = tmp_path / "history.csv"
    assert export(entries, path, Format.CSV, arguments=True) == len(ATTACKS) + 1
    raw = path.read_bytes()
    assert raw.count(b"\r\n") == len(ATTACKS) + 2
    assert b"\n" not in raw.replace(b"\r\n", b"")
    header, *rows = csv.reader(raw.decode().splitlines())
    assert len(rows) == len(ATTACKS) + 1
    for row in rows:
        assert len(row) == len(header)
        for text in row:
            assert not text.lstrip(" \u00a0\ufeff").startswith(exporting._FORMULAS), text
    newest = dict(zip(header, rows[0], strict=True))
    assert newest["reason"] == 'say "no", please'
    assert newest["note"] == "⟦U+202E⟧gpj.exe"
    assert newest["arguments"] == '{"customer":"C-1204"}'


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a;=HYPERLINK(1);b", "a;'=HYPERLINK(1);b"),
        ("a; +1", "a;' +1"),
        ('a;"=1"', 'a;\'"=1"'),
        ("=1;=2", "'=1;'=2"),
        ("\t;=1", "'\u2192;'=1"),
        ("one; two", "one; two"),
    ],
)
def test_a_cell_holds_no_formula_where_semicolons_part_the_cells(text, shown):
    assert cell(text) == shown.replace("\u2192", visible_line("\t"))


def test_every_cell_is_quoted(entries):
    for line in lines(entries, Format.CSV, arguments=True):
        cells = next(csv.reader([line]))
        assert line == ",".join('"' + one.replace('"', '""') + '"' for one in cells) + "\r\n"


@pytest.mark.parametrize("to", Format)
def test_arguments_and_results_are_left_out_unless_they_are_asked_for(entries, to):
    without = "".join(lines(entries, to))
    assert "C-1204" not in without
    assert "paid 80" not in without
    with_them = "".join(lines(entries, to, arguments=True))
    assert "C-1204" in with_them
    assert "paid 80" in with_them


def test_json_lines_hold_the_exact_texts_in_ascii(tmp_path, entries):
    path = tmp_path / "history.jsonl"
    export(entries, path, Format.JSONL)
    raw = path.read_bytes()
    assert raw.isascii()
    found = [json.loads(line) for line in raw.splitlines()]
    assert [one["tool"] for one in reversed(found[1:])] == ATTACKS
    assert found[0]["note"] == "\u202egpj.exe"
    assert all("ended" not in one for one in found)


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
@pytest.mark.parametrize("to", list(Format))
def test_no_name_and_nothing_said_holds_a_secret(to):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2"
    names = ("tool", "agent", "by_name", "reason", "note", "ended_by")
    with History.open() as history:
        add(history, fact(1, **dict.fromkeys(names, f"a_{token}")))
    with Search.open() as search:
        written = "".join(lines(search.page(Query()).entries, to, arguments=True))
    assert token not in written
    masked = "a_\u2022\u2022\u2022\u2022 28 characters"
    shown = masked if to is Format.CSV else json.dumps(masked)[1:-1]
    assert written.count(shown) == len(names)


def test_a_pipe_is_neither_written_to_nor_replaced(tmp_path, entries):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(LineclearError, match="is no regular file; nothing was written"):
        export(entries, pipe, Format.CSV, replace=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_existing_file_is_left_unless_it_may_be_replaced(tmp_path, entries):
    path = tmp_path / "kept.csv"
    path.write_text("mine")
    with pytest.raises(LineclearError, match="is there already; nothing was written") as caught:
        export(entries, path, Format.CSV)
    assert caught.value.code == "exists"
    assert path.read_text() == "mine"
    export(entries, path, Format.CSV, replace=True)
    assert path.read_bytes().startswith(b'"origin","seq",')
    assert [*tmp_path.iterdir()] == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failure_in_the_middle_leaves_nothing(tmp_path, entries):
    def failing():
        yield entries[0]
        raise OSError(28, os.strerror(28))

    with pytest.raises(LineclearError, match="was not written: the disk is full"):
        export(failing(), tmp_path / "x.csv", Format.CSV)
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path, entries):
    with pytest.raises(LineclearError, match="was not written: the folder is gone"):
        export(entries, tmp_path / "gone" / "x.csv", Format.CSV)


def test_which_arguments_ran_is_said_and_older_columns_stay_where_they_were():
    with History.open() as history:
        add(
            history,
            fact(1, verdict="approve", arguments='{"n":1}'),
            fact(2, verdict="modify", arguments='{"n":1}', given='{"n":2}'),
            fact(3, verdict="deny", arguments='{"n":1}'),
            fact(4, verdict="result", arguments='{"n":1}', given='"done"'),
        )
    with Search.open() as search:
        found = [json.loads(line) for line in lines(search.every(Query()), Format.JSONL)]
    said = {one["verdict"]: one.get("runs_with") for one in found if "verdict" in one}
    assert said == {"approve": "arguments", "modify": "given", "deny": None, "result": None}
    assert exporting.COLUMNS[-2:] == ("hash", "runs_with")
