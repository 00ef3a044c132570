"""A fourth system is one class and one entry: found, shown, decided and resumed like the others."""

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    Counters,
    Entry,
    FileRule,
    Format,
    Json,
    PendingCall,
    Position,
    Section,
    Usage,
)
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.errors import Refusal, Unreadable
from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting
from lineclear.core.inbox.relaunch.claimed_run import run_claimed
from lineclear.core.inbox.rows.row import row_json
from lineclear.core.inbox.runs.totals import Figure, totals
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.state import State
from tests import badinputs


class Toy(Format):
    """Asks what to play with, in files of its own some folders below its store."""

    name: str = "toy"
    counts: str = "games"
    files: tuple[FileRule, ...] = (FileRule(folder=("box", "asks"), pattern=r"[0-9]+\.toy"),)
    claim_by_rename: bool = False

    def looks_like(self, document: dict[str, Json]) -> bool:
        return "toy" in document

    def read(self, raw: bytes, document: dict[str, Json]) -> Checkpoint:
        toy = document["toy"]
        if not isinstance(toy, str):
            raise Unreadable("wrong_type", "The field 'toy' is no text.")
        return Checkpoint(
            system=self.name,
            raw=raw,
            sha256=hashlib.sha256(raw).hexdigest(),
            document=document,
            calls=(PendingCall(toy, document["with"]),) if "with" in document else (),
            counters=Counters(document["games"], None, 7),
            limits=Counters(5, None, None),
            usage=Usage(tokens_in=3, tokens_out=4),
            position=Position(run_id=document["run"]),
            resumable="with" not in document,
            unfinished=True,
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
        if verdict == "result":
            raise ValueError("toy takes no answers.")
        return {"play": verdict != "deny", "say": text, "who": by}

    def arguments_path(self) -> tuple[str, ...]:
        return ("with",)

    def transcript(self, document: dict[str, Json]) -> tuple[Entry, ...]:
        return (Entry("child", "text", document["toy"], message=1),)

    def sections(self, document: dict[str, Json]) -> tuple[Section, ...]:
        return (Section("Games", (("played", document["games"]),)),)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(FORMATS, "toy", Toy())
    folder = tmp_path / "source"
    folder.mkdir(mode=0o700)
    return folder


def left(source: Path, name: str, raw: bytes) -> Path:
    folder = source / "nursery" / "box" / "asks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return badinputs.put(folder / name, raw)


def told(**fields: Json) -> bytes:
    return json.dumps({"toy": "ball", "run": "r-1", "games": 2, **fields}).encode()


def settings_of(source: Path, program: str) -> Settings:
    argv = (sys.executable, "-c", program, "{checkpoint}")
    return Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=argv),),
        operator="alice",
    )


def test_its_call_is_found_shown_decided_and_resumed(source: Path, tmp_path: Path):
    got = tmp_path / "got"
    program = (
        "import os, shutil, sys\n"
        f"shutil.copy(os.environ['LINECLEAR_DECISION'], {str(got)!r}); print(sys.argv[1])"
    )
    settings = settings_of(source, program)
    path = left(source, "1.toy", told(**{"with": {"size": 1.5}}))
    (row,) = scan_once(settings, settings.sources)
    assert (row.system, row.state, row.tool) == ("toy", State.PENDING, "ball")
    assert (row.store, row.run) == (source / "nursery", "r-1")
    assert jsontext.canonical(row.arguments) == b'{"size":1.5}'
    printed = row_json(row)
    assert (printed["iteration"], printed["tool_calls"], printed["tokens"]) == (2, None, 7)
    assert printed["usage"] == {"in": 3, "out": 4, "cache": None}
    assert totals([row]).iterations == Figure(2, told=1, limit=5, limited=1)
    detail = read_detail(row)
    verdict = Verdict("deny", reason="bedtime")
    decide(detail, verdict, Origin.CLICK, settings)
    assert run_claimed(row.store, row.id, settings) == 0
    assert json.loads(got.read_text())["native"] == {
        "play": False,
        "say": "bedtime",
        "who": "alice",
    }
    (ended,) = scan_once(settings, settings.sources)
    assert (ended.id, ended.closed, ended.outcome) == (row.id, True, "denied")
    assert path.exists()


def test_its_run_without_a_call_is_to_be_resumed_on_a_word(source: Path):
    settings = settings_of(source, "")
    left(source, "2.toy", told())
    (row,) = scan_once(settings, settings.sources)
    assert (row.state, row.warnings) == (State.RESUMABLE, ("may_be_running",))
    with pytest.raises(Refusal) as refused:
        run_claimed(row.store, row.id, settings)
    assert refused.value.code == "may_be_running"
    detail = read_detail(row)
    assert detail.checkpoint is not None
    system = FORMATS[detail.checkpoint.system]
    assert [entry.text for entry in system.transcript(detail.checkpoint.document)] == ["ball"]


def test_what_it_refuses_is_a_row_with_its_reason(source: Path):
    settings = settings_of(source, "")
    left(source, "3.toy", b'{"toy": 1}')
    left(source, "4.txt", told())
    (row,) = scan_once(settings, settings.sources)
    assert (row.system, row.state) == ("toy", State.UNREADABLE)
    assert (row.reason_code, row.reason) == ("wrong_type", "The field 'toy' is no text.")
    assert os.fspath(row.path or "").endswith("3.toy")


def test_unregistered_nobody_knows_it(source: Path, monkeypatch: pytest.MonkeyPatch):
    settings = settings_of(source, "")
    left(source, "1.toy", told())
    monkeypatch.delitem(FORMATS, "toy")
    assert scan_once(settings, settings.sources) == []
