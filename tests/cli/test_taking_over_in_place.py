"""What stands already where a run of another program is to go on: nothing is begun beside it."""

import contextlib
import os
import shutil

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.relaunch.takeover import take_over
from lineclear.core.ledger.layout import APPROVALS
from lineclear.core.ledger.store import Store
from tests.cli.program import lineclear, listed, only_row
from tests.cli.test_taking_over import WORD, folder, ran, resume, theirs

__all__ = ["folder", "theirs"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")


def put(place, kind):
    if kind == "link":
        place.symlink_to(place.parent)
    elif kind == "file":
        place.write_text("x")
    else:
        place.mkdir(mode=0o770)


@pytest.mark.parametrize("where", ["", APPROVALS])
@pytest.mark.parametrize(
    "kind, uid",
    [
        ("link", 0),
        ("file", 0),
        pytest.param("link", 65534, marks=needs_root),
        pytest.param("folder", 65534, marks=needs_root),
    ],
)
def test_it_is_named_and_nothing_is_begun(folder, theirs, where, kind, uid):
    row = only_row("--source", folder / "source", state="resumable")
    place = folder / "source" / "arun" / where / f"resumed-{row['id'][:8]}"
    place.parent.mkdir(mode=0o700, exist_ok=True)
    put(place, kind)
    if uid:
        os.chown(place, uid, -1, follow_symlinks=False)
    for _ in range(2):
        refused = resume(folder, *WORD)
        assert (refused.returncode, refused.stderr.count("\n")) == (4, 1)
        assert str(place) in refused.stderr
        assert ("belongs to user 65534" in refused.stderr) is bool(uid)
        assert "move it away" in refused.stderr
    assert ran(folder) == []
    assert list(place.parent.parent.glob("**/*.start.json")) == []
    place.unlink() if kind != "folder" else place.rmdir()
    assert resume(folder, *WORD).returncode == 0
    assert len(ran(folder)) == 1


def test_a_copy_of_a_store_is_named_and_nothing_is_begun(folder, theirs):
    row = only_row("--source", folder / "source", state="resumable")
    Store.create(folder / "other").close()
    place = folder / "source" / "arun" / f"resumed-{row['id'][:8]}"
    shutil.copytree(folder / "other", place)
    refused = resume(folder, *WORD)
    assert (refused.returncode, "[store_moved]" in refused.stderr) == (4, True)
    assert list(place.parent.glob(f"{APPROVALS}/*.start.json")) == []


def test_what_comes_between_is_told_and_nothing_may_have_run(folder, theirs):
    row = only_row("--source", folder / "source", state="resumable")
    store = folder / "source" / "arun"
    place = store / f"resumed-{row['id'][:8]}"

    def hand(draft, run):
        draft.mkdir(mode=0o700)
        place.write_text("x")

    with contextlib.ExitStack() as kept, pytest.raises(Refusal, match=str(place)) as refused:
        take_over(
            store, {row["run"]}, Settings(sources=()), hand, ["resume"], kept=kept,
            despite=frozenset({WORD[1]}),
        )  # fmt: skip
    assert refused.value.code == "not_a_folder"
    (fresh,) = (one for one in listed("--source", folder / "source") if not one["outcome"])
    assert fresh["state"] == "resumable"
    assert "resume_failed" in fresh["warnings"]
    shown = lineclear("show", fresh["id"], "--source", folder / "source").stdout
    assert "came to nothing" in shown
    assert "nothing of it ran." in shown
