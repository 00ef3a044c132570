"""Of a long checkpoint a scan keeps its row, and nothing else."""

import gc
import json
import weakref
from pathlib import Path

from lineclear.core.checkpoints import jsontext
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import scan_once

DOCUMENT = {
    "tool_name": "bash",
    "arguments": {"command": "ls", "items": [[number] for number in range(1_000)]},
    "tool_id": "call-1",
    "inputs": {"words": ["a word"] * 200_000},
    "steps": [],
    "iteration": 1,
    "tool_calls_consumed": 1,
    "tokens_consumed": 1,
    "trace_id": "run-1",
}


class Watched(dict):  # type: ignore[type-arg]
    """A document of which the end can be told."""


def test_the_row_is_whole_and_the_document_is_gone(tmp_path: Path, monkeypatch):
    store = tmp_path / "agents" / "bot"
    store.mkdir(parents=True, mode=0o700)
    path = store / "pending.json"
    path.write_bytes(json.dumps(DOCUMENT).encode())
    path.chmod(0o600)
    ends = []
    parse = jsontext.parse

    def watched(raw: bytes) -> Watched:
        made = Watched(parse(raw))
        ends.append(weakref.ref(made))
        return made

    monkeypatch.setattr(jsontext, "parse", watched)
    source = SourceSetting(path=store.parent)
    gc.disable()
    try:
        (row,) = scan_once(Settings(sources=(source,)), [source])
        assert [end() for end in ends] == [None]
    finally:
        gc.enable()
    assert row.arguments == DOCUMENT["arguments"]
