"""A sentence is its English text, and keeps what it was made of."""

import copy
import json
import sqlite3

import pytest

from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import Refusal
from lineclear.core.ledger.records import Person
from lineclear.core.sentences import (
    Sentence,
    continued,
    joined,
    with_values,
    within,
    worded,
    worded_count,
)

GONE = worded("{path} cannot be read: {why}.", path="/srv/{path}", why=worded("the disk is full"))


def test_it_is_its_english_text_for_whoever_writes_or_reads_it():
    english = "/srv/{path} cannot be read: the disk is full."
    assert english == GONE
    assert hash(english) == hash(GONE)
    assert f"{GONE}" == str(GONE) == english
    assert type(str(GONE)) is str
    assert json.dumps({"told": GONE}) == json.dumps({"told": english})
    assert jsontext.pretty({"told": GONE}) == jsontext.pretty({"told": english})
    assert sqlite3.connect(":memory:").execute("SELECT ?, typeof(?)", (GONE, GONE)).fetchone() == (
        english,
        "text",
    )
    assert str(Refusal(GONE)) == english


def test_a_record_keeps_only_the_text():
    assert type(Person(uid=1, name=worded("bob"), host="here").name) is str


def test_what_an_agent_wrote_is_filled_in_and_never_interpreted():
    hostile = "{0} {why} {path.__class__} {{}} %s"
    assert worded("{path} is not there.", path=hostile) == f"{hostile} is not there."
    assert joined([hostile, worded("It is closed.")]) == f"{hostile} It is closed."


def test_a_field_without_a_value_is_a_fault_of_the_program():
    with pytest.raises(KeyError, match="who"):
        worded("Denied by {who}.")


def test_a_number_chooses_the_form_and_goes_into_it():
    def calls(number: int) -> Sentence:
        return worded_count("{n} call of {who}", "{n} calls of {who}", number, who="ci")

    assert [calls(0), calls(1), calls(2)] == ["0 calls of ci", "1 call of ci", "2 calls of ci"]


def test_joined_texts_keep_their_parts():
    told = joined([GONE, "", "an {agent}'s own"])
    assert told == f"{GONE} an {{agent}}'s own"
    assert isinstance(told, Sentence)
    assert [part for part in told.values.values() if isinstance(part, Sentence)] == [GONE]
    assert joined(["a", "b"], by=" {} ") == "a {} b"
    assert joined([worded("a"), "b"], by=" {} ") == "a {} b"
    assert joined(["", GONE]) is GONE
    assert joined([]) == ""


def test_behind_a_colon_a_sentence_begins_small_and_keeps_its_wording():
    told = continued(worded("The text holds half a character."))
    assert told == "the text holds half a character."
    assert isinstance(told, Sentence)
    assert told.wording == "The text holds half a character."
    assert continued("It is.") == "it is."
    assert continued("") == ""


def test_within_another_sentence_it_has_no_stop_and_keeps_its_wording():
    told = within(GONE)
    assert told == "/srv/{path} cannot be read: the disk is full"
    assert isinstance(told, Sentence)
    assert (told.wording, told.ends) == (GONE.wording, False)
    assert within("It is.") == "It is"


def test_values_are_masked_apart_and_the_english_as_a_whole():
    told = with_values(GONE, lambda text: text.upper())
    assert told == "/SRV/{PATH} CANNOT BE READ: THE DISK IS FULL."
    assert isinstance(told, Sentence)
    assert told.wording == GONE.wording
    assert told.values["path"] == "/SRV/{PATH}"
    assert with_values("plain", str.upper) == "PLAIN"


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy])
def test_a_copy_is_whole(again):
    for one in (GONE, joined([GONE, "x"]), worded_count("{n} a", "{n} b", 3)):
        assert again(one) is one
