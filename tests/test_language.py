"""Every text that a person reads is in the catalogue, and can be translated as it stands there."""

import ast
import os
import re
import runpy
import struct
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from lineclear import language
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import Sentence
from tests.badinputs import CHECKPOINT, FILES

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "app" / "lineclear"
TEXTS = ROOT / "packaging" / "texts.py"
TEMPLATE = ROOT / "resources" / "locale" / "lineclear.pot"
REFUSED = [case for case in FILES if case.reason_code is not None]
MARKS = {"_", "ngettext", "counted", "marked", "marked_pair", "worded", "worded_count"}
PAIRS = {"ngettext", "counted", "marked_pair", "worded_count"}
SAY = {
    *("setText", "setToolTip", "setAccessibleName", "setAccessibleDescription", "setWindowTitle"),
    *(
        "setPlaceholderText",
        "setTitle",
        "setStatusTip",
        "setTabText",
        "setTabToolTip",
        "setLabelText",
    ),
    *("addAction", "addMenu", "addTab", "addItem", "addItems", "setOkButtonText", "setNameFilters"),
    *("setCancelButtonText", "setItemText", "setPlainText", "QPushButton", "QLabel", "QCheckBox"),
    *(
        "QRadioButton",
        "PlainLabel",
        "WholeLabel",
        "ElidedLabel",
        "DecisionButton",
        "Notice",
        "Strip",
    ),
    *("explain", "announce", "say", "hint", "QAction", "QMenu", "note", "button", "ask"),
}
"""What shows its text, or reads it out."""
DATA = {"/path/to/lineclear", "resume\n{store}\n--agent\npackage.module:factory", "Lineclear"}
"""An example to be typed as it is, and a name."""


