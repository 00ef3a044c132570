"""Every hostile input, as the command line lists, shows and refuses it."""

import json
import os

import pytest

from lineclear.cli.main import main
from tests.badinputs import FILES, LC_AGENTS, PLACES, SPECIAL, CannotMake, make_special, put
from tests.cli.program import lineclear

DECIDABLE = {case.name: case for case in FILES if case.reason_code is None}
REFUSED = {case.name: case for case in FILES if case.reason_code is not None}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """One source with every file of the hostile inputs, each in a store of its own."""
    folder = tmp_path_factory.mktemp("hostile")
    for case in FILES:
        store = folder / case.name
        store.mkdir(mode=0o700)
        put(store / "pending.json", case.raw)
    return folder


@pytest.fixture(scope="module")
def rows(source):
    done = lineclear("list", "--json", "--source", source)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    return {os.path.basename(row["store"]): row for row in json.loads(done.stdout)}  # noqa: PTH119


def test_every_one_is_listed(rows):
    assert {*rows} == {case.name for case in FILES}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_has_its_one_reason_code(rows, source, capsys, name):
    row = rows[name]
    assert (row["state"], row["reason_code"]) == ("unreadable", REFUSED[name].reason_code)
    for words in (
        ["approve", row["id"]],
        ["deny", row["id"], "--reason", "no"],
        ["modify", row["id"], "--arguments", "{}"],
    ):
        # Of the store alone: among all the others each look would take as long as the list.
        assert main([*words, "--source", str(source / name)]) == 4
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.endswith(f"[{REFUSED[name].reason_code}]\n")
    assert not (source / name / ".approvals").exists()


@pytest.mark.parametrize("name", DECIDABLE)
def test_what_is_sound_is_listed_with_its_warnings(rows, name):
    row = rows[name]
    assert (row["state"], row["reason_code"]) == ("pending", None)
    assert DECIDABLE[name].flags <= {*row["warnings"]}


@pytest.mark.parametrize("name", [case.name for case in FILES])
def test_each_is_shown_without_a_character_that_a_terminal_obeys(rows, source, capsys, name):
    assert main(["show", rows[name]["id"], "--source", str(source / name)]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert {char for char in told.out if not char.isprintable()} <= {"\n"}


def test_the_table_of_all_is_safe_and_whole(source):
    done = lineclear("list", "--source", source)
    assert done.returncode == 0
    assert {char for char in done.stdout if not char.isprintable()} <= {"\n"}
    # A header, the rows, an empty line, the counts and the sums.
    assert len(done.stdout.splitlines()) == len(FILES) + 4


@pytest.mark.parametrize("name", [case.name for case in PLACES if case.name in SPECIAL])
def test_a_hostile_place_has_its_reason_code(tmp_path, name):
    (case,) = (case for case in PLACES if case.name == name)
    try:
        make_special(name, tmp_path)
    except CannotMake as why:
        pytest.skip(str(why))
    done = lineclear("list", "--json", "--source", tmp_path)
    assert done.returncode == 0
    codes = [row["reason_code"] for row in json.loads(done.stdout)]
    if name == "mode_000" and os.geteuid() == 0:
        assert codes == [None]
    elif name == "symlink_dir":
        assert sorted(map(str, codes)) == ["None", "symlink"]
    elif name == "only_tmp":
        assert codes == []
    else:
        assert codes == [case.reason_code]


@pytest.mark.parametrize("name", [one.name for one in LC_AGENTS if one.type == "PendingApproval"])
def test_every_fixture_is_listed_as_its_own_system_would_load_it(tmp_path, capsys, name):
    (fixture,) = (one for one in LC_AGENTS if one.name == name)
    store = tmp_path / "store"
    store.mkdir(mode=0o700)
    put(store / "pending.json", fixture.raw)
    assert main(["list", "--json", "--source", str(tmp_path)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["state"] == ("pending" if fixture.loads else "unreadable")
    if not fixture.loads:
        assert row["reason_code"]
        return
    document = json.loads(fixture.raw)
    assert row["tool"] == document["tool_name"]
    assert row["arguments"] == document["arguments"]
    assert main(["show", row["id"], "--json", "--source", str(tmp_path)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["steps"]) == len(document["steps"])
    assert shown["inputs"] == document["inputs"]
    changed = '{"path":"/tmp/b","amount":1.50}'
    stops = [word for code in row["warnings"] for word in ("--despite", code)]
    words = ["modify", row["id"], "--arguments", changed, "--note", "narrowed", *stops]
    assert main([*words, "--source", str(tmp_path)]) == 0
    (decision,) = (store / ".approvals").glob("*.decision.json")
    native = f'"native":{{"Modify":{{"arguments":{changed},"note":"narrowed"}}}}'
    assert native in decision.read_text()
