"""The form of a tool's plain fields: what it shows, what it writes, and what it leaves alone."""

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit

from lineclear.core.checkpoints import jsontext
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.schema_form import MOST_FIELDS, Field, SchemaForm, fields_of
from tests.ui.sample import ask_for
from tests.ui.test_window import click, decision_of, ready, select

SCHEMA = {
    "type": "object",
    "properties": {
        "customer": {"type": "string", "description": "<b>whose</b> money"},
        "amount": {"type": "number"},
        "currency": {"enum": ["EUR", "USD", 7]},
        "notify": {"type": "boolean"},
        "lines": {"type": "array"},
        "note": {"type": "string"},
    },
    "required": ["customer", "amount"],
}


def test_only_plain_fields_have_a_place():
    assert fields_of(SCHEMA) == (
        Field("customer", "string", True, (), "<b>whose</b> money"),
        Field("amount", "number", True),
        Field("currency", "choice", False, ("EUR", "USD", 7)),
        Field("notify", "boolean", False),
        Field("note", "string", False),
    )


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"properties": 7},
        {"properties": {"x": 7}},
        {"properties": {"x": {"type": ["string"]}}},
        {"properties": {"x": {"enum": []}}, "required": 3},
        {"properties": {"x": {"enum": [{}]}}},
        {"properties": {"x": {"type": {}}}},
    ],
)
def test_an_odd_schema_gives_no_field(schema):
    assert fields_of(schema) == ()


def test_a_large_schema_gives_no_large_form():
    large = {"properties": {f"f{number}": {"type": "string"} for number in range(500)}}
    assert len(fields_of(large)) == MOST_FIELDS


@pytest.fixture
def form(qtbot):
    made = SchemaForm()
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize(
    "rest, told",
    [
        ({"lines": ["a"]}, "lines stays as it is. Change it as JSON."),
        (
            {f"{{x}}{number}": {} for number in range(6)},
            "{x}0, {x}1, {x}2, {x}3 and 2 more stay as they are. Change them as JSON.",
        ),
    ],
)
def test_it_says_of_what_has_no_field_that_it_is_kept(form, rest, told):
    form.begin(fields_of(SCHEMA), {"customer": "C-1", **rest})
    (said,) = form.findChildren(PlainLabel, "formRest")
    assert said.text() == told
    form.begin(fields_of(SCHEMA), {"customer": "C-1"})
    assert form.widget().findChildren(PlainLabel, "formRest") == []


def line(form: SchemaForm, name: str) -> QLineEdit:
    found = form.findChild(QLineEdit, f"field:{name}")
    assert found is not None
    return found


def choice(form: SchemaForm, name: str) -> QComboBox:
    found = form.findChild(QComboBox, f"field:{name}")
    assert found is not None
    return found


def typed(editor: QLineEdit, text: str) -> None:
    editor.setText(text)
    editor.textEdited.emit(text)


def chosen(box: QComboBox, place: int) -> None:
    box.setCurrentIndex(place)
    box.activated.emit(place)


def test_numbers_keep_their_text_and_other_keys_stay(form):
    asked = jsontext.parse_value('{"customer":"C-1","amount":120.00,"lines":[1],"other":{"a":1}}')
    form.begin(fields_of(SCHEMA), asked)
    assert line(form, "amount").text() == "120.00"
    typed(line(form, "amount"), "99.50")
    assert jsontext.compact(form.value) == (
        b'{"customer":"C-1","amount":99.50,"lines":[1],"other":{"a":1}}'
    )
    typed(line(form, "amount"), "9x")
    assert form.problem == "amount must be a number."
    typed(line(form, "amount"), "true")
    assert form.problem == "amount must be a number."
    typed(line(form, "amount"), "7")
    assert (form.problem, form.value["amount"]) == ("", 7)


def test_choices_are_those_of_the_schema_and_what_was_asked(form):
    form.begin(fields_of(SCHEMA), {"customer": "C", "amount": 1, "currency": "GBP"})
    box = choice(form, "currency")
    assert [box.itemText(at) for at in range(box.count())] == [
        "not given",
        "GBP",
        "EUR",
        "USD",
        "7",
    ]
    assert box.currentText() == "GBP"
    chosen(box, 4)
    assert form.value["currency"] == 7
    chosen(box, 0)
    assert "currency" not in form.value
    notify = choice(form, "notify")
    assert notify.currentText() == "not given"
    chosen(notify, 2)
    assert form.value["notify"] is False


@pytest.mark.parametrize("text", ["a\tb", "a\u202eb", "\u27e6x\u27e7", "", "tail "])
def test_a_text_comes_back_as_it_was_asked_but_for_what_is_typed(form, text):
    form.begin(fields_of(SCHEMA), {"customer": text})
    field = line(form, "customer")
    assert "\u202e" not in field.text()
    typed(field, field.text() + "!")
    assert form.value["customer"] == text + "!"


def test_a_text_of_several_lines_has_several_lines(form):
    form.begin(fields_of(SCHEMA), {"note": "one\ntwo\u2028three"})
    field = form.findChild(QPlainTextEdit, "field:note")
    assert field is not None
    assert field.toPlainText() == "one\ntwo\u27e6U+2028\u27e7three"
    field.setPlainText(field.toPlainText() + "\nfour")
    assert form.value["note"] == "one\ntwo\u2028three\nfour"


async def test_what_the_form_gives_is_reviewed_and_approved(inbox, source, until):
    shown = ask_for(source, tool_schema=SCHEMA).shown
    await select(inbox, until, shown.aid)
    inbox.flow.open_modify()
    editor = inbox.pane.modify
    assert editor.as_form.isVisible()
    click(editor.as_form)
    assert editor.in_form
    typed(line(editor.form, "amount"), "12.50")
    assert '"amount": 12.50' in editor.draft()
    editor.submit()
    assert editor.in_review()
    await ready(inbox, until)
    click(inbox.pane.bar.approve)
    decision = await until(lambda: decision_of(shown), "a decision")
    assert jsontext.compact(decision.arguments) == b'{"customer":"C-1204","amount":12.50}'