def modules(part: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((PACKAGE / part).rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def calls(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in names:
            yield node


def is_word(node: ast.expr) -> bool:
    """Whether this is a text for a person: letters, and no name in code."""
    match node:
        case ast.Constant(value=str(text)):
            spoken = " " in text.strip() or text[:1].isupper() or text.endswith("\u2026")
            return spoken and any(letter.isalpha() for letter in text) and text not in DATA
        case ast.JoinedStr(values=parts):
            fixed = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
            return " " in fixed.strip() and any(letter.isalpha() for letter in fixed)
        case ast.IfExp(body=one, orelse=other):
            return is_word(one) or is_word(other)
        case _:
            return False


@pytest.mark.parametrize("part", ["core", "ui"])
def test_no_text_for_a_translator_is_put_together_by_the_program(part):
    """A template is one literal: no f-string, no variable but for what was marked elsewhere."""
    found = []
    for name, tree in modules(part):
        for call in calls(tree, MARKS):
            templates = call.args[: 2 if called(call) in PAIRS else 1]
            found += [f"{name}:{each.lineno}" for each in templates if is_made(each)]
        # The texts inside of f-strings are gathered on no Python before 3.12.
        inside = (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr))
        for node in inside:
            found += [f"{name}:{call.lineno}" for call in calls(node, MARKS) if any_literal(call)]
    assert found == []


def is_made(text: ast.expr) -> bool:
    match text:
        case ast.JoinedStr() | ast.BinOp():
            return True
        case ast.Call(func=ast.Attribute(attr="format")):
            return True
        case _:
            return False


def any_literal(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Constant) for each in call.args)


def test_what_shows_a_text_is_given_no_bare_one():
    found = []
    for name, tree in modules("ui"):
        if name == "ui/self_check.py":
            continue
        for call in calls(tree, SAY):
            given = [*call.args, *(each.value for each in call.keywords if each.arg == "text")]
            given += [each for one in given if isinstance(one, ast.Tuple) for each in one.elts]
            found += [
                f"{name}:{each.lineno} {ast.unparse(each)}" for each in given if is_word(each)
            ]
    assert found == []


def test_what_is_done_has_a_name_that_can_be_told():
    """A task's name tells of its failure: "Could not read a call"."""
    found = []
    for name, tree in modules("ui"):
        for call in calls(tree, {"start", "read_again"}):
            names = [each.value for each in call.keywords if each.arg == "name"]
            found += [f"{name}:{each.lineno}" for each in names if is_word(each)]
    assert found == []


def test_a_sentence_of_core_has_a_value_for_each_field_and_no_other():
    """What says them is often reached by a rare failure only."""
    found = []
    for name, tree in modules("core"):
        for call in calls(tree, {"worded", "worded_count"}):
            given = {each.arg for each in call.keywords}
            templates = [each.value for each in call.args[:2] if isinstance(each, ast.Constant)]
            asked = [
                {field for _text, field, _spec, _how in Formatter().parse(str(text)) if field}
                for text in templates
            ]
            if called(call) == "worded":
                fits = all(fields == given for fields in asked)
            else:
                fits = set().union(*asked) - {"n"} == given
            if not fits:
                found.append(f"{name}:{call.lineno} {templates[0]!r}")
    assert found == []


def test_core_translates_nothing():
    """What it says is written, logged and handed on as well: only a window tells it otherwise."""
    found = [
        f"{name}: {each.name}"
        for name, tree in modules("core")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "lineclear.language"
        for each in node.names
        if each.name not in ("marked", "marked_pair")
    ]
    assert found == []


RAISES = {
    *("LineclearError", "Unreadable", "StoreRefused", "NotConfirmed", "NothingPending"),
    *("AmbiguousId", "AlreadyDecided", "Refusal", "SettingsDamaged", "AgentHitlError", "Unfit"),
    *("Unusable", "Broken", "broken_row", "SourceHealth", "Elsewhere", "Disk", "Loaded"),
}
"""What carries a sentence of core to a window, beside the `reason`, `sentence`, `why` of others."""
CARRIED = {"reason", "sentence", "why", "why_not", "trouble"}
OF_AGENTS = {
    "core/ledger/ask.py": "what an agent is told that cannot ask",
    "core/ledger/start.py": "what an agent is told whose call may have run",
}
"""Modules whose sentences no window shows, and what they are; all else of these parts is told."""


def is_english(node: ast.expr) -> bool:
    """Whether this is a text of several words that no window could tell otherwise."""
    match node:
        case ast.BoolOp(values=parts):
            return any(map(is_english, parts))
        case ast.BinOp(left=left, right=right):
            return is_english(left) or is_english(right)
        case ast.IfExp(body=one, orelse=other):
            return is_english(one) or is_english(other)
        case ast.Constant(value=str(text)):
            return " " in text.strip() and any(letter.isalpha() for letter in text)
        case ast.JoinedStr(values=parts):
            fixed = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
            return " " in fixed.strip() and any(letter.isalpha() for letter in fixed)
        case _:
            return False


@pytest.mark.parametrize("part", ["checkpoints", "ledger", "inbox"])
def test_what_core_tells_a_window_can_be_told_in_another_language(part):
    found = []
    for name, tree in modules(f"core/{part}"):
        if name in OF_AGENTS:
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            given = [each.value for each in call.keywords if each.arg in CARRIED]
            if called(call) in RAISES:
                given += [*call.args, *(each.value for each in call.keywords)]
            found += [
                f"{name}:{each.lineno} {ast.unparse(each)}" for each in given if is_english(each)
            ]
    assert found == []


def test_a_sentence_is_not_made_a_bare_text_where_it_goes_into_another():
    """An f-string gives its English for good: `worded` and `joined` keep it."""
    found = [
        f"{name}:{node.lineno}"
        for part in ("checkpoints", "ledger", "inbox")
        for name, tree in modules(f"core/{part}")
        if name not in OF_AGENTS
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Attribute)
        if node.value.attr == "sentence"
    ]
    assert found == []


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_why_a_bad_input_is_refused_can_be_told_in_another_language(case):
    """Each wording is in the catalogue; what is in none is a value, from the file or the system."""
    with pytest.raises(Unreadable) as refused:
        read_checkpoint(case.raw, name=CHECKPOINT)
    told = list(wordings(refused.value.sentence))
    assert told
    assert [one for one in told if one not in known_texts()] == []


