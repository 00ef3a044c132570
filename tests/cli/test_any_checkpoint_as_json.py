"""One checkpoint never hides another: whatever it holds, JSON tells of it in its own row."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineclear.cli.main import main
from lineclear.cli.terminal import json_text
from lineclear.core.checkpoints.a3s import LoopCheckpoint, file_name
from lineclear.core.checkpoints.starweaver import AgentCheckpoint
from tests.badinputs import FILES, put
from tests.core.checkpoints.a3s_samples import LOOP_CHECKPOINTS, a3s_document
from tests.core.checkpoints.starweaver_samples import (
    USAGE,
    starweaver_checkpoints,
    starweaver_document,
    waiting_state,
)
from tests.core.checkpoints.test_lc_agents import APPROVALS

MOST = 2**64 - 1
LARGE = {"cache_read_tokens": MOST, "cache_write_tokens": MOST}
some = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def of_a3s(source: Path, document: dict[str, Any], agent: str = "code") -> None:
    folder = source / agent / "v1" / "loop_checkpoints"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    put(folder / file_name(document["run_id"]), json.dumps(document).encode())


def of_starweaver(source: Path, document: dict[str, Any], agent: str = "web") -> None:
    (source / agent).mkdir(mode=0o700, exist_ok=True)
    put(source / agent / "run.checkpoint.json", json.dumps(document).encode())


def large_of_a3s(source: Path) -> None:
    document = a3s_document()
    document["total_usage"] |= LARGE
    of_a3s(source, document)


def large_of_starweaver(source: Path) -> None:
    state = waiting_state(usage={**USAGE, **LARGE})
    of_starweaver(source, starweaver_document(state))


def printed(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    assert main([*map(str, words)]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.isascii()
    return json.loads(told.out)


@pytest.mark.parametrize("leave", [large_of_a3s, large_of_starweaver])
def test_a_sum_beyond_64_bits_is_written_as_it_is(tmp_path, capsys, leave):
    of_a3s(tmp_path, a3s_document(run_id="other"), "innocent")
    leave(tmp_path)
    rows = printed(capsys, "list", "--json", "--source", tmp_path)
    caches = sorted(row["usage"]["cache"] for row in rows)
    assert caches == [4, 2 * MOST]
    for row in rows:
        shown = printed(capsys, "show", row["id"], "--json", "--source", tmp_path)
        assert shown["usage"] == row["usage"]
        assert main(["show", row["id"], "--source", str(tmp_path)]) == 0
        capsys.readouterr()
    assert main(["list", "--source", str(tmp_path)]) == 0
    # Totals take it, too.
    assert "36893488147419103234 cache" in capsys.readouterr().out


def test_every_hostile_input_has_its_own_row(tmp_path, capsys):
    for case in FILES:
        store = tmp_path / case.name
        store.mkdir(mode=0o700)
        put(store / "pending.json", case.raw)
    rows = printed(capsys, "list", "--json", "--source", tmp_path)
    assert {Path(row["store"]).name for row in rows} == {case.name for case in FILES}


@some
@given(APPROVALS, starweaver_checkpoints(), LOOP_CHECKPOINTS)
def test_random_checkpoints_of_all_systems_have_a_row_each(
    tmp_path_factory, capsys, pending, execution, loop
):
    source = tmp_path_factory.mktemp("agents")
    (source / "bot").mkdir(mode=0o700)
    put(source / "bot" / "pending.json", json.dumps(pending).encode())
    of_starweaver(source, AgentCheckpoint.from_document(execution).document())
    of_a3s(source, LoopCheckpoint.from_document(loop).document())
    rows = printed(capsys, "list", "--json", "--all", "--source", source)
    told = {Path(row["store"]).name for row in rows}
    # A run of starweaver's that completed leaves nothing to do.
    assert {"bot", "code"} <= told <= {"bot", "code", "web"}
    for row in rows:
        printed(capsys, "show", row["id"], "--json", "--source", source)


deep: list[Any] = []
for _ in range(100_000):
    deep = [deep]
ODD = (math.nan, math.inf, "\ud800", "a\0b", 2**70, 10**5000, {1}, b"x", deep)


@given(
    st.recursive(
        st.integers(0, len(ODD) - 1).map(ODD.__getitem__),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["a", "\ud800", "\0"]), inner, max_size=2)
        ),
        max_leaves=5,
    )
)
@settings(deadline=None, max_examples=60)
def test_what_json_cannot_hold_is_told_where_it_stands(odd):
    # Not in the test's report: what fails here has no repr.
    written = json_text([{"id": 1, "odd": odd}, {"id": 2, "odd": 3}])
    assert written.isascii()
    assert [row["id"] for row in json.loads(written)] == [1, 2]
    assert json.loads(written)[1]["odd"] == 3


def test_the_place_of_what_is_left_out_says_why():
    assert json.loads(json_text({"a": [1.0, math.nan], "b": "\ud800"})) == {
        "a": [1.0, {"unwritable": "The number nan cannot be written as JSON."}],
        "b": {
            "unwritable": "It holds half a character (a lone surrogate), which programs drop or"
            " change."
        },
    }
