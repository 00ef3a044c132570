import gc
import hashlib
import json
import os
from typing import Any

import pytest

from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    FileRule,
    Format,
    Json,
    PendingCall,
)
from lineclear.core.checkpoints.sniff import FORMATS, LISTED_WHOLE, counted
from lineclear.core.checkpoints.sniff import read_checkpoint as read
from lineclear.core.errors import Unreadable
from tests.badinputs import FIXTURES, document, encoded
from tests.core.checkpoints.a3s_samples import a3s_document
from tests.core.checkpoints.a3s_samples import raw as encoded_a3s


def refusal(raw: bytes) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        read(raw)
    return refused.value


@pytest.mark.parametrize(
    "path, system",
    [
        ("a3s/legacy_v0_from_seed_test.json", "a3s"),
        ("a3s/numbers_extremes.json", "a3s"),
        ("lc_agents/v025_small.json", "lc-agents"),
        ("starweaver/v0150_checkpoint_bare.json", "starweaver"),
        ("starweaver/v041_run_failed.json", "starweaver"),
    ],
)
def test_systems_are_told_apart(path: str, system: str):
    assert read((FIXTURES / path).read_bytes()).system == system


@pytest.mark.parametrize(
    "path, name",
    [
        ("starweaver/v041_run_failed.json", "pending.json"),
        ("lc_agents/v025_small.json", "run.checkpoint.json"),
        ("lc_agents/v025_small.json", "id_cnVuLTE.json"),
    ],
)
def test_a_checkpoint_under_the_name_of_another_system_is_refused(path: str, name: str):
    with pytest.raises(Unreadable) as refused:
        read((FIXTURES / path).read_bytes(), name=name)
    assert refused.value.code == "misplaced"


def test_an_encrypted_checkpoint_is_not_called_corrupt():
    refused = refusal(b"A3SE\x01" + os.urandom(64))
    assert refused.code == "encrypted"
    assert "encrypted at rest" in str(refused)


@pytest.mark.parametrize(
    "other",
    [{}, {"a": 1}, {"schema": "x", "version": 1, "payload": {}}, {"steps": []}, {"run_id": "r"}],
)
def test_an_object_of_no_known_system_is_refused(other: dict[str, Any]):
    assert refusal(json.dumps(other).encode()).code == "unknown_system"


@pytest.mark.parametrize(
    "key", ["tool_name", "arguments", "steps", "tool_calls_consumed", "inputs"]
)
def test_one_missing_field_is_named_instead_of_the_system_doubted(key: str):
    whole = document()
    del whole[key]
    refused = refusal(json.dumps(whole).encode())
    assert refused.code == "missing_field"
    assert f"'{key}'" in str(refused)


def test_keys_of_other_systems_do_not_turn_a_call_into_something_else():
    raw = encoded(checkpoint_id="c", state={}, messages=[], run_id="r", turn=1)
    checkpoint = read(raw)
    assert checkpoint.system == "lc-agents"
    assert checkpoint.sha256 == hashlib.sha256(raw).hexdigest()


class Toy(Format):
    """A fourth system: a question in a file of its own."""

    name: str = "toy"
    files: tuple[FileRule, ...] = (FileRule(folder=("asks",), pattern=r"[0-9]+\.toy\.json"),)
    claim_by_rename: bool = False

    def looks_like(self, document: dict[str, Json]) -> bool:
        return "toy" in document

    def read(self, raw: bytes, document: dict[str, Json]) -> Checkpoint:
        if not isinstance(document["toy"], str):
            raise Unreadable("wrong_type", "The field 'toy' is no text.")
        return Checkpoint(
            system=self.name,
            raw=raw,
            sha256=hashlib.sha256(raw).hexdigest(),
            document=document,
            calls=(PendingCall(document["toy"], document.get("with")),),
        )

    def native_decision(
        self,
        call: PendingCall,
        verdict: str,
        *,
        arguments: Json = MISSING,
        text: str = "",
        by: str = "",
    ) -> Json:
        return {"play": verdict == "approve"}

    def arguments_path(self) -> tuple[str, ...]:
        return ("with",)


def test_a_fourth_system_is_one_class_and_one_entry(monkeypatch: pytest.MonkeyPatch):
    raw = b'{"toy":"ball","with":{"size":1.50}}'
    assert refusal(raw).code == "unknown_system"
    monkeypatch.setitem(FORMATS, "toy", Toy())
    checkpoint = read(raw)
    assert checkpoint.system == "toy"
    assert checkpoint.calls[0].tool == "ball"
    assert FORMATS[checkpoint.system].native_decision(checkpoint.calls[0], "deny") == {
        "play": False
    }
    assert refusal(b'{"toy":1}').code == "wrong_type"
    assert read(raw, name="1.toy.json") == checkpoint
    toy = FORMATS["toy"]
    assert toy.read_head(raw) is None
    assert toy.transcript(checkpoint.document) == ()
    assert toy.sections(checkpoint.document) == ()
    assert not toy.together
    with pytest.raises(ValueError, match="toy takes each decision by itself"):
        toy.results(checkpoint, {})
    assert read(encoded()).system == "lc-agents"


@pytest.mark.parametrize(
    "name, counts",
    [
        ("a3s", "turns"),
        ("starweaver", "steps"),
        ("lc-agents", "iterations"),
        ("lineclear", "iterations"),
        ("", "iterations"),
    ],
)
def test_each_system_counts_in_its_own_word(name, counts):
    assert counted(name) == counts


@pytest.mark.parametrize("on", [True, False])
def test_a_large_file_leaves_the_garbage_collector_as_it_was(on):
    large = encoded_a3s({**a3s_document(), "padding": "x" * LISTED_WHOLE})
    broken = large[:-1]
    was = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        assert read(large).system == "a3s"
        assert gc.isenabled() is on
        with pytest.raises(Unreadable):
            read(broken)
        assert gc.isenabled() is on
    finally:
        (gc.enable if was else gc.disable)()


def test_an_encrypted_file_is_no_a3s_checkpoint_under_another_systems_name():
    for name, told in (
        ("id_YQ.json", "It is an a3s checkpoint"),
        ("a.checkpoint.json", "^It is encrypted, as"),
    ):
        with pytest.raises(Unreadable, match=told) as refused:
            read(b"A3SE\x01" + bytes(60), name=name)
        assert refused.value.code == "encrypted"