def wordings(sentence: str) -> Iterator[str]:
    assert isinstance(sentence, Sentence), sentence
    if set(Formatter().parse(sentence.wording)) and re.sub(r"{[^{}]*}|\W", "", sentence.wording):
        yield sentence.wording
    for value in sentence.values.values():
        if isinstance(value, Sentence):
            yield from wordings(value)


@cache
def known_texts() -> frozenset[str]:
    with TEMPLATE.open("rb") as file:
        return frozenset(
            each.id if isinstance(each.id, str) else each.id[0] for each in read_po(file) if each.id
        )


def test_the_template_is_up_to_date_and_no_language_has_a_wrong_field():
    done = subprocess.run(
        [sys.executable, str(TEXTS), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


# --- Choosing a language --------------------------------------------------------------------------


def pseudo(folder: Path) -> Path:
    subprocess.run([sys.executable, str(TEXTS), "--pseudo", str(folder)], check=True)
    return folder


def said(folder: Path, **environment: str) -> str:
    script = (
        "from lineclear import language; language.choose();"
        "print(language._('Approve'), '|', language.counted('{n} call', '{n} calls', 2), end='')"
    )
    return in_language(script, folder, **environment)


def in_language(script: str, folder: Path, **environment: str) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LANG", "LC_"))}
    asked = {**kept, "LINECLEAR_LOCALE": str(folder), "PYTHONUTF8": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", script], env=asked, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


@pytest.mark.parametrize("name", ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"])
def test_the_environment_chooses_the_language(name, tmp_path):
    assert said(pseudo(tmp_path), **{name: "qps"}) == "⟪Åppřövé łör⟫ | ⟪2 çáļļš łö⟫"


def test_a_language_that_is_not_there_or_is_damaged_leaves_english(tmp_path):
    assert said(pseudo(tmp_path), LANGUAGE="xx") == "Approve | 2 calls"
    catalogue = tmp_path / "qps" / "LC_MESSAGES" / "lineclear.mo"
    for damage in (b"", b"no catalogue", catalogue.read_bytes()[:40], struct.pack("<7I", *[9] * 7)):
        catalogue.write_bytes(damage)
        assert said(tmp_path, LANGUAGE="qps") == "Approve | 2 calls"


def test_nothing_is_translated_where_nobody_chose():
    assert language._("Approve") == "Approve"
    assert language._("") == ""
    assert (
        language.counted("{n} call of {who}", "{n} calls of {who}", 1, who="{x}") == "1 call of {x}"
    )


def test_a_sentence_of_core_is_told_with_its_parts_in_the_language_of_the_window(tmp_path):
    script = (
        "from lineclear import language; language.choose();"
        "from lineclear.core.sentences import joined, worded, worded_count;"
        "why = worded('the disk is full');"
        "told = worded('{path} cannot be opened: {why}.', path='{a}', why=why);"
        "many = worded_count('{n} more denial', '{n} more denials', 2);"
        "print(language.translated(joined([told, many, 'as it is'])), '|', told, end='')"
    )
    made = tmp_path / "qps" / "LC_MESSAGES" / "lineclear.mo"
    made.parent.mkdir(parents=True)
    catalogue = Catalog(locale="en")
    catalogue.add("the disk is full", "VOLL")
    catalogue.add("{path} cannot be opened: {why}.", "{why}: {path}!")
    catalogue.add(("{n} more denial", "{n} more denials"), ("NEIN", "{n} NEIN"))
    with made.open("wb") as file:
        write_mo(file, catalogue)
    assert in_language(script, tmp_path, LANGUAGE="qps") == (
        "VOLL: {a}! 2 NEIN as it is | {a} cannot be opened: the disk is full."
    )
    wrong = catalogue.get("{path} cannot be opened: {why}.")
    assert wrong is not None
    wrong.string = "{wrong}"
    with made.open("wb") as file:
        write_mo(file, catalogue)
    assert in_language(script, tmp_path, LANGUAGE="qps") == (
        "{a} cannot be opened: VOLL. 2 NEIN as it is | {a} cannot be opened: the disk is full."
    )


ASKED: dict[str | tuple[str, str], list[str | tuple[str, ...]]] = {
    "{one:,} of {all}": ["{one:d} von {all}", "{one} von {all}", "{one:,}", "{one:,} {all!r}", "{"],
    ("{n} call of {who}", "{n} calls of {who}"): [
        ("{n} Ruf von {who}", "{n:d} Rufe von {who}"),
        ("{n} Ruf von {who}", "Rufe von {who}"),
        ("{n} Ruf", "{n} Rufe"),
        ("{n} Ruf von {whom}", "{n} Rufe von {whom}"),
    ],
}
"""Texts, and translations that would end the window or keep a value back."""
FITTING: dict[str | tuple[str, str], str | tuple[str, ...]] = {
    "{one:,} of {all}": "von {all} sind es {one:,}",
    ("{n} call of {who}", "{n} calls of {who}"): ("der Ruf von {who}", "{n} Rufe von {who}"),
}


@pytest.mark.parametrize(
    "asked, given, fits",
    [(asked, given, False) for asked, each in ASKED.items() for given in each]
    + [(asked, given, True) for asked, given in FITTING.items()],
)
def test_a_translation_into_which_other_values_go_is_found_and_stays_english(
    asked, given, fits, tmp_path, monkeypatch
):
    texts = runpy.run_path(str(TEXTS))
    german = Catalog(locale="de", domain="lineclear")
    german.add(asked, given)
    assert (not list(texts["wrong"](german))) is fits
    made = tmp_path / "de" / "LC_MESSAGES" / "lineclear.mo"
    made.parent.mkdir(parents=True)
    made.write_bytes(texts["compiled"](german))
    monkeypatch.setenv("LINECLEAR_LOCALE", str(tmp_path))
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setattr(language._Chosen, "catalogue", None)
    language.choose()
    if isinstance(asked, str):
        assert language._(asked).format(one=1284, all="x") == (
            "von x sind es 1,284" if fits else "1,284 of x"
        )
    else:
        one, many = asked
        told = [language.counted(one, many, number, who="x") for number in (1, 1284)]
        assert told[1] == ("1,284 Rufe von x" if fits else "1,284 calls of x")
        assert "x" in told[0]


def test_a_form_that_stands_for_many_numbers_tells_which():
    """In Russian the first form is that of 21 and 31 as well."""
    wrong = runpy.run_path(str(TEXTS))["wrong"]
    russian = Catalog(locale="ru", domain="lineclear")
    russian.add(("{n} call", "{n} calls"), ("один вызов", "{n} вызова", "{n} вызовов"))
    assert list(wrong(russian)) == ["'один вызов' lacks {n} of '{n} calls'"]


def test_the_command_line_stays_english(tmp_path):
    environment = {**os.environ, "LINECLEAR_LOCALE": str(pseudo(tmp_path)), "LANGUAGE": "qps"}
    done = subprocess.run(
        [sys.executable, "-m", "lineclear", "list"],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout + done.stderr
    assert "⟪" not in done.stdout + done.stderr


def test_a_number_of_a_thousand_and_more_is_told_in_groups():
    assert language.counted("{n} call", "{n} calls", 1284) == "1,284 calls"
    assert language.counted("{n:d} call", "{n:d} calls", 1284) == "1284 calls"
